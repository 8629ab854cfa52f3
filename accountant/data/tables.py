"""CSV, Parquet and Arrow tables as streams of record batches."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from accountant.columns.values import Decimals
from accountant.data.decimals import read_decimals, to_number
from accountant.data.frames import Batch, compute_statistics, require_finite
from accountant.data.specs import StatisticSpec
from profiles import InvalidData, UnreadableFile
from profiles.arrays import Floats
from profiles.private import name_failure, quote, quote_failure

_BLOCK_BYTES = 1 << 22
#: Without a buffer, a whole column of a row group is held in memory, however long it is.
_BUFFER_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class ArrowFrame:
    """A record batch; ``as_text`` says that its columns are still text (CSV), to be read as numbers where they are needed."""

    label: str
    table: Any
    first_row: int
    numeric: tuple[str, ...]

    @property
    def names(self) -> Sequence[str]:
        names: list[str] = self.table.schema.names
        return names

    def column(self, name: str, title: str | None = None) -> Floats | Decimals:
        """Return a column as finite float64 values, each exactly the number in the file, or as decimals where it is text.

        Errors call it ``title``, by default its name.
        """
        shown = title or repr(name)
        array = self.table.column(name)
        if array.null_count:
            row = self.first_row + int(np.flatnonzero(array.is_null().to_numpy(zero_copy_only=False))[0])
            raise InvalidData(f"the column {shown} of {self.label} has a missing value in row {row} (rows count from 0); fill or drop it")
        kind = array.type
        if is_text(kind):
            decimals = read_decimals(array, self.label, shown, self.first_row)
            require_finite(decimals.values, self.label, shown, self.first_row)
            return decimals
        if _is_number(kind):
            try:
                numbers = pc.cast(array, pa.float64())
            except pa.ArrowInvalid:
                raise InvalidData(f"the column {shown} of {self.label} has integers above 2^53; scale them") from None
        else:
            raise InvalidData(
                f"the column {shown} of {self.label} must hold numbers, but its type is {name_kind(kind)}; choose or convert a column"
            )
        return require_finite(np.array(numbers.to_numpy(zero_copy_only=False), dtype=np.float64), self.label, shown, self.first_row)


def _name_reason(reason: str) -> str:
    """Return what Arrow says is wrong with a file, without the row that it quotes."""
    told = re.search(r"(?:Row #\d+: )?Expected \d+ columns, got \d+", reason)
    known = ("Empty CSV file", "invalid UTF8 data", "Parquet magic bytes not found", "straddling object straddles two block boundaries")
    return told[0] if told else next((text for text in known if text in reason), "it is damaged, or of another format")


def _is_number(kind: Any) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def is_text(kind: Any) -> bool:
    """Return whether a column of an Arrow type holds texts."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def name_kind(kind: Any) -> str:
    """Return the type of a column in words, without what a nested type has in it: its names are those of the file."""
    return str(kind) if pa.types.is_primitive(kind) or pa.types.is_string(kind) else f"{str(kind).split('<', maxsplit=1)[0]}"


def numeric_columns(schema: Any) -> tuple[str, ...]:
    """Return the columns whose type is a number."""
    return tuple(name for name, kind in zip(schema.names, schema.types, strict=True) if _is_number(kind))


def check_names(label: str, names: Sequence[str]) -> None:
    """Raise :class:`InvalidData` where two columns have the same name."""
    for name in names:
        if list(names).count(name) > 1:
            raise InvalidData(f"{label} has two columns of one name; rename one of them", private=f"both are called {quote(name)}")


