"""Evaluation, NOT private: what a permutation costs, and what to compare it with. Publish none of these numbers about private elements."""

from __future__ import annotations

import math

import numpy as np
import scipy.optimize
import scipy.sparse

from accountant.applications.setcover.selection import Uncovered, pick_exponentially, pick_greedily
from accountant.applications.setcover.system import Indices, SetSystem
from profiles import InvalidArgument, InvalidData, Undecided


def cover_cost(permutation: object, system: SetSystem) -> int:
    """Return the number of sets that are chosen when each element chooses the first set of ``permutation`` that contains it. Not private.

    Source: Ghazi et al. 2024, Section 1 (CostSetCov). Raises :class:`InvalidData` for anything but a permutation of the sets.

    >>> cover_cost([1, 0], SetSystem.from_rows([[0], [0, 1]], sets=2))
    2
    """
    order = np.asarray(permutation)
    if order.shape != (system.sets,) or order.dtype.kind not in "iu" or not np.array_equal(np.sort(order), np.arange(system.sets)):
        raise InvalidData(f"a permutation of the sets 0 to {system.sets - 1} is needed, but something else was found; pass one")
    place = np.empty(system.sets, dtype=np.int64)
    place[order] = np.arange(system.sets)
    starts = system.offsets[:-1][np.diff(system.offsets) > 0]
    if not starts.size:
        return 0
    return int(np.unique(np.minimum.reduceat(place[system.items], starts)).size)


def greedy_cover(system: SetSystem) -> Indices:
    """Return the permutation of the greedy algorithm without privacy; ties go to the smaller number.

    >>> greedy_cover(SetSystem.from_rows([[0], [0, 1], [2], [2], [2]], sets=3)).tolist()
    [2, 0, 1]
    """
    everyone = np.arange(system.elements, dtype=np.int64)
    state = Uncovered(system, everyone, np.zeros(system.sets, dtype=np.bool_))
    sets = np.arange(system.sets, dtype=np.int64)
    return np.array(pick_greedily(state, sets, np.zeros(system.sets, dtype=np.int64)), dtype=np.int64)


def bound_optimum(system: SetSystem) -> tuple[int, int]:
    """Return (lower, upper) for the size of the smallest cover of all elements that are in a set, equal if HiGHS proves it. Not private.

    By integer programming (scipy.optimize.milp): for instances of up to some thousand sets. Raises :class:`Undecided` where it fails.

    >>> bound_optimum(SetSystem.from_rows([[0, 1], [1, 2], [2]], sets=3))
    (2, 2)
    """
    kinds = sorted({row for row in system.rows() if row})
    if not kinds:
        return 0, 0
    rows = np.repeat(np.arange(len(kinds)), [len(row) for row in kinds])
    matrix = scipy.sparse.csr_array((np.ones(rows.size), (rows, np.concatenate(kinds))), shape=(len(kinds), system.sets))
    found = scipy.optimize.milp(
        np.ones(system.sets),
        integrality=np.ones(system.sets),
        bounds=scipy.optimize.Bounds(0, 1),
        constraints=scipy.optimize.LinearConstraint(matrix, lb=np.ones(len(kinds))),
        options={"time_limit": 60.0},
    )
    if found.x is None:
        raise Undecided("the integer program found no cover within its time; use a smaller instance")
    return math.ceil(found.mip_dual_bound - 1e-6), round(float(found.fun))


def gupta_cover(system: SetSystem, epsilon: float, delta: float, rng: np.random.Generator) -> Indices:
    """Return the permutation of the (ε, δ) predecessor: P[set] ∝ exp(ε' · count) again and again, ε' = ε/(2 log(e/δ)), on all elements.

    For comparisons of utility only: Gupta et al. 2010 claim (ε, δ)-differential privacy for 0 < ε < 1, δ < 1/e; nothing is derived here.
    Source: Gupta, Ligett, McSherry, Roth, Talwar 2010, Section 5.1. Raises :class:`InvalidArgument`.
    """
    if not (epsilon > 0 and 0 < delta < math.exp(-1)):
        raise InvalidArgument("epsilon above 0 and delta in (0, 1/e) are needed, but others were found; give others")
    everyone = np.arange(system.elements, dtype=np.int64)
    state = Uncovered(system, everyone, np.zeros(system.sets, dtype=np.bool_))
    rate = epsilon / (2 * (1 - math.log(delta)))
    return np.array(pick_exponentially(state, np.arange(system.sets, dtype=np.int64), rate, rng), dtype=np.int64)


__all__ = ["bound_optimum", "cover_cost", "greedy_cover", "gupta_cover"]
