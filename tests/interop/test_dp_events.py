"""Event trees of dp_accounting become curves that enclose what it computes where it is accurate; others are refused by name."""

from __future__ import annotations

from fractions import Fraction

import pytest

from accountant.onesided import declare_directions
from profiles import InvalidArgument, InvalidNumber

pytest.importorskip("dp_accounting", exc_type=ImportError)

from dp_accounting import dp_event
from dp_accounting.pld import privacy_loss_distribution as pld

from accountant.interop.dp_accounting import make_event
from accountant.interop.dp_events import curve_of_dp_event

GAUSSIAN = dp_event.GaussianDpEvent(2.0)


def test_trees_are_read_with_exact_numbers():
    tree = dp_event.ComposedDpEvent(
        [
            dp_event.SelfComposedDpEvent(dp_event.PoissonSampledDpEvent(0.25, GAUSSIAN), 10),
            dp_event.PoissonSampledDpEvent(0.5, dp_event.PoissonSampledDpEvent(0.5, GAUSSIAN)),
            dp_event.SelfComposedDpEvent(dp_event.ComposedDpEvent([dp_event.LaplaceDpEvent(0.1), dp_event.NoOpDpEvent()]), 3),
            dp_event.DiscreteLaplaceDpEvent(0.5, 1),
            dp_event.ZCDpEvent(0.125),
        ]
    )
    found = {(event.mechanism.value, event.sampling_probability, event.count) for event in curve_of_dp_event(tree).composition.events}
    assert found == {
        ("gaussian", Fraction(1, 4), 11), ("laplace", Fraction(1), 3), ("discrete-laplace", Fraction(1), 1), ("zcdp", Fraction(1), 1),
    }  # fmt: skip
    assert curve_of_dp_event(dp_event.LaplaceDpEvent(0.1)).composition.events[0]["scale"] == Fraction(0.1)


def test_ours_encloses_theirs_at_a_delta_where_it_is_accurate():
    tree = dp_event.SelfComposedDpEvent(dp_event.PoissonSampledDpEvent(0.25, GAUSSIAN), 4)
    theirs = pld.from_gaussian_mechanism(2.0, value_discretization_interval=1e-4, sampling_prob=0.25).self_compose(4)
    ours = curve_of_dp_event(tree).epsilon("1e-3", gap="1e-2")
    assert ours.lower <= Fraction(theirs.get_epsilon_for_delta(1e-3)) * Fraction("1.001")
    assert Fraction(theirs.get_epsilon_for_delta(1e-3)) * Fraction("0.999") <= ours.upper


def test_our_own_events_come_back_with_their_hypotheses():
    made = declare_directions("svt", "0.5", "0.25", source="me")
    curve = curve_of_dp_event(dp_event.SelfComposedDpEvent(make_event(made, accept_hypotheses=True), 2))
    (event,) = curve.composition.events
    assert (event["epsilon_remove"], event["epsilon_add"], event.count) == (Fraction(1, 2), Fraction(1, 4), 2)
    assert {item.sentence for item in made.hypotheses} <= {item.sentence for item in curve.hypotheses}


@pytest.mark.parametrize(
    "bad",
    [
        dp_event.NonPrivateDpEvent(),
        dp_event.UnsupportedDpEvent(),
        dp_event.NoOpDpEvent(),
        dp_event.RandomizedResponseDpEvent(0.5, 2),
        dp_event.SampledWithoutReplacementDpEvent(100, 10, GAUSSIAN),
        dp_event.SampledWithReplacementDpEvent(100, 10, GAUSSIAN),
        dp_event.MixtureOfGaussiansDpEvent(1.0, [1.0], [1.0]),
        dp_event.DiscreteLaplaceDpEvent(0.5, 2),
        dp_event.ZCDpEvent(0.1, 0.1),
        dp_event.GaussianDpEvent(0.0),
        dp_event.GaussianDpEvent(float("nan")),
        dp_event.SelfComposedDpEvent(GAUSSIAN, 0),
        dp_event.SelfComposedDpEvent(GAUSSIAN, 2.5),
        dp_event.PoissonSampledDpEvent(1.5, GAUSSIAN),
        dp_event.PoissonSampledDpEvent(1.5, dp_event.PoissonSampledDpEvent(0.5, GAUSSIAN)),
        dp_event.PoissonSampledDpEvent(0.5, dp_event.SelfComposedDpEvent(dp_event.LaplaceDpEvent(1.0), 2)),
        dp_event.PoissonSampledDpEvent(0.5, dp_event.ComposedDpEvent([GAUSSIAN, dp_event.LaplaceDpEvent(1.0)])),
        "gaussian",
    ],
    ids=lambda item: type(item).__name__,
)
def test_what_has_no_event_is_refused(bad):
    with pytest.raises((InvalidArgument, InvalidNumber)):
        curve_of_dp_event(bad)


def test_trees_that_are_too_deep_are_refused():
    tree = GAUSSIAN
    for _ in range(100):
        tree = dp_event.ComposedDpEvent([tree])
    with pytest.raises(InvalidArgument, match="deep"):
        curve_of_dp_event(tree)
