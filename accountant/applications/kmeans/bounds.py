"""Public bounds of columns: each row is scaled to [−1, 1] in every column, and centres come back in the columns' own units.

Statement (docs/private-kmeans.md, Lemma 2). Let [l_j, u_j] be public, l_j < u_j, m_j = (l_j + u_j)/2 and h_j = (u_j − l_j)/2. The map

    S(x)_j = (min(max(x_j, l_j), u_j) − m_j)/h_j

is made of one row and public numbers, so that a mechanism after it loses at a row x at most what it loses at S(x) (Lemma 1), and
‖S(x)‖₂ ≤ √d, with equality at the corners: √d is the radius of the public ball. A centre v goes back to m_j + h_j v_j, moved into
[l_j, u_j]: both are functions of what was released. Columns in other units, with bounds in these, give the same S.

In floating point S is rounded. It stays a function of the row, and its result is moved into the ball like any other row, so that no bound
rests on how it is rounded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np

from accountant.applications.budget.rows import SelectableRows
from profiles import InvalidArgument, exact_text, to_exact
from profiles.arrays import Booleans, Floats
from profiles.numbers import exact_root, nearest, root_above, round_down, round_up
from profiles.suggestions import suggest

#: ColumnBounds lie between these, and are that far apart: then they, and what is made of them, are numbers of binary64.
_LARGEST, _LEAST = Fraction(10**300), Fraction(1, 10**300)
_MOST = 2**20
#: Up to so many columns the bounds are said one by one.
_FEW = 4


@dataclass(frozen=True, slots=True)
class ColumnBounds:
    """Public bounds of d columns, exact; ``names`` are those of the columns, () where the bounds stand in the order of the columns."""

    ends: tuple[tuple[Fraction, Fraction], ...]
    names: tuple[str, ...] = ()

    @classmethod
    def of(cls, given: object) -> ColumnBounds:
        """Return bounds from pairs, one per column in their order, or from a mapping of names of columns to pairs.

        Raises :class:`InvalidArgument`, :class:`profiles.InvalidNumber`.

        >>> ColumnBounds.of({"age": (0, 110), "income": ("0", "2e5")}).radius
        Fraction(707107, 500000)
        """
        if isinstance(given, ColumnBounds):
            return given
        names: tuple[str, ...] = ()
        pairs: Any = given
        if isinstance(given, Mapping):
            names, pairs = tuple(given), list(given.values())
            if not all(isinstance(name, str) for name in names):
                raise InvalidArgument("bounds are given by the names of columns, but a name that is not text was found; correct it")
        if isinstance(pairs, (str, bytes, Set)) or not hasattr(pairs, "__iter__"):
            raise InvalidArgument('bounds are pairs of numbers, one per column, but no such list was found; give {"age": (0, 110), ...}')
        listed = list(islice(pairs, _MOST + 1))
        if not 0 < len(listed) <= _MOST:
            raise InvalidArgument(f"there are bounds for 1 to {_MOST} columns, but {len(listed)} were found; give a pair for each column")
        labels = [repr(name[:40]) for name in names] or [f"column {place}" for place in range(len(listed))]
        return cls(tuple(_read_pair(pair, label) for pair, label in zip(listed, labels, strict=True)), names)

    def arrange(self, columns: Sequence[str] | None, dimension: int) -> ColumnBounds:
        """Return the bounds in the order of ``columns``, () or None where these have no names. Raises :class:`InvalidArgument`."""
        if not self.names:
            if len(self.ends) != dimension:
                raise InvalidArgument(f"there are {dimension} columns, but bounds for {len(self.ends)} were given; give a pair for each")
            return self
        if not columns:
            raise InvalidArgument("bounds were given by names, but the records have no names of columns; give pairs in their order")
        by_name = dict(zip(self.names, self.ends, strict=True))
        for name in columns:
            if name not in by_name:
                raise InvalidArgument(f"the column {name[:60]!r} has no bounds; give public bounds for each column that is used")
        for name in self.names:
            if name not in columns:
                raise InvalidArgument(f"bounds of {name[:60]!r} were given, but no such column is used{suggest(name, columns)}; correct it")
        return replace(self, ends=tuple(by_name[name] for name in columns), names=tuple(columns))

    @property
    def radius(self) -> Fraction:
        """√d, rounded up to six decimals where it is irrational: no scaled row has a larger norm."""
        root = exact_root(Fraction(len(self.ends)))
        return root_above(len(self.ends), 10**6) if root is None else root

    def describe(self) -> str:
        """Return the bounds in words: each interval, or how many there are."""
        if len(self.ends) > _FEW:
            return f"the public bounds of {len(self.ends)} columns"
        return f"the public bounds {' x '.join(f'[{exact_text(low)[:40]}, {exact_text(high)[:40]}]' for low, high in self.ends)}"

    @property
    def middle(self) -> Floats:
        """The middle of each column, rounded, shape (d,)."""
        return np.array([nearest((low + high) / 2) for low, high in self.ends])

    @property
    def _half(self) -> Floats:
        return np.array([nearest((high - low) / 2) for low, high in self.ends])

    @property
    def _corners(self) -> tuple[Floats, Floats]:
        """The least and the largest number of binary64 in each interval."""
        return np.array([round_up(low) for low, _ in self.ends]), np.array([round_down(high) for _, high in self.ends])

    def enter(self, rows: Floats) -> Floats:
        """Return rows of shape (n, d) moved into the bounds and scaled to [−1, 1] in each column, each row by itself.

        >>> ColumnBounds.of([(0, 100), (-1, 1)]).enter(np.array([[25.0, 0.5], [900.0, -3.0]])).tolist()
        [[-0.5, 0.5], [1.0, -1.0]]
        """
        least, largest = self._corners
        return np.clip((np.clip(rows, least, largest) - self.middle) / self._half, -1.0, 1.0)

    def leave(self, points: Floats) -> Floats:
        """Return scaled points, shape (n, d) or (d,), in the units of the columns, and inside the bounds.

        >>> ColumnBounds.of([(0, 100), (-1, 1)]).leave(np.array([[-0.5, 0.5], [1.2, -1.0]])).tolist()
        [[25.0, 0.5], [100.0, -1.0]]
        """
        least, largest = self._corners
        return np.clip(self.middle + self._half * points, least, largest)

    def contains(self, point: Sequence[float]) -> bool:
        """Tell whether a point lies inside the bounds, exactly."""
        return all(low <= Fraction(value) <= high for value, (low, high) in zip(point, self.ends, strict=True))


def _read_pair(pair: Any, label: str) -> tuple[Fraction, Fraction]:
    if isinstance(pair, (str, bytes, Mapping, Set)) or not hasattr(pair, "__iter__"):
        raise InvalidArgument(f"the bounds of {label} are a least and a largest number, but something else was found; give a pair")
    ends = list(islice(pair, 3))
    if len(ends) != 2:
        raise InvalidArgument(f"the bounds of {label} are two numbers, the least and the largest, but another number of them was found")
    low, high = (to_exact(value, f"a bound of {label}") for value in ends)
    if low >= high:
        way = "are equal" if low == high else "stand the other way round"
        raise InvalidArgument(f"the bounds of {label} {way}; give the least value that a column may have, then the largest")
    if max(abs(low), abs(high)) > _LARGEST or high - low < _LEAST or round_up(low) >= round_down(high):
        raise InvalidArgument(
            f"the bounds of {label} are too large, or too near each other, for numbers of binary64; write the column in another unit"
        )
    return low, high


@dataclass(frozen=True, slots=True, eq=False)
class BoundedRows:
    """Rows scaled by public bounds, in every pass anew."""

    rows: SelectableRows
    bounds: ColumnBounds

    @property
    def dimension(self) -> int:
        return self.rows.dimension

    def blocks(self) -> Iterator[Floats]:
        """Yield the blocks of the rows, scaled."""
        return map(self.bounds.enter, self.rows.blocks())

    def keep(self, active: Booleans) -> BoundedRows:
        return replace(self, rows=self.rows.keep(active))
