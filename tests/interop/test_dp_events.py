"""Event trees of dp_accounting become curves that enclose what it computes where it is accurate; others are refused by name."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from accountant.curves import Participation, bound_sensitivity, draw_batches, make_matrix
from accountant.curves import make_event as declare_event
from accountant.onesided import declare_directions
from profiles import InvalidArgument, InvalidNumber
from profiles.protection import Neighbors

pytest.importorskip("dp_accounting", exc_type=ImportError)

import attr
from dp_accounting import NeighboringRelation, dp_event
from dp_accounting.pld import PLDAccountant
from dp_accounting.pld import privacy_loss_distribution as pld

from accountant.interop.dp_events import CertifiedDpEvent, curve_of_dp_event, make_event

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
    assert set(made.hypotheses) <= set(curve.hypotheses)
    assert "hypotheses-unknown" not in ids(curve)


def ids(curve):
    return {item.id for item in curve.hypotheses}


def test_what_states_no_hypotheses_has_the_open_one_that_they_are_unknown():
    assert "hypotheses-unknown" in ids(curve_of_dp_event(GAUSSIAN))
    assert "hypotheses-unknown" in ids(curve_of_dp_event(CertifiedDpEvent(1.0, 1.0)))
    assert "hypotheses-unknown" in ids(curve_of_dp_event(PLDAccountant().compose(GAUSSIAN, 3)))
    told = curve_of_dp_event(GAUSSIAN, hypotheses=["gradients are clipped"])
    assert "hypotheses-unknown" not in ids(told)
    assert "gradients are clipped" in [item.sentence for item in told.hypotheses]


def test_protection_and_hypotheses_survive_the_event():
    made = declare_directions("svt", "0.5", "0.5", source="me", unit="user", neighbors="replace-one", hypotheses=("n is public", "mine"))
    event = make_event(made, accept_hypotheses=True)
    assert (event.unit, event.neighbors) == ("user", "replace-one")
    assert event.open_hypotheses == made.hypotheses
    for found in (
        curve_of_dp_event(event),
        curve_of_dp_event(dp_event.ComposedDpEvent([event, event]), unit="user", neighbors="replace-one"),
    ):
        assert found.guarantee.protection == made.protection
        assert set(made.hypotheses) <= set(found.hypotheses)
    for other in (
        GAUSSIAN,
        dp_event.ZCDpEvent(0.1),
        make_event(declare_directions("x", 1, 1, source="me", unit="user"), accept_hypotheses=True),
    ):
        with pytest.raises(InvalidArgument, match=r"one unit|one kind of neighbors"):
            curve_of_dp_event(dp_event.ComposedDpEvent([event, dp_event.SelfComposedDpEvent(other, 2)]))
    for wrong in ({"unit": "record"}, {"neighbors": "add-remove"}, {"neighbors": "zero-out"}):
        with pytest.raises(InvalidArgument):
            curve_of_dp_event(event, **wrong)


def test_numbers_without_neighbors_are_open():
    assert "neighbors-assumed" in ids(curve_of_dp_event(dp_event.ZCDpEvent(0.1)))
    assert "neighbors-assumed" not in ids(curve_of_dp_event(GAUSSIAN))
    for neighbors in ("add-remove", "replace-one"):
        found = curve_of_dp_event(dp_event.ZCDpEvent(0.1), neighbors=neighbors)
        assert "neighbors-assumed" not in ids(found)
        assert (found.guarantee.protection.neighbors.value, found.composition.events[0]["rho"]) == (neighbors, Fraction(0.1))


@pytest.mark.parametrize("buckets", [2, 4])
def test_randomised_response_is_about_a_replaced_record(buckets):
    curve = curve_of_dp_event(dp_event.SelfComposedDpEvent(dp_event.RandomizedResponseDpEvent(0.5, buckets), 3))
    assert curve.guarantee.protection.neighbors is Neighbors.REPLACE_ONE
    assert curve.epsilon(0).upper == pytest.approx(3 * math.log(1 + buckets), rel=1e-12)
    assert curve.epsilon(0).upper > 3 * math.log(1 + buckets) * (1 - 1e-15)
    assert (
        curve_of_dp_event(dp_event.ComposedDpEvent([GAUSSIAN, dp_event.RandomizedResponseDpEvent(0.5, 1)])).composition.events[0].count == 1
    )
    # on the grid of theirs, which is rounded up
    theirs = pld.from_randomized_response(0.5, buckets, value_discretization_interval=1e-4)
    assert theirs.get_delta_for_epsilon(0.5) <= curve_of_dp_event(dp_event.RandomizedResponseDpEvent(0.5, buckets)).delta(
        "1/2"
    ).upper + Fraction(1, 10**4)


def test_a_discrete_gaussian_event_of_newer_releases_is_read(monkeypatch):
    """dp_accounting 0.6.0 has none; the class is that of the repository after it."""

    @attr.s(frozen=True, auto_attribs=True)
    class DiscreteGaussianDpEvent(dp_event.DpEvent):
        sigma: float
        sensitivity: float = 1.0
        dimension: int | None = None

    monkeypatch.setattr(dp_event, "DiscreteGaussianDpEvent", DiscreteGaussianDpEvent, raising=False)
    (event,) = curve_of_dp_event(DiscreteGaussianDpEvent(2.5, 1.0, 1)).composition.events
    assert (event.mechanism.value, event["noise_multiplier"]) == ("discrete-gaussian", Fraction(5, 2))
    for wrong in (DiscreteGaussianDpEvent(2.5), DiscreteGaussianDpEvent(2.5, 2.0, 1), DiscreteGaussianDpEvent(2.5, 1.0, 3)):
        with pytest.raises(InvalidArgument, match="DiscreteGaussianDpEvent"):
            curve_of_dp_event(wrong)


def test_a_record_in_place_of_another_moves_noise_twice():
    for event, parameter, counted in ((GAUSSIAN, "noise_multiplier", 2), (dp_event.LaplaceDpEvent(2.0), "scale", 1)):
        (found,) = curve_of_dp_event(dp_event.SelfComposedDpEvent(event, 5), neighbors="replace-one").composition.events
        assert (found[parameter], found.count) == (counted, 5)
    theirs = PLDAccountant(NeighboringRelation.REPLACE_ONE).compose(GAUSSIAN)
    ours = curve_of_dp_event(theirs)
    assert ours.guarantee.protection.neighbors is Neighbors.REPLACE_ONE
    assert float(ours.epsilon("1e-5").upper) == pytest.approx(theirs.get_epsilon(1e-5), rel=1e-3)
    sampled = dp_event.SelfComposedDpEvent(dp_event.PoissonSampledDpEvent(0.1, GAUSSIAN), 10)
    theirs = PLDAccountant(NeighboringRelation.REPLACE_ONE).compose(sampled)
    assert float(curve_of_dp_event(theirs).epsilon("1e-5").upper) == pytest.approx(theirs.get_epsilon(1e-5), rel=1e-3)
    with pytest.raises(InvalidArgument, match="Poisson sample"):
        curve_of_dp_event(dp_event.PoissonSampledDpEvent(0.1, dp_event.LaplaceDpEvent(2.0)), neighbors="replace-one")


def test_a_special_record_is_one_that_adds_nothing():
    tree = dp_event.SelfComposedDpEvent(dp_event.PoissonSampledDpEvent(0.25, GAUSSIAN), 20)
    theirs = PLDAccountant(NeighboringRelation.REPLACE_SPECIAL).compose(tree)
    ours = curve_of_dp_event(theirs)
    assert ours.guarantee.protection.neighbors is Neighbors.ZERO_OUT
    assert ours.composition == curve_of_dp_event(tree).composition
    assert float(ours.epsilon("1e-5").lower) <= theirs.get_epsilon(1e-5) * (1 + 1e-6)
    with pytest.raises(InvalidArgument, match="replace-one"):
        curve_of_dp_event(dp_event.RandomizedResponseDpEvent(0.5, 2), neighbors="zero-out")


@pytest.mark.parametrize(
    "bad",
    [
        dp_event.NonPrivateDpEvent(),
        dp_event.UnsupportedDpEvent(),
        dp_event.NoOpDpEvent(),
        dp_event.RandomizedResponseDpEvent(0.0, 2),
        dp_event.ComposedDpEvent([dp_event.RandomizedResponseDpEvent(0.5, 2), GAUSSIAN]),
        dp_event.PoissonSampledDpEvent(0.5, dp_event.RandomizedResponseDpEvent(0.5, 2)),
        dp_event.PoissonSampledDpEvent(0.5, dp_event.NonPrivateDpEvent()),
        dp_event.TruncatedSubsampledGaussianDpEvent(100, 0.1, 10, 1.0),
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


@pytest.mark.parametrize(("steps", "levels"), [(1, 1), (2, 2), (7, 3), (8, 4), ([3, 100, 5], 7), (10**9, 30)])
def test_tree_aggregation_is_a_node_on_each_level(steps, levels):
    """Each record is in one node of each complete level: s² of the strategy matrix of a tree, as far as it is small."""
    event = dp_event.SingleEpochTreeAggregationDpEvent(4.0, steps)
    curve = curve_of_dp_event(event, hypotheses=())
    assert curve.composition.events == (declare_event("gaussian", {"noise_multiplier": 4}, count=levels),)
    assert curve.guarantee.protection.neighbors is Neighbors.ZERO_OUT
    assert "steps-apart" in ids(curve)
    if isinstance(steps, int) and steps < 10:
        nodes = [[float(i - (i & -i) < j <= i) for j in range(1, steps + 1)] for i in range(1, steps + 1)]
        assert bound_sensitivity(make_matrix(nodes), Participation(steps)).upper == levels
    replaced = curve_of_dp_event(event, neighbors="replace-one").composition.events[0]
    assert replaced.square == Fraction(1, 4)
    twice = curve_of_dp_event(dp_event.SelfComposedDpEvent(event, 3), neighbors="zero-out", hypotheses=())
    assert twice.composition.events[0].count == 3 * levels
    with pytest.raises(InvalidArgument, match="one kind of neighbors"):
        curve_of_dp_event(event, neighbors="add-remove")


@pytest.mark.parametrize(
    ("noise", "steps"), [(4.0, []), (4.0, 0), (4.0, [2, 0]), (4.0, 2.5), (4.0, "8"), (0.0, 8), (float("nan"), 8), (-1.0, 8)]
)
def test_tree_aggregation_without_noise_or_steps_is_refused(noise, steps):
    with pytest.raises((InvalidArgument, InvalidNumber)):
        curve_of_dp_event(dp_event.SingleEpochTreeAggregationDpEvent(noise, steps))


def test_trees_that_are_too_deep_are_refused():
    tree = GAUSSIAN
    for _ in range(100):
        tree = dp_event.ComposedDpEvent([tree])
    with pytest.raises(InvalidArgument, match="deep"):
        curve_of_dp_event(tree)


@pytest.mark.parametrize("turned", [False, True])
def test_what_is_run_on_one_poisson_sample_keeps_what_each_of_its_events_says(turned):
    """Of several the first one spoke for all: a tree beside noise was accounted for where a record is added, without its hypothesis."""
    parts = [dp_event.GaussianDpEvent(2.0), dp_event.SingleEpochTreeAggregationDpEvent(2.0, [4])]
    sampled = dp_event.PoissonSampledDpEvent(0.5, dp_event.ComposedDpEvent(parts[::-1] if turned else parts))
    with pytest.raises(InvalidArgument, match="add-remove and zero-out"):
        curve_of_dp_event(sampled, neighbors="add-remove")
    made = curve_of_dp_event(sampled, neighbors="zero-out")
    assert "steps-apart" in {item.id for item in made.hypotheses}
    assert made.guarantee.protection.neighbors.value == "zero-out"
    (event,) = made.composition.events  # four times noise of 2: three nodes of the tree, and one sum
    assert (event["noise_multiplier"], event.sampling_probability, event.count) == (1, Fraction(1, 2), 1)


FIXED, WITH = dp_event.SampledWithoutReplacementDpEvent, dp_event.SampledWithReplacementDpEvent


@pytest.mark.parametrize("neighbors", ["add-remove", "replace-one", "zero-out"])
def test_batches_of_a_fixed_size_are_read(neighbors):
    """Equal to our own events, for the neighbors of the accountant; several uses of noise on one batch are one use."""
    for event, sampling in ((FIXED(100, 10, GAUSSIAN), "fixed-size"), (WITH(100, 10, GAUSSIAN), "with-replacement")):
        if (sampling, neighbors) == ("with-replacement", "zero-out"):
            with pytest.raises(InvalidArgument, match="none is proved"):
                curve_of_dp_event(event, neighbors=neighbors)
            continue
        made = curve_of_dp_event(dp_event.SelfComposedDpEvent(event, 7), neighbors=neighbors)
        (own,) = made.composition.events
        assert (own.batches, own.count) == (draw_batches(sampling, neighbors, records=100, batch_size=10), 7)
        assert own["noise_multiplier"] == GAUSSIAN.noise_multiplier
        assert {"batches-drawn", "records-known", "fresh-samples"} <= {item.id for item in made.hypotheses}
    twice = curve_of_dp_event(FIXED(100, 10, dp_event.SelfComposedDpEvent(dp_event.GaussianDpEvent(3.0), 4)), neighbors=neighbors)
    assert twice.composition.events[0]["noise_multiplier"] == Fraction(3, 2)
    whole = curve_of_dp_event(FIXED(100, 100, GAUSSIAN), neighbors=neighbors)
    assert whole.composition == curve_of_dp_event(GAUSSIAN, neighbors=neighbors).composition


def test_a_fixed_size_of_batches_encloses_the_renyi_bound_of_the_library():
    """Its accountant bounds a record that is replaced, with noise over the change: twice ours, which is over the norm."""
    rdp = pytest.importorskip("dp_accounting.rdp.rdp_privacy_accountant")
    made = curve_of_dp_event(dp_event.SelfComposedDpEvent(FIXED(1000, 10, dp_event.GaussianDpEvent(4.0)), 100), neighbors="replace-one")
    theirs = rdp.RdpAccountant(neighboring_relation=NeighboringRelation.REPLACE_ONE)
    theirs.compose(dp_event.SelfComposedDpEvent(FIXED(1000, 10, dp_event.GaussianDpEvent(2.0)), 100))
    assert made.epsilon("1e-5").lower <= theirs.get_epsilon(1e-5)


@pytest.mark.parametrize(
    "wrong",
    [
        FIXED(100, 10, dp_event.LaplaceDpEvent(2.0)), FIXED(100, 0, GAUSSIAN), FIXED(10, 11, GAUSSIAN), FIXED(100, 2.5, GAUSSIAN),
        FIXED(100, 10, dp_event.PoissonSampledDpEvent(0.5, GAUSSIAN)), dp_event.PoissonSampledDpEvent(0.5, FIXED(100, 10, GAUSSIAN)),
        FIXED(100, 10, FIXED(10, 5, GAUSSIAN)), WITH(100, 10, dp_event.ComposedDpEvent([GAUSSIAN, dp_event.LaplaceDpEvent(2.0)])),
    ],
)  # fmt: skip
def test_fixed_sizes_of_what_has_no_theorem_are_refused(wrong):
    with pytest.raises(InvalidArgument, match=r"Sampled|batch|records|sample"):
        curve_of_dp_event(wrong)


def test_a_batch_of_what_promises_nothing_promises_nothing():
    with pytest.raises(InvalidArgument, match="promises nothing"):
        curve_of_dp_event(FIXED(100, 10, dp_event.NonPrivateDpEvent()))
    with pytest.raises(InvalidArgument, match="does nothing"):
        curve_of_dp_event(FIXED(100, 10, dp_event.NoOpDpEvent()))


class Tensor:
    """A tensor without dimensions, as TensorFlow has them."""

    shape = ()

    def __init__(self, value):
        self.value = value

    def numpy(self):
        return self.value


def test_numbers_in_tensors_are_read():
    made = curve_of_dp_event(dp_event.GaussianDpEvent(Tensor(np.float32(0.1))))
    assert made.composition.events[0]["noise_multiplier"] == Fraction(float(np.float32(0.1)))
    with pytest.raises(InvalidArgument, match="promises nothing"):
        curve_of_dp_event(dp_event.LaplaceDpEvent(Tensor(0.0)))
    for wrong in (Tensor(None), Tensor("many"), Tensor(np.float32("nan"))):
        with pytest.raises((InvalidArgument, InvalidNumber)):
            curve_of_dp_event(dp_event.GaussianDpEvent(wrong))


def test_releases_without_the_newer_events_are_read(monkeypatch):
    """TensorFlow Privacy 0.9.0 brings dp_accounting 0.4.3, of 2023: its events raised an AttributeError."""
    for name in ("RandomizedResponseDpEvent", "TruncatedSubsampledGaussianDpEvent", "DiscreteGaussianDpEvent"):
        monkeypatch.delattr(dp_event, name, raising=False)
    made = curve_of_dp_event(dp_event.SelfComposedDpEvent(dp_event.PoissonSampledDpEvent(0.5, GAUSSIAN), 3))
    assert made.composition.events[0].count == 3
