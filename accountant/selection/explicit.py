"""q(x) and 1/q(x) of many records for a rule that is given as a term, both rounded down (docs/sampling.md, section 4)."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from accountant.columns.domain import as_columns
from accountant.columns.values import Column, Columns
from accountant.selection.floors import BITS, LEAST, blocks, floor_bits, floor_exact
from accountant.weights.fast.compiled import CompiledTerm
from accountant.weights.fast.rounding import U
from profiles import InvalidSampling
from profiles.arrays import Booleans, Floats
from profiles.balls import ball, lower_fraction, upper_fraction, working_precision
from profiles.evaluation import exact_value
from profiles.terms import Term, free_symbols
from proofs_check.enclosures import Enclosure
from proofs_check.suprema.feasibility import show_record, shown

_FIRST_BITS, _MOST_BITS = 128, 4_096
_NEVER = (0.0, 1.0 / LEAST)


def round_rule(q: Term, statistics: Mapping[str, ArrayLike | Column], *, first_row: int = 0) -> tuple[Floats, Floats, int]:
    """Return q(x) and 1/q(x), both rounded down to 36 significant bits, and how many rows were decided by exact arithmetic or balls.

    ``statistics``: arrays of those that q uses (any array tells the number of records where it uses none). Rows that running error bounds
    do not decide (a few in a thousand, and those where q is exactly a number of 36 bits) are decided exactly, equal records once. A value
    that 4,096 bits do not decide counts as just below the step. Where q < 2^-900 the probability is 0 and the weight 2^900 < 1/q.
    Raises :class:`InvalidSampling` (q > 1 or q ≤ 0, with the row: ``first_row`` is the number of the first), :class:`InvalidData`.
    """
    names = tuple(sorted(free_symbols(q)))
    if not names:
        columns = as_columns(statistics, tuple(statistics))
        size = next((column.size for column in columns.values()), 0)
        chance, weight = _decide(q, Enclosure(q), {})
        return np.full(size, chance), np.full(size, weight), 0
    columns = as_columns(statistics, names)
    size = columns[names[0]].size
    chances, weights = np.empty(size), np.empty(size)
    decided = np.empty(size, dtype=np.bool_)
    compiled = CompiledTerm(q)
    for block in blocks(size):
        chances[block], weights[block], decided[block] = _fast(compiled, columns.part(block))
    rows = np.flatnonzero(~decided)
    if rows.size:
        first, positions = columns.distinct(rows)
        enclosure = Enclosure(q)
        pairs = np.array([_decide(q, enclosure, columns.record(int(row), first_row), first_row + int(row)) for row in first])
        chances[rows], weights[rows] = pairs[positions, 0], pairs[positions, 1]
    return chances, weights, int(rows.size)


def _fast(compiled: CompiledTerm, columns: Columns) -> tuple[Floats, Floats, Booleans]:
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
        decided &= (low > LEAST) & (high <= 1.0)
        return chance, np.where(sure, 1.0, weight), decided


def _decide(q: Term, enclosure: Enclosure, record: Mapping[str, Fraction], row: int = 0) -> tuple[float, float]:
    """Return (q̂, ŵ) of one record. Raises :class:`InvalidSampling` where q is not in (0, 1]."""
    low = high = exact_value(q, record)
    bits = _FIRST_BITS
    while low is None or high is None or not _settled(low, high):
        with working_precision(bits):
            value = enclosure.evaluate({name: ball(number) for name, number in record.items()})
            if value > 0 and value < LEAST:  # its end points may have exponents beyond any fraction
                return _NEVER
            low, high = lower_fraction(value), upper_fraction(value)
        if bits >= _MOST_BITS:
            break
        bits *= 2
    if low is None or high is None or low <= 0 or low > 1:
        problem = "no number" if low is None else "a q above 1" if low > 1 else "a q of at most 0"
        value = "no number" if low is None else f"q = {shown(low)}"
        raise InvalidSampling(
            f"a selection probability in (0, 1] was expected, but {problem} was found"
            f"{f' in row {row} (rows count from 0)' if record else ''}; keep the data in the range that q was made for",
            private=f"{value} at the record {show_record(record)}" if record else value,
        )
    most = min(high, Fraction(1))
    if low < Fraction(LEAST):
        return 0.0, _NEVER[1] if most <= Fraction(LEAST) else floor_exact(1 / most, BITS)
    return floor_exact(low, BITS), floor_exact(1 / most, BITS)


def _settled(low: Fraction, high: Fraction) -> bool:
    if low == high or low > 1 or high <= 0:
        return True
    top = min(high, Fraction(1))
    if low <= 0 or top < Fraction(LEAST):
        return low > 0
    return floor_exact(low, BITS) == floor_exact(top, BITS) and floor_exact(1 / low, BITS) == floor_exact(1 / top, BITS)
