"""JAX-Privacy calibrates its execution plans with our accountant, and what its plans run is accounted for from their own events."""

from __future__ import annotations

import dataclasses
import importlib
from fractions import Fraction

import pytest

pytest.importorskip("jax_privacy")

import numpy as np
from dp_accounting import NeighboringRelation
from dp_accounting.pld import PLDAccountant
from jax_privacy import batch_selection
from jax_privacy.experimental import accounting
from jax_privacy.experimental.execution_plan import BandMFExecutionPlanConfig

from accountant.curves import (
    Composition,
    Participation,
    account,
    bound_sensitivity,
    curve_of,
    declare_matrix,
    draw_batches,
    make_event,
    make_matrix,
)
from accountant.interop.dp_accounting import CertifiedAccountant, UnsupportedEvent
from accountant.interop.dp_events import curve_of_dp_event
from profiles.protection import Neighbors

pytestmark = pytest.mark.filterwarnings("default")
DELTA = 1e-5


def _config(**others):
    given = {
        "iterations": 32, "strategy": np.array([1.0, 0.5]), "epsilon": 2.0, "delta": DELTA, "sampling_prob": 0.125,
        "accountant": CertifiedAccountant(NeighboringRelation.REPLACE_SPECIAL), "noise_seed": 3,
    }  # fmt: skip
    return BandMFExecutionPlanConfig(**given | others)


def test_a_banded_plan_is_calibrated_with_our_accountant():
    plan = _config().plan
    made = CertifiedAccountant(NeighboringRelation.REPLACE_SPECIAL).compose(plan.dp_event)
    assert 1.97 < made.get_epsilon(DELTA) <= 2.0
    theirs = PLDAccountant(NeighboringRelation.REPLACE_SPECIAL).compose(plan.dp_event).get_epsilon(DELTA)
    assert theirs == pytest.approx(made.get_epsilon(DELTA), rel=2e-3)


def test_the_number_of_a_plan_is_that_of_account():
    config = _config(epsilon=None, delta=None, noise_multiplier=1.5)
    curve = curve_of_dp_event(config.plan.dp_event, neighbors="zero-out", hypotheses=())
    assert curve.guarantee.protection.neighbors is Neighbors.ZERO_OUT
    step = make_event("gaussian", {"noise_multiplier": "1.5"}, sampling_probability=0.125, count=16)  # a record is in one of two groups
    assert curve.epsilon(DELTA).upper == account(Composition("the plan", (step,)), delta=DELTA).point.upper
    assert {"null-record", "independent-draws", "fresh-samples"} <= {item.id for item in curve.hypotheses}


def test_records_that_are_added_need_independent_groups():
    independent = batch_selection.PartitionType.INDEPENDENT
    made = _config(accountant=CertifiedAccountant(), partition_type=independent).plan.dp_event
    assert 1.97 < CertifiedAccountant().compose(made).get_epsilon(DELTA) <= 2.0


def test_events_of_a_fixed_size_are_read_and_those_of_truncated_batches_refused_by_name():
    fixed = accounting.fixed_dpsgd_event(1.1, 10, dataset_size=100, batch_size=10)
    batches = draw_batches("fixed-size", "zero-out", records=100, batch_size=10)
    step = make_event("gaussian", {"noise_multiplier": 1.1}, count=10, batches=batches)
    truth, ours = curve_of(step).epsilon(DELTA), CertifiedAccountant(NeighboringRelation.REPLACE_SPECIAL)
    assert truth.lower <= ours.compose(fixed).get_epsilon(DELTA) <= float(truth.upper) * 1.002
    truncated = accounting.truncated_dpsgd_event(1.1, 10, sampling_prob=0.1, num_examples=100, truncated_batch_size=12)
    with pytest.raises(UnsupportedEvent):
        CertifiedAccountant(NeighboringRelation.REPLACE_SPECIAL).compose(truncated)


def test_dp_sgd_events_are_calibrated_in_its_own_words():
    event = accounting.dpsgd_event(1.0, 500, sampling_prob=0.01)
    assert dataclasses.is_dataclass(event) or hasattr(event, "event")
    found = CertifiedAccountant().compose(event).get_epsilon(DELTA)
    assert found == pytest.approx(PLDAccountant().compose(event).get_epsilon(DELTA), rel=2e-3)


