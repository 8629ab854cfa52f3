"""The binary64 pair (q, w) of every record: what a sampler really uses, chosen so that the certified bound holds for these very numbers.

Claim of every map here: it is a function of the record alone, 0 ≤ q ≤ 1, 1 ≤ w < ∞ where q > 0, and for every record of the declared range
log(1 + q (e^ε(w, x) − 1)) ≤ ε_max in exact arithmetic, where ε_max is the certified bound. Proofs: docs/poisson-sampler.md, section 2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from flint import arb
from numpy.typing import NDArray

from accountant.sampled import amplify_array, numeric_epsilon
from accountant.sampling import exact_value, show_record
from accountant.weights.vectorised import WeightSolver, probabilities
from accountant.weights.vectorised.compiled import CompiledTerm
from accountant.weights.vectorised.domain import as_columns, require_range
from accountant.weights.vectorised.results import Floats
from accountant.weights.vectorised.rounding import MAX_FLOAT, round_down
from profiles import Profile, Undecided
from profiles.profile import WEIGHT
from profiles.terms import Term, free_symbols
from proofs_check.enclosures import Enclosure, ball, lower_fraction, upper_fraction, working_precision

#: Rows a block: temporaries of 64 kB come from the heap, where larger ones may be mapped anew, page by page, for every operation.
BLOCK = 8_192
_TIGHT, _TIGHT_BALL = 2.0**-30, Fraction(1, 2**40)
_DOWN, _UP, _LEAST = 1.0 - 2.0**-52, 1.0 + 2.0**-51, 2.0**-960
_FIRST_BITS, _MOST_BITS = 128, 4096
_CHECK_BITS = 256

Columns = Mapping[str, Floats]


@dataclass(frozen=True, slots=True)
class Pairs:
    """The probabilities and weights of some records, and how many needed ball arithmetic (``refined``) or a smaller q (``lowered``)."""

    q: Floats
    weights: Floats
    refined: int = 0
    lowered: int = 0


class PairMap(Protocol):
    """A map from record statistics to pairs."""

    def __call__(self, statistics: Columns, first_row: int = 0) -> Pairs:
        """Return the pairs of a batch; ``first_row`` is added to row numbers in errors."""


@dataclass(frozen=True, slots=True)
class ConstrainedPairs:
    """Certified weights: ψ(w) ≤ ε* exactly, and q = 1/w rounded down, so that log(1 + q (e^ε(w) − 1)) ≤ ψ(w) ≤ ε*."""

    solver: WeightSolver

    def __call__(self, statistics: Columns, first_row: int = 0) -> Pairs:
        """Return the pairs of a batch. Raises what :meth:`WeightSolver.solve` raises."""
        result = self.solver.solve(_canonical(self.solver.profile, statistics), first_row=first_row)
        q = np.empty_like(result.weights)
        for part in blocks(q.size):
            q[part] = probabilities(result.weights[part])
        return Pairs(q, result.weights, result.refined_rows)


@dataclass(frozen=True, slots=True)
class ExcessCheck:
    """log(1 + q (e^ε(w, x) − 1)) ≤ ``bound``, enforced record by record: where it is not certain, q is lowered until it is."""

    bound: Fraction
    epsilon: Term
    compiled: CompiledTerm

    def enforce(self, q: Floats, weights: Floats, columns: Columns) -> tuple[Floats, int, int]:
        """Return the probabilities, all certain, with the number of records looked at in ball arithmetic and of those lowered."""
        with np.errstate(all="ignore"):
            value, error = self.compiled.bounded({**columns, WEIGHT: weights})
            top = np.maximum(np.nextafter(np.broadcast_to(value + error, q.shape), np.inf), 0.0)
            finite = np.isfinite(top)
            psi = amplify_array(np.where(finite, top, 0.0), q)
        rows = np.flatnonzero(~(finite & (psi <= round_down(self.bound))))
        if not rows.size:
            return q, 0, 0
        certain, lowered, enclosure = q.copy(), 0, Enclosure(self.epsilon)
        for row in rows:
            record = {name: Fraction(float(column[row])) for name, column in columns.items()}
            certain[row] = self._largest(enclosure, {**record, WEIGHT: Fraction(float(weights[row]))}, float(q[row]))
            lowered += bool(certain[row] < q[row])
        return certain, int(rows.size), lowered

    def _largest(self, enclosure: Enclosure, record: Mapping[str, Fraction], q: float) -> float:
        """Return ``q``, or a smaller number with q (e^ε − 1) ≤ e^bound − 1 for certain."""
        with working_precision(_CHECK_BITS):
            growth = enclosure.evaluate({name: ball(value) for name, value in record.items()}).expm1()
            allowed = ball(self.bound).expm1()
            if arb(q) * growth <= allowed:
                return q
            limit = lower_fraction(allowed / growth) if growth > 0 else None
        return 0.0 if limit is None else min(q, max(0.0, round_down(limit)))


@dataclass(frozen=True, slots=True)
class RulePairs:
    """A rule given as a term q*(x): q ≤ q*(x) ≤ 1/w with directed rounding.

    Then log(1 + q (e^ε(w, x) − 1)) ≤ ψ(x) ≤ ε_max if ε does not fall in w, which the maker has proved; else ``check`` enforces it.
    """

    profile: Profile
    term: Term
    constant: Fraction | None
    compiled: CompiledTerm
    check: ExcessCheck | None = None

    def __call__(self, statistics: Columns, first_row: int = 0) -> Pairs:
        """Return the pairs of a batch. Raises :class:`InvalidData` (statistics missing or out of range), :class:`Undecided`."""
        columns = _canonical(self.profile, statistics)
        require_range(self.profile, columns, first_row)
        size = next(iter(columns.values())).size
        if self.constant is not None:
            q, weight = round_pair(self.constant, self.constant)
            pairs = Pairs(np.full(size, q), np.full(size, weight))
        else:
            pairs = self._enclose(columns, size, first_row)
        if self.check is None:
            return pairs
        certain, refined, lowered = self.check.enforce(pairs.q, pairs.weights, columns)
        return Pairs(certain, pairs.weights, pairs.refined + refined, lowered)

    def _enclose(self, columns: Columns, size: int, first_row: int) -> Pairs:
        q, weights, sure = np.empty(size), np.empty(size), np.empty(size, dtype=np.bool_)
        for part in blocks(size):
            with np.errstate(all="ignore"):
                value, error = self.compiled.bounded({name: column[part] for name, column in columns.items()})
            q[part], weights[part], sure[part] = round_pairs(value, error)
        rows = np.flatnonzero(~sure)
        if rows.size:
            self._refine(columns, rows, first_row, q, weights)
        return Pairs(q, weights, int(rows.size))

    def _refine(self, columns: Columns, rows: NDArray[np.intp], first_row: int, q: Floats, weights: Floats) -> None:
        """Decide ``rows`` in ball arithmetic, in place; equal records once."""
        names = [name for name in columns if name in free_symbols(self.term)]
        known: dict[tuple[float, ...], tuple[float, float]] = {}
        enclosure = Enclosure(self.term)
        for row in rows:
            key = tuple(float(columns[name][row]) for name in names)
            if key not in known:
                record = dict(zip(names, map(Fraction, key), strict=True))
                known[key] = round_pair(*enclose_probability(self.term, enclosure, record, first_row + int(row)))
            q[row], weights[row] = known[key]


def blocks(size: int) -> Iterator[slice]:
    """Yield the blocks of ``size`` rows."""
    return (slice(start, min(size, start + BLOCK)) for start in range(0, size, BLOCK))


def enclose_probability(term: Term, enclosure: Enclosure, record: Mapping[str, Fraction], row: int) -> tuple[Fraction, Fraction]:
    """Return 0 < low ≤ q*(x) ≤ high, within 2^-40 relatively. Raises :class:`Undecided` where 4096 bits do not give that."""
    exact = exact_value(term, record)
    if exact is not None and exact > 0:
        return exact, exact
    bits = _FIRST_BITS
    while bits <= _MOST_BITS:
        with working_precision(bits):
            value = enclosure.evaluate({name: ball(number) for name, number in record.items()})
            low, high = lower_fraction(value), upper_fraction(value)
        if low is not None and high is not None and low > 0 and high <= low * (1 + _TIGHT_BALL):
            return low, high
        bits *= 2
    raise Undecided(
        f"the selection probability of row {row} ({show_record(record)}; rows count from 0) could not be computed with {_MOST_BITS} bits; "
        "write q so that it can be evaluated there"
    )


def round_pair(low: Fraction, high: Fraction) -> tuple[float, float]:
    """Return (q, w) with q ≤ ``low`` and 1 ≤ w ≤ 1/``high`` for 0 < low ≤ q* ≤ high, q* ≤ 1; q is 0 below the smallest binary64 number."""
    return max(0.0, min(1.0, round_down(low))), max(1.0, min(MAX_FLOAT, round_down(1 / min(high, Fraction(1)))))


def round_pairs(value: Floats, error: Floats | float) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Return (q, w, sure): where ``sure``, q ≤ q* and 1 ≤ w ≤ 1/q* for every 0 < q* ≤ 1 with |q* − value| ≤ error.

    A product with 1 ∓ 2u, u = 2^-53, outweighs the rounding of the number that it lowers or raises and its own, as
    (1 + u)²(1 − 2u) < 1 < (1 − u)²(1 + 2u + 2u), far from underflow (``_LEAST``).
    """
    with np.errstate(all="ignore"):
        exact = np.equal(error, 0.0)
        low = np.minimum(np.where(exact, value, (value - error) * _DOWN), 1.0)
        high = np.minimum(np.where(exact, value, (value + error) * _UP), 1.0)
        weights = np.maximum((1.0 / high) * _DOWN, 1.0)
        sure = (low >= _LEAST) & (high <= low * (1.0 + _TIGHT))
    return low, weights, sure


def _canonical(profile: Profile, statistics: Columns) -> dict[str, Floats]:
    """Return the columns with +0 in place of −0, so that equal records have equal pairs."""
    names = tuple(item.name for item in profile.record)
    return {name: column + 0.0 for name, column in as_columns(statistics, names).items()}


def map_rule(profile: Profile, term: Term, bound: Fraction, *, monotone: bool) -> RulePairs:
    """Return the pairs of a rule q*(x) = ``term`` whose certified bound is ``bound``; ``monotone``: ε is proved not to fall in w."""
    check = None
    if not monotone:
        epsilon = numeric_epsilon(profile)
        check = ExcessCheck(bound, epsilon, CompiledTerm(epsilon))
    return RulePairs(profile, term, exact_value(term, {}), CompiledTerm(term), check)
