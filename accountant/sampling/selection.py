"""Selection probabilities and weights of many records, as binary64 numbers for which the guarantee holds (docs/sampling.md, section 4).

Every number returned is a function of the record's own statistics: the exact q(x), 1/q(x) or w*(x), rounded down to a fixed number of
bits. It does not depend on the other records of a batch, on the order, on NumPy's kernels or on the machine. Theorem 6 needs that: a
weight that moved by one unit with the position of the record would depend on the data set.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from accountant.sampling.feasibility import exact_value, show_record, shown
from accountant.sampling.rounding import BITS, prove_monotone, with_rounding
from accountant.sampling.variance import refuse_oracle
from accountant.weights.premise import prove_premise
from accountant.weights.vectorised import ConvexityPremise, WeightSolver, prepare_solver, probabilities
from accountant.weights.vectorised.compiled import CompiledTerm
from accountant.weights.vectorised.domain import as_columns, require_range
from accountant.weights.vectorised.refine import Refiner
from accountant.weights.vectorised.rounding import MAX_FLOAT, TOLERANCE, U
from profiles import InvalidArgument, InvalidData, InvalidSampling, Profile
from profiles.terms import Term, free_symbols
from proofs_check.enclosures import Enclosure, ball, lower_fraction, upper_fraction, working_precision

if TYPE_CHECKING:
    from accountant.epsilon import DerivedEpsilon
    from accountant.sampling.rules import SamplingRule

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

#: Significant bits of a privacy-constrained weight: the fast path knows w* to 1e-12, so that few weights are near a step of 2^-27.
CONSTRAINED_BITS = 28
BLOCK = 32_768
_LEAST = 2.0**-900
_FIRST_BITS, _MOST_BITS = 128, 4_096
_BY_PREMISE = "every weight satisfies psi <= target"


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """What a sampler needs of n records: float64 arrays of shape (n,); select record i with probability exactly ``probabilities[i]``,
    independently, and give it the weight ``weights[i]``.

    0 < q̂ ≤ 1, 1 ≤ ŵ < ∞ and 1 − 2^-34 ≤ q̂·ŵ ≤ 1 exactly; but q̂ = 0 and ŵ = ∞ for records whose ε is 0 for every w.
    """

    probabilities: Floats
    weights: Floats


@dataclass(frozen=True, slots=True)
class Selector:
    """A rule prepared for batches of records of a profile; build it with :func:`prepare_selection`.

    ``evidence`` says why a guarantee for ``rule`` holds for the numbers that :meth:`select` returns.
    """

    profile: Profile
    rule: SamplingRule
    evidence: str
    solver: WeightSolver | None = None

    def select(self, statistics: Mapping[str, ArrayLike], *, first_row: int = 0) -> Selection:
        """Return probabilities and weights of a batch; ``first_row`` is added to row numbers in errors.

        ``statistics`` maps every record statistic of the profile to an array of shape (n,) of binary64 numbers, taken as exact; where it
        has none, any array of shape (n,) says how many records there are. n may be 0.
        Raises :class:`InvalidData` (values outside the declared ranges, NaN, a missing statistic),
        :class:`InvalidSampling` (q > 1 or q ≤ 0), :class:`Infeasible`.
        """
        columns = as_columns(statistics, tuple(item.name for item in self.profile.record) or tuple(statistics))
        if not columns:
            raise InvalidData("the number of records is not known without a statistic; give one, such as an array of zeros")
        require_range(self.profile, columns, first_row)
        if self.solver is not None:
            return _select_constrained(self.solver, columns, first_row)
        if self.rule.q is None:
            raise InvalidSampling(f"the rule {self.rule.name!r} was not prepared; use prepare_selection")
        return select_explicit(self.rule.q, columns)


def prepare_selection(
    profile: Profile, rule: SamplingRule, *, premise: ConvexityPremise | None = None, covered_by: DerivedEpsilon | None = None
) -> Selector:
    """Return what computes q̂ and ŵ for batches of records, such that the guarantee of ``rule`` holds for these very numbers.

    Claim: if ψ ≤ U at every declared record for the exact rule, then log(1 + q̂ (e^ε(ŵ, x) − 1)) ≤ U for each record x and the
    q̂, ŵ that :meth:`Selector.select` returns for it, and these depend on x alone.

    An explicit rule needs an ε that does not fall as w rises (proved here), or ``covered_by``: what ``derive_epsilon`` found for
    :func:`with_rounding` of the profile and the same q, which is then the guarantee. ``privacy-constrained`` needs a ``premise``
    (proved here where it is not given). Source: docs/sampling.md, Theorem 2.

    Raises :class:`Undecided`, :class:`Infeasible`, :class:`InvalidArgument`, :class:`NotPrivate`.
    """
    refuse_oracle(rule)
    if rule.q is None:
        if rule.target_epsilon is None:
            raise InvalidSampling(f"the rule {rule.name!r} has neither a q nor a target epsilon; make it with make_rule")
        found = premise or prove_premise(profile, rule.target_epsilon)
        solver = prepare_solver(profile, rule.target_epsilon, premise=found)
        return Selector(profile, rule, f"{_BY_PREMISE}; {found.evidence}", solver)
    if covered_by is None:
        return Selector(profile, rule, prove_monotone(profile))
    wanted = with_rounding(profile)
    mine, given = (wanted.epsilon, wanted.record, wanted.parameters), covered_by.profile
    if (given.epsilon, given.record, given.parameters) != mine or covered_by.rule.q != rule.q:
        raise InvalidArgument(
            f"covered_by must be about with_rounding of {profile.name!r} and the same q, but it is about {given.name!r}; derive it again"
        )
    return Selector(profile, rule, f"the bound of {given.name!r} covers every rounding of a weight")


def select_explicit(q: Term, statistics: Mapping[str, ArrayLike]) -> Selection:
    """Return q(x) and 1/q(x), both rounded down to 36 significant bits, for arrays of the statistics that q uses.

    Rows that running error bounds do not decide (a few in a thousand, and those where q is exactly a number of 36 bits) are decided by
    exact arithmetic or balls, equal records once. A value that 4,096 bits do not decide counts as just below the step.
    Raises :class:`InvalidSampling` (q > 1, q ≤ 0 or q below 2^-900, with the record), :class:`InvalidData`.
    """
    names = tuple(sorted(free_symbols(q)))
    if not names:
        columns = as_columns(statistics, tuple(statistics))
        size = next((column.size for column in columns.values()), 0)
        chance, weight = _decide(q, Enclosure(q), {})
        return Selection(np.full(size, chance), np.full(size, weight))
    columns = as_columns(statistics, names)
    size = columns[names[0]].size
    chances, weights = np.empty(size), np.empty(size)
    decided = np.empty(size, dtype=np.bool_)
    compiled = CompiledTerm(q)
    for start in range(0, size, BLOCK):
        block = slice(start, min(size, start + BLOCK))
        chances[block], weights[block], decided[block] = _fast(compiled, {name: column[block] for name, column in columns.items()})
    rows = np.flatnonzero(~decided)
    if rows.size:
        first, positions = distinct(columns, rows)
        enclosure = Enclosure(q)
        pairs = np.array([_decide(q, enclosure, record_at(columns, int(row))) for row in first])
        chances[rows], weights[rows] = pairs[positions, 0], pairs[positions, 1]
    return Selection(chances, weights)


def _fast(compiled: CompiledTerm, columns: Mapping[str, Floats]) -> tuple[Floats, Floats, Mask]:
    """Return (q̂, ŵ, decided): where the error bound leaves one candidate for each, they are it."""
    size = next(iter(columns.values())).size
    with np.errstate(all="ignore"):
        value, error = compiled.bounded(columns)
        exact = np.broadcast_to(np.equal(error, 0.0), (size,))
        # the widening covers the roundings of these lines, and keeps exact steps away from the decision
        low = np.where(exact, value, (value - error) * (1.0 - 4 * U))
        high = np.where(exact, value, (value + error) * (1.0 + 4 * U))
        chance, weight = floor_bits(low, BITS), floor_bits((1.0 / high) * (1.0 - 4 * U), BITS)
        sure = exact & (low == 1.0)
        decided = (chance == floor_bits(high, BITS)) & (weight == floor_bits((1.0 / low) * (1.0 + 4 * U), BITS)) | sure
        decided &= (low > _LEAST) & (high <= 1.0)
        return chance, np.where(sure, 1.0, weight), decided


def floor_bits(values: Floats, bits: int) -> Floats:
    """Return positive normal binary64 numbers rounded down to ``bits`` significant bits, exactly; other values give others."""
    pattern = np.ascontiguousarray(values, dtype=np.float64).view(np.int64)
    return (pattern & np.int64(-1 << (53 - bits))).view(np.float64)


def floor_exact(value: Fraction, bits: int) -> float:
    """Return the largest number of ``bits`` significant bits that is at most ``value`` > 0 (of the range of binary64)."""
    shift = bits - (value.numerator.bit_length() - value.denominator.bit_length())
    whole = (value.numerator << max(shift, 0)) // (value.denominator << max(-shift, 0))  # of bits or bits + 1 bits
    extra = whole.bit_length() - bits
    return math.ldexp(whole >> extra, extra - shift)


def _decide(q: Term, enclosure: Enclosure, record: Mapping[str, Fraction]) -> tuple[float, float]:
    """Return (q̂, ŵ) of one record. Raises :class:`InvalidSampling` where q is not in [2^-900, 1]."""
    low = high = exact_value(q, record)
    bits = _FIRST_BITS
    while low is None or high is None or not _settled(low, high):
        with working_precision(bits):
            value = enclosure.evaluate({name: ball(number) for name, number in record.items()})
            low, high = lower_fraction(value), upper_fraction(value)
        if bits >= _MOST_BITS:
            break
        bits *= 2
    if low is None or high is None or low < Fraction(_LEAST) or low > 1:
        found = "no number" if low is None else f"q = {shown(low)}"
        raise InvalidSampling(
            f"a selection probability in [2**-900, 1] was expected, but {found} was found at the record {show_record(record)}; "
            "keep the data in the range that q was made for"
        )
    return floor_exact(low, BITS), floor_exact(1 / min(high, Fraction(1)), BITS)


def _settled(low: Fraction, high: Fraction) -> bool:
    if low == high or low > 1 or high <= 0:
        return True
    top = min(high, Fraction(1))
    return low > 0 and floor_exact(low, BITS) == floor_exact(top, BITS) and floor_exact(1 / low, BITS) == floor_exact(1 / top, BITS)


def _select_constrained(solver: WeightSolver, columns: Mapping[str, Floats], first_row: int) -> Selection:
    """Return w*(x) rounded down to 28 bits, and 1/w rounded down to binary64.

    The solver's w has w ≤ w* ≤ w (1 + 1e-12), but which w that is may depend on the batch. The rounded w* does not: where a step lies
    between the two ends, the constraint at the step decides (rows are intervals of feasible weights, by the premise).
    """
    if next(iter(columns.values())).size == 0:
        return Selection(np.empty(0), np.empty(0))
    weights = solver.solve(columns, first_row=first_row).weights
    with np.errstate(all="ignore"):
        low = np.where(np.isfinite(weights), floor_bits(weights, CONSTRAINED_BITS), weights)
        above = floor_bits(weights * (1.0 + TOLERANCE) * (1.0 + 4 * U), CONSTRAINED_BITS)
    rows = np.flatnonzero((low != above) & np.isfinite(weights) & (weights != MAX_FLOAT))
    if rows.size:
        first, positions = distinct(columns, rows)
        refiner = Refiner(solver.epsilon, solver.target.exact)
        kept = np.array([refiner.decide(float(above[row]), record_at(columns, int(row))) is True for row in first])
        low[rows] = np.where(kept[positions], above[rows], low[rows])
    return Selection(probabilities(low), low)


def distinct(columns: Mapping[str, Floats], rows: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return one of ``rows`` for each group of equal records, and for each of ``rows`` the index of its group."""
    table = np.stack([column[rows] + 0.0 for column in columns.values()], axis=1)
    _, first, positions = np.unique(table, axis=0, return_index=True, return_inverse=True)
    return rows[first], positions.reshape(-1)


def record_at(columns: Mapping[str, Floats], row: int) -> dict[str, Fraction]:
    """Return one record as exact numbers. Raises :class:`InvalidData` for values that are not finite."""
    values = {name: float(column[row]) for name, column in columns.items()}
    for name, value in values.items():
        if not np.isfinite(value):
            raise InvalidData(f"the statistic {name!r} must be finite, but {value} was found in row {row}; correct the data")
    return {name: Fraction(value) for name, value in values.items()}
