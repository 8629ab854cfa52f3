"""The function that is maximised: F_D(S) = Σ over users of f_x(S), each f_x monotone submodular with values in [0, 1].

Coverage in closed form or by draws, where scores are kept up to date by what each choice newly covers; and any decomposable function of
the greedy algorithm: weighted coverage, facility location, functions of one's own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from scipy import sparse

from accountant.applications.choosing import DrawnScores, Scores, read_whole_gains
from accountant.applications.submodular.coverage import CoverageGains, CoverageInstance, Links
from accountant.applications.submodular.functions import UNIT, DecomposableFunction
from accountant.applications.submodular.greedy import PROVED
from accountant.applications.submodular.weighted import WeightedCoverage
from profiles import InvalidArgument, InvalidData
from profiles.arrays import Booleans, Integers
from profiles.hypotheses import EXACT_GAINS, MONOTONE_BOUNDED, SUBMODULAR, Hypothesis
from profiles.numbers import to_integer
from profiles.private import hide_length

#: No sum of units over the users may exceed it: an overflow would break the order of scores, and with it privacy.
MOST_UNITS = 2**62


class Objective(Protocol):
    """What continuous greedy and the final exponential mechanism ask of a decomposable function.

    Every implementation in this package keeps, for arbitrary public T and bins, what privacy needs: a user adds a non-negative integer
    to every gain, at most ``unit`` in all to the gains along one run, and an integer in [0, ``unit``] to every total. The sums have no
    rounding error, so that this holds for the numbers as they are computed.
    """

    @property
    def size(self) -> int:
        """The number m of elements."""

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """What the guarantee takes for granted about the function."""

    @property
    def utility_hypotheses(self) -> tuple[Hypothesis, ...]:
        """What the utility bound takes for granted beyond that."""

    @property
    def closed_form(self) -> bool:
        """Whether the multilinear extension is available, so that no draws are needed."""

    def read(self, data: Any) -> Any:
        """Return checked data. Raises :class:`InvalidData`."""

    def count(self, data: Any) -> int:
        """Return the number of users, of data that :meth:`read` returned."""

    def keep(self, data: Any, selected: Booleans) -> Any:
        """Return the data of the selected users."""

    def start(self, data: Any, rounds: int, bins: Integers | None) -> Scores:
        """Return the scores at y = 0 for T = ``rounds``.

        ``bins``: shape (s, m), in [0, T): element u is in draw j at y if bins[j, u] < T y_u; None for the multilinear extension.
        """

    @property
    def unit(self) -> int:
        """What one user is worth in :meth:`totals`."""

    def score_unit(self, draws: int | None) -> int:
        """Return what one user is worth in the scores of ``draws`` draws, None for the closed form."""

    def totals(self, data: Any, membership: Booleans) -> Integers:
        """Return F_D of each of h sets, in units, for ``membership`` of shape (h, m)."""


@dataclass(frozen=True, slots=True)
class ProvedObjective:
    """What the functions of this package have in common: nothing is taken for granted of them, and data know their users."""

    size: int

    def __post_init__(self) -> None:
        to_integer(self.size, "the number of elements", 1)

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """None: it is monotone, in [0, 1], and judges each user alone."""
        return ()

    @property
    def utility_hypotheses(self) -> tuple[Hypothesis, ...]:
        """None: it is submodular."""
        return ()

    def count(self, data: Any) -> int:
        users: int = data.users
        return users

    def keep(self, data: Any, selected: Booleans) -> Any:
        """Return the data of the selected users."""
        return data.restrict(selected)


@dataclass(frozen=True, slots=True)
class Coverage(ProvedObjective):
    """The number of users who have an item of the set. Data: a :class:`CoverageInstance` (``read_coverage`` makes one of a file or table),
    a SciPy sparse matrix of shape (users, m), of which only the positions of non-zero entries count, or one iterable of items a user.

    >>> function = Coverage(3)
    >>> users = function.read([{0, 1}, {2}, ()])
    >>> function.totals(users, np.array([[True, False, False], [True, False, True]]))
    array([1, 2])
    """

    closed_form: ClassVar[bool] = True
    unit: ClassVar[int] = 1

    def read(self, data: Any) -> CoverageInstance:
        """Return the instance. Raises :class:`InvalidData` for items outside [0, m) and matrices of another width."""
        if type(data) is CoverageInstance:  # a subclass may restrict its users, or count them, in another way
            if data.candidates != self.size:
                raise InvalidData(f"users must choose among {self.size} items, but their data has {data.candidates}; give other data")
            return data
        if sparse.issparse(data):
            if data.ndim != 2 or data.shape[1] != self.size:
                raise InvalidData(
                    f"the matrix must have {self.size} columns, but shape {hide_length(data.shape)} was found; give one column per element"
                )
            rows = sparse.csr_matrix(data, copy=True)
            rows.sum_duplicates()
            rows.eliminate_zeros()
            return CoverageInstance(self.size, rows.indptr, rows.indices)
        if not isinstance(data, Iterable) or isinstance(data, (str, bytes, np.ndarray)):
            raise InvalidData(f"users must be a sparse matrix or lists of items, but {type(data).__name__} was found; give one of them")
        return CoverageInstance.from_sets(data, candidates=self.size)

    def start(self, data: CoverageInstance, rounds: int, bins: Integers | None) -> Scores:
        """Return the scores at y = 0: of the multilinear extension in closed form, or of draws."""
        if bins is None:
            return _ClosedScores(data, rounds)
        links = Links(data)
        return DrawnScores([CoverageGains(data, links) for _ in bins], bins, 1)

    def score_unit(self, draws: int | None) -> int:
        """Return 2^32 for the closed form, else the number of draws."""
        return UNIT if draws is None else draws

    def totals(self, data: CoverageInstance, membership: Booleans) -> Integers:
        matrix = sparse.csr_matrix((np.ones(data.items.size), data.items, data.starts), shape=(data.users, self.size))
        return np.array([np.count_nonzero(matrix @ row) for row in membership.astype(np.float64)], dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Tracked(ProvedObjective):
    """The function that the data are: a :class:`DecomposableFunction` of the type ``kind``, whose sets grow one element at a time.

    Draw j has a tracker of its own, which gains u when y_u passes z_u^j; so draws are needed, and s·m gains are kept. Totals are F(S) −
    F(∅). ``kind`` and ``resolution`` (the unit of the gains, int64) are public; data of another kind are refused. For the classes of this
    package there are no further assumptions (docs/submodular.md, Theorem 2); for others there are the two assumptions of greedy.

    >>> from accountant.applications.submodular import WeightedCoverage
    >>> users = WeightedCoverage.from_matrix([[0.5, 1.0], [0.25, 0.0]])
    >>> function = Tracked(2)
    >>> function.totals(function.read(users), np.array([[True, True], [True, False]])) / function.unit
    array([1.25, 0.75])
    """

    kind: type = WeightedCoverage
    resolution: int = UNIT
    closed_form: ClassVar[bool] = False

    def __post_init__(self) -> None:
        ProvedObjective.__post_init__(self)
        to_integer(self.resolution, "the resolution", 1)

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """Those of the greedy algorithm, except for the functions of this package."""
        return () if self.kind in PROVED else (MONOTONE_BOUNDED, EXACT_GAINS)

    @property
    def utility_hypotheses(self) -> tuple[Hypothesis, ...]:
        """Submodular, except for the functions of this package."""
        return () if self.kind in PROVED else (SUBMODULAR,)

    @property
    def unit(self) -> int:
        return self.resolution

    def read(self, data: Any) -> DecomposableFunction:
        """Return the function. Raises :class:`InvalidData` for another type, number of candidates, or resolution."""
        if type(data) is not self.kind or not isinstance(data, DecomposableFunction):
            raise InvalidData(f"a {self.kind.__name__} was declared, but {type(data).__name__} was found; declare its kind, or make one")
        if (data.candidates, data.resolution) != (self.size, self.resolution):
            raise InvalidData(
                f"{self.size} candidates and the resolution {self.resolution} were declared, but others were found; correct them"
            )
        return data

    def start(self, data: DecomposableFunction, rounds: int, bins: Integers | None) -> Scores:  # noqa: ARG002 - the step is in the bins
        """Return the scores at y = 0. Raises :class:`InvalidArgument` without draws."""
        if bins is None:
            raise InvalidArgument("a function whose sets grow has no multilinear extension in closed form; give draws")
        return DrawnScores([data.track() for _ in bins], bins, self.resolution)

    def score_unit(self, draws: int | None) -> int:
        """Return the resolution times the number of draws."""
        return self.resolution * (draws or 1)

    def totals(self, data: DecomposableFunction, membership: Booleans) -> Integers:
        summed = []
        for row in membership:
            tracker, total = data.track(), 0
            for element in np.flatnonzero(row).tolist():
                total += int(read_whole_gains(tracker, self.size)[element])
                tracker.add(element)
            summed.append(total)
        return np.array(summed, dtype=np.int64)


class _ClosedScores:
    """The multilinear extension Σ_x (1 − Π_{u in N_x} (1 − y_u)), whose gain is Σ_{x has u} c_x/(T − T y_u) with c_x = Π (1 − y_u).

    c_x is kept in whole units, C_x, and a user adds ⌊C_x/(T − T y_u)⌋ to the gain of u, which is what C_x loses when u is chosen. So the
    contributions are ≥ 0, and at most C_x(0) = UNIT in all. After j of these steps c_x ≤ C_x/UNIT ≤ c_x + j/UNIT.
    """

    __slots__ = ("_left", "_links", "_sums", "_uncovered")

    unit = UNIT

    def __init__(self, data: CoverageInstance, rounds: int) -> None:
        self._links = Links(data)
        self._left = np.full(data.candidates, rounds, dtype=np.int64)  # T − T y
        self._uncovered = np.full(data.users, UNIT, dtype=np.int64)  # C
        self._sums = np.bincount(data.items, minlength=data.candidates) * (UNIT // rounds)

    def gains(self, candidates: Integers) -> Integers:
        return self._sums[candidates]

    def advance(self, element: int) -> None:
        users = self._links.users_of(element)
        before = self._uncovered[users]
        after = before - before // self._left[element]
        self._uncovered[users] = after
        self._left[element] -= 1
        items, lengths = self._links.items_of(users), self._links.degrees[users]
        left = np.maximum(self._left[items], 1)  # an item that is taken in every round is no candidate again
        lost = np.repeat(before, lengths) // left - np.repeat(after, lengths) // left
        np.subtract.at(self._sums, items, lost)
        self._sums[element] = int((after // max(1, int(self._left[element]))).sum())
