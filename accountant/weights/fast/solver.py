"""The entry point: optimal weights of all records of a batch, fast where binary64 can certify them, refined where it cannot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from accountant.columns.domain import as_columns, require_range
from accountant.columns.values import Column, Columns
from accountant.weights.fast.compiled import CompiledTerm
from accountant.weights.fast.general import solve_general
from accountant.weights.fast.linear import Solution, solve_linear
from accountant.weights.fast.refine import Refiner, refuse_records
from accountant.weights.fast.results import ProvedConvexity, WeightsResult
from accountant.weights.fast.rounding import TargetConstants, U, make_target
from accountant.weights.fast.small import AffinePair, make_pair, solve_small
from accountant.weights.fast.table import make_table
from profiles import InvalidArgument, InvalidData, Profile
from profiles.arrays import Booleans, Floats, Positions
from profiles.numbers import MAX_FLOAT, nearest, to_target
from profiles.structure import affine_in_one, split_weight
from profiles.terms import Term, free_symbols

#: Rows a block: a few dozen temporaries of this length stay in a core's cache.
BLOCK = 32_768
_SHOWN = 3
#: Constants between this and its inverse are rounded with a relative error of at most U.
_NORMAL = Fraction(1, 2**900)
#: Relative errors are rounded up to these, so that most blocks have one bound, which is cheaper than one a row. A bound must not be the
#: largest of its block: the weight of a record would then depend on the other records, which no sampler may let happen.
_STEPS = (16 * U, 64 * U)


@dataclass(frozen=True, slots=True)
class Coefficient:
    """The a(x) of ε = a(x)·w: c + d·name with c, d·name ≥ 0 on the domain (``affine``), else a compiled term.

    ``limits``: the declared range of an affine a, for which a table is made.
    """

    compiled: CompiledTerm
    affine: tuple[float, float, str] | None
    pair: AffinePair | None
    limits: tuple[float, float] | None = None

    def evaluate(self, columns: Columns) -> tuple[Floats, float | Floats]:
        """Return a and a bound on its relative error (inf where there is none)."""
        if self.affine is not None:
            constant, slope, name = self.affine
            a = columns[name] * slope
            if constant:
                a += constant
            # c, d, product and sum are rounded, of terms that are not negative; so is a decimal; underflow only in uncertified rows
            return a, (4 if name in columns.inexact else 3) * U
        value, error = self.compiled.bounded(columns)
        size = next(iter(columns.values())).size
        a = np.array(np.broadcast_to(value, (size,)), dtype=np.float64)
        relative = np.where(a > 0, np.broadcast_to(error, (size,)) / a * (1 + 4 * U), np.inf)
        if float(relative.max()) <= _STEPS[0]:
            return a, _STEPS[0]
        for step, before in zip(_STEPS, (0.0, *_STEPS), strict=False):
            relative = np.where((relative > before) & (relative <= step), step, relative)
        return a, np.where(relative == 0.0, _STEPS[0], relative)


@dataclass(frozen=True, slots=True)
class WeightSolver:
    """A profile, target and proved convexity prepared for batches; build it with :func:`prepare_solver`."""

    profile: Profile
    target: TargetConstants
    epsilon: Term
    compiled: CompiledTerm
    coefficient: Coefficient | None

    def solve(self, statistics: Mapping[str, ArrayLike | Column], *, first_row: int = 0) -> WeightsResult:
        """Return the weights of a batch; ``first_row`` is added to row numbers in errors. See :func:`optimal_weights`.

        A statistic may be a column of :class:`Decimals`: the weights then are feasible for the decimals themselves.
        """
        names = tuple(item.name for item in self.profile.record)
        columns = as_columns(statistics, names)
        size = next(iter(columns.values())).size
        if size == 0:
            raise InvalidData("the data has no rows; give at least one record")
        columns = require_range(self.profile, columns, first_row)
        weights = np.empty(size)
        certified, safe = np.empty(size, dtype=np.bool_), np.empty(size, dtype=np.bool_)
        for start in range(0, size, BLOCK):
            block = slice(start, min(size, start + BLOCK))
            out = weights[block]
            solution, certain = self._solve_block(columns.part(block), out)
            if solution.weights is not out:
                out[:] = solution.weights
            certified[block], safe[block] = solution.certified, certain
        self._retry_small(columns, weights, certified)
        tiny = columns.tiny()
        if tiny is not None:
            certified[tiny] = safe[tiny] = False
        return self._finish(columns, weights, certified, safe, first_row)

    def _solve_block(self, columns: Columns, out: Floats) -> tuple[Solution, bool | Booleans]:
        """Return a block's solution, its weights perhaps in ``out``, and for which rows ε(1, x) ≤ ε* is certain."""
        with np.errstate(all="ignore"):
            if self.coefficient is None:
                return solve_general(self.compiled, columns, self.target)
            a, error = self.coefficient.evaluate(columns)
            solution = self._solve_linear(a, error, out)
            room = self.target.below * (1 - 4 * U)
            if isinstance(error, float) and float(a.max()) * (1 + error) <= room:
                return solution, True
            return solution, a * (1 + error) <= room

    def _solve_linear(self, a: Floats, error: float | Floats, out: Floats) -> Solution:
        """Return the solution for coefficients: from the table where it has one, which fills ``out``, row by row else."""
        limits = None if self.coefficient is None else self.coefficient.limits
        table = None if limits is None or not isinstance(error, float) else make_table(*limits, self.target)
        if table is None:
            return solve_linear(a, error, self.target)
        weights = table.evaluate(a, out)
        certified = np.ones(a.size, dtype=np.bool_)
        if not float(weights.min()) >= 1.0:
            np.maximum(weights, 1.0, out=weights)
            rows = np.flatnonzero(np.isnan(weights))
            if rows.size:
                rest = solve_linear(a[rows], error, self.target)
                weights[rows], certified[rows] = rest.weights, rest.certified
        return Solution(weights, certified)

    def _retry_small(self, columns: Columns, weights: Floats, certified: Booleans) -> None:
        """Solve the uncertified rows again in double-double, in place (affine coefficients only)."""
        pair = None if self.coefficient is None else self.coefficient.pair
        if pair is None or self.target.large:
            return
        rows = np.flatnonzero(~certified & np.isfinite(weights))
        for start in range(0, rows.size, BLOCK):
            block = rows[start : start + BLOCK]
            again = solve_small(pair, columns[pair.name][block], self.target, columns.rests(pair.name, block))
            chosen = block[again.certified]
            weights[chosen], certified[chosen] = again.weights[again.certified], True

    def _finish(self, columns: Columns, weights: Floats, certified: Booleans, safe: Booleans, first_row: int) -> WeightsResult:
        rows = np.flatnonzero(~(certified & safe))
        infinite = saturated = 0
        if rows.size:
            used = columns.only(name for name in columns if name in free_symbols(self.epsilon))
            distinct, positions = used.distinct(rows)
            refiner = Refiner(self.epsilon, self.target.exact)
            records = [columns.record(int(row)) for row in distinct]
            doubtful = set(np.unique(positions[~safe[rows]]).tolist())
            broken = [index in doubtful and not refiner.require_feasible(record) for index, record in enumerate(records)]
            self._refuse(columns, rows[np.array(broken)[positions]], first_row)
            refined = np.array([refiner.refine(record, float(weights[row])) for record, row in zip(records, distinct, strict=True)])
            certain_rows = certified[rows]
            weights[rows] = np.where(certain_rows, weights[rows], refined[positions])
            infinite = int(np.isinf(weights[rows]).sum())
            saturated = int((weights[rows] == MAX_FLOAT).sum())
            rows = rows[~certain_rows]
        return WeightsResult(weights, weights.size - rows.size, int(rows.size) - infinite, infinite, saturated)

    def _refuse(self, columns: Mapping[str, Floats], offenders: Positions, first_row: int) -> None:
        """Raise :class:`Infeasible` if there are rows that violate assumption-8."""
        if offenders.size:
            first = [int(row) for row in offenders[:_SHOWN]]
            shown = [", ".join(f"{name} = {float(columns[name][row])!r}" for name in columns) for row in first]
            raise refuse_records(int(offenders.size), [first_row + row for row in first], shown)


