"""The study of importance sampling under (ε, δ) on tiny sizes: tables are read to the safe side, variances are right, the program runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.delta import __main__ as program
from benchmarks.delta import epsilons, plans, runs, schemes, summary
from benchmarks.delta.data import load
from benchmarks.delta.schemes import DELTA, STEPS, Scheme, read_table
from benchmarks.study.store import PartStore, Task

TABLE = ((0.001, 1000.0), (0.01, 50.0), (0.02, 2.0))


def test_a_table_is_read_at_zeta_rounded_up() -> None:
    found = read_table(TABLE, np.array([0.0, 0.001, 0.0010001, 0.01, 0.015, 0.02, 0.021]))
    assert found.tolist() == [0.001, 0.001, 0.02, 0.02, 0.5, 0.5, np.inf]


def test_the_noise_of_a_table_gives_the_batch_and_keeps_every_record_in_it() -> None:
    problem = load("heavy")
    task = Task("schemes", {"dataset": "heavy", "scheme": "weights-T", "m": 100, "table": [list(pair) for pair in TABLE]})
    (row,) = schemes.run_scheme(task)
    shares = schemes.bound_shares(problem, problem.train)
    q = Scheme("weights-T", 0.0, row["sigma"], TABLE).probabilities(shares, problem.clip)
    assert q.max() <= 1
    assert 50 < q.sum() <= 100


@pytest.mark.thorough
@pytest.mark.parametrize("scheme", [Scheme("norm-gradient", 0.05, 3.0), Scheme("weights-T", 0.0, 1000.0, TABLE)])
def test_the_variance_is_that_of_runs(scheme: Scheme) -> None:
    """300 samples of one step on digits: the mean square distance to the true sum, within 6 standard errors."""
    problem = load("digits")
    theta = np.zeros((10, len(problem.train.values)))
    q = runs.find_probabilities(problem, scheme, theta, runs.fixed_probabilities(problem, scheme))
    z = problem.clip * schemes.gradient_shares(problem, problem.train, theta)
    truth = runs.estimate_gradient(problem, problem.train, np.ones(len(q)), theta)
    assert truth == pytest.approx(schemes.sum_gradients(problem, problem.train, theta))
    rng, found = np.random.default_rng(1), []
    for _ in range(300):
        chosen = np.flatnonzero(rng.random(len(q)) < q)
        found.append(float(((runs.estimate_gradient(problem, problem.train.take(chosen), q[chosen], theta) - truth) ** 2).sum()))
    expected = float(((1 / q - 1) * z**2).sum())
    assert abs(np.mean(found) - expected) < 6 * np.std(found) / len(found) ** 0.5


def test_intervals_and_the_best_learning_rate() -> None:
    mean, half = summary.interval([1.0, 2.0, 3.0])
    assert (mean, half) == (2.0, pytest.approx(2.484, abs=1e-3))
    base = {"dataset": "a", "scheme": "uniform", "m": 1, "batch": 1.0}
    rows = [{**base, "learning_rate": rate, "error": rate / 10, "objective": 3.0 - rate} for rate in (1.0, 2.0) for _ in range(2)]
    (best,) = summary.best_rates(rows)
    assert (best["learning_rate"], best["mean"]) == (2.0, 0.2)


def make_tiny() -> list[Task]:
    base = {"dataset": "digits", "m": 100, "steps": STEPS, "table": []}
    one = {**base, "scheme": "norm-gradient", "rate": 0.2, "sigma": 25.0}
    return [
        Task("tables", {"epsilon": "4", "delta": DELTA, "steps": STEPS, "place": 0}),
        Task("schemes", {**base, "scheme": "uniform"}),
        Task("schemes", {**base, "scheme": "norm-bound"}),
        Task("variance", one),
        Task("reference", {"dataset": "digits", "steps": STEPS}),
        Task("runs", {**one, "seeds": 1}),
        *epsilons.make_tasks(["digits"], [100])[:1],
    ]


@pytest.mark.thorough
def test_the_program_makes_tables_and_figures(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tiny = make_tiny()
    part_of = {"reference": "runs"}
    monkeypatch.setattr(program, "make_tasks", lambda part, _: [task for task in tiny if part_of.get(task.study, task.study) == part])
    assert program.main(["--out", str(tmp_path), "--jobs", "1"]) == 0
    tables = (tmp_path / "tables.md").read_text()
    assert all(f"## {study}\n" in tables for study in ("schemes", "variance", "reference", "runs", "epsilons"))
    assert len(list(tmp_path.glob("*.png"))) == 3
    rows = PartStore(tmp_path / "parts").collect(tiny)
    assert len([row for row in rows if row.get("scheme") == "norm-bound"]) == 0  # all bounds are C there


def test_the_parts_of_a_quick_study(tmp_path: Path) -> None:
    chosen = program.parse(["--quick", "--out", str(tmp_path)])
    assert {task.key["epsilon"] for task in plans.make_tasks("tables", chosen)} == {"4"}
    assert [task.key["m"] for task in plans.make_tasks("schemes", chosen)] == [30] * 5 + [100] * 5
    assert plans.make_tasks("variance", chosen) == []  # nothing is stored yet
    assert [task.study for task in plans.make_tasks("runs", chosen)] == ["reference"]
    assert plans.make_tasks("peers", chosen) == []
