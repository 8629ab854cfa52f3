"""Groups: where no one grid holds all events, bounds on groups of them are joined; what comes out is true, and the kernel accepts it."""

import json
import random
from fractions import Fraction

import mpmath
import pytest

from accountant.compositions.bounds import bound_delta, bound_epsilon
from accountant.compositions.certificates import make_certificate
from accountant.compositions.events import Composition, Direction, make_event
from accountant.compositions.groups import split_events
from profiles import Undecided
from proofs_check.kernel import check

#: No one grid holds them: losses of 100 and of 20,000 nats beside many small ones.
WIDE = (
    make_event("discrete-gaussian", {"noise_multiplier": "1/2"}, count=10_000),
    make_event("pure", {"epsilon": 5000}, sampling_probability="1/2", count=10_000),
    make_event("pure", {"epsilon": 10}),
)


def accept(whole, found):
    report = check(json.dumps(make_certificate(whole, found.claims)))
    assert report.accepted, report
    return [claim.rules for claim in report.claims]


def test_events_are_split_as_the_kernel_takes_them_together():
    noise, rho = make_event("gaussian", {"noise_multiplier": 2}), make_event("zcdp", {"rho": 1})
    sampled = make_event("gaussian", {"noise_multiplier": 3}, sampling_probability="1/2")
    more = make_event("gaussian", {"noise_multiplier": 5}, count=3)
    split = split_events(Composition("x", (rho, sampled, noise, make_event("zcdp", {"rho": 0}), more)))
    assert [part.events for part in split] == [(noise, more), (sampled,), (rho,)]


@pytest.mark.thorough
@pytest.mark.parametrize("delta", [pytest.param("0.1", marks=pytest.mark.slow), "1e-6"])
def test_a_composition_without_a_grid_has_a_wide_bound(delta):
    """From below at least one event alone; from above all losses, of which the samples' take 5,000 at most each."""
    whole = Composition("wide", WIDE)
    found = bound_epsilon(whole, Fraction(delta), Direction.REMOVE)
    assert 0 < found.lower < found.upper < 6 * 10**7
    assert any("joined" in rules for rules in accept(whole, found))
    back = bound_delta(whole, found.upper, Direction.REMOVE)
    assert back.lower <= back.upper < 1
    accept(whole, back)


@pytest.mark.parametrize("direction", [Direction.REMOVE, Direction.ADD])
def test_a_lower_end_is_that_of_one_event_where_a_grid_is_too_coarse(direction):
    """A response of 20 nats, seen at delta = 1/2: it alone needs log(e^20 - (1 + e^20)/2), about 19.3."""
    whole = Composition("response", (make_event("randomized-response", {"epsilon": 20}), make_event("laplace", {"scale": 10**6})))
    found = bound_epsilon(whole, Fraction(1, 2), direction)
    truth = Fraction(float(mpmath.log(mpmath.exp(20) - (1 + mpmath.exp(20)) / 2)))  # of the response; the noise adds at most 10^-6
    assert found.lower <= truth + Fraction(1, 10**5)
    assert truth - Fraction(1, 10**9) <= found.upper
    accept(whole, found)


@pytest.mark.thorough
def test_what_one_event_loses_wholly_all_events_lose_wholly():
    """1 - (1 - 0.0005)^10000 is above 0.99: at delta = 0.1 no epsilon is enough, which one of the events shows."""
    lossy = make_event("approximate", {"epsilon": "0.1", "delta": "0.001"}, sampling_probability="1/2", count=10_000)
    whole = Composition("lossy", (make_event("zcdp", {"rho": 300}, count=107), lossy))
    found = bound_epsilon(whole, Fraction(1, 10), Direction.REMOVE)
    assert (found.lower, found.upper) == (None, None)
    assert accept(whole, found) == [("computed", "joined")]


@pytest.mark.slow
def test_extreme_mixed_settings_are_answered():
    """130 settings of two to four events at the ends of their ranges, each in both directions."""
    numbers = {
        "gaussian": ("noise_multiplier", ["0.005", "0.05", "0.5", "1", "20", "3000"]),
        "discrete-gaussian": ("noise_multiplier", ["0.005", "0.05", "0.5", "1", "20", "3000"]),
        "laplace": ("scale", ["0.0001", "0.01", "0.2", "1", "50", "5000"]),
        "discrete-laplace": ("scale", ["0.0001", "0.01", "0.2", "1", "50", "5000"]),
        "pure": ("epsilon", ["0.0001", "0.1", "1", "10", "200", "5000", "9000"]),
        "randomized-response": ("epsilon", ["0.0001", "0.1", "1", "10", "200", "5000", "9000"]),
        "zcdp": ("rho", ["0.000001", "0.01", "1", "300"]),
    }
    rng, refused = random.Random(130), []
    for _ in range(130):
        events = []
        for kind in rng.choices(sorted(numbers), k=rng.randint(2, 4)):
            name, values = numbers[kind]
            q = "1" if kind == "zcdp" else rng.choice(["1", "1", "0.5", "0.01", "0.00001"])
            count = rng.choice([1, 1, 2, 7, 100, 10_000])
            events.append(make_event(kind, {name: rng.choice(values)}, sampling_probability=q, count=count))
        whole, delta = Composition("extreme", tuple(events)), Fraction(1, 10 ** rng.choice([1, 5, 12]))
        for direction in Direction:
            try:
                found = bound_epsilon(whole, delta, direction)
            except Undecided:
                refused.append(whole.events)
                continue
            assert found.upper is None or found.lower is None or found.lower <= found.upper
            if found.claims:
                accept(whole, found)
            if found.upper is None and found.lower is not None:
                refused.append(whole.events)
    assert len(refused) <= 6, refused
