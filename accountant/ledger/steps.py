"""Terms of many records as whole steps of a grid, rounded up or down: the exact value decides, never how it was computed.

Floating point encloses each value; where both ends of an enclosure round to one step, that is it, and balls decide the few others. So the
number of a record is a function of the record alone (docs/ledger.md, L5): not of the rows beside it, of NumPy's kernels or the machine.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb

from accountant.amplification import amplify_array
from accountant.columns.values import Columns
from accountant.weights.fast.compiled import CompiledTerm
from accountant.weights.fast.rounding import U
from profiles import Undecided
from profiles.arrays import Floats, Integers
from profiles.balls import ball, lower_fraction, upper_fraction, working_precision
from profiles.evaluation import exact_value
from profiles.terms import Term
from profiles.variables import WEIGHT
from proofs_check.enclosures import Enclosure
from proofs_check.suprema.terms import sampled_ball

_FIRST_BITS, _MOST_BITS = 128, 4_096
#: Rows a block: temporaries of half a megabyte each.
_BLOCK = 65_536
#: The column of selection probabilities, a name that no statistic can have.
_RATE = "q "


@dataclass(frozen=True, slots=True)
class Rounding:
    """Values of ``term`` ≥ 0 as numbers of steps of 2^(``shift`` − 40), rounded up or (not ``up``) down, at most ``most``.

    With probabilities q it is ψ = log(1 + q (e^t − 1)) for the term's value t that is rounded.
    """

    term: Term
    compiled: CompiledTerm
    shift: int
    up: bool
    most: int

    def count(self, columns: Columns, size: int, q: Floats | None = None, weights: Floats | None = None) -> Integers:
        """Return the steps of ``size`` records, shape (size,). ``columns`` are statistics of records of the declared domain.

        ``q``, ``weights``: the very numbers with which records are sampled; both or none. q = 0 costs nothing.
        """
        result = np.empty(size, dtype=np.int64)
        for start in range(0, size, _BLOCK):
            block = slice(start, min(size, start + _BLOCK))
            chances = None if q is None else q[block]
            loads = None if weights is None else weights[block]
            result[block] = self._count_block(columns.part(block), block.stop - start, chances, loads)
        return result

    def _count_block(self, columns: Columns, size: int, q: Floats | None, weights: Floats | None) -> Integers:
        if q is not None and weights is not None:
            columns = columns.joined(**{WEIGHT: np.where(q > 0, weights, 1.0), _RATE: q})
        with np.errstate(all="ignore"):
            value, error = self.compiled.bounded(columns)
            if isinstance(error, float) and error == 0.0:
                low = high = np.broadcast_to(value, (size,))
            else:  # the widening covers the roundings of these lines
                low, high = np.empty(size), np.empty(size)
                np.subtract(value, error, out=low)
                np.add(value, error, out=high)
                low *= 1.0 - 4 * U
                high *= 1.0 + 4 * U
                np.maximum(low, 0.0, out=low)
            if q is not None:
                low, high = _sample(low, high, q)
            top = self._round(high)
            decided = top <= float(self.most)
            if low is not high:
                decided &= self._round(low) == top
        tiny = columns.tiny()
        if tiny is not None:
            decided &= ~tiny
        if decided.all():
            return top.astype(np.int64)
        steps = np.where(decided, top, 0.0).astype(np.int64)
        rows = np.flatnonzero(~decided)
        if rows.size:
            first, positions = columns.distinct(rows)
            enclosure = Enclosure(self.term)
            settled = [self._settle(enclosure, columns.record(int(row))) for row in first]
            steps[rows] = np.array(settled, dtype=np.int64)[positions]
        return steps

    def _round(self, values: Floats) -> Floats:
        steps: Floats = values * 2.0 ** (40 - self.shift)  # a power of two: exact, but where it underflows
        if not self.up:
            return np.floor(steps, out=steps)
        np.ceil(steps, out=steps)
        return steps if self.shift <= 40 else np.where((values > 0) & (steps == 0), 1.0, steps)

    def _settle(self, enclosure: Enclosure, record: Mapping[str, Fraction]) -> int:
        """Return the steps of one record. Raises :class:`Undecided` where nothing bounds its value."""
        q = record.get(_RATE)
        known = exact_value(self.term, record) if q in (None, 1) else None
        if q == 0:
            return 0
        if known is not None:
            return min(self._whole(known), self.most)
        bits, bottom, top = _FIRST_BITS, None, None
        while bits <= _MOST_BITS:
            with working_precision(bits):
                value: arb = enclosure.evaluate({name: ball(number) for name, number in record.items() if name != _RATE})
                if q is not None and q != 1:
                    value = sampled_ball(ball(q), value)
                low, high = lower_fraction(value), upper_fraction(value)
            if low is not None and high is not None:
                bottom, top = self._whole(max(low, Fraction(0))), self._whole(max(high, Fraction(0)))
                if bottom == top:
                    break
            bits *= 2
        if bottom is None or top is None:
            raise Undecided(
                f"an amount of a record was needed, but no number could be found in {_MOST_BITS} bits; write the formula more simply"
            )
        return min(top if self.up else bottom, self.most)

    def _whole(self, value: Fraction) -> int:
        scaled = value * Fraction(2) ** (40 - self.shift)
        return math.ceil(scaled) if self.up else math.floor(scaled)


def _sample(low: Floats, high: Floats, q: Floats) -> tuple[Floats, Floats]:
    """Return bounds of log(1 + q (e^t − 1)) for low ≤ t ≤ high; no bound where there is none of t."""
    usable = np.isfinite(low) & np.isfinite(high)
    bottom = amplify_array(np.where(usable, low, 0.0), q) * (1.0 - 8 * U)
    top = amplify_array(np.where(usable, high, 0.0), q)
    whole = q == 1.0
    return np.where(usable, np.where(whole, low, bottom), np.nan), np.where(usable, np.where(whole, high, top), np.nan)
