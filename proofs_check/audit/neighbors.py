"""Whether two data sets are neighbors: this is checked if their records can be compared, and never assumed silently."""

from __future__ import annotations

import math
import pickle
from collections import Counter, deque
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from typing import Any

import numpy as np

from profiles.errors import InvalidArgument, NotNeighbors
from profiles.mechanisms.datasets import WeightedData
from profiles.suggestions import suggest

#: What tables of other libraries call their rows, and their values where they have one column.
_ROWS = ("iter_rows", "itertuples", "to_pylist", "to_list")
_WORDS = {
    "add-remove": "adding or removing exactly one record",
    "replace-one": "replacing exactly one record by another one",
}


class Relation(Enum):
    """The neighbors of the claim.

    ``ADD_REMOVE``: one (weighted) record is added or removed, in any order. ``REPLACE_ONE``: one record replaces another. ``STATED``:
    another relation, which the caller vouches for (query answers that differ by at most 1 each, for instance); it is not checked.
    """

    ADD_REMOVE = "add-remove"
    REPLACE_ONE = "replace-one"
    STATED = "stated"


@dataclass(frozen=True, slots=True)
class Neighboring:
    """What is known of a pair: the relation of the claim, and ``status``: "checked", "stated" or "not checked", with the reason."""

    relation: Relation
    status: str
    reason: str = ""

    def text(self) -> str:
        """Return "relation, status", with the reason where the status has one, as every report prints it."""
        return f"{self.relation.value}, {self.status}{f': {self.reason}' if self.reason else ''}"


def to_relation(value: Relation | str) -> Relation:
    """Return the relation of that name. Raises :class:`InvalidArgument`."""
    try:
        return Relation(value)
    except ValueError:
        names = [member.value for member in Relation]
        hint = suggest(str(value), names)
        raise InvalidArgument(
            f"what neighbors are must be one of {', '.join(names)}, but {str(value)[:40]!r} was found; choose one{hint}"
        ) from None


def judge_neighbors(dataset: Any, neighbor: Any, relation: Relation | str = Relation.ADD_REMOVE, *, one_sided: bool = False) -> Neighboring:
    """Return what is known of a pair as neighbors. Records are counted as a multiset: their order does not matter, their multiplicity does.

    Read as records are the rows of arrays and tables, the entries of lists, tuples, sets, and the rows of arrays side by side in a tuple,
    such as ``(data, weights)``: then a record is a row with its weight, and another weight makes another record. Other types, and records
    that cannot be compared, are "not checked". For a ``one_sided`` claim ``dataset`` has one record more.

    Raises :class:`NotNeighbors` if the pair is not one of the claim: the same records on both sides, or a difference that the relation does
    not allow. A ``STATED`` pair is refused only if both data sets are identical.

    >>> judge_neighbors([1, 2, 2], [2, 1]).status
    'checked'
    >>> judge_neighbors(3.5, 4.5).status
    'not checked'
    """
    chosen = to_relation(relation)
    if one_sided and chosen is Relation.REPLACE_ONE:
        raise InvalidArgument(
            "a one-sided claim is about adding a record, but replace-one was given; give add-remove, or a two-sided claim"
        )
    first, second = _read_pair(dataset, neighbor)
    if first is None or second is None:
        if _is_same(dataset, neighbor):
            raise NotNeighbors(_SAME)
        if chosen is Relation.STATED:
            return Neighboring(chosen, "stated")
        return Neighboring(chosen, "not checked", f"a data set of type {_type_of(dataset, neighbor)} does not show its records")
    if first == second:
        raise NotNeighbors(_SAME)
    if chosen is Relation.STATED:
        return Neighboring(chosen, "stated")
    counts = Counter(first), Counter(second)
    alone = sum((counts[0] - counts[1]).values()), sum((counts[1] - counts[0]).values())
    if _fits(alone, chosen, one_sided=one_sided):
        return Neighboring(chosen, "checked")
    sizes = len(first) - len(second)
    possible = {Relation.REPLACE_ONE: (0,), Relation.ADD_REMOVE: (1,) if one_sided else (1, -1)}[chosen]
    if sizes in possible and any(map(_holds_unknown, (*counts[0], *counts[1]))):
        return Neighboring(chosen, "not checked", "some records are objects that cannot be compared")
    raise NotNeighbors(describe_distance(alone, chosen, one_sided=one_sided), private=count_apart(alone))


_SAME = (
    "not neighbors: two data sets that differ by one record were asked for, but D and D' are the same, which says nothing about a record; "
    "give D one record more"
)


@dataclass(frozen=True, slots=True)
class _Unknown:
    """An object that does not say what it is equal to: another one of the same content is the same, of any other nothing is known."""

    content: bytes | int


def _holds_unknown(key: Hashable) -> bool:
    if isinstance(key, (tuple, frozenset)):
        return any(map(_holds_unknown, key))
    return isinstance(key, _Unknown)


def _fits(alone: tuple[int, int], relation: Relation, *, one_sided: bool) -> bool:
    if relation is Relation.REPLACE_ONE:
        return alone == (1, 1)
    return alone == (1, 0) or (alone == (0, 1) and not one_sided)


