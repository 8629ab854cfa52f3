"""The study of private k-means on tiny sizes: data as they are described, methods that need no peer, tables, the program as a whole."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.kmeans import __main__ as program
from benchmarks.kmeans import methods, runs, summary
from benchmarks.kmeans.data import CASES, Case, Data, load
from profiles import InvalidArgument


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("name", dict.fromkeys(case.name for case in CASES if case.name != "ijcnn1"))
def test_data_lie_in_their_public_ball(name: str) -> None:
    data = load(name)
    norms = np.linalg.norm(data.points - data.center, axis=1)
    assert np.isfinite(norms).all()
    # tails of the heavy mixture are longer than any ball
    assert (norms <= float(data.radius)).mean() > 0.999
    assert data.center.shape == data.points.shape[1:]


def test_six_data_sets_were_kept_apart() -> None:
    kept = {case.name for case in CASES if case.kept}
    assert len(kept) == 6
    assert not kept & {case.name for case in CASES if not case.kept}
    with pytest.raises(InvalidArgument, match="known are"):
        load("digits-9")


def test_cost_is_the_mean_squared_distance() -> None:
    points = np.array([[0.0], [1.0], [5.0]])
    assert runs.measure_cost(points, np.array([[0.0], [4.0]])) == pytest.approx(2 / 3)


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["ours", "ours, public", "ours, δ", "private mean", "DPLloyd", "k-means++", "mean"])
def test_methods_return_centres_in_the_coordinates_of_the_data(name: str) -> None:
    rng = np.random.default_rng(1)
    points = np.array([[3.0, 0.0], [-3.0, 1.0]])[rng.integers(0, 2, 4000)] + rng.normal(size=(4000, 2)) / 10
    data = Data(points + 1, np.array([0.5, 0.0]), "6")
    found = methods.METHODS[name](data, 2, "5", range(2))
    assert len(found) in (1, 2)
    again = methods.METHODS[name](data, 2, "5", range(2))
    for one, other in zip(found, again, strict=True):
        assert np.array_equal(one.centres, other.centres)
        limit = 10.5 if name in ("private mean", "mean") else 0.5
        assert runs.measure_cost(data.points, one.centres) < limit or name == "DPLloyd"


def test_tables_are_normalised_between_both_ends() -> None:
    case = Case("digits", 8)
    plain = {"data": "digits", "k": 8, "seed": 0, "time": 1.0, "Q": None}
    rows = [
        {**plain, "method": "k-means++", "epsilon": "none", "cost": 2.0},
        {**plain, "method": "mean", "epsilon": "none", "cost": 4.0},
        *({**plain, "method": "ours", "epsilon": epsilon, "cost": 3.0} for epsilon in runs.EPSILONS),
        *({**plain, "method": "private mean", "epsilon": epsilon, "cost": 2.5} for epsilon in runs.EPSILONS),
    ]
    assert summary.normalise(rows, "ours", case, "1") == pytest.approx(0.5)
    assert "| digits, k = 8 | ours | 0.500 | 0.500 | 0.500 | 0.500 |" in summary.make_table(rows)
    checks = summary.make_checks(rows)
    assert "| ours | 1.05 × private mean | 0 of 4 | digits, k = 8, ε = 0.3: +20.0%" in checks
    assert "| ours | 1.05 × mean | 4 of 4 |" in checks


def test_peers_that_are_not_there_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(methods.PEERS, raising=False)
    assert not methods.is_here("diffprivlib, charged")
    assert not methods.is_here("google")
    assert methods.is_here("ours")


@pytest.mark.thorough
def test_only_what_takes_long_has_few_seeds_and_methods_can_be_run_by_themselves() -> None:
    tasks = [task for part in runs.PARTS for task in runs.make_tasks(part, program.parse([]))]
    most = {(task.key["method"], task.key["data"]): task.key["last"] for task in tasks}
    assert set(most.values()) == {20}
    chosen = program.parse(["--method", "DPLloyd", "--method", "mean"])
    assert {task.key["method"] for part in runs.PARTS for task in runs.make_tasks(part, chosen)} == {"DPLloyd", "mean"}
    chosen = program.parse(["--data", "cancer", "--data", "cube"])
    assert {task.key["data"] for part in runs.PARTS for task in runs.make_tasks(part, chosen)} == {"cancer", "cube"}


@pytest.mark.thorough
def test_the_program_runs_and_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(methods.PEERS, raising=False)
    assert program.main(["--quick", "--out", str(tmp_path), "--jobs", "1"]) == 0
    tables = (tmp_path / "tables.md").read_text(encoding="utf-8")
    assert "| cancer, k = 4 | ours | " in tables
    assert all((tmp_path / f"{name}.png").stat().st_size > 1000 for name in ("costs", "costs-kept", "costs-raw", "signal"))
    assert program.main(["--quick", "--out", str(tmp_path), "--report"]) == 0
