"""The error bound of Theorem 1.5 with explicit constants: docs/metric-clustering.md, Theorem 7. Statements about utility, not privacy."""

from __future__ import annotations

import math

import numpy as np

from accountant.applications.clustering.private import PrivateMetricClustering, rounds_for
from accountant.applications.clustering.solver import ratio_of_solver
from accountant.applications.clustering.space import UNITS
from profiles import InvalidArgument

_SHARES = np.linspace(0.01, 0.99, 99)
_OUTWARD = 1 + 1e-9


def bound_cost(model: PrivateMetricClustering, optimum: float, records: int, beta: float) -> float:
    """Return an upper bound of cost(centres; D) that holds with probability at least 1 − ``beta``, in the unit of the distances.

    ``optimum``: OPT_k(D), in the same unit; ``records``: n. For a sampled histogram, and records that are candidates or rows of distances;
    where all candidates are selected it holds as well. Source: docs/metric-clustering.md, Theorem 7; Ghazi et al. 2024, Theorem 1.5.
    Raises :class:`InvalidArgument` for a full histogram, which has no such bound, and for numbers out of range.

    >>> from accountant.applications.clustering import read_distances
    >>> model = PrivateMetricClustering(read_distances([[0, 1], [1, 0]]), k=1, epsilon=1, rounds=1)
    >>> bound_cost(model, 1000, 100_000, 0.05) < 30_000
    True
    """
    if model.budget.full or model.budget.plan is None:
        raise InvalidArgument("the bound is proved for a sampled histogram, but a full one was asked for; use histogram='sampled'")
    if not (0 < beta < 1 and optimum >= 0 and records >= 0):
        raise InvalidArgument("0 < beta < 1, optimum >= 0 and records >= 0 are needed, but another number was found; correct it")
    scale = model.space.diameter**model.power
    best = min(_bound(model, optimum / scale, records, beta, float(share)) for share in _SHARES)
    return min(best, float(records)) * scale * _OUTWARD


def bound_free_cost(model: PrivateMetricClustering, optimum: float, records: int, beta: float) -> float:
    """Return an upper bound of cost(centres; D) for points in the box of a grid, with probability at least 1 − ``beta``.

    ``optimum``: the least cost of any k centres in ℝ^d, in the norm of the space and with its power; not of k candidates. Formula, with
    ρ the radius of the grid, q the power and B of :func:`bound_cost`: (B((OPT^(1/q) + 2ρ n^(1/q))^q)^(1/q) + ρ n^(1/q))^q.
    Source: docs/metric-clustering.md, Theorem 8. Raises :class:`InvalidArgument` unless the space is a grid, and like :func:`bound_cost`.

    >>> from accountant.applications.clustering import measure_grid
    >>> space = measure_grid([(0, 1)], 100, norm=1)
    >>> model = PrivateMetricClustering(space, k=2, epsilon=1, n_bound=10**6)
    >>> bound_free_cost(model, 1000, 10**6, 0.05) > bound_cost(model, 1000, 10**6, 0.05)
    True
    """
    grid = model.space.grid
    if grid is None:
        raise InvalidArgument("free centres are compared with those of a grid, but the space has none; make it with measure_grid")
    if not (optimum >= 0 and records >= 0):
        raise InvalidArgument("optimum >= 0 and records >= 0 are needed, but another number was found; correct it")
    q = 1 / model.power
    moved = grid.radius * float(records) ** q
    moved_optimum = (optimum**q + 2 * moved) ** model.power
    best = bound_cost(model, moved_optimum, records, beta)
    whole = float(records) * model.space.diameter**model.power
    return float(min((best**q + moved) ** model.power * _OUTWARD, whole))


def _bound(model: PrivateMetricClustering, optimum: float, records: int, beta: float, share: float) -> float:
    """The bound of Theorem 7 for one a = ``share``, with the largest cost scaled to 1. Events: five of probability β/5."""
    budget, k, candidates, power = model.budget, int(model.k), model.space.size, model.power
    if budget.plan is None:
        return math.inf
    p, each = budget.plan.p, math.log(5 / beta)
    rounds, rest = model.public_rounds, 0.0
    if rounds is None:  # the noisy number is at least that of the sample, and at most this
        rounds = rounds_for(records + math.ceil(each / float(budget.size)), k, candidates)
        rest = 1.0
    elif rounds < candidates:
        rest = records * (1 - 1 / k) ** rounds
    ours = (1 + share) * p * optimum + each / (1.125 * share)  # cost of the optimum on the sample
    lost = 0.0
    if budget.selection and rounds <= candidates:
        lost = rest + k * (math.log(candidates * rounds) + each) / float(budget.selection)
    many = ours + lost + 2 * records / UNITS  # cost of the selected candidates on the sample; costs are rounded
    rate = float(budget.histogram)
    above = (rounds + math.sqrt(2 * rounds * each) + each) / rate
    below = rounds / math.expm1(rate)
    q = 1 / power
    snapped = (ours**q + many**q) ** power
    solved = ratio_of_solver(power) * (snapped + above) + below
    sampled = (solved**q + many**q) ** power
    sets = math.lgamma(candidates + 1) - math.lgamma(k + 1) - math.lgamma(candidates - k + 1)
    return float((sampled + (sets + each) / (2 * share)) / ((1 - share) * p))
