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

#: What runs, and the parts of the budget that its exact ε has to reach where a record goes, and where one comes.
SOUND: dict[str, tuple[Program, float, float]] = {
    "every record": (run_pipeline(), 0.99, 0.85),
    "two counts of every record": (run_pipeline(method=two_counts), 0.99, 0.65),
    "uniform": (run_pipeline(sample=SampleChoice("uniform", Fraction(1, 2))), 0.99, 0.8),
    "coreset": (run_pipeline(sample=SampleChoice("coreset", Fraction(1, 2))), 0.99, 0.8),
    "privacy-constrained": (run_pipeline(sample=SampleChoice("privacy-constrained", None)), 0.95, 0.7),
}


@pytest.fixture(autouse=True)
def _plan_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plans are functions of released numbers: each is made once."""

    def plan(choice, statistics, *, radius, budget, share):  # type: ignore[no-untyped-def]
        return private_kmeans._plan(choice, statistics.count, statistics.rms, radius, budget, share)

    monkeypatch.setattr(sampling, "plan_sample", plan)


#: One record is enough against these.
ONE_RECORD = {"a sample reused", "a coreset drawn by another rule", "weights above the largest"}
#: Just below e^2, for the budget of 2 nats.
LARGEST = Fraction(7389056, 10**6)


def find_worst(program: Program, records: tuple[int, ...] = UNIVERSE, size: int = 2) -> list[Fraction | None]:
    """Return e^ε in both directions, exactly; None where an output can occur on one side alone."""
    worst = exact_epsilon(lambda rows: enumerate_outputs(program, rows), records, max_size=size)
    return [None if side.ratio is None else Fraction(side.ratio) for side in (worst.remove, worst.add)]  # type: ignore[arg-type]


@pytest.mark.thorough
@pytest.mark.parametrize("name", SOUND)
def test_the_exact_epsilon_is_within_the_budget_and_near_it(name: str) -> None:
    """All data sets of at most two records of lengths 0 and 1 about the public center: their lengths about a released mean differ."""
    program, *shares = SOUND[name]
    for ratio, share in zip(find_worst(program), shares, strict=True):
        assert ratio is not None
        assert ratio <= LARGEST
        assert math.log(ratio) >= share * EPSILON


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("name", BROKEN)
def test_broken_twins_are_refuted(name: str) -> None:
    ratios = find_worst(BROKEN[name], (1,), 1 if name in ONE_RECORD else 2)
    assert any(ratio is None or ratio > LARGEST * Fraction(11, 10) for ratio in ratios)
