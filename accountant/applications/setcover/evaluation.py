"""Evaluation, NOT private: what a permutation costs, and what to compare it with. Publish none of these numbers about private elements."""

from __future__ import annotations

import itertools
import math

import numpy as np
import scipy.optimize
import scipy.sparse

from accountant.applications.submodular.coverage import CoverageInstance
from accountant.applications.submodular.functions import lazy_greedy
from accountant.applications.submodular.greedy import OneSidedGreedy
from profiles import InvalidArgument, InvalidData, Undecided
from profiles.arrays import Integers


def cover_cost(permutation: object, system: CoverageInstance) -> int:
    """Return the number of sets that are chosen when each element chooses the first set of ``permutation`` that contains it. Not private.

    Source: Ghazi et al. 2024, Section 1 (CostSetCov). Raises :class:`InvalidData` for anything but a permutation of the sets.

    >>> cover_cost([1, 0], CoverageInstance.from_sets([[0], [0, 1]], candidates=2))
    2
    """
    order = np.asarray(permutation)
    if (
        order.shape != (system.candidates,)
        or order.dtype.kind not in "iu"
        or not np.array_equal(np.sort(order), np.arange(system.candidates))
    ):
        raise InvalidData(f"a permutation of the sets 0 to {system.candidates - 1} is needed, but something else was found; pass one")
    rank = np.empty(system.candidates, dtype=np.int64)
    rank[order] = np.arange(system.candidates)
    filled = np.diff(system.starts) > 0  # elements that are in no set choose none
    first = np.minimum.reduceat(rank[system.items], system.starts[:-1][filled]) if filled.any() else np.empty(0, dtype=np.int64)
    return len(np.unique(first))


def greedy_cover(system: CoverageInstance) -> Integers:
    """Return the permutation of the greedy algorithm without privacy; ties go to the smaller number.

    >>> greedy_cover(CoverageInstance.from_sets([[0], [0, 1], [2], [2], [2]], candidates=3)).tolist()
    [2, 0, 1]
    """
    return np.array(lazy_greedy(system, system.candidates), dtype=np.int64)


def bound_optimum(system: CoverageInstance) -> tuple[int, int]:
    """Return (lower, upper) for the size of the smallest cover of all elements that are in a set, equal if HiGHS proves it. Not private.

    By integer programming (scipy.optimize.milp): for instances of up to some thousand sets. Raises :class:`Undecided` where it fails.

    >>> bound_optimum(CoverageInstance.from_sets([[0, 1], [1, 2], [2]], candidates=3))
    (2, 2)
    """
    bounds = itertools.pairwise(system.starts.tolist())
    kinds = sorted({tuple(system.items[start:stop].tolist()) for start, stop in bounds if start < stop})
    if not kinds:
        return 0, 0
    rows = np.repeat(np.arange(len(kinds)), [len(row) for row in kinds])
    matrix = scipy.sparse.csr_array((np.ones(rows.size), (rows, np.concatenate(kinds))), shape=(len(kinds), system.candidates))
    solution = scipy.optimize.milp(
        np.ones(system.candidates),
        integrality=np.ones(system.candidates),
        bounds=scipy.optimize.Bounds(0, 1),
        constraints=scipy.optimize.LinearConstraint(matrix, lb=np.ones(len(kinds))),
        options={"time_limit": 60.0},
    )
    if solution.x is None:
        raise Undecided("the integer program found no cover within its time; use a smaller instance")
    return math.ceil(solution.mip_dual_bound - 1e-6), round(float(solution.fun))


def gupta_cover(system: CoverageInstance, epsilon: float, delta: float, rng: np.random.Generator) -> Integers:
    """Return the permutation of the (ε, δ) predecessor: P[set] ∝ exp(ε' · count) again and again, ε' = ε/(2 log(e/δ)), on all elements.

    For comparisons of utility only: Gupta et al. 2010 claim (ε, δ)-differential privacy for 0 < ε < 1, δ < 1/e; nothing is derived here.
    Source: Gupta, Ligett, McSherry, Roth, Talwar 2010, Section 5.1. Raises :class:`InvalidArgument`.
    """
    if not (epsilon > 0 and 0 < delta < math.exp(-1)):
        raise InvalidArgument("epsilon above 0 and delta in (0, 1/e) are needed, but others were found; give others")
    spent = epsilon / (2 * (1 - math.log(delta)))
    return np.array(OneSidedGreedy(system.candidates, spent).run(system, rng).selected, dtype=np.int64)
