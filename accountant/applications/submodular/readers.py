"""Instances from CSV, Parquet and JSON files with one row a (user, item) pair."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from accountant.applications.submodular.coverage import CoverageInstance
from accountant.applications.submodular.weighted import Combine, WeightedCoverage
from accountant.data.ids import require_one_spelling
from accountant.data.loading import load_columns, read_numbers
from accountant.data.tables import is_text, name_kind
from profiles import InvalidArgument, InvalidData
from profiles.numbers import to_integer

Labels = Sequence[str] | Sequence[int]


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
        raise InvalidData(f"the item in row {row} of {label} (from 0) is not a candidate; list all candidates, or drop other items")
    encoded = _encode_users(table.column(user), user, label)
    users = np.asarray(pc.cast(encoded.indices, pa.int64()))
    values = np.ones(len(numbers), dtype=np.bool_) if value is None else read_numbers(table.column(value), value, label)
    if not known.all():
        users, numbers, values = users[known], numbers[known], values[known]
    return users, numbers, values, encoded.dictionary


def list_users(data: Any, *, user: str, item: str, candidates: int | Labels, drop_unknown: bool = False) -> Any:
    """Return the ids of the users that :func:`read_coverage` finds, as an Arrow array in the order of their numbers: what a ledger charges.

    Whoever has only rows that are left out is not among them. Raises as that function.
    """
    users, _, _, ids = _read(data, user, item, None, candidates, drop_unknown=drop_unknown)
    present = np.unique(users)
    return ids if len(present) == len(ids) else ids.take(pa.array(present))


def _encode_users(column: Any, name: str, label: str) -> Any:
    column = _decode(column)
    if not (is_text(column.type) or pa.types.is_integer(column.type)):
        raise InvalidData(
            f"users are identified by texts or integers, but the column {name!r} of {label} is {name_kind(column.type)}; convert it"
        )
    encoded = column.combine_chunks().dictionary_encode()
    if is_text(column.type) and pc.any(pc.equal(encoded.dictionary, "")).as_py():  # all whose id is missing would be one user
        raise InvalidData(f"the column {name!r} of {label} has an empty text, which tells no user apart; fill or drop these rows")
    if is_text(column.type):
        require_one_spelling(pc.cast(encoded.dictionary, pa.string()), name, label)
    return encoded


def _number_items(column: Any, name: str, label: str, candidates: int | Labels, count: int) -> NDArray[Any]:
    column = _decode(column)
    if isinstance(candidates, (int, np.integer)):
        if is_text(column.type):
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
    labels = [str(one) for one in candidates] if is_text(column.type) else list(candidates)
    if len(set(labels)) != len(labels):
        raise InvalidArgument("two candidates of the list are written alike; give each one its own text")
    kind = pa.int64() if pa.types.is_integer(column.type) else column.type
    try:
        places = pc.index_in(column.cast(kind), value_set=pa.array(labels).cast(kind))
    except (pa.ArrowException, OverflowError):
        raise InvalidData(
            f"the column {name!r} of {label} is {name_kind(column.type)}, and the candidates are not; give them in its type"
        ) from None
    numbers: NDArray[Any] = np.asarray(pc.fill_null(places, -1).combine_chunks()).astype(np.int64)
    return numbers


def _decode(column: Any) -> Any:
    """Return a column without its dictionary, which may hold one value twice."""
    return pc.cast(column, column.type.value_type) if pa.types.is_dictionary(column.type) else column
