"""The least noise, the most uses and the largest sampling probability meet their target with a proof, and what is beyond does not."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from accountant.calibration.events import CalibratedEvents, find_largest_rate, find_least_noise, find_most_uses
from accountant.curves import Composition, curve_of, make_event
from profiles import Infeasible, InvalidArgument, InvalidNumber, exact_text

DELTA = Fraction(1, 10**6)


def sums(noise: object = 1, count: int = 16, rate: object = 1, kind: str = "gaussian", name: str = "noise_multiplier") -> Composition:
    return Composition("sums", (make_event(kind, {name: noise}, count=count, sampling_probability=rate),))


def check(found: CalibratedEvents, epsilon: object) -> None:
    """What was found is certified; the value beyond, put in by hand, is above the target."""
    upper = found.account.point.upper
    assert upper is not None
    assert upper <= found.target_delta
    assert found.account.point.checked_by_kernel
    event = found.account.curve.composition.events[0]
    values = {"count": event.count, "sampling_probability": event.sampling_probability, **dict(event.parameters)}
    assert values[found.name] == found.value
    assert found.beyond is not None
    numbers = dict(event.parameters) | ({found.name: found.beyond} if found.name in dict(event.parameters) else {})
    other = make_event(
        event.mechanism,
        numbers,
        count=found.beyond if found.name == "count" else event.count,
        sampling_probability=found.beyond if found.name == "sampling_probability" else event.sampling_probability,
    )
    assert curve_of(other).delta(epsilon, gap="1e-2").lower > found.target_delta


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("epsilon", ["0.3", "8"])
def test_least_noise(epsilon):
    found = find_least_noise(sums(), epsilon, DELTA)
    check(found, epsilon)
    assert 0 < found.value - found.beyond <= found.value / 1000
    assert found.describe().startswith(f"noise_multiplier = {exact_text(found.value)} meets the target")


def test_least_laplace_noise_of_one_use():
    """One Laplace sum is at δ where (closed form) δ = 1 − e^((ε − 1/b)/2) for ε < 1/b."""
    found = find_least_noise(sums(count=1, kind="laplace", name="scale"), 1, "0.01", tolerance="1e-4")
    check(found, 1)
    assert abs(float(found.value) - 1 / (1 - 2 * math.log(0.99))) < 2e-4


@pytest.mark.thorough
def test_most_uses_are_neighbors():
    found = find_most_uses(sums(20, 1), 1, DELTA)
    check(found, 1)
    assert (found.value, found.beyond) == (22, 23)


@pytest.mark.thorough
def test_largest_rate_of_one_use():
    found = find_largest_rate(sums(1, 1), "0.5", DELTA, tolerance="1e-2")
    check(found, "0.5")
    assert 0 < found.beyond - found.value <= found.value / 50
    assert find_largest_rate(sums(100, 1), 1, DELTA).value == 1


def test_what_cannot_be_calibrated_is_refused():
    two = Composition("two", (*sums(1).events, *sums(2).events))
    for way in (find_least_noise, find_most_uses, find_largest_rate):
        with pytest.raises(InvalidArgument, match="different events"):
            way(two, 1, DELTA)
    with pytest.raises(InvalidArgument, match="no noise parameter"):
        find_least_noise(sums(1, kind="pure", name="epsilon"), 1, DELTA)
    with pytest.raises(Infeasible, match="one is too many"):
        find_most_uses(sums("0.1", 1), 1, DELTA)
    with pytest.raises(Infeasible):
        find_largest_rate(Composition("a", (make_event("approximate", {"epsilon": 0, "delta": "0.5"}),)), 1, "1e-17")
    for tolerance in (0, 1, "nan"):
        with pytest.raises((InvalidArgument, InvalidNumber)):
            find_least_noise(sums(), 1, DELTA, tolerance=tolerance)
    with pytest.raises(InvalidArgument, match="epsilon must lie"):
        find_least_noise(sums(), -1, DELTA)


def test_no_noise_is_enough_for_no_delta():
    for epsilon in (0, 1):
        with pytest.raises(Infeasible, match="no noise that was tried is enough"):
            find_least_noise(sums(), epsilon, 0)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(("noise", "rate", "epsilon"), [(20, 1, 10_000), (1, "1/100", 4), ("1/2", "1/10", 30), (1000, 1, "1e-2")])
def test_many_uses_are_found_to_four_digits(noise, rate, epsilon):
    found = find_most_uses(sums(noise, 1, rate), epsilon, DELTA)
    check(found, epsilon)
    assert 0 < found.beyond - found.value <= max(1, found.value / 500)


def test_all_uses_that_may_be_asked_for():
    found = find_most_uses(sums(10**6, 1), 1, DELTA)
    assert (found.value, found.beyond) == (10**9, None)


@pytest.mark.thorough
def test_counts_whose_losses_are_beyond_all_grids_are_too_many():
    found = find_most_uses(Composition("x", (make_event("gaussian", {"noise_multiplier": "0.02"}),)), 10_000, "1e-6")
    assert (found.value, found.beyond) == (7, 8)
