"""Coverage: every user has a set of candidates and counts 1 as soon as one of them is selected."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from accountant.applications.submodular.functions import check_kept
from profiles import InvalidData
from profiles.arrays import Booleans, Integers
from profiles.numbers import to_integer
from profiles.private import list_values, name_type
from profiles.randomness import ExponentialDraws

Indices = NDArray[np.int32]
Pointers = Integers
MOST = 2**31 - 1


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CandidateRows:
    """The candidates of each user, as compressed sparse rows: those of user x are ``items[starts[x]:starts[x + 1]]``, strictly increasing.

    ``candidates`` is the public number m of candidates, 0, ..., m − 1; users, and how many there are, are private.
    """

    candidates: int
    starts: Pointers
    items: Indices

    def __post_init__(self) -> None:
        count = to_integer(self.candidates, "the number of candidates", 1)
        starts, items = np.asarray(self.starts), np.asarray(self.items)
        check_rows(count, starts, items)
        object.__setattr__(self, "candidates", count)
        object.__setattr__(self, "starts", freeze(starts, np.int64))
        object.__setattr__(self, "items", freeze(items, np.int32))

    @property
    def users(self) -> int:
        """n, the number of users: private."""
        return len(self.starts) - 1


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CoverageInstance(CandidateRows):
    """Claim: f_x(S) = 1 if S contains a candidate of user x, else 0, is monotone submodular with values in {0, 1} for every user.

    Make one with :meth:`from_sets`, :meth:`from_pairs` or :func:`read_coverage`. Cost of a private run: O(number of pairs),
    docs/submodular.md, section 5.

    Raises :class:`InvalidData`, :class:`InvalidArgument`.

    >>> CoverageInstance.from_sets([[0, 1], [1], []], candidates=3).track().gains.tolist()
    [1, 2, 0]
    """

    def __repr__(self) -> str:
        return f"<coverage of an undisclosed number of users by {self.candidates} candidates>"

    @classmethod
    def from_sets(cls, sets: Iterable[Iterable[int]], *, candidates: int) -> Self:
        """Return the instance of one set of candidates per user, also an empty one. A candidate may be named twice."""
        try:
            rows = [[None] if isinstance(items, (str, bytes)) else list(items) for items in sets]  # a text is no set: refused below
        except TypeError:
            raise InvalidData("one set of candidates per user is needed, but something else was found; give a list of lists") from None
        count = to_integer(candidates, "the number of candidates", 1)
        flat = [item for row in rows for item in row]
        if not all(isinstance(item, (int, np.integer)) and not isinstance(item, bool) and -1 <= item <= MOST for item in flat):
            raise InvalidData("the candidates of a user must be integers, but something else was found; number the candidates from 0")
        columns = np.array(flat, dtype=np.int64)
        check_items(columns, count)
        return cls(count, *_compress(np.repeat(np.arange(len(rows)), [len(row) for row in rows]), columns, (len(rows), count)))

    @classmethod
    def from_pairs(cls, users: Any, items: Any, *, candidates: int) -> Self:
        """Return the instance of pairs (user, candidate): two arrays of integers of one length. Pairs may come twice, in any order.

        Users are told apart by their numbers, which mean nothing else; a user without a pair contributes nothing.
        """
        count = to_integer(candidates, "the number of candidates", 1)
        rows, columns = read_pairs(users, items, count)
        return cls(count, *_compress(rows, columns, (int(rows.max(initial=-1)) + 1, count)))

    @property
    def resolution(self) -> int:
        """Gains are counts of users."""
        return 1

    def restrict(self, kept: Booleans) -> CoverageInstance:
        starts, places = keep_rows(self.starts, check_kept(kept, self.users))
        return CoverageInstance(self.candidates, starts, self.items[places])

    def track(self) -> CoverageGains:
        """Return the gains at the empty set: the number of users of each candidate."""
        return CoverageGains(self)

    def rounds(self) -> CoverageRounds:
        """Return the draws of the greedy algorithm, without a pass over all candidates in each round."""
        return CoverageRounds(self)


class Links:
    """Users → candidates and candidates → users, as slices of arrays; ``values`` of the pairs go with them."""

    __slots__ = ("_instance", "_owners", "_places", "degrees", "values")

    def __init__(self, instance: CandidateRows, values: NDArray[Any] | None = None) -> None:
        given = np.zeros(len(instance.items), dtype=np.int8) if values is None else values
        columns = sp.csr_array((given, instance.items, instance.starts), shape=(instance.users, instance.candidates)).tocsc()
        self._instance, self._places, self._owners, self.values = instance, columns.indptr, columns.indices, columns.data
        self.degrees = np.diff(instance.starts)

    def column(self, candidate: int) -> slice:
        """Return where the users of a candidate, and the ``values`` of its pairs, are."""
        return slice(self._places[candidate], self._places[candidate + 1])

    def users_of(self, candidate: int) -> Indices:
        """Return the users who have a candidate."""
        users: Indices = self._owners[self.column(candidate)]
        return users

    def items_of(self, users: NDArray[Any]) -> Indices:
        """Return the candidates of ``users``, one list after the other; user x has ``degrees[x]`` of them."""
        return self._instance.items[gather(self._instance.starts, users)]


class CoverageGains:
    """Counts of uncovered users of every candidate; each user is touched once, when it is first covered.

    ``left`` is the number of users that some candidate could still cover. ``links``: those of the instance, where several trackers have it.
    """

    __slots__ = ("_candidates", "_links", "_open", "gains", "left")

    def __init__(self, instance: CoverageInstance, links: Links | None = None) -> None:
        self._candidates, self._links = instance.candidates, Links(instance) if links is None else links
        self.gains = np.bincount(instance.items, minlength=instance.candidates).astype(np.int64)
        self._open = self._links.degrees > 0
        self.left = int(self._open.sum())

    def add(self, candidate: int) -> None:
        lost = self._cover(candidate)
        if len(lost):
            np.subtract.at(self.gains, lost, 1)

    def cover(self, candidate: int) -> tuple[Indices, Pointers]:
        """Mark the users of a candidate as covered; return the candidates that lose gain by it, each once, and how much."""
        lost = self._cover(candidate)
        if len(lost) > self._candidates // 8:
            counts = np.bincount(lost, minlength=self._candidates)
            touched = np.flatnonzero(counts).astype(np.int32)
            return touched, counts[touched]
        touched, change = np.unique(lost, return_counts=True)
        return touched, change

    def _cover(self, candidate: int) -> Indices:
        """Mark the users of a candidate as covered; return the candidates of those that were not, one list after the other."""
        users = self._links.users_of(candidate)
        fresh = users[self._open[users]]
        if not len(fresh):
            return fresh
        self._open[fresh] = False
        self.left -= len(fresh)
        return self._links.items_of(fresh)


class CoverageRounds:
    """The remaining candidates, grouped by gain: a round draws a group, then one of its candidates (docs/submodular.md, section 5).

    ``_members[g]`` lists every candidate whose gain is or was g, once: gains only fall, so that a candidate enters a group at most once. It
    is a member now if its gain still is g. ``_counts[g]`` is the number of members now; ``_top`` is at least the largest gain.
    """

    __slots__ = ("_counts", "_gains", "_members", "_remaining", "_top", "_tracker")

    def __init__(self, instance: CoverageInstance) -> None:
        self._tracker = CoverageGains(instance)
        self._gains = self._tracker.gains
        self._remaining = instance.candidates
        self._counts = np.bincount(self._gains)
        self._top = len(self._counts) - 1
        self._members: defaultdict[int, array[int]] = defaultdict(lambda: array("i"))
        order = np.argsort(self._gains, kind="stable").astype(np.int32)
        ends = np.cumsum(self._counts)
        for gain in np.flatnonzero(self._counts).tolist():
            self._members[gain] = array("i", order[ends[gain] - self._counts[gain] : ends[gain]].tobytes())

    def draw(self, draws: ExponentialDraws) -> int:
        """Return a remaining candidate, drawn by the exponential mechanism, and select it. At least one remains."""
        self._lower_top()
        low = max(0, self._top - draws.reach)
        window = self._counts[low : self._top + 1][::-1]
        distances = np.flatnonzero(window)
        counts = window[distances]
        beyond = self._remaining - int(counts.sum())
        index = draws.levels(distances, counts, beyond, self._levels())
        distance = int(distances[index]) if index < len(distances) else next(d for i, (d, _) in enumerate(self._levels()) if i == index)
        chosen = self._draw_member(self._top - distance, draws)
        self._select(chosen)
        return chosen

    def _lower_top(self) -> None:
        while not self._counts[self._top]:
            self._members.pop(self._top, None)  # no gain rises again
            self._top -= 1

    def _levels(self) -> Iterator[tuple[int, int]]:
        """Yield (distance below the top, number of candidates) of all groups, from the top down."""
        for gain in np.flatnonzero(self._counts[: self._top + 1])[::-1].tolist():
            yield self._top - gain, int(self._counts[gain])

    def _draw_member(self, gain: int, draws: ExponentialDraws) -> int:
        """Return each member of a group with the same probability: uniform entries of its list, until one is a member."""
        members = self._members[gain]
        if len(members) > 2 * int(self._counts[gain]):
            entries = np.frombuffer(members, dtype=np.int32)
            members = self._members[gain] = array("i", entries[self._gains[entries] == gain].tobytes())
        while True:
            candidate = members[draws.uniform(len(members))]
            if self._gains[candidate] == gain:
                return candidate

    def _select(self, chosen: int) -> None:
        touched, change = self._tracker.cover(chosen)
        others = touched != chosen
        touched, change = touched[others], change[others]
        before = self._gains[touched]
        after = before - change
        np.subtract.at(self._counts, before, 1)
        np.add.at(self._counts, after, 1)
        self._gains[touched] = after
        self._counts[self._gains[chosen]] -= 1
        self._gains[chosen] = -1
        self._remaining -= 1
        members = self._members
        for candidate, gain in zip(touched.tolist(), after.tolist(), strict=True):
            members[gain].append(candidate)


def _compress(rows: NDArray[Any], columns: NDArray[Any], shape: tuple[int, int]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return pairs as compressed rows, each pair once."""
    if is_sorted(rows, columns):
        return compress_sorted(rows, shape[0]), columns
    matrix = sp.csr_array((np.ones(len(rows), dtype=np.int8), (rows, columns)), shape=shape)
    matrix.sum_duplicates()
    return matrix.indptr, matrix.indices


