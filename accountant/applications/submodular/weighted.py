"""Weighted coverage and facility location: every user gives each candidate a value in [0, 1]; values are counted in whole units."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp

from accountant.applications.submodular.coverage import Indices, Links, Pointers, check_rows, gather, read_pairs
from accountant.applications.submodular.functions import UNIT, check_kept, to_units
from profiles import InvalidArgument, InvalidData
from profiles.arrays import Booleans, Integers
from profiles.numbers import to_integer
from profiles.private import hide_length, name_type

Combine = Literal["max", "sum"]
COMBINES: tuple[Combine, ...] = ("max", "sum")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WeightedCoverage:
    """Claim: with values v_xc in [0, 1], f_x(S) = max of v_xc over c in S (``max``) or min(1, sum of them) (``sum``) is monotone submodular
    with values in [0, 1] and f_x(∅) = 0, for every user x.

    ``starts``, ``items``: as in :class:`CoverageInstance`; ``units``: the values times 2^32, integers from 1 to 2^32. A pair that is not
    listed has the value 0. Values of one's own are rounded down to such integers, one by one (docs/submodular.md, section 3).
    Make one with :meth:`from_matrix` (facility location: one row a user) or :meth:`from_pairs`.

    Raises :class:`InvalidData`, :class:`InvalidArgument`.

    >>> users = WeightedCoverage.from_matrix([[0.5, 1.0], [0.25, 0.0]])
    >>> users.track().gains / users.resolution
    array([0.75, 1.  ])
    """

    candidates: int
    starts: Pointers
    items: Indices
    units: Integers
    combine: Combine = "max"

    def __post_init__(self) -> None:
        count = to_integer(self.candidates, "the number of candidates", 1)
        starts, items, units = np.array(self.starts), np.array(self.items), np.array(self.units)
        check_rows(count, starts, items)
        if self.combine not in COMBINES:
            raise InvalidArgument(
                f"values are combined by one of {', '.join(COMBINES)}, but {str(self.combine)[:40]!r} was found; choose one"
            )
        if (
            units.dtype.kind not in "iu"
            or units.shape != items.shape
            or (units.size and not 1 <= int(units.min()) <= int(units.max()) <= UNIT)
        ):
            raise InvalidData(f"the units must be one integer from 1 to {UNIT} a pair; use from_pairs or from_matrix for values in [0, 1]")
        for name, given, kind in (("starts", starts, np.int64), ("items", items, np.int32), ("units", units, np.int64)):
            value = given.astype(kind, copy=False)  # each is a copy already
            value.setflags(write=False)
            object.__setattr__(self, name, value)
        object.__setattr__(self, "candidates", count)

    def __repr__(self) -> str:
        return f"<weighted coverage of an undisclosed number of users by {self.candidates} candidates>"

    @classmethod
    def from_matrix(cls, values: Any, *, combine: Combine = "max") -> Self:
        """Return the instance of a matrix of values in [0, 1], one row a user, one column a candidate: an array or a SciPy matrix.

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
                f"a matrix with one column a candidate is needed, but shape {hide_length(matrix.shape)} was found; give one row a user"
            )
        units = read_units(matrix.ravel(), matrix.size).reshape(matrix.shape)
        present = units > 0
        starts = np.concatenate([[0], np.cumsum(np.count_nonzero(present, axis=1))])
        items = np.broadcast_to(np.arange(matrix.shape[1], dtype=np.int32), matrix.shape)[present]
        units = units.ravel() if len(items) == matrix.size else units[present]
        return cls(matrix.shape[1], starts, items, units, combine)

    @classmethod
    def from_pairs(cls, users: Any, items: Any, values: Any, *, candidates: int, combine: Combine = "max") -> Self:
        """Return the instance of triples (user, candidate, value in [0, 1]); a pair must not come twice."""
        count = to_integer(candidates, "the number of candidates", 1)
        rows, columns = read_pairs(users, items, count)
        units = read_units(values, len(rows))
        matrix = sp.csr_array((units, (rows, columns)), shape=(int(rows.max(initial=-1)) + 1, count))
        if matrix.nnz != len(rows):
            raise InvalidData("a user gives a candidate more than one value; say which one counts: their largest, their sum up to 1, ...")
        matrix.eliminate_zeros()
        matrix.sort_indices()
        return cls(count, matrix.indptr, matrix.indices, matrix.data, combine)

    @property
    def users(self) -> int:
        """n, the number of users: private."""
        return len(self.starts) - 1

    @property
    def resolution(self) -> int:
        """Gains are counted in whole units."""
        return UNIT

    def restrict(self, kept: Booleans) -> WeightedCoverage:
        """Return the instance of the users with ``kept[x]``."""
        rows = np.flatnonzero(check_kept(kept, self.users))
        places = gather(self.starts, rows)
        starts = np.concatenate([[0], np.cumsum(np.diff(self.starts)[rows])])
        return WeightedCoverage(self.candidates, starts, self.items[places], self.units[places], self.combine)

    def track(self) -> WeightedGains:
        """Return the gains at the empty set."""
        return WeightedGains(self)


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
        """Give every user the value of a candidate."""
        users = self._links.users_of(candidate)
        risen = self._gain(self._links.values[self._links.column(candidate)], self._held[users])
        users, risen = users[risen > 0], risen[risen > 0]
        before = self._held[users]
        self._held[users] = before + risen
        places, lengths = gather(self._instance.starts, users), self._links.degrees[users]
        units = self._instance.units[places]
        change = self._gain(units, np.repeat(before, lengths)) - self._gain(units, np.repeat(before + risen, lengths))
        np.subtract.at(self.gains, self._instance.items[places], change)


def _rise(units: Integers, held: Integers) -> Integers:
    risen: Integers = np.maximum(units - held, 0)
    return risen


def _fill(units: Integers, held: Integers) -> Integers:
    filled: Integers = np.minimum(units, UNIT - held)
    return filled


_GAINS: dict[Combine, Callable[[Integers, Integers], Integers]] = {"max": _rise, "sum": _fill}


def read_units(values: Any, count: int) -> Integers:
    """Return values in [0, 1] in whole units, rounded down, each by itself. Raises :class:`InvalidData`."""
    found = np.asarray(values)
    if found.shape != (count,) or found.dtype.kind not in "iufb":
        raise InvalidData(
            f"one value a pair is needed, but {name_type(found.dtype)} of {found.ndim} dimensions or another length was found; give "
            "numbers in [0, 1]",
            private=f"shape {found.shape} for {count} pairs",
        )
    exact = found.astype(np.float64)
    if exact.size and not (float(exact.min()) >= 0 and float(exact.max()) <= 1):
        raise InvalidData("values must lie in [0, 1], but another value (or NaN) was found; divide by their public bound")
    return to_units(exact)
