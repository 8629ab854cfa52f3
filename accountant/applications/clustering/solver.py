"""Weighted k-median and k-means on public candidates, without privacy: single-swap local search with a proved ratio.

Clients t with weights w_t ≥ 0, facilities c, costs (d(t, c))^q for a metric d. A set S of k facilities is *η-stable* if no exchange of one
facility lowers its cost by more than η·cost(S)/k.

**Theorem (docs/metric-clustering.md, Theorem 6).** An η-stable S costs at most α_q(η) times the optimum: α_1 = 5/(1 − η) (Arya et al. 2004
for η = 0), α_2 = ((4 + √(16 + 9(1 − η)))/(1 − η))², which is 81 for η = 0. (Kanungo et al. 2004 prove 25 in Euclidean space with
free centres; their step needs centroids.)

Own code, because the maintained library (`kmedoids`) takes no weights and has clients and facilities from one set.
"""

from __future__ import annotations

import math

import numpy as np

from profiles.arrays import Floats

TOLERANCE = 1e-6
_SEED = 4032  # public: what is drawn here depends on nothing else


def ratio_of_solver(power: int, tolerance: float = TOLERANCE) -> float:
    """Return α_q(η) of docs/metric-clustering.md, Theorem 6: 5 and 81 for η = 0.

    >>> ratio_of_solver(1, 0), ratio_of_solver(2, 0)
    (5.0, 81.0)
    """
    rest = 1 - tolerance
    return 5 / rest if power == 1 else ((4 + math.sqrt(16 + 9 * rest)) / rest) ** 2


def solve_weighted(costs: Floats, weights: Floats, k: int, *, restarts: int = 4) -> tuple[int, ...]:
    """Return k facilities, sorted: the cheapest η-stable set of ``restarts`` searches, η = 10^−6, from public starting draws.

    ``costs`` of shape (clients, facilities), not negative; ``weights`` of shape (clients,); 1 ≤ k ≤ facilities.

    >>> solve_weighted(np.array([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]), np.array([1.0, 3.0]), 1)
    (2,)
    """
    heavy = np.flatnonzero(weights > 0)
    if not heavy.size:
        return tuple(range(k))
    served, mass = costs[heavy], weights[heavy]
    if k == 1:
        return (int((mass @ served).argmin()),)
    rng = np.random.default_rng(_SEED)
    best, least = tuple(range(k)), math.inf
    for _ in range(restarts):
        chosen, cost = improve(served, mass, seed_facilities(served, mass, k, rng))
        if cost < least:
            best, least = tuple(sorted(chosen)), cost
    return best


def seed_facilities(costs: Floats, weights: Floats, k: int, rng: np.random.Generator) -> list[int]:
    """Return k facilities: k times a client with probability proportional to weight times cost so far, and its cheapest facility."""
    chosen: list[int] = []
    current = np.full(len(costs), max(1.0, float(costs.max())))
    free = np.ones(costs.shape[1], dtype=np.bool_)
    for _ in range(k):
        mass = np.cumsum(weights * current)
        if mass[-1] > 0:
            client = min(int(np.searchsorted(mass, rng.random() * mass[-1], side="right")), len(costs) - 1)
            facility = int(np.where(free, costs[client], np.inf).argmin())
        else:
            facility = int(free.argmax())
        chosen.append(facility)
        free[facility] = False
        current = np.minimum(current, costs[:, facility])
    return chosen


def improve(costs: Floats, weights: Floats, start: list[int]) -> tuple[list[int], float]:
    """Return an η-stable set that is reached from ``start`` by best exchanges, and its cost.

    With n the nearest of S to a client, d_1 and d_2 the two least costs: taking c in for s costs Σ w·min(c, d_1), plus
    Σ w·(min(c, d_2) − min(c, d_1)) over the clients with n = s. Every exchange lowers the cost by a factor of 1 − η/k at least.
    """
    chosen, k = list(start), len(start)
    while True:
        table = costs[:, chosen]
        order = np.argpartition(table, 1, axis=1)[:, :2]
        two = np.take_along_axis(table, order, axis=1)
        swap = two[:, 0] > two[:, 1]
        nearest = np.where(swap, order[:, 1], order[:, 0])
        first, second = two.min(axis=1), two.max(axis=1)
        cost = float(weights @ first)
        kept = np.minimum(costs, first[:, np.newaxis])
        lost = np.minimum(costs, second[:, np.newaxis]) - kept
        shares = np.zeros((k, len(costs)))
        shares[nearest, np.arange(len(costs))] = weights
        after = shares @ lost + weights @ kept
        after[:, chosen] = np.inf
        leaving, coming = divmod(int(after.argmin()), costs.shape[1])
        if not after[leaving, coming] < cost * (1 - TOLERANCE / k):
            return chosen, cost
        chosen[leaving] = coming
