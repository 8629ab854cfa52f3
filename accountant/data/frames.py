"""One batch of rows, whatever file it came from, and the statistics of its records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

import numpy as np

from accountant.columns.values import Column, Decimals, NormsOfDecimals
from accountant.data.specs import LEAST_SQUARE, NORMS, StatisticSpec
from profiles import InvalidData
from profiles.arrays import Floats
from profiles.private import NOT_FINITE, list_values, name_rows
from profiles.suggestions import suggest


@dataclass(frozen=True, slots=True)
class Batch:
    """Some consecutive rows: the number of the first (from 0), their statistics, and their columns as an Arrow record batch or None."""

    first_row: int
    size: int = field(repr=False)
    statistics: Mapping[str, Column] = field(repr=False)
    table: Any = field(default=None, repr=False)


@runtime_checkable
class Source(Protocol):
    """A data set that can be read again and again in batches; only one batch is held in memory."""

    @property
    def label(self) -> str:
        """How errors name the data set."""

    def batches(self, specs: Sequence[StatisticSpec]) -> Iterator[Batch]:
        """Yield the rows in order with the statistics of ``specs``."""


class Frame(Protocol):
    """The columns of one batch of a table."""

    @property
    def label(self) -> str:
        """How errors name the data set."""

    @property
    def names(self) -> Sequence[str]:
        """All columns."""

    @property
    def numeric(self) -> Sequence[str]:
        """The columns that hold numbers."""

    def column(self, name: str, title: str | None = None) -> Floats | Decimals:
        """Return a column as finite float64 values or decimals, or raise :class:`InvalidData`.

        Errors call it ``title``, by default its name.
        """


def compute_statistics(frame: Frame, specs: Sequence[StatisticSpec]) -> dict[str, Column]:
    """Return the statistics of a batch (formulas: :mod:`accountant.data.specs`)."""
    return {spec.name: _compute(frame, spec) for spec in specs}


def _compute(frame: Frame, spec: StatisticSpec) -> Column:
    if spec.column is not None:
        return frame.column(resolve(frame, spec.column), _number(frame, spec.column) if spec.from_data else None)
    chosen = [resolve(frame, name) for name in spec.only]
    dropped = {resolve(frame, name) for name in spec.without}
    columns = chosen or [name for name in frame.numeric if name not in dropped]
    if not columns:
        raise InvalidData(f"{frame.label} has no numeric columns for the norm {spec.norm}; name columns or use another file")
    total: Floats | None = None
    read: list[Floats | Decimals] = []
    with np.errstate(over="ignore", under="ignore"):
        for name in columns:
            column = frame.column(name, None if chosen else _number(frame, name))
            read.append(column)
            total = accumulate(total, column.values if isinstance(column, Decimals) else column, str(spec.norm))
    if total is None:
        raise InvalidData(f"{frame.label} has no columns for the norm {spec.norm}; name columns or use another file")
    result = finish(total, str(spec.norm))
    if not any(isinstance(column, Decimals) for column in read):
        return result
    return NormsOfDecimals(result, str(spec.norm), norm_error(len(read)), lambda row: [_entry(column, row) for column in read])


def norm_error(columns: int) -> float:
    """Return how far the stated formula is from the norm of as many decimals, relatively (docs/rounding.md, section 7)."""
    return (columns + 4) * 2.0**-52


def _entry(column: Floats | Decimals, row: int) -> Fraction:
    return column.exact(row) if isinstance(column, Decimals) else Fraction(float(column[row]))


def accumulate(total: Floats | None, values: Floats, norm: str) -> Floats:
    """Return the running sum (or maximum) of a norm after one more column."""
    term: Floats = _square(values) if norm in ("l2", "l2^2") else np.abs(values)
    if total is None:
        return term
    if norm == "linf":
        return np.maximum(total, term, out=total)
    total += term
    return total


def _square(values: Floats) -> Floats:
    squares: Floats = values * values
    if squares.size and float(squares.min()) < LEAST_SQUARE:
        squares[(squares < LEAST_SQUARE) & (values != 0)] = LEAST_SQUARE
    return squares


def finish(total: Floats, norm: str) -> Floats:
    """Return the norm from its running sum."""
    return np.sqrt(total) if norm == "l2" else total


def _number(frame: Frame, name: str) -> str:
    """Return what errors call a column that nobody but the file named: its first line may be a record."""
    return f"number {list(frame.names).index(name)} (from 0)"


def resolve(frame: Frame, name: str) -> str:
    """Return ``name`` if the data has such a column, else raise :class:`InvalidData`; its private text has the names that there are."""
    if name in frame.names:
        return name
    raise missing_column(name, frame.label, frame.names)


def missing_column(name: str, label: str, names: Sequence[str]) -> InvalidData:
    """Return the error for a column that is not there. What a CSV file has in its first line may be a record: the names are private."""
    listed = ", ".join(list(names)[:12]) + (", ..." if len(names) > 12 else "")
    return InvalidData(
        f"the column {name!r} was asked for, but {label} has no such column among its {len(names)}; name one of them{suggest(name, NORMS)}",
        private=f"the columns are {listed}{suggest(name, names)}" if names else "",
    )


def require_finite(values: Floats, label: str, title: str, first_row: int) -> Floats:
    """Return ``values`` or raise :class:`InvalidData` naming the first rows that are NaN or infinite."""
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        rows = name_rows((first_row + bad).tolist())
        raise InvalidData(
            f"the column {title} of {label} must hold finite numbers, but {NOT_FINITE} was found in {rows} (rows count from 0); correct "
            "or drop those rows",
            private=list_values((first_row + int(row), float(values[row])) for row in bad),
        )
    return values