def prepare_solver(profile: Profile, target_epsilon: object, *, convexity: ProvedConvexity) -> WeightSolver:
    """Return a solver for batches of records.

    Raises :class:`InvalidTarget` (ε* ≤ 0), :class:`InvalidArgument` (a parameter without a number; a proof about something else).
    """
    target = to_target(target_epsilon, "(0, 1e15]")
    free = [parameter.name for parameter in profile.free_parameters]
    if free:
        raise InvalidArgument(f"weights need numbers for all parameters, but {', '.join(free)} is unspecified; give it a number")
    if not profile.record:
        raise InvalidArgument(f"the profile {profile.name!r} declares no record statistic, so no data can be read for it; declare one")
    convexity.require(profile, target)
    epsilon = profile.numeric_epsilon()
    coefficient = split_weight(epsilon)
    return WeightSolver(
        profile,
        make_target(target),
        epsilon,
        CompiledTerm(epsilon),
        None if coefficient is None else make_coefficient(profile, coefficient),
    )


def make_coefficient(profile: Profile, term: Term) -> Coefficient:
    """Return the coefficient of w in the promise of ``profile``, prepared for arrays."""
    form = affine_in_one(term)
    affine = pair = limits = None
    if form is not None and form[2] is not None and form[0] >= 0:
        lowest, highest = {item.name: (item.lo, item.hi) for item in profile.record}[form[2]]
        normal = all(value == 0 or _NORMAL <= value <= 1 / _NORMAL for value in form[:2])
        if form[1] > 0 and lowest >= 0 and normal:
            affine = (nearest(form[0]), nearest(form[1]), form[2])
            pair = make_pair(*form[:2], form[2])
            limits = (nearest(form[0] + form[1] * lowest), nearest(form[0] + form[1] * highest))
    return Coefficient(CompiledTerm(term), affine, pair, limits)


