"""Set systems: the sets are public, and each record is an element of the universe with the sets that it is in."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from profiles import InvalidArgument, InvalidData

Indices = NDArray[np.int64]

#: Sets are numbered with 32 bits.
MOST_SETS = 2**31 - 1


def read_sets(value: object) -> int:
    """Return a public number of sets. Raises :class:`InvalidArgument`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 1 <= value <= MOST_SETS:
        raise InvalidArgument(
            f"the number of sets must be an integer of at least 1, but {str(value)[:40]!r} was found; give a public number"
        )
    return int(value)


@dataclass(frozen=True, slots=True, eq=False)
class SetSystem:
    """n elements and ``sets`` sets; element x is in the sets ``items[offsets[x]:offsets[x + 1]]``, in increasing order, each once.

    ``sets`` and what the sets are called is public; an element (a row) is a private record. An element may be in no set: it can never be
    covered and never counts. ``offsets`` int64 of shape (n + 1,), ``items`` int64; both are copied and cannot be written.

    Raises :class:`InvalidData` for arrays that are not such rows, :class:`InvalidArgument` for a number of sets below 1.

    >>> system = SetSystem.from_rows([[0, 2], [1], []], sets=3)
    >>> system.elements, system.sets, system.items.tolist()
    (3, 3, [0, 2, 1])
    """

    offsets: Indices
    items: Indices
    sets: int

    def __post_init__(self) -> None:
        sets = read_sets(self.sets)
        offsets, items = _integers(self.offsets, "offsets"), _integers(self.items, "sets of the elements")
        if offsets.size < 1 or offsets[0] != 0 or offsets[-1] != items.size or bool((np.diff(offsets) < 0).any()):
            raise InvalidData("offsets must rise from 0 to the number of items, but others were found; make the system with from_rows")
        if items.size and not (int(items.min()) >= 0 and int(items.max()) < sets):
            raise InvalidData(
                f"sets must be numbered from 0 to {sets - 1}, but another number was found; number the public list of sets so"
            )
        falls = np.flatnonzero(np.diff(items) <= 0) + 1  # allowed where a row begins only
        if not np.isin(falls, offsets, assume_unique=False).all():
            raise InvalidData("the sets of an element must be increasing, but a repetition or another order was found; use from_pairs")
        for name, value in (("offsets", offsets), ("items", items)):
            value.setflags(write=False)
            object.__setattr__(self, name, value)
        object.__setattr__(self, "sets", sets)

    @property
    def elements(self) -> int:
        """The number n of elements, which is private."""
        return int(self.offsets.size - 1)

    @classmethod
    def from_rows(cls, rows: Iterable[Iterable[int]], sets: int) -> SetSystem:
        """Return the system whose element number x is in the sets ``rows[x]``; repetitions count once. Raises :class:`InvalidData`."""
        try:
            lists = [sorted({_index(item) for item in row}) for row in rows]
        except TypeError:
            raise InvalidData(
                "the rows must be iterables of set numbers, but something else was found; give a list for each element"
            ) from None
        offsets = np.cumsum([0, *map(len, lists)], dtype=np.int64)
        return cls(offsets, np.array([item for row in lists for item in row], dtype=np.int64), sets)

    @classmethod
    def from_pairs(cls, elements: object, items: object, sets: int, *, count: int | None = None) -> SetSystem:
        """Return the system of pairs (element, set), two integer arrays of one length; repeated pairs count once.

        ``count`` is the number n of elements (those without a pair are in no set); by default the largest element number plus one.
        Raises :class:`InvalidData`, :class:`InvalidArgument`.
        """
        total = read_sets(sets)
        rows, columns = _integers(elements, "elements"), _integers(items, "sets of the elements")
        if rows.shape != columns.shape:
            raise InvalidData(f"each element needs a set, but {rows.size} elements and {columns.size} sets were found; give pairs")
        last = int(rows.max()) if rows.size else -1
        n = last + 1 if count is None else count
        if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 0:
            raise InvalidArgument(f"count must be an integer of at least 0, but {str(count)[:40]!r} was found; give the number of elements")
        if n > MOST_SETS:
            raise InvalidData(f"at most {MOST_SETS} elements are possible, but their numbers reach beyond; number them from 0")
        if rows.size and (int(rows.min()) < 0 or last >= n):
            raise InvalidData(f"elements must be numbered from 0 to {n - 1}, but another number was found; number them so")
        if columns.size and not (int(columns.min()) >= 0 and int(columns.max()) < total):
            raise InvalidData(
                f"sets must be numbered from 0 to {total - 1}, but another number was found; number the public list of sets so"
            )
        shape = (n, total)
        matrix = scipy.sparse.csr_array((np.ones(rows.size, dtype=np.bool_), (rows, columns)), shape=shape)
        matrix.sum_duplicates()
        matrix.sort_indices()
        return cls(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), total)

    def without(self, element: int) -> SetSystem:
        """Return the neighbouring system that lacks one element. Raises :class:`InvalidArgument` where there is no such element."""
        if not 0 <= element < self.elements:
            raise InvalidArgument(f"the system has elements 0 to {self.elements - 1}, but {element} was asked for; give one of them")
        start, stop = int(self.offsets[element]), int(self.offsets[element + 1])
        lengths = np.delete(np.diff(self.offsets), element)
        return SetSystem(np.concatenate([[0], np.cumsum(lengths)]), np.concatenate([self.items[:start], self.items[stop:]]), self.sets)

    def rows(self) -> list[tuple[int, ...]]:
        """Return the sets of each element."""
        bounds: Sequence[int] = self.offsets.tolist()
        return [tuple(self.items[start:stop].tolist()) for start, stop in itertools.pairwise(bounds)]


def gather(offsets: Indices, items: Indices, rows: Indices) -> tuple[Indices, Indices]:
    """Return the rows of a ragged array as a ragged array: their offsets and items."""
    starts = offsets[rows]
    lengths = offsets[rows + 1] - starts
    bounds = np.zeros(rows.size + 1, dtype=np.int64)
    np.cumsum(lengths, out=bounds[1:])
    where = np.arange(int(bounds[-1]), dtype=np.int64) + np.repeat(starts - bounds[:-1], lengths)
    return bounds, items[where]


def _index(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 0 <= value <= MOST_SETS:
        raise InvalidData(f"sets must be numbered with integers, but {str(value)[:40]!r} was found; number the public list of sets from 0")
    return int(value)


def _integers(value: object, what: str) -> Indices:
    array = np.asarray(value)
    if array.size == 0 and array.ndim == 1:
        return np.zeros(0, dtype=np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu" or (array.dtype.kind == "u" and int(array.max()) > 2**62):
        raise InvalidData(
            f"the {what} must be integers in one dimension, but {array.dtype} of {array.ndim} dimensions was found; convert them"
        )
    return np.array(array, dtype=np.int64)


__all__ = ["Indices", "SetSystem", "gather", "read_sets"]
