"""The rows of a table, batch by batch: which take part, in which declared cell each is, and its numbers.

Whatever is read of a row is a function of that row alone, and of the declared names (docs/release.md, Theorem 1). CSV, Parquet and Arrow
tables are read by :mod:`accountant.data`; relations of DuckDB, frames of Polars, Spark and pandas become Arrow tables of the columns that
are used, so that a filter of the engine's own is applied by the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from accountant.applications.answers.parts import Groups
from accountant.applications.answers.where import Where
from accountant.columns.values import Decimals
from accountant.data.frames import missing_column
from accountant.data.opening import open_dataset
from accountant.data.tables import ArrowFrame, TableSource, check_names
from accountant.ledger.prefetch import read_ahead
from accountant.samples.drawing import take_part
from profiles import InvalidArgument, InvalidData
from profiles.arrays import Booleans, Floats, Integers

BATCH_ROWS = 2**16
_NOWHERE = -1
_CHANGED = "the table changed while it was read, so that it is not known which rows take part; nothing is handed out"

#: From a frame and names of columns to an Arrow table; None of the names for its columns without rows.
_Load = Callable[[Any, Sequence[str] | None], Any]


@dataclass(frozen=True, slots=True)
class OpenedTable:
    """A table: ``label``, as errors name it, the ``names`` of its columns, those whose numbers are whole by their type, and its rows."""

    label: str
    names: tuple[str, ...]
    integers: frozenset[str]
    _source: TableSource | None
    _load: Callable[[Sequence[str]], Any] | None = None
    is_text: bool = False
    _texts: frozenset[str] = frozenset()

    def require(self, columns: Iterable[str]) -> None:
        """Refuse a column that is not there. Raises :class:`InvalidData`."""
        for name in columns:
            if name not in self.names:
                raise missing_column(name, self.label, self.names)

    def batches(self, columns: Sequence[str]) -> Iterator[tuple[int, Any]]:
        """Yield the number of the first row, and a record batch with these columns at least; all rows in their order."""
        if self._load is not None:
            source = TableSource(None, "table", BATCH_ROWS, self._load(columns), may_be_empty=True)
        elif self._source is not None:
            source = replace(self._source, only=tuple(columns) or self.names[:1], coded=tuple(self._texts.intersection(columns)))
        else:
            raise InvalidData(f"{self.label} cannot be read; give another table")
        for batch in source.batches([]):
            yield batch.first_row, batch.table


def open_table(data: Any) -> OpenedTable:
    """Return a table: the path of a CSV or Parquet file, an Arrow table, a frame of pandas or Polars, a relation of DuckDB or a frame of
    Spark. Its rows are not looked at. Raises :class:`InvalidData`, :class:`profiles.UnreadableFile`, :class:`InvalidArgument`.
    """
    load = _LOADERS.get(type(data).__module__.partition(".")[0].lstrip("_"))
    if load is not None:
        schema = load(data, None).schema
        check_names("the table", schema.names)
        return OpenedTable("the table", tuple(schema.names), _find_integers(schema), None, lambda names: load(data, names))
    source = open_dataset(data, batch_rows=BATCH_ROWS, may_be_empty=True)
    if not isinstance(source, TableSource):
        raise InvalidArgument(f"{source.label} has no columns with names; give a CSV or Parquet file, or a table of an engine")
    names, _ = source.find_columns()
    text = source.format == "csv"
    integers = frozenset[str]() if text else _find_integers(_read_schema(source))
    texts = _find_texts(_read_schema(source)) if source.format == "parquet" else frozenset[str]()
    return OpenedTable(source.label, names, integers, source, is_text=text, _texts=texts)


def _read_schema(source: TableSource) -> Any:
    if source.table is not None:
        return source.table.schema
    import pyarrow.parquet as pq  # noqa: PLC0415 - of a file that was opened once already

    return pq.read_schema(str(source.path))


def _find_integers(schema: Any) -> frozenset[str]:
    return frozenset(name for name, kind in zip(schema.names, schema.types, strict=True) if pa.types.is_integer(kind))


def _find_texts(schema: Any) -> frozenset[str]:
    return frozenset(name for name, kind in zip(schema.names, schema.types, strict=True) if pa.types.is_string(kind))


def _load_polars(data: Any, names: Sequence[str] | None) -> Any:
    chosen = data.head(0) if names is None else data.select(list(names) or data.collect_schema().names()[:1])
    return (chosen.collect() if hasattr(chosen, "collect") else chosen).to_arrow()


def _load_duckdb(data: Any, names: Sequence[str] | None) -> Any:
    if not hasattr(data, "limit"):
        raise InvalidArgument("a relation of DuckDB was expected, but a connection or result was found; give connection.table(NAME)")
    if names is None:
        return data.limit(0).to_arrow_table()
    quoted = ['"' + name.replace('"', '""') + '"' for name in (list(names) or data.columns[:1])]
    return data.project(", ".join(quoted)).to_arrow_table()


def _load_spark(data: Any, names: Sequence[str] | None) -> Any:
    chosen = data.limit(0) if names is None else data.select(*["`" + name.replace("`", "``") + "`" for name in (names or data.columns[:1])])
    return chosen.toArrow()


def _load_pandas(data: Any, names: Sequence[str] | None) -> Any:
    if not hasattr(data, "columns"):
        raise InvalidArgument("a data frame was expected, but a series was found; give a frame with named columns")
    check_names("the table", [str(name) for name in data.columns])
    try:
        if names is None:
            schema = pa.Schema.from_pandas(data, preserve_index=False)
            return schema.empty_table()
        return pa.Table.from_pandas(data[list(names) or [data.columns[0]]], preserve_index=False)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise InvalidData(
            "the table has a column of mixed types, which holds neither numbers nor texts; convert it", private=str(error)[:200]
        ) from None


_LOADERS: Mapping[str, _Load] = {"polars": _load_polars, "duckdb": _load_duckdb, "pyspark": _load_spark, "pandas": _load_pandas}


@dataclass(slots=True)
class AnswerRows:
    """The rows of one batch that take part: ``groups``, the number of each row's group, −1 of a row that is in none.

    ``size``: how many they are, of ``read`` ones.
    """

    size: int
    read: int
    groups: Integers | None
    _table: Any
    _frame: ArrowFrame
    _text: bool
    _numbers: dict[str, Floats] = field(default_factory=dict)

    def numbers(self, column: str) -> Floats:
        """Return the numbers of a column; of decimals the nearest binary64 ones. Raises :class:`InvalidData` for what is not a number."""
        if column not in self._numbers:
            read = self._frame.column(column)
            self._numbers[column] = read.values if isinstance(read, Decimals) else read
        return self._numbers[column]

    def cells(self, column: str, categories: Sequence[str | int]) -> Integers:
        """Return the number of each row's category, −1 of one that is not declared."""
        return find_categories(self._table.column(column), column, categories, is_text=self._text)


