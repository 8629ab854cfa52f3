"""The parts of the study on tiny sizes: exact values where they are known, determinism by seed, refusals."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import expon, gamma, kstest

from benchmarks.study import __main__ as program
from benchmarks.study import adapters, authors, certified, kmeans, laplace
from benchmarks.study.data import SHARED, load, measure, preprocess
from benchmarks.study.store import PartStore, Task
from benchmarks.study.summary import quartiles, table, text
from benchmarks.study.table1 import ROWS, Facts, generate
from profiles import InvalidArgument, InvalidTarget

FACTS = Facts(1_000, 3, Fraction(2), Fraction(1))
NORMS = np.linspace(0.1, 2.0, 1_000)


def test_figure_2_is_determined_by_its_seed_and_agrees_with_the_exact_error() -> None:
    task = Task("figure-2-right", {"reading": "free", "b": 10, "runs": 200, "data_seed": 0})
    rows = laplace.run_right(task)
    assert rows == laplace.run_right(task)
    for row in rows:
        assert abs(row["mse"] - row["mse_exact"]) < 6 * row["mse_error"]
    by_rule = {row["rule"]: row for row in rows}
    assert by_rule["constrained"]["worst_loss"] <= by_rule["constrained"]["target"] * (1 + 1e-12)
    assert by_rule["variance-optimal"]["mse_exact"] == min(row["mse_exact"] for row in rows)


def test_figure_2_left_has_nineteen_points() -> None:
    points = laplace.draw_points(0)
    scale, target = laplace.left_target(points, "sized")
    q, _ = laplace.constrain(points, scale, target)
    assert scale == 1
    assert q.sum() == pytest.approx(19, rel=1e-8)


@pytest.mark.parametrize("name", ["pose", "miniboone"])
def test_synthetic_data_has_the_numbers_of_table_1(name: str) -> None:
    facts, points = ROWS[name].facts, generate(name, 20)
    norms = np.linalg.norm(points, axis=1)
    assert points.shape == (facts.n // 20 // 2 * 2, facts.dimension)
    assert norms.max() == pytest.approx(float(facts.radius), rel=1e-11)
    assert measure(name, points).facts.radius == facts.radius  # no point is above it
    assert np.mean(norms**2) == pytest.approx(float(facts.mean_square), rel=1e-10)
    assert np.linalg.norm(points.mean(axis=0)) < 1e-9 * float(facts.radius)
    assert np.array_equal(points, generate(name, 20))


def test_the_largest_sizes_of_table_1() -> None:
    # n x̃/r² by hand: 142107 · 7031359.55 / 8020.65² = 15532.5; 126812 · 295947.13 / 2213.05² = 7662.9
    assert math.floor(ROWS["kdd-protein"].facts.largest_size) == 15_532
    assert math.floor(ROWS["miniboone"].facts.largest_size) == 7_662


def test_preprocessing_by_hand() -> None:
    points = np.array([[float(i)] for i in range(41)])  # centred: -20 ... 20; the 97.5th percentile of the norms is 20
    kept = preprocess(points)
    assert len(kept) == 39
    assert np.array_equal(kept[:, 0], np.arange(-19.0, 20.0))
    assert measure("it", kept).facts == Facts(39, 1, Fraction(19), Fraction("126.666666667"))


def test_unknown_data_and_missing_data_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(SHARED, str(tmp_path))
    load.cache_clear()
    for name, message in (("nothing", "unknown"), ("like-pose/x", "unknown"), ("ijcnn1", SHARED)):
        with pytest.raises(InvalidArgument, match=message):
            load(name)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(("method", "epsilon"), [("uniform", 0.5), ("coreset", 200.0), ("full", 3.0)])
def test_noise_is_certified_and_not_larger_than_needed(method: str, epsilon: float) -> None:
    found = adapters.select(method, FACTS, NORMS, 100, epsilon, ratio=Fraction(7, 10), iterations=10)
    assert found.certified.kernel
    assert epsilon * (1 - 1e-5) < found.certified.lower <= found.certified.upper <= epsilon


def test_uniform_noise_by_hand() -> None:
    # ψ(r) = log(1 + q(e^ε₀ − 1)) = ε with ε₀ = T(1/0.7 + r)/(q β_sum), q = 1/10, r = 2, T = 10: β_sum = 10(1/0.7 + 2)/(q ε₀)
    found, _ = adapters.calibrate("uniform", FACTS, NORMS, 100, 0.5, ratio=Fraction(7, 10), iterations=10)
    unsampled = math.log1p(math.expm1(0.5) / 0.1)
    assert float(found.sum) == pytest.approx(10 * (1 / 0.7 + 2) / (0.1 * unsampled), rel=2e-6)
    assert float(found.count) == pytest.approx(0.7 * float(found.sum), rel=1e-9)


def test_constrained_noise_reaches_the_size_or_says_that_none_does() -> None:
    found = adapters.select("constrained", FACTS, NORMS, 100, 5.0, ratio=Fraction(7, 10), iterations=10)
    assert found.probabilities.sum() == pytest.approx(100, rel=2e-6)
    assert authors.judge_weights(NORMS, found.weights, float(found.scales.sum), float(found.scales.count), 5.0)[0] == 0
    with pytest.raises(InvalidTarget):
        adapters.select("constrained", FACTS, NORMS, 900, 5.0, ratio=Fraction(7, 10), iterations=10)


def test_a_grid_and_end_points_are_lower_bounds() -> None:
    row = certified.run_bounds(Task("bounds", {"row": "miniboone", "m": 5_000, "target": 100.0, "lam": "0.5"}))[0]
    assert row["ends"] < row["grid"] == pytest.approx(100, rel=1e-9)
    assert row["grid"] < row["lower"] <= row["upper"]
    assert row["kernel"]
    assert 1e-4 < row["grid_share"] < 1e-3
    # the maximum lies near z = sqrt(x̃) for λ = 1/2 and a small T/β_count: (a + t z)/(b + s z²) is largest there for a = 0
    assert row["at_share"] == pytest.approx(math.sqrt(295947.13) / 2213.05, rel=0.05)


def test_least_error_ratio_is_a_minimum() -> None:
    def error(ratio: float) -> float:  # at the cost r/β_sum + 1/β_count = 1
        beta_sum = float(FACTS.radius) + 1 / ratio
        return FACTS.dimension * (FACTS.dimension + 1) * beta_sum**2 + 2 * float(FACTS.mean_square) * (ratio * beta_sum) ** 2

    best = float(adapters.RATIOS["least-error"](FACTS))
    assert error(best) < min(error(best * 1.001), error(best / 1.001))


def test_noise_has_the_law_that_it_names() -> None:
    shape, scales = (400, 10, 3), adapters.Scales(Fraction(2), Fraction(5))
    for law, expected in (("gamma", gamma(3, scale=5).cdf), ("exponential", expon(scale=5).cdf)):
        noise = adapters.draw_noise(np.random.default_rng(1), scales, shape, law)
        assert kstest(np.linalg.norm(noise.sums, axis=-1).ravel(), expected).pvalue > 1e-7
    assert not adapters.draw_noise(np.random.default_rng(1), None, shape, "gamma").sums.any()


def test_lloyd_by_hand() -> None:
    points, weights = np.array([[0.0], [1.0], [10.0], [14.0]]), np.array([1.0, 3.0, 1.0, 1.0])
    noise = adapters.Noise(np.array([[0.0, 0.0]]), np.array([[[1.0], [0.0]]]))
    run = lambda **options: adapters.run_lloyd(points, weights, np.array([[0.0], [9.0]]), noise, **options)  # noqa: E731
    np.testing.assert_allclose(run(least_count=None, ball=None), [[1.0], [12.0]])  # (0 + 3 + 1)/4 and 24/2
    np.testing.assert_allclose(run(least_count=3.0, ball=None), [[1.0], [9.0]])
    np.testing.assert_allclose(run(least_count=None, ball=11.0), [[1.0], [11.0]])
    assert adapters.mean_cost(points, np.array([[1.0], [12.0]])) == (1 + 0 + 4 + 4) / 4


@pytest.mark.thorough
def test_runs_are_determined_by_their_seed_not_by_their_block() -> None:
    def rows(first: int, last: int) -> list[dict[str, object]]:
        key = {"dataset": "digits", "protocol": "private", "method": "coreset", "m": 100, "epsilon": 30.0, "seeds": [first, last]}
        return [{name: value for name, value in row.items() if name != "seconds"} for row in kmeans.run_block(Task("kmeans", key))]

    together = rows(0, 3)
    assert together == rows(0, 2) + rows(2, 3)
    assert len({row["cost"] for row in together}) == 3


def test_an_unreachable_size_gives_no_rows() -> None:
    key = {"dataset": "digits", "protocol": "private", "method": "constrained", "m": 1_700, "epsilon": 3.0, "seeds": [0, 1]}
    assert kmeans.run_block(Task("kmeans", key)) == []


def test_tasks_of_both_figures_are_run_once() -> None:
    tasks = kmeans.make_tasks([kmeans.Plan("digits", ("private",), 15)])
    assert len({task.text for task in tasks}) == len(tasks)
    pairs = 3 * 8 + 2 * 2  # Figure 3, and two more sizes at two ε for Figure 4
    assert len(tasks) == 2 * (3 * pairs + 8)  # two blocks of seeds


def test_a_weight_just_above_the_optimum_is_found() -> None:
    # ε(w) = T w/β_count with z = 0, T = 10, β_count = 10: e^w = 1 + w(e^ε* − 1) at w = 2 for e^ε* = (e² + 1)/2
    target = math.log((math.exp(2) + 1) / 2)
    weights = np.array([2 - 1e-9, 2 + 1e-9])
    share, excess = authors.judge_weights(np.zeros(2), weights, 1.0, 10.0, target)
    assert share == 0.5
    slope = (math.exp(2) * (2 - 1) + 1) / 4 / math.exp(target)  # dψ/dw = (e^w (w − 1) + 1)/w²/e^ψ
    assert excess == pytest.approx(slope * 1e-9, rel=1e-4)


def test_the_event_at_the_pole_bounds_the_loss_from_below() -> None:
    near, loss = authors.pole_event(2, 1.0, 0.5)
    assert near == pytest.approx(1 - math.exp(-0.5))
    rng = np.random.default_rng(3)
    directions = rng.standard_normal((200_000, 2))
    noise = directions / np.linalg.norm(directions, axis=1, keepdims=True) * rng.exponential(size=(200_000, 1))
    far = np.mean(np.linalg.norm(noise - [1.0, 0.0], axis=1) <= 0.5)
    assert 0 < loss < math.log(near / far)
    assert authors.pole_event(22, 0.214, 0.1)[1] > 50  # against a claimed loss of 0.214


def test_the_authors_code_is_not_looked_for_elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(authors.HOME, raising=False)
    assert authors.find_code(None) is None
    with pytest.raises(InvalidArgument, match=r"kmeans\.py, optimal\.py, utils\.py is not there"):
        authors.find_code(str(tmp_path))


@pytest.mark.thorough
def test_the_program_makes_tables_and_figures_and_refuses_damaged_parts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    task = Task("figure-2-right", {"reading": "free", "b": 100, "runs": 20, "data_seed": 0})
    monkeypatch.setattr(program, "make_tasks", lambda part, chosen: [task])
    arguments = ["--only", "figure-2", "--out", str(tmp_path), "--jobs", "1"]
    assert program.main(arguments) == 0
    assert "| free | 100 |" in (tmp_path / "tables.md").read_text()
    assert (tmp_path / "figure-2-right.png").stat().st_size > 1_000
    path = PartStore(tmp_path / "parts").path(task)
    path.write_bytes(path.read_bytes()[:-9])
    capsys.readouterr()
    assert program.main(arguments) == 2
    assert "remove it and run again" in capsys.readouterr().err


def test_quartiles_and_tables() -> None:
    rows = [{"m": 1, "cost": cost} for cost in (1.0, 2.0, 3.0, 4.0, 5.0)]
    assert quartiles(rows, "m") == [(1.0, (2.0, 3.0, 4.0))]
    assert table([{"a": 1}, {"a": None}], [("x", text("a"))]) == "| x |\n| --- |\n| 1 |\n|  |"
