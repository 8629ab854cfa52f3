"""Piecewise-linear tables: a function of one number given by points, used in ε as ``f(z)``.

Between neighboring points the function is a line. Outside of the first and last point there is no value: that the argument stays
inside is an obligation on the whole domain, which ``proofs_check.admit`` proves, unless the table says that its outer lines ``continue``.
To the proof checker a table is the ``Piecewise`` that it abbreviates (:func:`spell_out_table`), so a certificate needs no second file.
"""

from __future__ import annotations

import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from profiles.errors import InvalidProfile
from profiles.numbers import exact_text, to_exact

MAX_POINTS = 2_000
OUTSIDE = ("error", "continue")


@dataclass(frozen=True, eq=False)
class Table:
    """A continuous, piecewise-linear function: ``points`` (x, y) with strictly increasing x, at least two.

    ``continues``: outside of the points the first and the last line go on; else the function has no values there.
    """

    name: str
    points: tuple[tuple[Fraction, Fraction], ...]
    continues: bool = False

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Table) or self._hash != other._hash:
            return False
        return (self.name, self.points, self.continues) == (other.name, other.points, other.continues)

    @cached_property
    def _hash(self) -> int:
        """The hash, which is asked for at every step of a search and would take a pass over all points."""
        return hash((self.name, self.points, self.continues))

    @property
    def lo(self) -> Fraction:
        return self.points[0][0]

    @property
    def hi(self) -> Fraction:
        return self.points[-1][0]

    @cached_property
    def slopes(self) -> tuple[Fraction, ...]:
        return tuple((y1 - y0) / (x1 - x0) for (x0, y0), (x1, y1) in zip(self.points, self.points[1:], strict=False))

    @cached_property
    def knots(self) -> tuple[Fraction, ...]:
        """The abscissae at which one line ends and the next one begins."""
        return tuple(x for x, _ in self.points[1:-1])

    def value(self, x: Fraction) -> Fraction:
        """Return the value at x, on the outer lines outside of the points."""
        index = bisect.bisect_left(self.knots, x)
        at, y = self.points[index]
        return y + self.slopes[index] * (x - at)

    def __repr__(self) -> str:
        return f"Table({self.name!r}, {len(self.points)} points)"


def make_table(name: str, points: object, *, outside: object = "error") -> Table:
    """Return a table from a list of [x, y] pairs of exact numbers.

    Raises :class:`InvalidProfile` (fewer than two points, abscissae that do not strictly increase, more than 2,000 points),
    :class:`InvalidNumber`.

    >>> make_table("f", [[0, 0], [1, "0.5"], [2, 3]]).value(Fraction(3, 2))
    Fraction(7, 4)
    """
    what = f"the table {name}"
    if outside not in OUTSIDE:
        raise InvalidProfile(
            f'{what} has outside = {str(outside)[:40]!r}; write "error" (the usual), or "continue" to go on with the outer lines'
        )
    if isinstance(points, (str, bytes, Mapping)) or not isinstance(points, Sequence):
        raise InvalidProfile(f"{what} needs points = [[x, y], ...], but an object of type {type(points).__name__} was found; write pairs")
    if not 2 <= len(points) <= MAX_POINTS:
        raise InvalidProfile(f"{what} has {len(points)} points, but 2 to {MAX_POINTS} are needed; add or merge some")
    read: list[tuple[Fraction, Fraction]] = []
    for index, pair in enumerate(points, start=1):
        if isinstance(pair, (str, bytes, Mapping)) or not isinstance(pair, Sequence) or len(pair) != 2:
            raise InvalidProfile(f"point {index} of {what} is not a pair [x, y]; write two numbers")
        x, y = (to_exact(value, f"{axis} of point {index} of {what}") for axis, value in zip("xy", pair, strict=True))
        if read and x <= read[-1][0]:
            raise InvalidProfile(
                f"point {index} of {what} has x = {exact_text(x)[:40]}, which is not above {exact_text(read[-1][0])[:40]} before it; "
                "sort the points by x, each x once"
            )
        read.append((x, y))
    return Table(name, tuple(read), outside == "continue")


def spell_out_table(term: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return an application of a table as the Piecewise of lines that it is."""
    _, table, argument = term
    lines = [_line(y - slope * x, slope, argument) for (x, y), slope in zip(table.points, table.slopes, strict=False)]
    if len(lines) == 1:
        return ("add", lines[0], ("mul", ("num", Fraction(0)), argument)) if lines[0][0] == "num" else lines[0]
    tests = [*(("<=", argument, ("num", knot)) for knot in table.knots), ("true",)]
    return ("piecewise", *zip(lines, tests, strict=True))


def _line(constant: Fraction, slope: Fraction, argument: tuple[Any, ...]) -> tuple[Any, ...]:
    if slope == 0:
        return ("num", constant)
    rise = argument if slope == 1 else ("mul", ("num", slope), argument)
    return rise if constant == 0 else ("add", rise, ("num", constant)) if constant > 0 else ("add", rise, ("neg", ("num", -constant)))