def read_rows(
    table: OpenedTable, columns: Sequence[str], where: Where | None, groups: Groups, active: Booleans | None
) -> Iterator[AnswerRows]:
    """Yield the rows of one pass that take part: those that ``where`` keeps, and, where there is a mask, that are ``active``.

    Raises :class:`InvalidData`, also where there are other rows than those of the mask.
    """
    kept = done = 0
    label = table.label if where is None else f"{table.label} (of the rows that the filter keeps)"
    for first, batch in read_ahead(table.batches(columns)):
        chosen: Booleans | None = None if where is None else where.select(batch, table.label, is_text=table.is_text)
        if active is not None:
            taken = take_part(active, first, batch.num_rows)
            chosen = taken if chosen is None else chosen & taken
        done = first + batch.num_rows
        part = batch if chosen is None else batch.filter(pa.array(chosen))
        cells = _find_groups(part, groups, is_text=table.is_text)
        yield AnswerRows(part.num_rows, batch.num_rows, cells, part, ArrowFrame(label, part, kept, ()), table.is_text)
        kept += part.num_rows
    if active is not None and done != len(active):
        raise InvalidData(_CHANGED)


def _find_groups(table: Any, groups: Groups, *, is_text: bool) -> Integers | None:
    place: Integers | None = None
    for column, categories in zip(groups.columns, groups.categories, strict=True):
        cells = find_categories(table.column(column), column, categories, is_text=is_text)
        place = cells if place is None else np.where((place < 0) | (cells < 0), _NOWHERE, place * len(categories) + cells)
    return place


def find_categories(array: Any, column: str, categories: Sequence[str | int], *, is_text: bool) -> Integers:
    """Return for each row the number of its category, −1 where it has none of those that are declared, or is missing.

    Raises :class:`InvalidArgument` for declared numbers of a column of texts, and the other way round.

    >>> find_categories(pa.array(["N", "?", None, "S"]), "region", ["N", "S"], is_text=False).tolist()
    [0, -1, -1, 1]
    """
    kind = array.type
    if pa.types.is_dictionary(kind):
        codes = find_categories(array.dictionary, column, categories, is_text=is_text)
        places = np.asarray(array.indices.fill_null(_NOWHERE).to_numpy(zero_copy_only=False))
        return np.asarray(np.append(codes, _NOWHERE)[places])  # the last one for what is missing
    if pa.types.is_boolean(kind):
        array, kind = pc.cast(array, pa.string()), pa.string()
    listed: list[str | int] = list(categories)
    if pa.types.is_integer(kind):
        try:
            listed = [int(item) for item in listed]
        except ValueError:
            raise InvalidArgument(
                f"the column {column!r} holds whole numbers, but other categories were declared; declare numbers"
            ) from None
        if len(set(listed)) < len(listed):
            raise InvalidArgument(f"two categories of {column!r} are the same whole number; declare each once")
        listed = [item if -(2**63) <= int(item) < 2**63 else None for item in listed]  # type: ignore[misc]
        array, kind = (pc.cast(array, pa.int64()), pa.int64()) if kind != pa.uint64() else (array, kind)
    elif pa.types.is_string(kind) or pa.types.is_large_string(kind) or str(kind) == "string_view":
        listed = [str(item) for item in listed]
        array = pc.cast(array, pa.large_string())
        kind = pa.large_string()
        if is_text:
            array = pc.utf8_trim_whitespace(array)
    elif pa.types.is_null(kind):
        return np.full(len(array), _NOWHERE, dtype=np.int64)
    else:
        raise InvalidArgument(
            f"the column {column!r} must hold texts or whole numbers to have categories, but its type is {kind}; convert it"
        )
    matched = pc.index_in(array, value_set=pa.array(listed, kind), skip_nulls=True)
    return np.asarray(matched.fill_null(_NOWHERE).to_numpy(zero_copy_only=False), dtype=np.int64)