def is_sorted(rows: NDArray[Any], columns: NDArray[Any]) -> bool:
    """Whether pairs come in the order of their rows, those of a row in that of their columns, and none comes twice."""
    later = rows[1:] > rows[:-1]
    return bool((later | ((rows[1:] == rows[:-1]) & (columns[1:] > columns[:-1]))).all())


def compress_sorted(rows: NDArray[Any], count: int) -> Pointers:
    """Return where each of ``count`` rows starts, for entries in the order of their rows."""
    starts: Pointers = np.searchsorted(rows, np.arange(count + 1))
    return starts


def freeze(array: NDArray[Any], kind: type[np.integer[Any]]) -> NDArray[Any]:
    """Return an array of a type that is not written to: itself, where it can be neither written to nor a view of another, else a copy."""
    if array.dtype == kind and array.base is None and not array.flags.writeable:
        return array
    made = array.astype(kind)
    made.setflags(write=False)
    return made


def keep_rows(starts: Pointers, kept: Booleans) -> tuple[Pointers, NDArray[Any]]:
    """Return where the kept of compressed rows start, and which entries they have: a mask, or positions where few are kept."""
    lengths = np.diff(starts)
    rows = np.flatnonzero(kept)
    indptr = np.concatenate([[0], np.cumsum(lengths[rows])])
    return indptr, np.repeat(kept, lengths) if 8 * len(rows) > len(kept) else gather(starts, rows)


