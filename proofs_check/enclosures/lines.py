"""Piecewise-linear tables in ball arithmetic: only the lines that a ball may touch are looked at."""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from functools import lru_cache

from flint import arb, fmpq

from profiles.numbers import nearest
from profiles.tables import Table


class Lines:
    """The lines of a table, with binary64 numbers near their ends to find those that a ball touches."""

    __slots__ = ("_near", "_points", "_slopes")

    def __init__(self, table: Table) -> None:
        self._points = [(_exact(x), _exact(y)) for x, y in table.points]
        self._slopes = [_exact(slope) for slope in table.slopes]
        self._near = [nearest(knot) for knot in table.knots]

    def _touched(self, x: arb) -> Iterator[tuple[int, arb, arb]]:
        """Yield (index, from, to): every point of the ball lies between ``from`` and ``to`` on one of these lines."""
        low, high = x.lower(), x.upper()
        # rounding is monotone, so that a knot with a smaller binary64 number is smaller; one more line on either side for safety
        first = max(bisect.bisect_left(self._near, float(low)) - 1, 0)
        last = min(bisect.bisect_right(self._near, float(high)) + 1, len(self._slopes) - 1)
        for index in range(first, last + 1):
            left, right = arb(self._points[index][0]), arb(self._points[index + 1][0])
            if (index > 0 and left > high) or (index < len(self._slopes) - 1 and right < low):
                continue
            begin = low if index == 0 or left < low else left
            end = high if index == len(self._slopes) - 1 or right > high else right
            yield index, begin, end

    def _at(self, index: int, x: arb) -> arb:
        at, y = self._points[index]
        return arb(y) + arb(self._slopes[index]) * (x - arb(at))

    def value(self, x: arb) -> arb:
        """Return a ball around the values at all points of a ball."""
        if not x.is_finite():
            return arb.nan()
        touched = list(self._touched(x))
        if len(touched) == 1:
            return self._at(touched[0][0], x)
        result = None
        for index, begin, end in touched:
            part = self._at(index, begin).union(self._at(index, end))
            result = part if result is None else result.union(part)
        return arb.nan() if result is None else result

    def slope(self, x: arb) -> arb:
        """Return a ball around all difference quotients between points of a ball."""
        if not x.is_finite():
            return arb.nan()
        result = None
        for index, _, _ in self._touched(x):
            slope = arb(self._slopes[index])
            result = slope if result is None else result.union(slope)
        return arb.nan() if result is None else result


def _exact(value: object) -> fmpq:
    return fmpq(value.numerator, value.denominator)  # type: ignore[attr-defined]


@lru_cache(maxsize=64)
def lines_of(table: Table) -> Lines:
    """Return the lines of a table."""
    return Lines(table)
