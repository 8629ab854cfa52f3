"""ε over steps from one composition: each place is enclosed as it is by a composition of its own, and nothing falls on the way."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest

from accountant.compositions.batches import draw_batches
from accountant.compositions.bounds import bound_epsilon
from accountant.compositions.events import Composition, Direction, make_event
from accountant.compositions.trajectories import Trajectory, bound_steps
from profiles import InvalidArgument

DELTA = Fraction(1, 10**5)
SAMPLED = ("gaussian", {"noise_multiplier": "1.1"}, "256/60000")
SETTINGS = [
    ([(*SAMPLED, 14040)], "1e-5"),
    ([(*SAMPLED, 61)], "1e-6"),
    ([("gaussian", {"noise_multiplier": "0.7"}, "0.1", 200)], "1e-9"),
    ([("laplace", {"scale": 10}, 1, 100)], "1e-5"),
    ([("discrete-gaussian", {"noise_multiplier": 4}, "1/20", 300)], "1e-6"),
    ([("approximate", {"epsilon": "0.1", "delta": "1e-7"}, 1, 50)], "1e-4"),
    ([("pure", {"epsilon": "0.2"}, 1, 40)], "1e-5"),
    ([("two-sided", {"epsilon_remove": "0.2", "epsilon_add": "0.1", "delta_remove": 0, "delta_add": 0}, "1/3", 40)], "1e-5"),
    ([(*SAMPLED, 500), ("laplace", {"scale": 20}, 1, 30)], "1e-5"),
    ([("gaussian", {"noise_multiplier": 10}, 1, 100)], "1e-5"),
    ([("gaussian", {"noise_multiplier": 10}, 1, 4), ("zcdp", {"rho": "1/100"}, 1, 2)], "1e-5"),
    ([("gaussian", {"noise_multiplier": 10}, 1, 4), (*SAMPLED, 40)], "1e-5"),
]


def compose(events):
    return Composition("a run", tuple(make_event(kind, numbers, sampling_probability=q, count=n) for kind, numbers, q, n in events))


def cut(composition, steps):
    """The composition of the first steps alone."""
    events = []
    for event in composition.events:
        count = min(event.count, steps - sum(item.count for item in events))
        if count:
            numbers = dict(event.parameters)
            events.append(make_event(event.mechanism, numbers, sampling_probability=event.sampling_probability, count=count))
    return Composition("a part of a run", tuple(events))


@pytest.mark.thorough(quick=3)
@pytest.mark.parametrize(("events", "delta"), SETTINGS)
def test_each_place_is_enclosed_as_by_a_composition_of_its_own(events, delta):
    composition = compose(events)
    found = bound_steps(composition, Fraction(delta))
    assert found.steps[-1] == sum(event.count for event in composition.events)
    assert list(found.steps) == sorted(set(found.steps))
    for place in {0, 1, len(found.steps) // 2, len(found.steps) - 1}:
        alone = [bound_epsilon(cut(composition, found.steps[place]), Fraction(delta), direction) for direction in Direction]
        lower, upper = max(end.lower for end in alone), max(end.upper for end in alone)
        assert found.lower[place] <= upper
        assert found.upper[place] >= lower
        assert found.lower[place] <= found.upper[place]
    if "zcdp" in {kind for kind, *_ in events}:  # of which many mechanisms are, and the worst is not known
        return
    assert found.upper[-1] - found.lower[-1] <= max(found.upper[-1], Fraction(1, 1000)) / 20


def test_sums_on_all_records_have_their_closed_form_on_the_way():
    found = bound_steps(compose([("gaussian", {"noise_multiplier": 10}, 1, 100)]), DELTA)
    with mpmath.workdps(60):
        for steps, lower, upper in list(zip(found.steps, found.lower, found.upper, strict=True))[::9]:
            mu = mpmath.sqrt(steps) / 10

            def delta_at(end, mu=mu):
                e = mpmath.mpf(end.numerator) / end.denominator
                return mpmath.ncdf(mu / 2 - e / mu) - mpmath.exp(e) * mpmath.ncdf(-mu / 2 - e / mu)

            assert delta_at(upper) <= mpmath.mpf("1e-5") <= delta_at(lower)


@pytest.mark.thorough
def test_between_two_places_the_ends_of_these_hold():
    composition = compose([(*SAMPLED, 600)])
    found = bound_steps(composition, DELTA, points=6)
    assert found.at(0) == (0, 0)
    for steps in (1, 2, 5, 99, 100, 101, 555, 599, 600):
        lower, upper = found.at(steps)
        alone = [bound_epsilon(cut(composition, steps), DELTA, direction) for direction in Direction]
        assert lower <= max(end.upper for end in alone)
        assert upper >= max(end.lower for end in alone)
    for wrong in (-1, 601, "2.5"):
        with pytest.raises(InvalidArgument):
            found.at(wrong)


@pytest.mark.thorough
def test_what_is_known_of_more_steps_holds_of_fewer_and_the_other_way_round():
    found = bound_steps(compose([(*SAMPLED, 3000)]), DELTA)
    assert list(found.lower) == sorted(found.lower)
    assert list(found.upper) == sorted(found.upper)
    assert isinstance(found, Trajectory)


@pytest.mark.parametrize(("delta", "points"), [(0, 60), (1, 60), (DELTA, 0)])
def test_other_numbers_are_refused(delta, points):
    with pytest.raises(InvalidArgument):
        bound_steps(compose([(*SAMPLED, 3)]), Fraction(delta), points=points)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(
    ("batches", "uses", "steps"),
    [
        (draw_batches("random-allocation", "add-remove", steps_per_epoch=20), 3, 20),
        (draw_batches("fixed-size", "replace-one", records=100, batch_size=10), 4, 1),
    ],
)
def test_epochs_of_allocated_batches_are_drawn_at_their_steps(batches, uses, steps):
    def make(count):
        event = make_event("gaussian", {"noise_multiplier": 2}, sampling_probability=batches.rate, count=count, batches=batches)
        return Composition("batches", (event,))

    found = bound_steps(make(uses), DELTA, gap=Fraction(1, 50))
    assert found.steps == tuple(steps * (k + 1) for k in range(uses))
    for count, lower, upper in zip((1, uses), (found.lower[0], found.lower[-1]), (found.upper[0], found.upper[-1]), strict=True):
        alone = [bound_epsilon(make(count), DELTA, direction) for direction in Direction]
        assert lower <= max(end.upper for end in alone)
        assert upper >= max(end.lower for end in alone)


@pytest.mark.thorough
@pytest.mark.parametrize("several", [2, 3])
def test_an_epoch_with_several_steps_of_a_record_counts_each_of_them(several):
    """Of 2 of 20 steps one was counted: epsilon <= 2.82 was told after three epochs, where at least 2.92 is lost."""
    drawn = draw_batches("random-allocation", "add-remove", steps_per_epoch=20, participations=several)
    composition = Composition("a run", (make_event("gaussian", {"noise_multiplier": "1.1"}, count=3, batches=drawn),))
    found = bound_steps(composition, DELTA)
    assert found.steps == (20, 40, 60)
    alone = [bound_epsilon(composition, DELTA, direction) for direction in Direction]
    assert max(end.lower for end in alone) <= found.upper[-1] <= Fraction("1.05") * max(end.upper for end in alone)
    assert Fraction("0.95") * max(end.lower for end in alone) <= found.lower[-1] <= max(end.upper for end in alone)