def gather(starts: Pointers, rows: NDArray[Any]) -> Pointers:
    """Return the positions of the entries of compressed rows, row after row."""
    first, lengths = starts[rows], starts[rows + 1] - starts[rows]
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    positions: Pointers = np.repeat(first - (ends - lengths), lengths) + np.arange(total)
    return positions


def read_pairs(users: Any, items: Any, candidates: int) -> tuple[Pointers, Pointers]:
    """Return users numbered from 0 in their order, and candidates, of equal length. Raises :class:`InvalidData`."""
    rows, columns = (np.asarray(list(given) if isinstance(given, Sequence) else given) for given in (users, items))
    for what, values in (("users", rows), ("candidates", columns)):
        if values.ndim != 1 or not (values.dtype.kind in "iu" or not values.size):
            raise InvalidData(
                f"the {what} of pairs must be integers in one dimension, but {name_type(values.dtype)} of "
                f"{values.ndim} dimensions was found"
            )
    if len(rows) != len(columns):
        raise InvalidData(
            "as many users as candidates are needed, but their numbers differ; give pairs", private=f"{len(rows)} and {len(columns)}"
        )
    check_items(columns, candidates)
    return _number(rows), columns.astype(np.int64, copy=False)


def _number(rows: NDArray[Any]) -> Pointers:
    """Return the places of numbers among the different ones, in ascending order."""
    if rows.size and int(rows.min()) >= 0 and int(rows.max()) < 2 * rows.size:  # without sorting
        present = np.zeros(int(rows.max()) + 1, dtype=np.bool_)
        present[rows] = True
        if present.all():
            return rows.astype(np.int64, copy=False)
        places: Pointers = np.cumsum(present, dtype=np.int64)[rows] - 1
        return places
    _, numbers = np.unique(rows, return_inverse=True)
    return numbers.astype(np.int64)


