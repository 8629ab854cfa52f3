"""Exact totals of parts over the rows of a table: integers, in one pass, in memory that does not grow with the number of rows.

Claim (docs/release.md, Lemma 1). With the unit h of a part, its reach Δ and u(x) the integer that a row x adds in its cell, |h u(x)| ≤ Δ.
Numbers are moved into the clip by comparisons of binary64 numbers, whose ends are rounded inward, and truncated toward 0; both are
functions of the row. Integers are added up exactly, in any order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from accountant.applications.answers.laws import PartNoise
from accountant.applications.answers.parts import PartKind, ReleasePart
from accountant.applications.answers.rows import AnswerRows
from accountant.ledger.prefetch import compute_ahead
from profiles.arrays import Floats, Integers, ignore_flags
from profiles.mechanisms.quantised import SumUnit, Totals, add_exactly, quantise
from profiles.numbers import nearest, round_down, round_up
from profiles.randomness.rounded import Grid

_ROOM = 2**62


class PartTotals:
    """The totals of one part: one integer in each cell of each group, or for a choice how many rows there are below each point."""

    def __init__(self, noise: PartNoise, groups: int) -> None:
        self.noise = noise
        part = noise.part
        counted = part.column is None or part.kind in (PartKind.CELLS, PartKind.CHOICE)
        self.unit = None if counted or noise.is_discrete else SumUnit.of(Grid.of(noise.scale))
        if part.kind is PartKind.CHOICE and part.grid is not None:
            self._points = np.array([nearest(part.grid.point(place)) for place in range(part.grid.size)])
            self.values: Totals = np.zeros((2, groups, part.grid.size + 1), dtype=np.int64)
        else:
            self.values = np.zeros(groups * part.cells, dtype=np.int64)
        self.size, self._most = self.values.size, 0

    def measure(self, rows: AnswerRows) -> Totals | None:
        """Return what the rows of a batch add to the totals. Raises :class:`profiles.InvalidData` for a value that is not a number."""
        part = self.noise.part
        if part.kind is PartKind.CHOICE:
            return self._count_places(rows)
        cells = rows.groups
        if part.kind is PartKind.CELLS and part.column is not None:
            cells_ = rows.cells(part.column, part.categories)
            cells = cells_ if cells is None else np.where((cells < 0) | (cells_ < 0), -1, cells * part.cells + cells_)
        if part.column is None or part.kind is PartKind.CELLS:
            return np.array([rows.size]) if cells is None else np.bincount(cells + 1, minlength=self.size + 1)[1:]
        units = measure_rows(rows.numbers(part.column), part)
        most = round_up(part.reach)
        if self.unit is not None:
            units = quantise(units[:, np.newaxis], None, self.unit)[:, 0]
            most = round_up(part.reach / Fraction(2) ** self.unit.exponent)
        if cells is not None:
            inside = cells >= 0
            cells, units = cells[inside], units[inside]
        if not len(units):
            return None
        return add_exactly(lambda u: _add_up(u, cells, self.size), units, len(units), max(1.0, most))

    def _count_places(self, rows: AnswerRows) -> Totals:
        column = self.noise.part.column
        numbers = rows.numbers(str(column))
        groups = np.zeros(rows.size, dtype=np.int64) if rows.groups is None else rows.groups
        inside, (_, count, width) = groups >= 0, self.values.shape
        places = []
        for side in ("right", "left"):
            first = np.searchsorted(self._points, numbers, side=side)
            places.append(np.bincount((groups * width + first)[inside], minlength=count * width).reshape(count, width))
        return np.stack(places)

    def join(self, others: Totals | None) -> None:
        """Add what :meth:`measure` returned, as 64-bit integers as long as these hold all totals."""
        if others is None:
            return
        if object not in (others.dtype, self.values.dtype):
            if self._most + int(np.abs(others).max()) < _ROOM:
                self._most += int(np.abs(others).max())
                self.values += others
                return
            self.values = self.values.astype(object)
        self.values = self.values + others

    def scores(self, group: int) -> np.ndarray[Any, Any]:
        """Return the scores of the points in one group, in units of 1/q of a row where the quantile is p/q: 0 for a point at which at
        most the part p/q of the rows is below it, and at least that part is not above it; else minus the rows that are missing to it.
        """
        at = self.noise.part.at
        below, upto = (np.cumsum(self.values[place, group])[:-1] for place in (0, 1))
        rows = int(self.values[0, group].sum())
        p, q = at.numerator, at.denominator
        score: np.ndarray[Any, Any] = -np.maximum(0, np.maximum(q * below - p * rows, p * rows - q * upto))
        return score


@ignore_flags
def measure_rows(numbers: Floats, part: ReleasePart) -> Floats:
    """Return what each row adds to a part before it is truncated, at most its reach in size: a function of the row alone.

    >>> from accountant.applications.answers.requests import Clip
    >>> measure_rows(np.array([-3.0, 0.5, 7.0]), ReleasePart(PartKind.SUM, "z", Clip.of((0, 2), "z"))).tolist()
    [0.0, 0.5, 2.0]
    """
    if part.clip is None:
        return np.ones_like(numbers)
    inside = np.clip(numbers, round_up(part.clip.low), round_down(part.clip.high))
    if part.kind is PartKind.SUM:
        return np.asarray(np.trunc(inside) if part.whole else inside)
    if part.whole:
        return np.asarray(np.trunc(inside) - nearest(part.middle))
    distance = inside - nearest(part.middle)
    if part.kind is PartKind.DISTANCES:
        most = round_down(part.reach)
        return np.asarray(np.clip(distance, -most, most))
    half = round_down(part.reach)
    return np.asarray(np.clip(distance * distance - half, -half, half))


def _add_up(units: Floats, cells: Integers | None, size: int) -> Floats:
    """Return the sums of integer-valued numbers in each cell, exact as long as none exceeds 2⁵³."""
    return np.asarray([units.sum()] if cells is None else np.bincount(cells, units, minlength=size), dtype=np.float64)


def add_rows(noises: Sequence[PartNoise], batches: Iterable[AnswerRows], groups: int) -> list[PartTotals]:
    """Return the totals of all parts, of one pass over the rows."""
    totals = [PartTotals(noise, groups) for noise in noises]

    def measure(rows: AnswerRows) -> list[Totals | None]:
        return [total.measure(rows) for total in totals]

    for measured in compute_ahead(measure, ((rows,) for rows in batches)):
        for total, more in zip(totals, measured, strict=True):
            total.join(more)
    return totals
