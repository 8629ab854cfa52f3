"""Streams of (user, time, item): an iterator of triples, or the columns of a Parquet or CSV file or Arrow table, batch by batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from accountant.data import Source, open_dataset
from accountant.data.frames import missing_column
from accountant.data.ids import require_one_spelling
from accountant.data.tables import is_text, name_kind
from profiles import InvalidArgument, InvalidData
from profiles.private import TEXT, list_values, quote

#: At most so many triples of one time are taken together; a record of a later time ends a batch at once.
_TOGETHER = 8192
_ROWS = 262_144

Kind = Literal["integer", "text"]


@dataclass(frozen=True, slots=True)
class StreamBatch:
    """Consecutive records, sorted by time: three columns of one length."""

    users: Any = field(repr=False)
    times: Any = field(repr=False)
    items: Any = field(repr=False)

    def pick(self, rows: NDArray[np.int64]) -> StreamBatch:
        """Return the records of these rows, in their order, as a batch of its own."""
        times = self.times if np.ndim(self.times) == 0 else np.asarray(self.times)[rows]
        return StreamBatch(choose_rows(self.users, rows), times, choose_rows(self.items, rows))


def choose_rows(column: Any, rows: NDArray[np.int64]) -> Any:
    """Return the rows of a column, which is an array or a sequence."""
    return column[rows] if isinstance(column, np.ndarray) else [column[row] for row in rows.tolist()]


@dataclass(frozen=True, slots=True)
class StreamFile:
    """The records of a table in batches; can be iterated again. Made by :func:`open_stream`."""

    source: Source
    user: str
    time: str
    item: str
    user_kind: Kind | None
    item_kind: Kind | None

    def __iter__(self) -> Iterator[StreamBatch]:
        for batch in self.source.batches(()):
            table, label = batch.table, self.source.label
            if table is None:
                raise InvalidArgument(f"a stream needs named columns, but {label} has none; give a CSV or Parquet file or an Arrow table")
            columns = [_column(table, name, label) for name in (self.user, self.time, self.item)]
            kinds: tuple[Kind | None, ...] = (self.user_kind, "integer", self.item_kind)
            names = (self.user, self.time, self.item)
            read = [_read(*item, label, batch.first_row) for item in zip(columns, names, kinds, strict=True)]
            if read[0].dtype.kind == "O":
                require_one_spelling(pa.array(read[0], pa.string()), self.user, label, batch.first_row)
            yield StreamBatch(*read)


def open_stream(
    data: Any,
    *,
    user: str = "user",
    time: str = "time",
    item: str = "item",
    users: Kind | None = None,
    items: Kind | None = None,
    batch_rows: int = _ROWS,
) -> StreamFile:
    """Return the stream of a Parquet or CSV file (also compressed) or an Arrow table, sorted by time, read in batches.

    ``user``, ``time``, ``item`` name its columns. Times are integers. Users and items are integers or texts as the column says; in a
    CSV file they are texts as written unless ``users`` or ``items`` says integer; a user "07" or "7.0", who may be "7", is refused.
    A table without rows is a stream of nobody: that it is one is private.
    Raises :class:`UnreadableFile`; when it is iterated, :class:`InvalidData` for a missing column or value, NaN, fractions.
    """
    for what, kind in (("users", users), ("items", items)):
        if kind not in (None, "integer", "text"):
            raise InvalidArgument(f"{what} must be integer or text, but {str(kind)[:40]!r} was found; choose one")
    return StreamFile(open_dataset(data, batch_rows=batch_rows, may_be_empty=True), user, time, item, users, items)


def cut_records(stream: Iterable[Any]) -> Iterator[StreamBatch]:
    """Yield batches of a stream: its own, or triples (user, time, item) of one time together. Raises :class:`InvalidData`."""
    users: list[Any] = []
    items: list[Any] = []
    current: Any = None
    if not isinstance(stream, Iterable) or (isinstance(stream, np.ndarray) and not stream.ndim):
        raise InvalidData(f"a stream of records was expected, but {type(stream).__name__} was found; pass triples (user, time, item)")
    for record in stream:
        if isinstance(record, StreamBatch):
            if users:
                raise InvalidData("a stream must consist of triples or of batches, but both were found; pass one kind")
            yield record
            continue
        try:
            user, time, item = record
        except (TypeError, ValueError):
            raise InvalidData(
                f"a record must be a triple (user, time, item), but {type(record).__name__} of another form was found; pass triples",
                private=quote(record),
            ) from None
        if isinstance(time, bool) or not isinstance(time, (int, np.integer)):
            raise InvalidData(f"a time must be an integer, but {type(time).__name__} was found; number the time steps", private=quote(time))
        if users and (time != current or len(users) >= _TOGETHER):
            yield StreamBatch(users, current, items)
            users, items = [], []
        if time != current:
            current = time
        users.append(user)
        items.append(item)
    if users:
        yield StreamBatch(users, current, items)


@dataclass(frozen=True, slots=True, eq=False)
class WholeStream:
    """A stream that is over, in memory: its batches, the ``users`` in the order in which they first came, and who each record is of."""

    users: Any = field(repr=False)
    _batches: tuple[StreamBatch, ...] = field(repr=False)
    _places: tuple[NDArray[np.int64], ...] = field(repr=False)

    @classmethod
    def read(cls, stream: Iterable[Any]) -> WholeStream:
        """Return a stream that was read to its end. Raises :class:`InvalidData`."""
        batches = tuple(cut_records(stream))
        try:
            columns = [pa.array(batch.users) for batch in batches]
            encoded = pa.chunked_array(columns, None if columns else pa.string()).combine_chunks().dictionary_encode()
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            raise InvalidData(
                "users are identified by texts or by integers, but other or mixed ids were found; write all of them alike"
            ) from None
        if encoded.indices.null_count:
            raise InvalidData("every record of a stream has a user, but a missing one was found; drop such records")
        places = np.asarray(pc.cast(encoded.indices, pa.int64()))
        ends = np.cumsum([len(batch.users) for batch in batches], dtype=np.int64)
        return cls(encoded.dictionary, batches, tuple(np.split(places, ends[:-1])) if batches else ())

    def keep(self, active: NDArray[np.bool_]) -> Iterator[StreamBatch]:
        """Yield the batches with the records of the users that are ``active``, shape (users,)."""
        for batch, places in zip(self._batches, self._places, strict=True):
            yield batch.pick(np.flatnonzero(active[places]))


def keep_users(stream: Iterable[Any], users: Iterable[str]) -> Iterator[StreamBatch]:
    """Yield the batches of a stream with the records of ``users`` alone, who are told by texts; an integer is the text of its digits."""
    texts = frozenset(users)
    numbers = np.array(sorted(int(text) for text in texts if str(text).isdecimal() and text.isascii() and len(text) < 19), dtype=np.int64)
    for batch in cut_records(stream):
        column = np.asarray(batch.users)
        inside = (
            np.isin(column, numbers)
            if column.dtype.kind in "iu"
            else np.array([str(user) in texts for user in batch.users], dtype=np.bool_)
        )
        yield batch.pick(np.flatnonzero(inside))


def _column(table: Any, name: str, label: str) -> Any:
    if name not in table.schema.names:
        raise missing_column(name, label, table.schema.names)
    return table.column(name)


def _read(column: Any, name: str, kind: Kind | None, label: str, first_row: int) -> Any:
    """Return a column as an int64 array, or as an array of texts. Raises :class:`InvalidData`."""
    if column.null_count:
        row = first_row + int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
        raise InvalidData(f"the column {name!r} of {label} has a missing value in row {row} (rows count from 0); fill or drop it")
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    integers, texts = pa.types.is_integer(column.type), is_text(column.type)
    if not (integers or texts):
        raise InvalidData(
            f"the column {name!r} of {label} must hold integers or texts, but its type is "
            f"{name_kind(column.type)} (fractions, NaN and dates cannot "
            "be told apart exactly); convert it"
        )
    if kind == "text" and integers:
        column = column.cast(pa.string())
    if kind == "integer" and texts:
        column = _parse(column, name, label, first_row)
    if kind == "integer" or (kind is None and integers):
        return column.to_numpy(zero_copy_only=False)
    if pc.any(pc.equal(column, "")).as_py():
        row = first_row + int(np.flatnonzero(pc.equal(column, "").to_numpy(zero_copy_only=False))[0])
        raise InvalidData(f"the column {name!r} of {label} has an empty text in row {row} (rows count from 0); fill or drop it")
    return column.to_numpy(zero_copy_only=False)


def _parse(column: Any, name: str, label: str, first_row: int) -> Any:
    try:
        return pc.cast(pc.utf8_trim_whitespace(column), pa.int64())
    except pa.ArrowInvalid:
        row, text = next((row, text) for row, text in enumerate(column.to_pylist()) if not _is_integer(text))
        raise InvalidData(
            f"the column {name!r} of {label} must hold integers, but row {first_row + row} has {TEXT} (rows count from 0); correct it",
            private=list_values([(first_row + row, text)]),
        ) from None


def _is_integer(text: str) -> bool:
    try:
        pc.cast(pa.scalar(text.strip()), pa.int64())
    except pa.ArrowInvalid:
        return False
    return True