def check_items(items: NDArray[Any], candidates: int) -> None:
    """Refuse numbers that are not candidates. Raises :class:`InvalidData`."""
    if candidates > MOST:
        raise InvalidData(f"at most {MOST} candidates are possible, but {candidates} were declared; group them")
    if items.size and not (int(items.min()) >= 0 and int(items.max()) < candidates):
        row = int(np.argmax((items < 0) | (items >= candidates)))
        raise InvalidData(
            f"candidates are 0 to {candidates - 1}, but pair {row} (from 0) has another number; declare all of them, or drop the others",
            private=list_values([(row, items[row])]),
        )


def check_rows(candidates: int, starts: NDArray[Any], items: NDArray[Any]) -> None:
    """Refuse what is not a list of compressed rows with strictly increasing entries. Raises :class:`InvalidData`."""
    if starts.ndim != 1 or items.ndim != 1 or starts.dtype.kind not in "iu" or items.dtype.kind not in "iu" or not len(starts):
        raise InvalidData("starts and items must be integer arrays of one dimension, starts with one entry more than there are users")
    if starts[0] != 0 or starts[-1] != len(items) or (np.diff(starts.astype(np.int64)) < 0).any() or len(starts) > MOST:
        raise InvalidData("starts must rise from 0 to the number of items, but they do not; use from_pairs", private=f"{len(items)} items")
    check_items(items, candidates)
    rising = items[1:] > items[:-1]
    borders = starts[1:-1][(starts[1:-1] > 0) & (starts[1:-1] < len(items))].astype(np.int64) - 1
    rising[borders] = True
    if not rising.all():
        raise InvalidData("the candidates of a user must rise strictly, but they do not; use from_pairs, which sorts them")
