"""One batch of rows, whatever file it came from, and the statistics of its records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from accountant.dataset.specs import LEAST_SQUARE, NORMS, StatisticSpec
from accountant.weights.vectorised.results import Floats
from profiles import InvalidData
from profiles.suggestions import suggest


@dataclass(frozen=True, slots=True)
class Batch:
    """Some consecutive rows: the number of the first (from 0), their statistics, and their columns as an Arrow record batch or None."""

    first_row: int
    size: int
    statistics: Mapping[str, Floats]
    table: Any = None


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

    def column(self, name: str) -> Floats:
        """Return a column as finite float64 values, or raise :class:`InvalidData`."""


def compute_statistics(frame: Frame, specs: Sequence[StatisticSpec]) -> dict[str, Floats]:
    """Return the statistics of a batch (formulas: :mod:`accountant.dataset.specs`)."""
    return {spec.name: _compute(frame, spec) for spec in specs}


def _compute(frame: Frame, spec: StatisticSpec) -> Floats:
    if spec.column is not None:
        return frame.column(resolve(frame, spec.column))
    chosen = [resolve(frame, name) for name in spec.only]
    dropped = {resolve(frame, name) for name in spec.without}
    columns = chosen or [name for name in frame.numeric if name not in dropped]
    if not columns:
        raise InvalidData(f"{frame.label} has no numeric columns for the norm {spec.norm}; name columns or use another file")
    total: Floats | None = None
    with np.errstate(over="ignore", under="ignore"):
        for name in columns:
            total = accumulate(total, frame.column(name), str(spec.norm))
    if total is None:
        raise InvalidData(f"{frame.label} has no columns for the norm {spec.norm}; name columns or use another file")
    return finish(total, str(spec.norm))


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


def resolve(frame: Frame, name: str) -> str:
    """Return ``name`` if the data has such a column, else raise :class:`InvalidData` with the nearest name."""
    if name in frame.names:
        return name
    hint = suggest(name, [*frame.names, *NORMS])
    shown = ", ".join(list(frame.names)[:12]) + (", ..." if len(frame.names) > 12 else "")
    raise InvalidData(f"the column {name!r} was asked for, but {frame.label} has {shown or 'no columns'}; name one of them{hint}")


def require_finite(values: Floats, label: str, name: str, first_row: int) -> Floats:
    """Return ``values`` or raise :class:`InvalidData` naming the first that is NaN or infinite."""
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        shown = ", ".join(f"row {first_row + int(row)}: {float(values[row])}" for row in bad[:3])
        raise InvalidData(
            f"the column {name!r} of {label} must hold finite numbers, but {bad.size} others were found in one batch "
            f"({shown}; rows count from 0); correct or drop those rows"
        )
    return values
