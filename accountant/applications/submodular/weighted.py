"""Weighted coverage and facility location: every user gives each candidate a value in [0, 1]; values are counted in whole units."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp

from accountant.applications.submodular.coverage import (
    CandidateRows,
    Indices,
    Links,
    Pointers,
    compress_sorted,
    freeze,
    gather,
    is_sorted,
    keep_rows,
    read_pairs,
)
from accountant.applications.submodular.functions import UNIT, check_kept
from profiles import InvalidArgument, InvalidData
from profiles.arrays import Booleans, Integers
from profiles.numbers import to_integer
from profiles.private import hide_length, name_type

Combine = Literal["max", "sum"]
COMBINES: tuple[Combine, ...] = ("max", "sum")
#: So many values are worked on together: a few arrays of them fit into the caches.
_BLOCK = 2**15


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WeightedCoverage(CandidateRows):
    """Claim: with values v_xc in [0, 1], f_x(S) = max of v_xc over c in S (``max``) or min(1, sum of them) (``sum``) is monotone submodular
    with values in [0, 1] and f_x(∅) = 0, for every user x.

    ``starts``, ``items``: as in :class:`CoverageInstance`; ``units``: the values times 2^32, integers from 1 to 2^32. A pair that is not
    listed has the value 0. Values of one's own are rounded down to such integers, one by one (docs/submodular.md, section 3).
    Make one with :meth:`from_matrix` (facility location: one row per user) or :meth:`from_pairs`.

    Raises :class:`InvalidData`, :class:`InvalidArgument`.

    >>> users = WeightedCoverage.from_matrix([[0.5, 1.0], [0.25, 0.0]])
    >>> users.track().gains / users.resolution
    array([0.75, 1.  ])
    """

    units: Integers
    combine: Combine = "max"

    def __post_init__(self) -> None:
        CandidateRows.__post_init__(self)
        units = np.asarray(self.units)
        if self.combine not in COMBINES:
            raise InvalidArgument(
                f"values are combined by one of {', '.join(COMBINES)}, but {str(self.combine)[:40]!r} was found; choose one"
            )
        if (
            units.dtype.kind not in "iu"
            or units.shape != self.items.shape
            or (units.size and not 1 <= int(units.min()) <= int(units.max()) <= UNIT)
        ):
            raise InvalidData(f"the units must be one integer from 1 to {UNIT} a pair; use from_pairs or from_matrix for values in [0, 1]")
        object.__setattr__(self, "units", freeze(units, np.int64))

    def __repr__(self) -> str:
        return f"<weighted coverage of an undisclosed number of users by {self.candidates} candidates>"

    @classmethod
    def from_matrix(cls, values: Any, *, combine: Combine = "max") -> Self:
        """Return the instance of a matrix of values in [0, 1], one row per user, one column per candidate: an array or a SciPy matrix.

        A row must be a function of that user's record, to the last bit. A product of matrices is not: it rounds a row by the rows beside
        it. Compute such values user by user, or round them in a way of which you can show that it hides that.
        """
        if sp.issparse(values):
            entries = sp.coo_array(values)
            rows, columns = entries.coords
            return cls.from_pairs(rows, columns, entries.data, candidates=entries.shape[1], combine=combine)
        matrix = np.asarray(values)
        if matrix.ndim != 2 or not matrix.shape[1]:
            raise InvalidData(
                f"a matrix with one column per candidate is needed, but shape {hide_length(matrix.shape)} was found; give one row per user"
            )
        rows, width = matrix.shape
        units = np.empty(matrix.size, dtype=np.int64)
        for part in _cut(rows, width):
            block = matrix[part].ravel()
            read_units(block, block.size, units[part.start * width : part.stop * width])
        items = np.tile(np.arange(width, dtype=np.int32), rows)
        if units.size and int(units.min()) > 0:
            starts = width * np.arange(rows + 1)
        else:
            present = units > 0
            starts = np.concatenate([[0], np.cumsum(np.count_nonzero(present.reshape(matrix.shape), axis=1))])
            items, units = items[present], units[present]
        return cls._own(width, starts, items, units, combine)

    @classmethod
    def from_pairs(cls, users: Any, items: Any, values: Any, *, candidates: int, combine: Combine = "max") -> Self:
        """Return the instance of triples (user, candidate, value in [0, 1]); a pair must not come twice."""
        count = to_integer(candidates, "the number of candidates", 1)
        rows, columns = read_pairs(users, items, count)
        units = read_units(values, len(rows))
        users = int(rows.max(initial=-1)) + 1
        if is_sorted(rows, columns):
            present = units > 0
            if not present.all():
                rows, columns, units = rows[present], columns[present], units[present]
            return cls._own(count, compress_sorted(rows, users), columns.astype(np.int32), units, combine)
        matrix = sp.csr_array((units, (rows, columns)), shape=(users, count))
        if matrix.nnz != len(rows):
            raise InvalidData("a user gives a candidate more than one value; say which one counts: their largest, their sum up to 1, ...")
        matrix.eliminate_zeros()
        matrix.sort_indices()
        return cls(count, matrix.indptr, matrix.indices, matrix.data, combine)

    @classmethod
    def _own(cls, candidates: int, starts: Pointers, items: Indices, units: Integers, combine: Combine) -> Self:
        """Return an instance of arrays that nobody else has, which need no copy."""
        for array in (starts, items, units):
            array.setflags(write=False)
        return cls(candidates, starts, items, units, combine)

    @property
    def resolution(self) -> int:
        """Gains are counted in whole units."""
        return UNIT

    def restrict(self, kept: Booleans) -> WeightedCoverage:
        starts, places = keep_rows(self.starts, check_kept(kept, self.users))
        return self._own(self.candidates, starts, self.items[places], self.units[places], self.combine)

    def track(self) -> WeightedGains | DenseGains:
        dense = self.users * self.candidates <= 2 * len(self.items)
        return DenseGains(self) if dense else WeightedGains(self)


class WeightedGains:
    """Gains in whole units, exact. A user is touched again whenever its value rises: at most once for each of its candidates."""

    __slots__ = ("_gain", "_held", "_instance", "_links", "gains")

    def __init__(self, instance: WeightedCoverage) -> None:
        self._instance, self._links = instance, Links(instance, instance.units)
        self._gain = _GAINS[instance.combine]
        self._held = np.zeros(instance.users, dtype=np.int64)
        self.gains = np.zeros(instance.candidates, dtype=np.int64)
        np.add.at(self.gains, instance.items, instance.units)

    def add(self, candidate: int) -> None:
        users = self._links.users_of(candidate)
        risen = self._gain(self._links.values[self._links.column(candidate)], self._held[users])
        users, risen = users[risen > 0], risen[risen > 0]
        before = self._held[users]
        self._held[users] = before + risen
        places, lengths = gather(self._instance.starts, users), self._links.degrees[users]
        units = self._instance.units[places]
        change = self._gain(units, np.repeat(before, lengths)) - self._gain(units, np.repeat(before + risen, lengths))
        np.subtract.at(self.gains, self._instance.items[places], change)


class DenseGains:
    """The same gains where users value most candidates: one row of m values per user, absent ones 0, block by block.

    When a candidate is added, the gains of the users whose value rises are taken out and put in again; where these are most users, all
    gains are added up anew. Both are sums of the same integers.
    """

    __slots__ = ("_gain", "_held", "_values", "gains")

    def __init__(self, instance: WeightedCoverage) -> None:
        self._gain = _GAINS[instance.combine]
        shape = instance.users, instance.candidates
        if len(instance.items) == shape[0] * shape[1]:
            self._values = instance.units.reshape(shape)
        else:
            self._values = np.zeros(shape, dtype=np.int64)
            self._values[np.repeat(np.arange(shape[0]), np.diff(instance.starts)), instance.items] = instance.units
        self._held = np.zeros(shape[0], dtype=np.int64)
        self.gains = self._total(None, self._held)

    def add(self, candidate: int) -> None:
        before = self._held
        risen = self._gain(self._values[:, candidate], before)
        self._held = before + risen
        changed = np.flatnonzero(risen)
        if 2 * len(changed) >= len(before):
            self.gains = self._total(None, self._held)
        else:
            self.gains = self.gains - self._total(changed, before[changed]) + self._total(changed, self._held[changed])

    def _total(self, rows: Integers | None, held: Integers) -> Integers:
        """Return Σ over some users, or all, of what each candidate adds to what they hold."""
        width = self._values.shape[1]
        total = np.zeros(width, dtype=np.int64)
        for part in _cut(len(held), width):
            values = self._values[part] if rows is None else self._values[rows[part]]
            total += self._gain(values, held[part, np.newaxis]).sum(axis=0)
        return total


def _cut(rows: int, width: int) -> Iterator[slice]:
    """Yield blocks of rows of ``width`` values; one, which is empty, where there are no rows."""
    step = max(1, _BLOCK // width)
    for start in range(0, max(rows, 1), step):
        yield slice(start, min(start + step, rows))


def _rise(units: Integers, held: Integers) -> Integers:
    risen: Integers = np.maximum(units - held, 0)
    return risen


def _fill(units: Integers, held: Integers) -> Integers:
    filled: Integers = np.minimum(units, UNIT - held)
    return filled


_GAINS: dict[Combine, Callable[[Integers, Integers], Integers]] = {"max": _rise, "sum": _fill}


def read_units(values: Any, count: int, out: Integers | None = None) -> Integers:
    """Return values in [0, 1] in whole units, rounded down, each by itself; in ``out`` where it is given. Raises :class:`InvalidData`."""
    array = np.asarray(values)
    if array.shape != (count,) or array.dtype.kind not in "iufb":
        raise InvalidData(
            f"one value per pair is needed, but {name_type(array.dtype)} of {array.ndim} dimensions or another length was found; give "
            "numbers in [0, 1]",
            private=f"shape {array.shape} for {count} pairs",
        )
    units = np.empty(count, dtype=np.int64) if out is None else out
    for start in range(0, count, _BLOCK):
        exact = array[start : start + _BLOCK].astype(np.float64, copy=False)
        if not (float(exact.min()) >= 0 and float(exact.max()) <= 1):
            raise InvalidData("values must lie in [0, 1], but another value (or NaN) was found; divide by their public bound")
        units[start : start + _BLOCK] = exact * UNIT  # exact; what lies above a whole number is cut off
    return units
