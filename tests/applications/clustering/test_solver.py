"""Local search against all sets, and its ratio."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from accountant.applications.clustering.solver import TOLERANCE, improve, ratio_of_solver, solve_weighted


def best_cost(costs, weights, k):
    return min(float(weights @ costs[:, list(chosen)].min(axis=1)) for chosen in itertools.combinations(range(costs.shape[1]), k))


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_against_all_sets(power, k):
    rng = np.random.default_rng(k)
    same = 0
    for _ in range(20):
        points = rng.random((9, 2))
        costs = np.linalg.norm(points[rng.permutation(9)[:7], np.newaxis] - points, axis=2) ** power
        weights = rng.exponential(size=7) * (rng.random(7) < 0.8)
        chosen = solve_weighted(costs, weights, k)
        assert len(set(chosen)) == k
        assert list(chosen) == sorted(chosen)
        found, best = float(weights @ costs[:, list(chosen)].min(axis=1)), best_cost(costs, weights, k)
        assert found <= ratio_of_solver(power) * best + 1e-12
        same += found <= best * (1 + 1e-9) + 1e-15
    assert same >= 18


def test_every_start_ends_in_a_stable_set():
    rng = np.random.default_rng(5)
    points = rng.random((12, 2))
    costs, weights = np.linalg.norm(points[:, np.newaxis] - points, axis=2), rng.random(12)
    for start in itertools.islice(itertools.combinations(range(12), 3), 0, 220, 11):
        chosen, cost = improve(costs, weights, list(start))
        assert cost == pytest.approx(float(weights @ costs[:, chosen].min(axis=1)))
        for place, coming in itertools.product(range(3), range(12)):
            other = [*chosen[:place], coming, *chosen[place + 1 :]]
            assert float(weights @ costs[:, other].min(axis=1)) >= cost * (1 - TOLERANCE / 3) - 1e-12


def test_edges():
    costs = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 1.0]])
    assert solve_weighted(costs, np.zeros(2), 2) == (0, 1)
    assert solve_weighted(costs, np.array([0.0, 2.0]), 1) == (1,)
    assert solve_weighted(costs, np.array([1.0, 2.0]), 3) == (0, 1, 2)
    assert solve_weighted(np.zeros((2, 3)), np.ones(2), 2) in {(0, 1), (0, 2), (1, 2)}
    assert solve_weighted(costs, np.array([1.0, 1.0]), 2) == (0, 1)


def test_the_ratio_of_81_follows_from_the_inequality():
    """(1 − η)ρ² − 8ρ − 9 = 0 at ρ² = α_2(η); without centroids there is no 25."""
    for eta in (0.0, 1e-6, 0.25):
        rho = ratio_of_solver(2, eta) ** 0.5
        assert (1 - eta) * rho**2 - 8 * rho - 9 == pytest.approx(0, abs=1e-9)
