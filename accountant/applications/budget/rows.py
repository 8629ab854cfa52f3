"""The records of a fit as blocks of rows that can be read again and again: an array in memory, or a file that is larger than memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

import numpy as np

from profiles import InvalidData
from profiles.arrays import Booleans, Floats

#: Rows of a block: its arrays stay in the cache of a core, or near it.
BLOCK_ROWS = 2**14
#: Numbers that are kept in memory (256 MB) from one pass to the next; a data set with more is read, or computed, again in each pass.
MOST_KEPT = 2**25
#: Rows that are copied from columns at once.
_COPIED_ROWS = 2**11
_CHANGED = "the file of the records changed while it was read, so that it is not known which rows take part; nothing is handed out"


class Blocks(Protocol):
    """A data set as blocks of rows with d columns, which can be read again in every pass."""

    @property
    def dimension(self) -> int:
        """How many columns there are, d."""

    def blocks(self) -> Iterator[Floats]:
        """Yield all rows in their order, in blocks of shape (rows, d), finite and in C order; they are not to be changed."""


class SelectableRows(Blocks, Protocol):
    """A data set of which some rows may take no part."""

    def keep(self, active: Booleans) -> SelectableRows:
        """Return the rows with ``active[i]``, shape (n,): those that take part in a release."""


@dataclass(frozen=True, slots=True, eq=False)
class ArrayRows:
    """An array of shape (n, d), n ≥ 0, finite and in C order."""

    points: Floats

    @property
    def dimension(self) -> int:
        return int(self.points.shape[1])

    def blocks(self) -> Iterator[Floats]:
        """Yield blocks that are views of the array: nothing is copied."""
        for start in range(0, len(self.points), BLOCK_ROWS):
            yield self.points[start : start + BLOCK_ROWS]

    def keep(self, active: Booleans) -> ArrayRows:
        return ArrayRows(self.points[active])


@dataclass(slots=True, eq=False)
class KeptBlocks:
    """What a pass yields, kept for the next ones as long as it has at most :data:`MOST_KEPT` numbers."""

    blocks: list[Floats] | None = None

    def keep(self, made: Iterator[Floats]) -> Iterator[Floats]:
        """Yield the blocks that are kept, or those of ``made``, which are kept once all of them were yielded."""
        if self.blocks is not None:
            yield from self.blocks
            return
        kept: list[Floats] | None = []
        numbers = 0
        for block in made:
            numbers += block.size
            if numbers > MOST_KEPT:
                kept = None
            if kept is not None:
                kept.append(block)
            yield block
        self.blocks = kept

    def forget(self) -> None:
        """Drop the blocks that are kept in memory; the next pass reads them again."""
        self.blocks = None


@dataclass(frozen=True, slots=True, eq=False)
class FileRows:
    """The numeric columns ``names`` of a CSV, Parquet or NPY file, one batch in memory at a time, or all of a small file.

    Made by :func:`open_rows`. ``report``: told how many rows of a pass were read. ``active``: which rows take part, None for all.
    """

    path: Path
    names: tuple[str, ...]
    report: Callable[[int], None] | None = None
    active: Booleans | None = None
    #: Made anew where ``active`` is replaced: other rows are other blocks.
    _kept: KeptBlocks = field(default_factory=KeptBlocks, init=False, repr=False)

    @property
    def dimension(self) -> int:
        return len(self.names)

    def blocks(self) -> Iterator[Floats]:
        """Yield the rows of one pass over the file. Raises :class:`InvalidData`, :class:`profiles.UnreadableFile`."""
        rows = 0
        for block in self._kept.keep(self._read()):
            yield block
            rows += len(block)
            if self.report is not None:
                self.report(rows)

    def _read(self) -> Iterator[Floats]:
        from accountant.data import StatisticSpec, open_dataset  # noqa: PLC0415 - Arrow is slow to load

        specs, done = [StatisticSpec(f"c{number}", column=name, from_data=True) for number, name in enumerate(self.names)], 0
        for batch in open_dataset(self.path, may_be_empty=True).batches(specs):
            columns = [batch.statistics[spec.name] for spec in specs]
            values = [column if isinstance(column, np.ndarray) else column.values for column in columns]
            rows = np.empty((batch.size, len(specs)))
            # few rows at a time, which stay in the cache while one column after the other is written into them
            for start in range(0, batch.size, _COPIED_ROWS):
                part = slice(start, start + _COPIED_ROWS)
                for number, column in enumerate(values):
                    rows[part, number] = column[part]
            done += batch.size
            rows = self._choose(rows, done)
            for start in range(0, len(rows), BLOCK_ROWS):
                yield rows[start : start + BLOCK_ROWS]
        if self.active is not None and done != len(self.active):
            raise InvalidData(_CHANGED)

    def keep(self, active: Booleans) -> FileRows:
        return replace(self, active=active)

    def _choose(self, rows: Floats, done: int) -> Floats:
        if self.active is None:
            return rows
        taken = self.active[done - len(rows) : done]
        if len(taken) != len(rows):
            raise InvalidData(_CHANGED)
        return rows[taken]


def open_rows(
    path: Path, *, only: Sequence[str] = (), without: Sequence[str] = (), report: Callable[[int], None] | None = None
) -> FileRows:
    """Return the rows of a CSV, Parquet or NPY file: the columns ``only``, in this order, or all of them but ``without``.

    Which columns are used is decided by their names alone, never by their values: a column that holds no numbers is refused.
    A table without rows has none: that it is refused would tell. Raises :class:`InvalidData`, :class:`profiles.UnreadableFile`.
    """
    from accountant.data import open_dataset  # noqa: PLC0415
    from accountant.data.arrays import ArraySource  # noqa: PLC0415
    from accountant.data.frames import missing_column  # noqa: PLC0415
    from accountant.data.tables import TableSource  # noqa: PLC0415

    source = open_dataset(path, batch_rows=64, may_be_empty=True)
    if not isinstance(source, (TableSource, ArraySource)):
        raise InvalidData(f"{source.label} is an svmlight file, whose only column is the label; convert the features to Parquet")
    names, _ = source.find_columns()
    for name in (*only, *without):
        if name not in names:
            raise missing_column(name, source.label, names)
    chosen = tuple(only) or tuple(name for name in names if name not in without)
    if not chosen:
        raise InvalidData(f"{source.label} has no column that is left; leave out fewer columns, or give a table of numbers")
    return FileRows(path, chosen, report)


def read_center(path: Path, names: Sequence[str]) -> Floats:
    """Return the one record of a file, shape (d,): its columns ``names`` where it has one of these, else all of them in their order.

    Raises :class:`InvalidData`, :class:`profiles.UnreadableFile`.
    """
    rows = open_rows(path)
    if set(names) & set(rows.names):
        rows = open_rows(path, only=names)
    first = [row for block in rows.blocks() for row in block[:2]][:2]
    if len(first) != 1 or rows.dimension != len(names):
        raise InvalidData(f"the center must be one record of {len(names)} numbers, but {path.name} has another shape; give one row")
    return np.array(first[0])