@dataclass(frozen=True, slots=True)
class TableSource:
    """A table file (``format`` csv or parquet) or an Arrow table in memory; ``may_be_empty``: one without rows is not a mistake.

    ``only``: the columns that are read, all of which are there; None for all. ``coded``: columns of texts that come as dictionaries of
    a Parquet file, where each text is read once.
    """

    path: Path | None
    format: str
    batch_rows: int
    table: Any = None
    may_be_empty: bool = False
    only: tuple[str, ...] | None = None
    coded: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        return "the table" if self.path is None else self.path.name

    def batches(self, specs: Sequence[StatisticSpec]) -> Iterator[Batch]:
        first_row, numeric = 0, None
        for table in self._tables():
            if not table.num_rows:
                continue
            if numeric is None:
                check_names(self.label, table.schema.names)
                numeric = self._numeric(table)
            for start in range(0, table.num_rows, self.batch_rows):
                part = table.slice(start, self.batch_rows)
                frame = ArrowFrame(self.label, part, first_row, numeric)
                yield Batch(first_row, part.num_rows, compute_statistics(frame, specs), part)
                first_row += part.num_rows
        if not first_row and not self.may_be_empty:
            raise InvalidData(f"{self.label} has no rows; give at least one record")

    def find_columns(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the names of all columns, and of those that hold numbers. Raises :class:`InvalidData` where there are no rows.

        Of an empty CSV file, if it may be one, no column is known to hold numbers.
        """
        for table in self._tables():
            if table.num_rows or self.may_be_empty:  # what has no rows comes once, for its columns
                check_names(self.label, table.schema.names)
                return tuple(table.schema.names), self._numeric(table)
        raise InvalidData(f"{self.label} has no rows; give at least one record")

    def _numeric(self, table: Any) -> tuple[str, ...]:
        """Return the columns of numbers; a text column counts if any early value is a number, so that a stray word is an error later."""
        if self.format != "csv":
            return numeric_columns(table.schema)
        names = []
        for name, kind in zip(table.schema.names, table.schema.types, strict=True):
            if pa.types.is_string(kind):
                if any(to_number(text) is not None for text in table.column(name).slice(0, 1000).to_pylist()):
                    names.append(name)
            elif _is_number(kind):
                names.append(name)
        return tuple(names)

    def _tables(self) -> Iterator[Any]:
        """Yield batches of rows in their order, and where there are none, an empty table."""
        if self.table is not None:
            chosen = self.table if self.only is None else self.table.select(list(self.only))
            yield from chosen.to_batches(max_chunksize=self.batch_rows) or [chosen]
            return
        with contextlib.ExitStack() as stack:
            try:
                schema, batches = self._open_csv(stack) if self.format == "csv" else self._open_parquet(stack)
                chosen = False
                for batch in batches:
                    chosen = True
                    yield batch
                if not chosen:
                    yield schema.empty_table()
            except UnicodeDecodeError:
                raise UnreadableFile(f"{self.label} has column names that are not UTF-8 text; save it as UTF-8") from None
            except (pa.ArrowInvalid, pa.ArrowException, EOFError) as error:
                reason = next(iter(str(error).splitlines()), "no reason given")[:160]
                kind = InvalidData if "Expected" in reason and "columns" in reason else UnreadableFile
                raise kind(
                    f"{self.label} could not be read as {self.format}: {_name_reason(reason)}; correct the file",
                    private=quote_failure(error),
                ) from None
            except OSError as error:
                raise UnreadableFile(
                    f"{self.label} could not be read ({name_failure(error)}); check the file", private=quote_failure(error)
                ) from None

    def _open_csv(self, stack: contextlib.ExitStack) -> tuple[Any, Iterator[Any]]:
        parsing = pyarrow.csv.ParseOptions(newlines_in_values=True)
        reading = pyarrow.csv.ReadOptions(block_size=_BLOCK_BYTES, use_threads=False)
        with pa.input_stream(str(self.path), compression="detect") as stream, pyarrow.csv.open_csv(stream, reading, parsing) as reader:
            names = reader.schema.names
        # every column as text: numbers are parsed where a statistic needs them, all else is passed on as it is written
        converting = pyarrow.csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False, include_columns=self.only
        )
        stream = stack.enter_context(pa.input_stream(str(self.path), compression="detect"))
        opened = stack.enter_context(pyarrow.csv.open_csv(stream, reading, parsing, converting))
        return opened.schema, iter(opened)

    def _open_parquet(self, stack: contextlib.ExitStack) -> tuple[Any, Iterator[Any]]:
        reading: dict[str, Any] = {"memory_map": False, "pre_buffer": False, "buffer_size": _BUFFER_BYTES}
        opened = stack.enter_context(pq.ParquetFile(str(self.path), read_dictionary=list(self.coded) or None, **reading))
        columns = None if self.only is None else list(self.only)
        batches: Iterator[Any] = opened.iter_batches(batch_size=self.batch_rows, columns=columns, use_threads=False)
        return opened.schema_arrow, batches
