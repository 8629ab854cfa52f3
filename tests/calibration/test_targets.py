"""Calibration on random targets, judged by true privacy curves (tests/targets/losses): what is found suffices, what is beyond it does not.

The slow cases are run by ``make account-sweep CALIBRATION=1``.
"""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from accountant.calibration.events import CalibratedEvents, find_largest_rate, find_least_noise, find_most_uses
from accountant.curves import Composition, make_event
from profiles import Infeasible
from tests.targets.losses.truth import find_delta

_WAYS = {"noise": find_least_noise, "uses": find_most_uses, "rate": find_largest_rate}


def draw_target(seed: int) -> tuple[str, Composition, Fraction, Fraction]:
    """Return what to calibrate, an event, ε and δ, over the ranges in which people choose them."""
    rng = random.Random(f"target {seed}")
    way = rng.choice(list(_WAYS))
    kind, name = rng.choice([("gaussian", "noise_multiplier")] * 4 + [("laplace", "scale"), ("discrete-laplace", "scale")])
    rate = Fraction(1) if way != "rate" and rng.random() < 0.5 else Fraction(f"{10 ** rng.uniform(-3, -0.1):.3g}")
    noise, epsilon = Fraction(f"{10 ** rng.uniform(0, 1.3):.3g}"), Fraction(f"{10 ** rng.uniform(-1, 1):.3g}")
    delta = Fraction(f"{10 ** rng.uniform(-9, -4):.3g}")
    count = int(10 ** rng.uniform(0, 3)) if kind == "gaussian" and rate == 1 and way != "rate" else 1
    if way == "uses" and rate < 1:  # many uses, none of which loses much: a search of seconds
        rate, noise, epsilon = max(rate, Fraction(1, 10)), max(noise, Fraction(6)), min(epsilon, Fraction(1))
    return way, Composition("a target", (make_event(kind, {name: noise}, count=count, sampling_probability=rate),)), epsilon, delta


def judge(found: CalibratedEvents) -> tuple[bool, bool | None]:
    """Whether the value meets the target by the truth, in both directions; and whether the value beyond fails in one of them."""
    (event,) = found.account.curve.composition.events
    values = dict(event.parameters)

    def true_deltas(value: Fraction) -> list[tuple[Fraction, Fraction]]:
        numbers = values | ({found.name: value} if found.name in values else {})
        other = make_event(
            event.mechanism,
            numbers,
            count=value if found.name == "count" else event.count,
            sampling_probability=value if found.name == "sampling_probability" else event.sampling_probability,
        )
        truths = (find_delta([other], found.target_epsilon, remove=remove) for remove in (True, False))
        return [(truth.low, truth.high) for truth in truths if truth is not None]

    meets = all(low <= found.target_delta for low, _ in true_deltas(found.value))
    if found.beyond is None:
        return meets, None
    return meets, any(high > found.target_delta for _, high in true_deltas(found.beyond))


def calibrate(seed: int) -> None:
    way, composition, epsilon, delta = draw_target(seed)
    try:
        found = _WAYS[way](composition, epsilon, delta, gap="5e-2")
    except Infeasible:
        found = None
    if found is None:
        if way == "uses":  # one is too many: by the truth as well, but for the gap
            (event,) = composition.events
            once = make_event(event.mechanism, dict(event.parameters), sampling_probability=event.sampling_probability)
            truths = [find_delta([once], epsilon, remove=remove) for remove in (True, False)]
            assert max(truth.high for truth in truths if truth is not None) > delta * Fraction(9, 10)
        return
    (event,) = found.account.curve.composition.events
    assert found.account.point.checked_by_kernel
    assert found.account.point.upper <= delta
    meets, fails = judge(found)
    assert meets, (seed, found.describe())
    assert fails is not False, (seed, found.describe())
    if found.beyond is not None and way != "uses":
        assert abs(found.beyond - found.value) <= found.value / 500


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize("seed", range(12))
def test_targets(seed):
    calibrate(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12, 200))
def test_many_targets(seed):
    calibrate(seed)
