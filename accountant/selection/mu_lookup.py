"""q and w of many records from a table of weights under Gaussian noise: q = ζ/μ and w = μ/ζ, both rounded down (docs/gaussian-weights.md).

μ is read at ζ rounded up to nine significant bits, so that the row of the table is found by a shift of the binary64 pattern. All numbers
are functions of the record alone: where the error bound of binary64 leaves two candidates, exact arithmetic or balls decide.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import ldexp

import numpy as np

from accountant.columns.values import Columns
from accountant.selection.floors import BITS, LEAST, blocks, floor_bits, floor_exact
from accountant.weights.fast.rounding import U
from accountant.weights.fast.solver import Coefficient, make_coefficient
from accountant.weights.gaussian.proved import ProvedGaussian
from accountant.weights.gaussian.table import WeightTable
from profiles.arrays import Booleans, Floats, Positions
from profiles.balls import ball, lower_fraction, upper_fraction, working_precision
from profiles.errors import InvalidProfile, Undecided
from profiles.evaluation import exact_value
from profiles.numbers import nearest
from profiles.structure import split_weight
from profiles.terms import Term
from proofs_check.enclosures import Enclosure

#: Significant bits to which ζ is rounded up where a row is looked for.
PLACES = 9
_SHIFT = 53 - PLACES
_FIRST_BITS, _MOST_BITS = 128, 4_096
#: Smaller ζ may have lost digits by underflow: they are decided exactly.
_SMALL = 2.0**-900
_NEVER = (0.0, 1.0 / LEAST)
_ROOM = 4 * U


@dataclass(frozen=True, slots=True, eq=False)
class ShiftReader:
    """The map from records to (q, w); build it with :func:`prepare_shifts`. It can be pickled.

    ``exact`` are the μ of the pieces of ζ from ``first`` on, in the order of their patterns, ``shifts`` the numbers nearest to them.
    """

    zeta: Term
    coefficient: Coefficient
    first: int
    exact: tuple[Fraction, ...] = field(repr=False)
    shifts: Floats = field(repr=False)

    def read(self, columns: Columns) -> tuple[Floats, Floats, int]:
        """Return q and w of all records, and how many were decided by exact arithmetic or balls."""
        size = next(iter(columns.values())).size
        chances, weights, decided = np.empty(size), np.empty(size), np.empty(size, dtype=np.bool_)
        for block in blocks(size):
            chances[block], weights[block], decided[block] = self._fast(columns.part(block))
        tiny = columns.tiny()
        if tiny is not None:
            decided &= ~tiny
        rows = np.flatnonzero(~decided)
        if rows.size:
            first, positions = columns.distinct(rows)
            enclosure = Enclosure(self.zeta)
            pairs = np.array([self._decide(enclosure, columns.record(int(row))) for row in first])
            chances[rows], weights[rows] = pairs[positions, 0], pairs[positions, 1]
        return chances, weights, int(rows.size)

    def _fast(self, columns: Columns) -> tuple[Floats, Floats, Booleans]:
        """Return (q̂, ŵ, decided): where the error bound leaves one candidate for each, they are it."""
        with np.errstate(all="ignore"):
            zeta, error = self.coefficient.evaluate(columns)
            room = error + _ROOM
            place = self._place(zeta * (1.0 + room))
            mu = self.shifts[place]
            q = zeta / mu
            w = mu / zeta
            room += 2 * _ROOM  # μ, the quotients and the products below are rounded
            below, above = 1.0 - room, 1.0 + room
            chance, weight = floor_bits(q * below, BITS), floor_bits(w * below, BITS)
            decided = (chance == floor_bits(q * above, BITS)) & (weight == floor_bits(w * above, BITS)) & (q * above < 1.0)
            decided &= (place == self._place(zeta * (1.0 - error - _ROOM))) & (zeta > _SMALL)
            whole = q * below >= 1.0
            if whole.any():  # of a scale below ζ: every such record is kept
                kept = whole & (zeta > _SMALL) & (place == self._place(zeta * (1.0 - error - _ROOM)))
                chance, weight = np.where(kept, 1.0, chance), np.where(kept, 1.0, weight)
                decided |= kept
        return chance, weight, decided

    def _place(self, zeta: Floats) -> Positions:
        """Return the piece of each ζ > 0; those below the table count as in the first piece, those above as in the last one."""
        places: Positions = (zeta.view(np.int64) >> _SHIFT) - self.first
        np.maximum(places, 0, out=places)
        np.minimum(places, len(self.exact) - 1, out=places)
        return places

    def _decide(self, enclosure: Enclosure, record: Mapping[str, Fraction]) -> tuple[float, float]:
        """Return (q̂, ŵ) of one record, whose ζ is enclosed as closely as that takes."""
        low = high = exact_value(self.zeta, record)
        bits = _FIRST_BITS
        while low is None or high is None or (low != high and self._pair(low) != self._pair(high)):
            with working_precision(bits):
                value = enclosure.evaluate({name: ball(number) for name, number in record.items()})
                if value < LEAST:
                    return (0.0, float("inf")) if value == 0 else _NEVER
                low, high = lower_fraction(value), upper_fraction(value)
            if bits >= _MOST_BITS:
                break
            bits *= 2
        if low is None or high is None:
            raise Undecided("mu(1, x) could not be enclosed at a record of the data; write mu more simply")
        if high <= 0:
            return 0.0, float("inf")
        (_, weight), (chance, _) = self._pair(high), self._pair(max(low, Fraction(0)))
        return min(chance, self._pair(high)[0]), weight

    def _pair(self, zeta: Fraction) -> tuple[float, float]:
        """Return (q̂, ŵ) where ζ is exactly this number: both rounded down, q = min(1, ζ/μ)."""
        if zeta <= 0:
            return 0.0, float("inf")
        mu = self._shift(zeta)
        q = zeta / mu
        if q >= 1:
            return 1.0, 1.0
        return _NEVER if q < Fraction(LEAST) else (floor_exact(q, BITS), floor_exact(1 / q, BITS))

    def _shift(self, zeta: Fraction) -> Fraction:
        pattern = int(np.float64(floor_exact(zeta, PLACES)).view(np.int64)) >> _SHIFT if zeta >= Fraction(LEAST) else self.first
        return self.exact[min(max(pattern - self.first, 0), len(self.exact) - 1)]


def prepare_shifts(proved: ProvedGaussian, table: WeightTable, scale: Fraction | None = None) -> ShiftReader:
    """Return the map for records of the declared domain. Claim: δ(ε*) ≤ δ* of the table holds for the (q̂, ŵ) of every record.

    ``scale``: a number λ > 0, for weights of at most λ/ζ (and at least 1), as sampling by size has them; it needs a whole table.
    """
    coefficient = split_weight(proved.profile.stand_in().numeric_epsilon())
    if coefficient is None:
        coefficient = proved.zeta
    rows = serve(table, scale)
    high = _pattern(proved.reach)
    low = min(_pattern(rows[-1][1]), high)
    exact = []
    place = 0
    for pattern in range(high, low - 2, -1):
        top = Fraction(float(np.int64((pattern + 1) << _SHIFT).view(np.float64)))
        while place + 1 < len(rows) and top <= rows[place + 1][1]:
            place += 1
        exact.append(rows[place][0])
    shifts = tuple(reversed(exact))
    return ShiftReader(
        proved.zeta, make_coefficient(proved.profile.stand_in(), coefficient), low - 1, shifts, np.array([nearest(mu) for mu in shifts])
    )


def serve(table: WeightTable, scale: Fraction | None) -> list[tuple[Fraction, Fraction]]:
    """Return pairs (μ, ζ) with rising μ and falling ζ: records with at most this ζ may have the weight μ/ζ, or 1 where that is less.

    With a scale λ, a row of λ stands for all rows from there on: (λ, q) is dominated by (μ, q) for the next μ of the table (Theorem 6).
    """
    rows = [(row.mu, row.zeta) for row in table.rows]
    if scale is None or scale >= rows[-1][0]:
        return rows
    above = next(row for row in table.rows if row.mu >= scale)
    if above is table.rows[0] and above.q < 1 and scale < above.mu:
        raise InvalidProfile("a scale of weights needs a whole table; make it with whole=True")
    return [pair for pair in rows if pair[0] < scale] + [(scale, scale * above.q)]


def _pattern(zeta: Fraction) -> int:
    return int(np.float64(max(floor_exact(zeta, PLACES), ldexp(1.0, -900))).view(np.int64)) >> _SHIFT
