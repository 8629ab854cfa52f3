"""The exact ε of the whole pipeline on a tiny universe, by running what ships over all outcomes of its noise and of its sample."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from accountant.applications.kmeans import sampling
from accountant.applications.kmeans.sampling import SampleChoice
from proofs_check.exact import enumerate_outputs, exact_epsilon
from tests.targets import private_kmeans
from tests.targets.private_kmeans import BROKEN, EPSILON, UNIVERSE, Program, run_pipeline, two_counts

SOUND: dict[str, tuple[Program, float]] = {
    "every record": (run_pipeline(), 0.95),
    "two counts of every record": (run_pipeline(method=two_counts), 0.95),
    "uniform": (run_pipeline(sample=SampleChoice("uniform", Fraction(1))), 0.3),
    "coreset": (run_pipeline(sample=SampleChoice("coreset", Fraction(1))), 0.3),
    "privacy-constrained": (run_pipeline(sample=SampleChoice("privacy-constrained", None)), 0.3),
}


@pytest.fixture(autouse=True)
def _plan_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plans are functions of released numbers: each is made once."""

    def plan(choice, statistics, *, radius, budget, share):  # type: ignore[no-untyped-def]
        return private_kmeans._plan(choice, statistics.count, statistics.rms, radius, budget, share)

    monkeypatch.setattr(sampling, "plan_sample", plan)


#: Just below e^2, for the budget of 2 nats.
LARGEST = Fraction(7389056, 10**6)


def find_worst(program: Program) -> tuple[float, float]:
    """Return the exact ε in both directions; infinite where an output can occur on one side alone."""
    worst = exact_epsilon(lambda records: enumerate_outputs(program, records), UNIVERSE, max_size=2)
    ratios = (worst.plus.ratio, worst.minus.ratio)
    return tuple(math.inf if ratio is None or ratio == math.inf else math.log(Fraction(ratio)) for ratio in ratios), ratios  # type: ignore[return-value]


@pytest.mark.thorough
@pytest.mark.parametrize("name", SOUND)
def test_the_exact_epsilon_is_within_the_budget_and_near_it(name: str) -> None:
    program, share = SOUND[name]
    (plus, minus), ratios = find_worst(program)
    assert all(ratio <= LARGEST for ratio in ratios)
    assert max(plus, minus) >= share * EPSILON


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("name", BROKEN)
def test_broken_twins_are_refuted(name: str) -> None:
    (plus, minus), _ = find_worst(BROKEN[name])
    assert max(plus, minus) > float(EPSILON) + 0.1
