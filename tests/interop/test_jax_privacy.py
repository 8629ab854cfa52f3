"""JAX-Privacy calibrates its execution plans with our accountant, and what its plans run is accounted for from their own events."""

from __future__ import annotations

import dataclasses

import pytest

pytest.importorskip("jax_privacy")

import numpy as np
from dp_accounting import NeighboringRelation
from dp_accounting.pld import PLDAccountant
from jax_privacy import batch_selection
from jax_privacy.experimental import accounting
from jax_privacy.experimental.execution_plan import BandMFExecutionPlanConfig

from accountant.curves import Composition, account, make_event
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


def test_events_of_other_batches_are_refused_by_name():
    fixed = accounting.fixed_dpsgd_event(1.1, 10, dataset_size=100, batch_size=10)
    truncated = accounting.truncated_dpsgd_event(1.1, 10, sampling_prob=0.1, num_examples=100, truncated_batch_size=12)
    for event in (fixed, truncated):
        with pytest.raises(UnsupportedEvent):
            CertifiedAccountant(NeighboringRelation.REPLACE_SPECIAL).compose(event)


def test_dp_sgd_events_are_calibrated_in_its_own_words():
    event = accounting.dpsgd_event(1.0, 500, sampling_prob=0.01)
    assert dataclasses.is_dataclass(event) or hasattr(event, "event")
    found = CertifiedAccountant().compose(event).get_epsilon(DELTA)
    assert found == pytest.approx(PLDAccountant().compose(event).get_epsilon(DELTA), rel=2e-3)
