"""Coverage: f_x(S) = 1 if S has one of the items of user x, else 0. Scores are kept up to date by what each choice newly covers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from accountant.applications.submodular.coverage import CoverageInstance
from accountant.applications.submodular.matroids.evaluating import Membership
from accountant.applications.submodular.matroids.matroid import Integers, require_count
from accountant.applications.submodular.matroids.objective import UNIT, Scores
from profiles import InvalidData
from profiles.hypotheses import Hypothesis
from profiles.private import hide_length


@dataclass(frozen=True, slots=True)
class Coverage:
    """The number of users who have an item of the set. Data: a :class:`CoverageInstance` (``read_coverage`` makes one of a file or table),
    a SciPy sparse matrix of shape (users, m), of which only the positions of non-zero entries count, or one iterable of items a user.

    >>> function = Coverage(3)
    >>> users = function.read([{0, 1}, {2}, ()])
    >>> function.totals(users, np.array([[True, False, False], [True, False, True]]))
    array([1, 2])
    """

    size: int
    closed_form: ClassVar[bool] = True
    unit: ClassVar[int] = 1

    def __post_init__(self) -> None:
        require_count(self.size, "the number of elements")

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """None: coverage is monotone, in {0, 1}, and judges each user alone."""
        return ()

    @property
    def utility_hypotheses(self) -> tuple[Hypothesis, ...]:
        """None: coverage is submodular."""
        return ()

    def read(self, data: Any) -> CoverageInstance:
        """Return the instance. Raises :class:`InvalidData` for items outside [0, m) and matrices of another width."""
        if type(data) is CoverageInstance:  # a subclass may restrict its users, or count them, in another way
            if data.candidates != self.size:
                raise InvalidData(f"users must choose among {self.size} items, but their data has {data.candidates}; give other data")
            return data
        if sparse.issparse(data):
            if data.ndim != 2 or data.shape[1] != self.size:
                raise InvalidData(
                    f"the matrix must have {self.size} columns, but shape {hide_length(data.shape)} was found; give one column an element"
                )
            rows = sparse.csr_matrix(data, copy=True)
            rows.sum_duplicates()
            rows.eliminate_zeros()
            return CoverageInstance(self.size, rows.indptr, rows.indices)
        if not isinstance(data, Iterable) or isinstance(data, (str, bytes, np.ndarray)):
            raise InvalidData(f"users must be a sparse matrix or lists of items, but {type(data).__name__} was found; give one of them")
        users = list(data)
        if not all(isinstance(user, Iterable) and not isinstance(user, (str, bytes)) for user in users):
            raise InvalidData("each user must be a list of items, but something else was found; give lists of integers")
        return _read_lists(users, self.size)

    def count(self, data: CoverageInstance) -> int:
        """Return the number of users."""
        return data.users

    def keep(self, data: CoverageInstance, selected: NDArray[np.bool_]) -> CoverageInstance:
        """Return the selected users."""
        return data.restrict(selected)

    def start(self, data: CoverageInstance, rounds: int, bins: Integers | None) -> Scores:
        """Return the scores at y = 0: of the multilinear extension in closed form, or of draws."""
        links = _Links(data)
        return _ClosedScores(links, rounds) if bins is None else _DrawnScores(links, bins)

    def score_unit(self, draws: int | None) -> int:
        """Return 2^36 for the closed form, else the number of draws."""
        return UNIT if draws is None else draws

    def totals(self, data: CoverageInstance, membership: Membership) -> Integers:
        """Return how many users each set covers."""
        matrix = sparse.csr_matrix((np.ones(data.items.size), data.items, data.starts), shape=(data.users, self.size))
        return np.array([np.count_nonzero(matrix @ row) for row in membership.astype(np.float64)], dtype=np.int64)


def _read_lists(users: list[Any], size: int) -> CoverageInstance:
    """Return the instance of lists, with a user also where a list is empty."""
    lists = [list(user) for user in users]
    flat = [item for user in lists for item in user]
    if not all(isinstance(item, (int, np.integer)) and not isinstance(item, bool) and 0 <= item < size for item in flat):
        raise InvalidData(f"items must be integers in [0, {size}), but others were found; correct them")
    unique = [sorted({int(item) for item in user}) for user in lists]
    starts = np.concatenate([[0], np.cumsum([len(user) for user in unique], dtype=np.int64)]).astype(np.int64)
    return CoverageInstance(size, starts, np.array([item for user in unique for item in user], dtype=np.int64))


class _Links:
    """Users → items and items → users, as slices of two arrays."""

    __slots__ = ("degrees", "holders", "item_starts", "items", "size", "starts", "users")

    def __init__(self, data: CoverageInstance) -> None:
        self.starts, self.items, self.size, self.users = data.starts, data.items, data.candidates, data.users
        self.degrees = np.diff(data.starts)
        owners = np.repeat(np.arange(data.users), self.degrees)
        self.holders = owners[np.argsort(data.items, kind="stable")]
        self.item_starts = np.concatenate([[0], np.cumsum(np.bincount(data.items, minlength=data.candidates))]).astype(np.int64)

    def holders_of(self, item: int) -> Integers:
        """Return the users who have ``item``."""
        return self.holders[self.item_starts[item] : self.item_starts[item + 1]]

    def items_of(self, users: Integers) -> tuple[Integers, Integers]:
        """Return the items of ``users``, one list after the other, and how many each has."""
        lengths = self.degrees[users]
        ends = np.cumsum(lengths)
        offsets = np.arange(int(ends[-1]) if ends.size else 0) - np.repeat(ends - lengths, lengths)
        return self.items[np.repeat(self.starts[users], lengths) + offsets], lengths


class _ClosedScores:
    """The multilinear extension Σ_x (1 − Π_{u in N_x} (1 − y_u)), whose gain is Σ_{x has u} c_x/(T − T y_u) with c_x = Π (1 − y_u).

    c_x is kept in whole units, C_x, and a user adds ⌊C_x/(T − T y_u)⌋ to the gain of u, which is what C_x loses when u is chosen. So the
    contributions are ≥ 0, and at most C_x(0) = UNIT in all. After j of these steps c_x ≤ C_x/UNIT ≤ c_x + j/UNIT.
    """

    __slots__ = ("_left", "_links", "_sums", "_uncovered")

    unit = UNIT

    def __init__(self, links: _Links, rounds: int) -> None:
        self._links = links
        self._left = np.full(links.size, rounds, dtype=np.int64)  # T − T y
        self._uncovered = np.full(links.users, UNIT, dtype=np.int64)  # C
        self._sums = np.bincount(links.items, minlength=links.size) * (UNIT // rounds)

    def gains(self, candidates: Integers) -> Integers:
        return self._sums[candidates]

    def advance(self, element: int) -> None:
        users = self._links.holders_of(element)
        before = self._uncovered[users]
        after = before - before // self._left[element]
        self._uncovered[users] = after
        self._left[element] -= 1
        items, lengths = self._links.items_of(users)
        left = np.maximum(self._left[items], 1)  # an item that is taken in every round is no candidate again
        lost = np.repeat(before, lengths) // left - np.repeat(after, lengths) // left
        np.subtract.at(self._sums, items, lost)
        self._sums[element] = int((after // max(1, int(self._left[element]))).sum())


class _DrawnScores:
    """(1/s) Σ_j F(R_j) with R_j = {u: bins[j, u] < T y_u}: gains are numbers of (draw, user) pairs that are newly covered."""

    __slots__ = ("_bins", "_covered", "_gains", "_links", "_steps", "unit")

    def __init__(self, links: _Links, bins: Integers) -> None:
        self._links, self._bins, self.unit = links, bins, len(bins)
        self._steps = np.zeros(links.size, dtype=np.int64)
        self._covered = np.zeros((len(bins), links.users), dtype=np.bool_)
        self._gains = np.count_nonzero(bins == 0, axis=0) * np.bincount(links.items, minlength=links.size)

    def gains(self, candidates: Integers) -> Integers:
        found: Integers = self._gains[candidates]
        return found

    def advance(self, element: int) -> None:
        users = self._links.holders_of(element)
        items, lengths = self._links.items_of(users)
        pair = np.repeat(np.arange(users.size), lengths)
        for draw in np.flatnonzero(self._bins[:, element] == self._steps[element]):
            fresh = ~self._covered[draw, users]
            self._covered[draw, users] = True
            lost = items[fresh[pair]]
            lost = lost[self._bins[draw, lost] == self._steps[lost]]
            np.subtract.at(self._gains, lost, 1)
        self._steps[element] += 1
        joined = np.flatnonzero(self._bins[:, element] == self._steps[element])
        self._gains[element] = sum(int(np.count_nonzero(~self._covered[draw, users])) for draw in joined)
