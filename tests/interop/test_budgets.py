"""Budget accountants of diffprivlib and PipelineDP become curves with what they do not say left open; neither library is needed."""

from __future__ import annotations

import importlib.util
from fractions import Fraction
from types import SimpleNamespace

import pytest

from accountant.interop.budgets import curve_of_budget
from profiles import InvalidArgument, InvalidNumber
from profiles.protection import Unit

PAIRS = [(0.5, 0), (0.5, 0), (0.25, 1e-6)]


class Lazy:
    """What PipelineDP has of a mechanism before its budgets are computed."""

    mechanism_type = "Laplace"
    count = 1

    @property
    def eps(self):
        raise AssertionError("Privacy budget is not calculated yet.")


def specs(*items):
    return SimpleNamespace(mechanism_specs=[SimpleNamespace(eps=eps, delta=delta, count=count) for eps, delta, count in items])


@pytest.mark.parametrize("source", [PAIRS, SimpleNamespace(spent_budget=PAIRS), map(list, PAIRS)])
def test_charges_of_diffprivlib_are_events(source):
    curve = curve_of_budget(source)
    assert [(event.mechanism.value, event.count) for event in curve.composition.events] == [("pure", 2), ("approximate", 1)]
    assert curve.guarantee.unit is Unit.RECORD
    assert {"hypotheses-unknown", "neighbors-assumed", "declared-events"} <= {item.id for item in curve.hypotheses}
    assert curve.at_delta(1e-5).bound.upper <= Fraction("1.25")


def test_mechanisms_of_pipeline_dp_are_events_for_users():
    curve = curve_of_budget(specs((0.25, 0, 2), (0.5, 1e-6, 1)), hypotheses=["contributions are bounded by the engine"])
    assert [(event.mechanism.value, event.count) for event in curve.composition.events] == [("pure", 2), ("approximate", 1)]
    assert curve.guarantee.unit is Unit.USER
    ids = {item.id for item in curve.hypotheses}
    assert "hypotheses-unknown" not in ids
    assert {"stated", "neighbors-assumed", "one-user"} <= ids


def test_many_small_charges_cost_less_than_their_sum():
    curve = curve_of_budget([(0.1, 0)] * 100)
    assert curve.at_delta(1e-5).bound.upper < 5


@pytest.mark.parametrize(
    "bad",
    [[], [(1, 2, 3)], ["ab"], "ab", 3, None, [(float("inf"), 0)], [(1, 1.0)], [(-1, 0)], SimpleNamespace(mechanism_specs=[Lazy()]),
     SimpleNamespace(mechanism_specs=[SimpleNamespace(mechanism_type="Gaussian")]), SimpleNamespace(mechanism_specs=[]),
     specs((None, 0, 1)), specs((1, 0, 0))],
)  # fmt: skip
def test_other_sources_are_refused_in_a_sentence(bad):
    with pytest.raises((InvalidArgument, InvalidNumber), match=";"):
        curve_of_budget(bad)


@pytest.mark.skipif(importlib.util.find_spec("diffprivlib") is None, reason="needs diffprivlib: make test-interop")
@pytest.mark.filterwarnings("ignore")
def test_the_example_of_diffprivlib_with_a_line_more():
    import numpy as np  # noqa: PLC0415
    from diffprivlib import BudgetAccountant  # noqa: PLC0415
    from diffprivlib.tools import mean  # noqa: PLC0415

    spent = BudgetAccountant(epsilon=3, delta=1e-4)
    for _ in range(20):
        mean(np.arange(10.0), epsilon=0.1, bounds=(0, 10), accountant=spent)
    made = curve_of_budget(spent).at_delta(1e-5)
    assert made.bound.upper <= Fraction("1.86")
    assert float(made.bound.upper) < spent.total()[0]


@pytest.mark.skipif(importlib.util.find_spec("pipeline_dp") is None, reason="needs PipelineDP: make test-interop")
@pytest.mark.filterwarnings("ignore")
def test_the_example_of_pipeline_dp_with_a_line_more():
    import pipeline_dp  # noqa: PLC0415

    budget = pipeline_dp.NaiveBudgetAccountant(total_epsilon=1, total_delta=1e-6)
    engine = pipeline_dp.DPEngine(budget, pipeline_dp.LocalBackend())
    params = pipeline_dp.AggregateParams(
        noise_kind=pipeline_dp.NoiseKind.LAPLACE, metrics=[pipeline_dp.Metrics.COUNT, pipeline_dp.Metrics.SUM],
        max_partitions_contributed=1, max_contributions_per_partition=1, min_value=0, max_value=1,
    )  # fmt: skip
    extractors = pipeline_dp.DataExtractors(
        privacy_id_extractor=lambda row: row[0], partition_extractor=lambda row: row[1], value_extractor=lambda row: row[2]
    )
    result = engine.aggregate([(i, i % 3, 0.5) for i in range(300)], params, extractors)
    with pytest.raises(InvalidArgument, match="compute_budgets"):
        curve_of_budget(budget)
    budget.compute_budgets()
    assert len(list(result)) == 3
    made = curve_of_budget(budget).at_delta(1e-6)
    assert made.bound.upper <= Fraction("1.000000001")
    assert sum(event.count for event in curve_of_budget(budget).composition.events) == 3
