"""Facility location with the multilinear extension in closed form: no draws, and gains that are whole numbers below the true ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from accountant.applications.choosing import Scores
from accountant.applications.submodular.coverage import Links, gather
from accountant.applications.submodular.functions import UNIT
from accountant.applications.submodular.matroids.objective import ProvedObjective, Tracked
from accountant.applications.submodular.weighted import WeightedCoverage
from profiles import InvalidData
from profiles.arrays import Booleans, Integers

#: The unit of products of probabilities: 2^30, so that a product with a value in units of 2^-32 stays below 2^62.
_SHARE = 2**30
_TOGETHER = 2**16


@dataclass(frozen=True, slots=True)
class FacilityLocation(ProvedObjective):
    """Each user has the value of the best element of the set: data are a :class:`WeightedCoverage` with combine="max".

    Its multilinear extension is a sum over users of Σ_i v_(i) y_(i) Π_{j<i} (1 − y_(j)), their values in falling order, so that no draws
    are needed (``draws=None``); with draws it is :class:`Tracked`. There are no further assumptions (docs/submodular.md, Theorem 2;
    docs/submodular.md, section 13).

    >>> users = WeightedCoverage.from_matrix([[0.5, 1.0], [0.25, 0.0]])
    >>> scores = FacilityLocation(2).start(users, 2, None)
    >>> scores.gains(np.array([0, 1])) / UNIT
    array([0.375, 0.5  ])
    """

    closed_form: ClassVar[bool] = True
    unit: ClassVar[int] = UNIT

    def read(self, data: Any) -> WeightedCoverage:
        """Return the users. Raises :class:`InvalidData` for another type, number of elements, or way to combine values."""
        if type(data) is not WeightedCoverage or data.candidates != self.size or data.combine != "max":
            raise InvalidData(
                f"a WeightedCoverage of {self.size} candidates with combine='max' is needed, but something else was found; make one"
            )
        return data

    def start(self, data: WeightedCoverage, rounds: int, bins: Integers | None) -> Scores:
        """Return the scores at y = 0: of the multilinear extension in closed form, or of draws."""
        return FacilityScores(data, rounds) if bins is None else Tracked(self.size).start(data, rounds, bins)

    def score_unit(self, draws: int | None) -> int:
        """Return 2^32, times the number of draws."""
        return UNIT * (draws or 1)

    def totals(self, data: WeightedCoverage, membership: Booleans) -> Integers:
        return Tracked(self.size).totals(data, membership)


class FacilityScores:
    """Claim: every user adds to the gain of u an integer from 0 to 2^32 times what y_u + 1/T adds to the multilinear extension.

    With values v_1 ≥ v_2 ≥ ... ≥ v_d of a user, that is Π_{j<i} (1 − y_j)·(v_i − H_{i+1})/T, where H_i = y_i v_i + (1 − y_i) H_{i+1} is
    what the values from the i-th on are worth. The product is rounded down, H_{i+1} up (it stays at most v_{i+1} ≤ v_i), the whole down.
    So what a user adds along a run is at most the value at its end, at most 1. A gain is too small by at most 4d + 1 units.
    """

    __slots__ = ("_items", "_left", "_links", "_parts", "_rounds", "_starts", "_sums", "_units")

    unit = UNIT

    def __init__(self, data: WeightedCoverage, rounds: int) -> None:
        self._links, self._starts, self._rounds = Links(data), data.starts, rounds
        rows = np.repeat(np.arange(data.users), np.diff(data.starts))
        order = np.lexsort((data.items, -data.units, rows))  # of equal values, the element with the smaller number first
        self._items, self._units = data.items[order], data.units[order]
        self._left = np.full(data.candidates, rounds, dtype=np.int64)  # T − T y
        self._parts = np.zeros(len(order), dtype=np.int64)
        self._sums = np.zeros(data.candidates, dtype=np.int64)
        self._renew(np.arange(data.users))

    def gains(self, candidates: Integers) -> Integers:
        return self._sums[candidates]

    def advance(self, element: int) -> None:
        self._left[element] -= 1
        self._renew(self._links.users_of(element))

    def _renew(self, users: np.ndarray[Any, Any]) -> None:
        """Bring what some users add up to date."""
        for start in range(0, len(users), _TOGETHER):
            part = users[start : start + _TOGETHER]
            places = gather(self._starts, part)
            new = self._contribute(part)
            np.add.at(self._sums, self._items[places], new - self._parts[places])
            self._parts[places] = new

    def _contribute(self, users: np.ndarray[Any, Any]) -> Integers:
        first, lengths = self._starts[users], self._links.degrees[users]
        width = int(lengths.max(initial=0))
        filled = np.arange(width) < lengths[:, np.newaxis]
        places = np.where(filled, first[:, np.newaxis] + np.arange(width), 0)
        units = np.where(filled, self._units[places], 0) if len(self._units) else np.zeros(filled.shape, dtype=np.int64)
        left = np.where(filled, self._left[self._items[places]], self._rounds) if len(self._units) else units
        after, worth = np.zeros_like(units), np.zeros(len(users), dtype=np.int64)
        for rank in range(width - 1, -1, -1):
            after[:, rank] = worth
            taken = self._rounds - left[:, rank]
            worth = -(-(taken * units[:, rank] + left[:, rank] * worth) // self._rounds)
        free = np.full(len(users), _SHARE, dtype=np.int64)
        contributed = np.zeros_like(units)
        for rank in range(width):
            contributed[:, rank] = free * (units[:, rank] - after[:, rank]) // (self._rounds * _SHARE)
            free = free * left[:, rank] // self._rounds
        parts: Integers = contributed[filled]
        return parts
