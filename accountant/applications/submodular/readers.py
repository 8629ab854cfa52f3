"""Instances from CSV, Parquet and JSON files with one row a (user, item) pair."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq
from numpy.typing import NDArray

from accountant.applications.submodular.coverage import CoverageInstance
from accountant.applications.submodular.weighted import Combine, WeightedCoverage
from accountant.data.ids import require_one_spelling
from accountant.data.opening import find_format
from accountant.data.tables import name_kind
from profiles import InvalidArgument, InvalidData, UnreadableFile
from profiles.files import read_text
from profiles.numbers import to_integer
from profiles.private import quote_failure

Labels = Sequence[str] | Sequence[int]
#: JSON files of so many bytes at most.
_LARGEST = 200_000_000


def read_coverage(data: Any, *, user: str, item: str, candidates: int | Labels, drop_unknown: bool = False) -> CoverageInstance:
    """Return the coverage instance of a file (CSV, Parquet, a JSON list of rows) or Arrow table: each row says, this user has this item.

    ``candidates`` is public and must not be read off the data: an integer m (items are the integers 0 to m − 1), or the list of all
    items, whose order numbers them. ``drop_unknown``: leave out rows with other items, each by itself, instead of refusing the data.
    Rows may come twice. Raises :class:`UnreadableFile`, :class:`InvalidData`, :class:`InvalidArgument`.

    >>> table = pa.table({"user": ["ann", "bob", "bob"], "item": ["tea", "tea", "jam"]})
    >>> read_coverage(table, user="user", item="item", candidates=["jam", "tea"]).track().gains.tolist()
    [1, 2]
    """
    users, items, _, _ = _read(data, user, item, None, candidates, drop_unknown=drop_unknown)
    return CoverageInstance.from_pairs(users, items, candidates=_count(candidates))


def read_weighted_coverage(
    data: Any, *, user: str, item: str, value: str, candidates: int | Labels, combine: Combine = "max", drop_unknown: bool = False
) -> WeightedCoverage:
    """Return the weighted coverage of a file in which each row says: this user gives this item this value, in [0, 1].

    As :func:`read_coverage`, but a user may name an item once only. Raises like it.
    """
    users, items, values, _ = _read(data, user, item, value, candidates, drop_unknown=drop_unknown)
    return WeightedCoverage.from_pairs(users, items, values, candidates=_count(candidates), combine=combine)


def _count(candidates: int | Labels) -> int:
    if isinstance(candidates, (int, np.integer)):
        return to_integer(candidates, "the number of candidates", 1)
    if isinstance(candidates, str) or not isinstance(candidates, (Sequence, np.ndarray)):
        raise InvalidArgument(f"candidates must be their number or the list of all, but {type(candidates).__name__} was found; give one")
    if len(set(candidates)) != len(candidates) or not len(candidates):
        raise InvalidArgument("the list of candidates must name each one once, and at least one; correct it")
    return len(candidates)


def _read(
    data: Any, user: str, item: str, value: str | None, candidates: int | Labels, *, drop_unknown: bool
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], Any]:
    """Return users, items and values of the rows that count, and the ids of all users of the table, in the order of their numbers."""
    count = _count(candidates)
    table, label = load_columns(data, [name for name in (user, item, value) if name is not None])
    for name in table.schema.names:
        if table.column(name).null_count:
            raise InvalidData(f"the column {name!r} of {label} has missing values; fill or drop these rows")
    numbers = _number_items(table.column(item), item, label, candidates, count)
    known = np.ones(len(numbers), dtype=np.bool_) if not drop_unknown else (numbers >= 0) & (numbers < count)
    if not isinstance(candidates, (int, np.integer)) and (numbers[known] < 0).any():
        row = int(np.flatnonzero(numbers < 0)[0])
        raise InvalidData(f"the item in row {row} of {label} (from 0) is no candidate; list all candidates, or drop other items")
    encoded = _encode_users(table.column(user), user, label)
    users = np.asarray(pc.cast(encoded.indices, pa.int64()))
    values = np.ones(len(numbers), dtype=np.bool_) if value is None else _read_numbers(table.column(value), value, label)
    if not known.all():
        users, numbers, values = users[known], numbers[known], values[known]
    return users, numbers, values, encoded.dictionary


def load_columns(data: Any, names: list[str]) -> tuple[Any, str]:
    """Return an Arrow table of the named columns, those of a CSV file as texts, and what to call it. Raises :class:`UnreadableFile`,
    :class:`InvalidData`, :class:`InvalidArgument`.
    """
    if len(set(names)) != len(names):
        raise InvalidArgument(f"the columns {', '.join(map(repr, names))} were named, one of them twice; name different ones")
    if isinstance(data, pa.Table):
        return _choose(data, names, "the table"), "the table"
    if not isinstance(data, (str, os.PathLike)):
        raise InvalidArgument(f"data must be a path or an Arrow table, but {type(data).__name__} was found; give one")
    path = Path(data)
    if path.suffix.lower() == ".json":
        return read_rows(load_json(path), names, path.name), path.name
    kind = find_format(path) if path.is_file() else None
    if kind not in ("csv", "parquet"):
        raise UnreadableFile(f"a CSV, Parquet or JSON file is needed, but {path} is none; check the path")
    try:
        return _choose(_load_csv(path) if kind == "csv" else pq.ParquetFile(str(path)), names, path.name), path.name
    except (pa.ArrowInvalid, pa.ArrowException, EOFError, OSError) as error:
        raise UnreadableFile(f"{path.name} could not be read as {kind}; correct it", private=quote_failure(error)) from None


def load_json(path: Path) -> Any:
    """Return what a JSON file holds. Raises :class:`UnreadableFile`, :class:`InvalidData`."""
    text = read_text(path, _LARGEST)
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidData(f"{path.name} is no JSON; correct it, or name a CSV or Parquet file") from None


def read_rows(rows: Any, names: list[str], label: str) -> Any:
    """Return an Arrow table of a list of JSON objects, the named values of each. Raises :class:`InvalidData`."""
    if not isinstance(rows, list) or not all(isinstance(row, dict) and set(names) <= set(row) for row in rows):
        raise InvalidData(f"{label} must hold a list of rows with {', '.join(map(repr, names))}, but something else was found; correct it")
    columns = {name: [row[name] for row in rows] for name in names}
    try:
        made = {name: pa.array(column, type=None if column else pa.int64()) for name, column in columns.items()}
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        raise InvalidData(f"a column of {label} mixes texts and numbers, or holds something else; write each in one way") from None
    return pa.table(made)


def _load_csv(path: Path) -> Any:
    with pa.input_stream(str(path), compression="detect") as stream, pyarrow.csv.open_csv(stream) as reader:
        text = dict.fromkeys(reader.schema.names, pa.string())
    converting = pyarrow.csv.ConvertOptions(column_types=text, strings_can_be_null=False)
    with pa.input_stream(str(path), compression="detect") as stream:
        return pyarrow.csv.read_csv(stream, convert_options=converting)


def _choose(data: Any, names: list[str], label: str) -> Any:
    found = (data.schema_arrow if isinstance(data, pq.ParquetFile) else data.schema).names
    for name in names:
        if list(found).count(name) != 1:
            raise InvalidData(
                f"{label} must have one column {name!r}, but it has {list(found).count(name) or 'none'} of that name; name one that it has",
                private=f"the columns are {', '.join(map(repr, found[:20]))}",
            )
    return data.read(columns=names) if isinstance(data, pq.ParquetFile) else data.select(names)


def list_users(data: Any, *, user: str, item: str, candidates: int | Labels, drop_unknown: bool = False) -> Any:
    """Return the ids of the users that :func:`read_coverage` finds, as an Arrow array in the order of their numbers: what a ledger charges.

    Whoever has only rows that are left out is not among them. Raises as that function.
    """
    users, _, _, ids = _read(data, user, item, None, candidates, drop_unknown=drop_unknown)
    present = np.unique(users)
    return ids if len(present) == len(ids) else ids.take(pa.array(present))


def _encode_users(column: Any, name: str, label: str) -> Any:
    column = _decode(column)
    if not (_is_text(column.type) or pa.types.is_integer(column.type)):
        raise InvalidData(
            f"users are told apart by text or integers, but the column {name!r} of {label} is {name_kind(column.type)}; convert it"
        )
    encoded = column.combine_chunks().dictionary_encode()
    if _is_text(column.type) and pc.any(pc.equal(encoded.dictionary, "")).as_py():  # all whose id is missing would be one user
        raise InvalidData(f"the column {name!r} of {label} has an empty text, which tells no user apart; fill or drop these rows")
    if _is_text(column.type):
        require_one_spelling(pc.cast(encoded.dictionary, pa.string()), name, label)
    return encoded


def _number_items(column: Any, name: str, label: str, candidates: int | Labels, count: int) -> NDArray[Any]:
    column = _decode(column)
    if isinstance(candidates, (int, np.integer)):
        if _is_text(column.type):
            try:
                column = pc.cast(pc.utf8_trim_whitespace(column), pa.int64())
            except pa.ArrowInvalid:
                raise InvalidData(
                    f"the items in column {name!r} of {label} must be integers from 0 to {count - 1}; or give the list of all candidates"
                ) from None
        if not pa.types.is_integer(column.type):
            raise InvalidData(
                f"items must be integers, but the column {name!r} of {label} is {name_kind(column.type)}; or give the list of candidates"
            )
        return np.asarray(column.combine_chunks())
    labels = [str(one) for one in candidates] if _is_text(column.type) else list(candidates)
    if len(set(labels)) != len(labels):
        raise InvalidArgument("two candidates of the list are written alike; give each one its own text")
    kind = pa.int64() if pa.types.is_integer(column.type) else column.type
    try:
        found = pc.index_in(column.cast(kind), value_set=pa.array(labels).cast(kind))
    except (pa.ArrowException, OverflowError):
        raise InvalidData(
            f"the column {name!r} of {label} is {name_kind(column.type)}, and the candidates are not; give them in its type"
        ) from None
    numbers: NDArray[Any] = np.asarray(pc.fill_null(found, -1).combine_chunks()).astype(np.int64)
    return numbers


def _read_numbers(column: Any, name: str, label: str) -> NDArray[Any]:
    try:
        numbers: NDArray[Any] = np.asarray(pc.cast(column, pa.float64()).combine_chunks())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise InvalidData(f"the column {name!r} of {label} must hold numbers in [0, 1]; correct or choose another column") from None
    return numbers


def _decode(column: Any) -> Any:
    """Return a column without its dictionary, which may hold one value twice."""
    return pc.cast(column, column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