def count_apart(alone: tuple[int, int]) -> str:
    """Return how many records are in D alone and in D′ alone, nothing where none are: private text (:mod:`profiles.private`)."""
    records = "record is" if alone[0] == 1 else "records are"
    return f"{alone[0]} {records} in D alone, {alone[1]} in D' alone" if any(alone) else ""


def describe_distance(alone: tuple[int, int], relation: Relation, *, one_sided: bool = False) -> str:
    """Return why data sets with so many records in D alone and in D′ alone are not neighbors, and what to do; the counts are not told."""
    if alone == (0, 0):
        difference, advice = "D and D' hold the same records in another order", "give D one record more"
    elif alone == (0, 1) and one_sided:
        difference, advice = "D' has the record more", "exchange them: for a one-sided claim D is the larger data set"
    elif alone == (1, 1):
        difference = "one record (or its weight) is replaced by another one, which is two steps"
        advice = "leave the record out on one side, or say that neighboring is replace-one if the claim is about that"
    else:
        difference = "several of the records are in D alone or in D' alone"
        advice = "give data sets that differ by one, or say that neighboring is stated if the claim is about such a pair"
    return f"not neighbors: the data sets must differ by {_WORDS[relation.value]}, but {difference}; {advice}"


def _read_pair(dataset: Any, neighbor: Any) -> tuple[list[Hashable] | None, list[Hashable] | None]:
    """Return the records of both data sets in the same form; None where there are none to be seen."""
    parts = _columns(dataset), _columns(neighbor)
    if parts[0] is not None or parts[1] is not None:
        return _zip(parts[0], dataset), _zip(parts[1], neighbor)
    return _records(dataset), _records(neighbor)


def _columns(dataset: Any) -> tuple[Any, ...] | None:
    """Return the parts of a data set whose records lie side by side in a tuple, such as (data, weights)."""
    if isinstance(dataset, WeightedData):
        return dataset.points, dataset.weights
    if not isinstance(dataset, tuple) or len(dataset) < 2:
        return None
    if len(dataset) == 2 and dataset[1] is None and _length(dataset[0]) is not None:
        return dataset[0], np.ones(_length(dataset[0]) or 0)
    lengths = {_length(part) for part in dataset}
    return dataset if len(lengths) == 1 and None not in lengths else None


def _zip(parts: tuple[Any, ...] | None, dataset: Any) -> list[Hashable] | None:
    if parts is None:  # the other one has weights: here they are all 1
        records = _records(dataset)
        return None if records is None else [(record, 1.0) for record in records]
    read = [_records(part) for part in parts]
    return None if any(column is None for column in read) else list(zip(*(column for column in read if column is not None), strict=True))


def _length(part: Any) -> int | None:
    """Return the number of rows of a column: an array or a list."""
    if isinstance(part, np.ndarray):
        return len(part) if part.ndim else None
    return len(part) if isinstance(part, list) else None


def _records(dataset: Any) -> list[Hashable] | None:
    """Return a key for each record, the same for equal ones; None where a data set does not show its records."""
    if isinstance(dataset, np.ndarray):
        return [_key(row) for row in dataset.tolist()] if dataset.ndim and not isinstance(dataset, np.ma.MaskedArray) else None
    if isinstance(dataset, (list, tuple, set, frozenset, deque, range)):
        return [_key(entry) for entry in dataset]
    for name in _ROWS if not isinstance(dataset, type) else ():
        method = getattr(dataset, name, None)
        if callable(method) and type(dataset).__module__.partition(".")[0] in ("pandas", "polars", "pyarrow"):
            rows: Iterable[Any] = method(index=False, name=None) if name == "itertuples" else method()
            return [_key(row) for row in rows]
    return None


def _key(value: Any) -> Hashable:
    """Return a hashable stand-in for a record: equal for equal values, whether in arrays, tuples or lists."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return "nan" if math.isnan(value) else value
    if value is None or isinstance(value, (int, complex)):
        return value
    if isinstance(value, (str, bytes)):
        return type(value).__name__, value
    if isinstance(value, np.ndarray):
        return _key(value.tolist())
    if isinstance(value, (list, tuple)):
        return "row", *map(_key, value)
    if isinstance(value, dict):
        return "dict", frozenset((_key(name), _key(entry)) for name, entry in value.items())
    if isinstance(value, (set, frozenset)):
        return "set", frozenset(map(_key, value))
    if is_dataclass(value) and not isinstance(value, type):
        return type(value), *(_key(getattr(value, field.name)) for field in fields(value))
    return _key_of_object(value)


def _key_of_object(value: Any) -> Hashable:
    equality: Any = type(value).__eq__
    try:
        if equality is not object.__eq__ and hash(value) is not None:
            return type(value), value
        return _Unknown(pickle.dumps(value))
    except Exception:
        return _Unknown(id(value))


def _is_same(dataset: Any, neighbor: Any) -> bool:
    """Tell whether two data sets that do not show their records are surely the same."""
    if dataset is neighbor:
        return True
    if type(dataset) is not type(neighbor):
        return False
    try:
        return pickle.dumps(dataset) == pickle.dumps(neighbor)
    except Exception:
        return False


def _type_of(dataset: Any, neighbor: Any) -> str:
    names = dict.fromkeys(type(given).__name__ for given in (dataset, neighbor))
    return " and ".join(names)