def optimal_weights(
    profile: Profile, target_epsilon: object, statistics: Mapping[str, ArrayLike], *, convexity: ProvedConvexity
) -> WeightsResult:
    """Claim: every returned weight satisfies ψ(w) ≤ ε* in exact arithmetic on the binary64 values of w and the statistics, and is at least
    w*(1 − 1e-12), where w* is the largest feasible weight; inf where ε(w, x) is 0 for every w (such a record is never sampled).

    ``statistics`` maps each record statistic of the profile to an array of length n; ``target_epsilon`` is exact (a decimal string, an
    integer, a fraction; a float stands for its binary value). ``convexity`` says who proved what this relies on.

    Source: Fay et al. 2024, Problem 7 and Theorem 10; rounding: ``docs/rounding.md``. A weight above the largest binary64 number is
    returned as that number.

    Raises :class:`Infeasible` naming the records with ε(1, x) > ε*; :class:`InvalidData` (NaN, a missing statistic, a value outside the
    declared range); :class:`InvalidTarget`, :class:`InvalidArgument`.

    >>> from accountant import declare, prove_convexity
    >>> profile = declare("sum", "w*z", record={"z": [0, 2]})
    >>> optimal_weights(profile, 3, {"z": [0, 1, 2]}, convexity=prove_convexity(profile, 3)).weights.round(6)
    array([     inf, 4.454551, 1.776254])
    """
    return prepare_solver(profile, target_epsilon, convexity=convexity).solve(statistics)
