"""Any decomposable function of the greedy algorithm under a matroid: weighted coverage, facility location, functions of one's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from accountant.applications.submodular.coverage import CoverageInstance
from accountant.applications.submodular.interface import DecomposableFunction, MarginalGains
from accountant.applications.submodular.matroids.evaluating import Membership
from accountant.applications.submodular.matroids.matroid import Integers, require_count
from accountant.applications.submodular.matroids.objective import Scores
from accountant.applications.submodular.weighted import UNIT, WeightedCoverage
from profiles import InvalidArgument, InvalidData
from profiles.hypotheses import EXACT_GAINS, MONOTONE_BOUNDED, SUBMODULAR, Hypothesis

_PROVED = (CoverageInstance, WeightedCoverage)


@dataclass(frozen=True, slots=True)
class Tracked:
    """The function that the data are: a :class:`DecomposableFunction` of the type ``kind``, whose sets grow one element at a time.

    Draw j has a tracker of its own, which gains u when y_u passes z_u^j; so draws are needed, and s·m gains are kept. Totals are
    F(S) − F(∅). ``kind`` and ``resolution`` (the unit of the gains, int64) are public; data of another kind are refused. For the classes of
    this package nothing is taken for granted (docs/submodular.md, Theorem 2); for others the two assumptions of greedy are.

    >>> from accountant.applications.submodular import WeightedCoverage
    >>> users = WeightedCoverage.from_matrix([[0.5, 1.0], [0.25, 0.0]])
    >>> function = Tracked(2)
    >>> function.totals(function.read(users), np.array([[True, True], [True, False]])) / function.unit
    array([1.25, 0.75])
    """

    size: int
    kind: type = WeightedCoverage
    resolution: int = UNIT
    closed_form: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require_count(self.size, "the number of elements")
        require_count(self.resolution, "the resolution")

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """Those of the greedy algorithm, except for the functions of this package."""
        return () if self.kind in _PROVED else (MONOTONE_BOUNDED, EXACT_GAINS)

    @property
    def utility_hypotheses(self) -> tuple[Hypothesis, ...]:
        """Submodular, except for the functions of this package."""
        return () if self.kind in _PROVED else (SUBMODULAR,)

    @property
    def unit(self) -> int:
        """The unit of the gains."""
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

    def count(self, data: DecomposableFunction) -> int:
        """Return the number of users."""
        return data.users

    def keep(self, data: DecomposableFunction, selected: NDArray[np.bool_]) -> DecomposableFunction:
        """Return the function of the selected users."""
        return data.restrict(selected)

    def start(self, data: DecomposableFunction, rounds: int, bins: Integers | None) -> Scores:  # noqa: ARG002 - the step is in the bins
        """Return the scores at y = 0. Raises :class:`InvalidArgument` without draws."""
        if bins is None:
            raise InvalidArgument("a function whose sets grow has no multilinear extension in closed form; give draws")
        return _TrackedScores([data.track() for _ in bins], bins, self.resolution)

    def score_unit(self, draws: int | None) -> int:
        """Return the resolution times the number of draws."""
        return self.resolution * (draws or 1)

    def totals(self, data: DecomposableFunction, membership: Membership) -> Integers:
        """Return F(S) − F(∅) of each set."""
        found = []
        for row in membership:
            tracker, total = data.track(), 0
            for element in np.flatnonzero(row).tolist():
                total += int(_gains(tracker)[element])
                tracker.add(element)
            found.append(total)
        return np.array(found, dtype=np.int64)


class _TrackedScores:
    """Σ_j of the gains of the draws that an element would join: a user adds at most ``resolution`` to each draw along a run."""

    __slots__ = ("_bins", "_steps", "_trackers", "unit")

    def __init__(self, trackers: list[MarginalGains], bins: Integers, resolution: int) -> None:
        self._trackers, self._bins, self.unit = trackers, bins, resolution * len(bins)
        self._steps = np.zeros(bins.shape[1], dtype=np.int64)

    def gains(self, candidates: Integers) -> Integers:
        found = np.zeros(candidates.size, dtype=np.int64)
        for tracker, bins in zip(self._trackers, self._bins, strict=True):
            joins = bins[candidates] == self._steps[candidates]
            found[joins] += _gains(tracker)[candidates[joins]]
        return found

    def advance(self, element: int) -> None:
        for draw in np.flatnonzero(self._bins[:, element] == self._steps[element]):
            self._trackers[draw].add(element)
        self._steps[element] += 1


def _gains(tracker: MarginalGains) -> Integers:
    gains = np.asarray(tracker.gains)
    if gains.dtype != np.int64:
        raise InvalidArgument(f"gains must be int64 numbers of units, but {gains.dtype} was found; return whole numbers and a resolution")
    found: Integers = gains
    return found