def test_the_sensitivity_of_a_banded_strategy_is_that_of_all_its_steps():
    """jax_privacy #238: without n, release 2.0.0 takes the number of coefficients for it, and says a k-th part of s²."""
    toeplitz = importlib.import_module("jax_privacy.matrix_factorization.toeplitz")
    bands, participations = 8, 5
    coefficients = np.asarray(toeplitz.optimal_max_error_strategy_coefs(bands), dtype=np.float64)
    ours = bound_sensitivity(make_matrix(coefficients, bands * participations), Participation(bands, participations))
    assert ours.is_exact
    assert ours.upper == participations * sum(Fraction(float(item)) ** 2 for item in coefficients)
    theirs = toeplitz.minsep_sensitivity_squared(coefficients, min_sep=bands, max_participations=participations, n=bands * participations)
    assert float(theirs) == pytest.approx(float(ours.upper), rel=1e-6)
    try:
        short = float(toeplitz.minsep_sensitivity_squared(coefficients, min_sep=bands, max_participations=participations))
    except TypeError:  # newer releases ask for n
        return
    assert short == pytest.approx(float(ours.upper) / participations, rel=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_the_sensitivity_of_a_dense_strategy_agrees(seed):
    sensitivity = importlib.import_module("jax_privacy.matrix_factorization.sensitivity")
    rng = np.random.default_rng(seed)
    strategy = np.tril(rng.random((24, 24)) / (1 + np.abs(np.subtract.outer(np.arange(24), np.arange(24)))))
    ours = bound_sensitivity(make_matrix(strategy), Participation(6, 3))
    assert ours.is_exact
    theirs = sensitivity.get_min_sep_sensitivity_upper_bound_for_X(strategy.T @ strategy, min_sep=6, max_participations=3)
    assert float(ours.upper) <= float(theirs) ** 2 * (1 + 1e-5)  # which is an upper bound, in its own arithmetic
    once = bound_sensitivity(make_matrix(strategy), Participation(24))
    assert float(once.upper) == pytest.approx(float(sensitivity.single_participation_sensitivity(strategy)) ** 2, rel=1e-6)


def test_a_plan_is_the_matrix_mechanism_of_its_strategy():
    """The noise of a plan is its multiplier times the norm of a column; the groups take turns."""
    event = _config(epsilon=None, delta=None, noise_multiplier=1.5, strategy=np.array([1.0, 0.75])).plan.dp_event
    declared = declare_matrix(make_matrix([1, "0.75"], 32), "1.875", Participation(2), neighbors="zero-out", sampling_probability="0.125")
    plan, ours = curve_of_dp_event(event, neighbors="zero-out", hypotheses=()), curve_of(declared)
    assert ours.composition.events == plan.composition.events
    assert {"matrix-mechanism", "bands-grouped"} <= {item.id for item in ours.hypotheses}
    made = CertifiedAccountant(NeighboringRelation.REPLACE_SPECIAL).compose(event)
    assert made.get_epsilon(DELTA) == pytest.approx(float(account(ours, delta=DELTA).point.upper), rel=1e-9)


@pytest.mark.parametrize(("more", "relation"), [({}, "ADD_OR_REMOVE_ONE"), ({"num_examples": 6000}, "REPLACE_SPECIAL")])
def test_a_configuration_is_calibrated_by_a_function_that_makes_our_accountant(more, relation):
    """Of releases after 2.0.0: the example of BandMFConfig, with accountant_fn=CertifiedAccountant."""
    plans = pytest.importorskip("jax_privacy.execution_plan")
    config = plans.BandMFConfig(strategy=np.array([1.0, 0.5, 0.2]), iterations=30, expected_participations=4, **more)
    calibrated = config.calibrate(epsilon=2.0, delta=DELTA, accountant_fn=CertifiedAccountant)
    plan = calibrated.make()
    assert plan.neighboring_relation.name == relation
    made = CertifiedAccountant(plan.neighboring_relation).compose(plan.dp_event)
    assert 1.97 < made.get_epsilon(DELTA) <= 2.0
    ours = config.calibrate(epsilon=2.0, delta=DELTA)
    assert ours.noise_multiplier == pytest.approx(calibrated.noise_multiplier, rel=3e-3)
    assert made.hypotheses
