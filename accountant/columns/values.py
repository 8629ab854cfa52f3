"""Statistics of a batch: binary64 numbers that are exact, or decimals of a text file beside the binary64 numbers nearest to them.

Decimals such as 0.1 are not binary64 numbers. A column holds the nearest one, v, with |d − v| ≤ u |v| for |d| ≥ 2^-1000, v = 0 only where
d = 0, and knows the text: bounds of the fast paths have that error in them, and every row that they do not decide is decided for d itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, overload

import numpy as np

from profiles import InvalidData, InvalidNumber, to_exact
from profiles.arrays import Booleans, Floats, Positions
from profiles.numbers import nearest
from profiles.private import NOT_FINITE, list_values, quote

Rows = slice | Positions
#: Decimals below this, but not 0, are not known to a relative u as binary64 numbers: their rows are decided exactly.
LEAST_NORMAL = 2.0**-1000


class _Values:
    """What NumPy takes for the array of its ``values``, of shape (n,)."""

    __slots__ = ()
    values: Floats

    @property
    def size(self) -> int:
        return int(self.values.size)

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[float]:
        return iter(self.values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:  # noqa: FBT001 - NumPy's protocol
        return np.array(self.values, dtype=dtype) if copy or dtype is not None else self.values


@dataclass(frozen=True, slots=True, eq=False)
class Decimals(_Values):
    """Decimals d as they are written: ``values`` (shape (n,)) the nearest binary64 numbers, ±2^-1074 where d ≠ 0 is nearer to 0, and
    ``texts``, an Arrow array of strings that :func:`profiles.to_exact` reads.

    NumPy takes it for the array of its ``values``.
    """

    values: Floats = field(repr=False)
    texts: Any = field(repr=False)

    @overload
    def __getitem__(self, rows: int) -> float: ...
    @overload
    def __getitem__(self, rows: Rows) -> Decimals: ...
    def __getitem__(self, rows: Rows | int) -> Decimals | float:
        if isinstance(rows, slice):
            start, stop, _ = rows.indices(self.size)
            return Decimals(self.values[rows], self.texts.slice(start, max(stop - start, 0)))
        if isinstance(rows, np.ndarray):
            return Decimals(self.values[rows], self.texts.take(rows))
        return float(self.values[rows])

    def exact(self, row: int) -> Fraction:
        """Return the decimal of a row. Raises :class:`InvalidData` for one that is written in a way that is not read exactly."""
        return read_exactly(self.texts[int(row)].as_py()) if self.values[row] else Fraction(0)

    def exact_many(self, rows: Iterable[int]) -> list[Fraction]:
        """Return the decimals of several rows; equal texts are read once."""
        known: dict[str, Fraction] = {}
        numbers, chosen = [], np.asarray(list(rows), dtype=np.int64)
        for zero, text in zip((self.values[chosen] == 0).tolist(), self.texts.take(chosen).to_pylist(), strict=True):
            value = known.get(text)
            if value is None:
                value = known[text] = Fraction(0) if zero else read_exactly(text)
            numbers.append(value)
        return numbers


def read_exactly(text: str) -> Fraction:
    """Return a decimal of a data file. Raises :class:`InvalidData` for one that :func:`profiles.to_exact` does not read."""
    try:
        return to_exact(text)
    except InvalidNumber:
        raise InvalidData(
            "a number of the data is written in a form that is not read exactly; write it with a point and a short exponent",
            private=quote(text),
        ) from None


@dataclass(frozen=True, slots=True, eq=False)
class NormsOfDecimals(_Values):
    """Norms of rows of decimals: ``values`` by the stated binary64 formula (``accountant/data/specs.py``), within a relative ``error``
    of the norm of the decimals; ``entries(row)`` returns those decimals, ``norm`` is l1, l2, l2^2 or linf.

    The statistic is the binary64 number. Whether a record lies in the declared range is decided for the norm of the decimals, and a number
    that only rounding put outside counts as the end of the range.
    """

    values: Floats = field(repr=False)
    norm: str
    error: float
    entries: Callable[[int], list[Fraction]] = field(repr=False)

    @overload
    def __getitem__(self, rows: int) -> float: ...
    @overload
    def __getitem__(self, rows: Rows) -> NormsOfDecimals: ...
    def __getitem__(self, rows: Rows | int) -> NormsOfDecimals | float:
        if isinstance(rows, (slice, np.ndarray)):
            kept, entries = np.arange(self.size)[rows], self.entries
            return NormsOfDecimals(self.values[rows], self.norm, self.error, lambda row: entries(int(kept[row])))
        return float(self.values[rows])

    def lies_in(self, row: int, low: Fraction, high: Fraction) -> bool:
        """Tell whether the norm of the decimals of a row lies in [low, high], exactly."""
        parts = [abs(entry) for entry in self.entries(row)]
        if self.norm == "linf":
            return low <= max(parts, default=Fraction(0)) <= high
        if self.norm == "l1":
            return low <= sum(parts, Fraction(0)) <= high
        square = sum((part * part for part in parts), Fraction(0))
        if self.norm == "l2^2":
            return low <= square <= high
        return (low <= 0 or low * low <= square) and high >= 0 and square <= high * high


#: A statistic of n records.
Column = Floats | Decimals | NormsOfDecimals


@dataclass(frozen=True, slots=True, eq=False)
class Columns(Mapping[str, Floats]):
    """The statistics of n records by name, as float64 arrays; those in ``written`` stand for decimals, which are known exactly.

    Make parts and extensions by the methods: a plain dictionary of the arrays would have lost what they stand for.
    """

    arrays: Mapping[str, Floats] = field(repr=False)
    written: Mapping[str, Decimals | NormsOfDecimals] = field(repr=False, default_factory=dict)

    def __getitem__(self, name: str) -> Floats:
        return self.arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.arrays)

    def __len__(self) -> int:
        return len(self.arrays)

    @property
    def inexact(self) -> frozenset[str]:
        """The statistics whose numbers stand for decimals that they may not be."""
        return frozenset(name for name, column in self.written.items() if isinstance(column, Decimals))

    def original(self, name: str) -> Column:
        """Return a column as it was read: decimals where the file had text, else its numbers."""
        return self.written.get(name, self.arrays[name])

    def part(self, rows: Rows) -> Columns:
        """Return the columns at ``rows``, decimals included."""
        return Columns(
            {name: column[rows] for name, column in self.arrays.items()}, {name: column[rows] for name, column in self.written.items()}
        )

    def joined(self, **others: Floats) -> Columns:
        """Return the columns with further exact ones."""
        return Columns({**self.arrays, **others}, {name: column for name, column in self.written.items() if name not in others})

    def only(self, names: Iterable[str]) -> Columns:
        """Return the columns of these names alone, in their order."""
        kept = list(names)
        return Columns({name: self.arrays[name] for name in kept}, {name: self.written[name] for name in kept if name in self.written})

    def tiny(self) -> Booleans | None:
        """Return which rows have a decimal that is not 0 and not known to a relative u, None where there is none."""
        small: Booleans | None = None
        for name in self.inexact:
            size = np.abs(self.arrays[name])
            here = (size > 0) & (size < LEAST_NORMAL)
            if here.any():
                small = here if small is None else small | here
        return small

    def rests(self, name: str, rows: Positions) -> Floats | None:
        """Return what the decimals of a statistic are above its numbers, each to a relative u; None where the numbers are exact."""
        written = self.written.get(name)
        if not isinstance(written, Decimals):
            return None
        return np.array(
            [
                nearest(exact - Fraction(value))
                for exact, value in zip(written.exact_many(rows.tolist()), self.arrays[name][rows].tolist(), strict=True)
            ],
            dtype=np.float64,
        )

    def record(self, row: int, first_row: int = 0) -> dict[str, Fraction]:
        """Return one record as exact numbers. Raises :class:`InvalidData` for values that are not finite."""
        numbers: dict[str, Fraction] = {}
        for name, column in self.arrays.items():
            written, value = self.written.get(name), float(column[row])
            if not np.isfinite(value):
                raise InvalidData(
                    f"the statistic {name!r} must be finite, but {NOT_FINITE} was found in row {first_row + row}; correct the data",
                    private=list_values([(first_row + row, value)]),
                )
            numbers[name] = written.exact(row) if isinstance(written, Decimals) else Fraction(value)
        return numbers

    def distinct(self, rows: Positions) -> tuple[Positions, Positions]:
        """Return one of ``rows`` for each group of equal records, and for each of ``rows`` the index of its group."""
        if not self.arrays:
            return rows[:1], np.zeros(rows.size, dtype=np.intp)
        used = [self._keys(name, rows) for name in self.arrays]
        table: Floats = used[0] if len(used) == 1 else np.stack(used, axis=1)
        _, first, positions = np.unique(table, axis=0, return_index=True, return_inverse=True)
        return rows[first], positions.reshape(-1)

    def _keys(self, name: str, rows: Positions) -> Floats:
        """Return numbers that agree where the values of a column do."""
        written = self.written.get(name)
        if not isinstance(written, Decimals):
            return np.asarray(self.arrays[name][rows] + 0.0)
        known: dict[Fraction, int] = {}
        return np.array([known.setdefault(value, len(known)) for value in written.exact_many(rows.tolist())], dtype=np.float64)
