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

#: What runs, the part of the budget that its exact ε has to reach, and the most records.
SOUND: dict[str, tuple[Program, float, int]] = {
    "every record": (run_pipeline(), 0.99, 2),
    "two counts of every record": (run_pipeline(method=two_counts), 0.99, 2),
    "uniform": (run_pipeline(sample=SampleChoice("uniform", Fraction(1, 2))), 0.9, 1),
    "coreset": (run_pipeline(sample=SampleChoice("coreset", Fraction(1, 2))), 0.9, 1),
    "privacy-constrained": (run_pipeline(sample=SampleChoice("privacy-constrained", None)), 0.7, 1),
}


@pytest.fixture(autouse=True)
def _plan_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plans are functions of released numbers: each is made once."""

    def plan(choice, statistics, *, radius, budget, share):  # type: ignore[no-untyped-def]
        return private_kmeans._plan(choice, statistics.count, statistics.rms, radius, budget, share)

    monkeypatch.setattr(sampling, "plan_sample", plan)


#: Just below e^2, for the budget of 2 nats.
LARGEST = Fraction(7389056, 10**6)


def find_worst(program: Program, records: tuple[int, ...] = UNIVERSE, size: int = 2) -> list[Fraction | None]:
    """Return e^ε in both directions, exactly; None where an output can occur on one side alone."""
    worst = exact_epsilon(lambda rows: enumerate_outputs(program, rows), records, max_size=size)
    return [None if side.ratio is None else Fraction(side.ratio) for side in (worst.plus, worst.minus)]  # type: ignore[arg-type]


@pytest.mark.thorough
@pytest.mark.parametrize("name", SOUND)
def test_the_exact_epsilon_is_within_the_budget_and_near_it(name: str) -> None:
    program, share, size = SOUND[name]
    ratios = find_worst(program, (1,), size)
    assert all(ratio is not None and ratio <= LARGEST for ratio in ratios)
    assert max(math.log(ratio) for ratio in ratios if ratio is not None) >= share * EPSILON


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("name", BROKEN)
def test_broken_twins_are_refuted(name: str) -> None:
    ratios = find_worst(BROKEN[name], (1,), 1 if name == "a sample reused" else 2)
    assert any(ratio is None or ratio > LARGEST * Fraction(11, 10) for ratio in ratios)
