"""NumPy arrays, in memory or memory-mapped from an NPY file: a row is a record, columns are called 0, 1, ... or by field name."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from accountant.data.frames import Batch, compute_statistics, require_finite
from accountant.data.specs import StatisticSpec
from profiles import InvalidData, UnreadableFile
from profiles.arrays import Floats
from profiles.private import name_failure, name_type, quote_failure


@dataclass(frozen=True, slots=True)
class ArrayFrame:
    """Consecutive rows of a NumPy array, whose columns are fields or places; ``first_row`` is the number of the first one."""

    label: str
    rows: Any
    first_row: int

    @property
    def names(self) -> Sequence[str]:
        fields = self.rows.dtype.names
        return tuple(fields) if fields else tuple(map(str, range(self.rows.shape[1])))

    @property
    def numeric(self) -> Sequence[str]:
        if not self.rows.dtype.names:
            return self.names
        return tuple(name for name in self.names if self.rows.dtype[name].kind in "fiu")

    def raw(self, name: str) -> Any:
        """Return a column as it is stored."""
        return self.rows[name] if self.rows.dtype.names else self.rows[:, int(name)]

    def column(self, name: str, title: str | None = None) -> Floats:
        """Return a column as finite float64 values, exactly as stored. Errors call it ``title``, by default its name."""
        stored, shown = self.raw(name), title or repr(name)
        if stored.dtype.kind not in "fiu" or stored.dtype.itemsize > 8 or stored.ndim != 1:
            raise InvalidData(
                f"the column {shown} of {self.label} must hold numbers of at most 64 bits, but its type is "
                f"{name_type(stored.dtype)}; convert it"
            )
        if stored.dtype.itemsize == 8 and stored.dtype.kind in "iu" and max(abs(int(stored.min())), abs(int(stored.max()))) > 2**53:
            raise InvalidData(f"the column {shown} of {self.label} has integers above 2^53; scale them")
        return require_finite(np.array(stored, dtype=np.float64), self.label, shown, self.first_row)


@dataclass(frozen=True, slots=True)
class ArraySource:
    """An array (``array``) or an NPY file (``path``); ``may_be_empty``: one without rows is not a mistake."""

    path: Path | None
    batch_rows: int
    array: Any = None
    may_be_empty: bool = False

    @property
    def label(self) -> str:
        return "the array" if self.path is None else self.path.name

    def batches(self, specs: Sequence[StatisticSpec]) -> Iterator[Batch]:
        rows = self._rows()
        for start in range(0, rows.shape[0], self.batch_rows):
            frame = ArrayFrame(self.label, rows[start : start + self.batch_rows], start)
            yield Batch(start, frame.rows.shape[0], compute_statistics(frame, specs), _table(frame))
            if self.path is not None:
                rows = self._rows()  # a fresh map: pages of earlier rows do not stay resident

    def find_columns(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the names of all columns, and of those that hold numbers. Raises :class:`InvalidData` where there are no rows."""
        frame = ArrayFrame(self.label, self._rows()[:1], 0)
        return tuple(frame.names), tuple(frame.numeric)

    def _rows(self) -> Any:
        rows = self.array if self.path is None else self._map()
        if rows.dtype.names is None:
            if rows.ndim not in (1, 2) or rows.dtype.kind not in "fiu":
                raise InvalidData(
                    f"{self.label} must be a table of numbers, but {name_type(rows.dtype)} of {rows.ndim} dimensions was found"
                )
            rows = rows.reshape(-1, 1) if rows.ndim == 1 else rows
        elif rows.ndim != 1:
            raise InvalidData(f"{self.label} has fields and must be one-dimensional, but has {rows.ndim} dimensions; flatten it")
        if not rows.shape[0] and not self.may_be_empty:
            raise InvalidData(f"{self.label} has no rows; give at least one record")
        return rows

    def _map(self) -> Any:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                mapped = np.load(str(self.path), mmap_mode="r", allow_pickle=False)
        except (ValueError, EOFError, OSError) as error:
            raise UnreadableFile(
                f"{self.label} could not be read as NPY ({name_failure(error)}); give an array of numbers saved by numpy.save",
                private=quote_failure(error),
            ) from None
        if not isinstance(mapped, np.ndarray):  # an archive of arrays, whatever its suffix says
            mapped.close()
            raise UnreadableFile(f"{self.label} is an archive of arrays (NPZ); save the one array that holds the records by numpy.save")
        return mapped


def _table(frame: ArrayFrame) -> Any:
    """Return the rows as an Arrow record batch, None where a column has no Arrow type."""
    try:
        return pa.RecordBatch.from_arrays(
            [pa.array(np.ascontiguousarray(frame.raw(name))) for name in frame.names], names=list(frame.names)
        )
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None
