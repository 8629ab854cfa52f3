"""The study of DP-Lloyd under two laws of noise on tiny sizes: mixtures, Lloyd without noise, predictions, and the program as a whole."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.cluster import KMeans

from benchmarks.delta_lloyd import __main__ as program
from benchmarks.delta_lloyd import runs, summary

KEY = {"law": "gaussian", "d": 3, "T": 4, "epsilon": "1", "n": 500, "k": 4, "delta": "1e-6", "seeds": 2}


def test_mixtures_have_the_sizes_that_are_named() -> None:
    points, start = runs.make_mixture(1, 40_000, 16, 8)
    assert np.square(points).sum(axis=1).mean() == pytest.approx(0.6**2 + 0.2**2, rel=0.01)
    assert start.shape == (8, 16)
    assert (runs.make_mixture(1, 40_000, 16, 8)[0] == points).all()
    assert (runs.make_mixture(2, 40_000, 16, 8)[1] != start).any()


def test_lloyd_without_noise_is_that_of_scikit_learn() -> None:
    points, start = runs.make_mixture(3, 500, 3, 4)
    found = runs.follow_plain(points, start, 6)
    other = KMeans(4, init=start, n_init=1, max_iter=6, tol=0, algorithm="lloyd").fit(points)
    if len(np.unique(other.labels_)) == 4:
        assert runs.measure(points, found) == pytest.approx(other.inertia_ / 500, rel=0.05)


@pytest.mark.thorough
def test_the_first_order_error_is_that_of_runs() -> None:
    """One iteration, one cluster: the mean squared move of its centre, for both laws."""
    points, start = np.zeros((4000, 2)), np.zeros((1, 2))
    points[:, 0] = 0.6
    for law in runs.LAWS:
        key = {**KEY, "law": law, "d": 2, "T": 1, "n": 4000, "k": 1, "epsilon": "2"}
        mechanism = runs.fit(points, start, key, 0).mechanism_
        moves = np.square(mechanism.sample(points, 1, 4000)[:, 0] - [0.6, 0.0]).sum(axis=1)
        assert moves.mean() == pytest.approx(runs.predict(key), rel=0.1)


def test_intervals() -> None:
    assert summary.mean_interval([1.0, 2.0, 3.0]) == pytest.approx((2.0, 4.302652729749464 / np.sqrt(3)))


@pytest.mark.thorough
def test_the_program_runs_and_goes_on(tmp_path: Path) -> None:
    assert program.main(["--quick", "--out", str(tmp_path), "--jobs", "1"]) == 0
    table = (tmp_path / "tables.md").read_text(encoding="utf-8")
    assert table.count("\n| ") == 8 + 2  # with the head of the table
    assert (tmp_path / "lloyd.png").stat().st_size > 1000
    assert program.main(["--quick", "--out", str(tmp_path), "--report"]) == 0
