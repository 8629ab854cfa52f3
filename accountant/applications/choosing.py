"""The greedy choice under any constraint, one element after the other: what is offered, how it is scored, and the draw.

The cardinality constraint, a matroid and the selection of cluster centres all run this loop. Its law is ε₀-add-DP for whatever is offered,
if a user who comes lowers no score and raises those of what is chosen by one unit in all (docs/submodular.md, Theorem 1).
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from profiles import InvalidArgument, InvalidData
from profiles.arrays import Integers
from profiles.randomness import ExponentialDraws

Gains = NDArray[Any]


class MarginalGains(Protocol):
    """The marginal gains of all candidates while a set S grows, starting from the empty set."""

    @property
    def gains(self) -> Gains:
        """F(S ∪ {c}) − F(S) for each candidate c, times the function's ``resolution``: shape (m,), int64 or float64.

        Entries of candidates in S are not looked at.
        """

    def add(self, candidate: int) -> None:
        """Put a candidate that is not in S into S."""


def read_gains(tracker: MarginalGains, candidates: int) -> Gains:
    """Return a tracker's gains after a look at their form. Raises :class:`InvalidData`."""
    gains = np.asarray(tracker.gains)
    if gains.shape != (candidates,) or gains.dtype not in (np.dtype(np.int64), np.dtype(np.float64)):
        raise InvalidData(
            f"the gains must be int64 or float64 of shape ({candidates},), but {gains.dtype} of shape {gains.shape} was found; return "
            "one number per candidate"
        )
    if gains.dtype == np.float64 and not np.isfinite(gains).all():
        raise InvalidData("the gains must be finite, but NaN or an infinity was found; correct the function")
    return gains


class Growth(Protocol):
    """A set that grows by one element at a time, within a public constraint."""

    def candidates(self) -> Integers:
        """Return, in increasing order, every element outside the set whose addition keeps to the constraint."""

    def add(self, element: int) -> None:
        """Add one of the candidates."""


class Scores(Protocol):
    """What each element would add at the present point y, which moves by one step 1/T along one coordinate at a time."""

    @property
    def unit(self) -> int:
        """What one user is worth: gains are multiples of 1/``unit``."""

    def gains(self, candidates: Integers) -> Gains:
        """Return q(u) = G_D(y + 1_u/T) − G_D(y) for each candidate, in units; y_u < 1 for all of them."""

    def advance(self, element: int) -> None:
        """Move y to y + 1_u/T."""


class CountedGrowth:
    """Grows a set in which at most ``capacities[c]`` elements may have the label c: with one label, the cardinality constraint."""

    __slots__ = ("_free", "_labels", "_left")

    def __init__(self, labels: Integers, capacities: Integers) -> None:
        self._labels, self._left = labels, capacities.copy()
        self._free = self._left[labels] > 0

    def candidates(self) -> Integers:
        """Return the elements whose label has room."""
        return np.flatnonzero(self._free)

    def add(self, element: int) -> None:
        """Take the room of one element."""
        self._free[element] = False
        label = self._labels[element]
        self._left[label] -= 1
        if not self._left[label]:
            self._free &= self._labels != label


def count_up_to(size: int, limit: int) -> CountedGrowth:
    """Return a growing set of at most ``limit`` of ``size`` elements."""
    return CountedGrowth(np.zeros(size, dtype=np.int64), np.array([limit], dtype=np.int64))


class PlainScores:
    """The gains of one growing set: what scores are with T = 1, where every draw of the multilinear extension is the set itself."""

    __slots__ = ("_size", "_tracker", "unit")

    def __init__(self, tracker: MarginalGains, size: int, unit: int) -> None:
        self._tracker, self._size, self.unit = tracker, size, unit

    def gains(self, candidates: Integers) -> Gains:
        gained: Gains = read_gains(self._tracker, self._size)[candidates]
        return gained

    def advance(self, element: int) -> None:
        self._tracker.add(element)


class DrawnScores:
    """Σ_j of the gains of the draws that an element would join: a user adds at most ``resolution`` to each draw along a run.

    Draw j has the set {u: bins[j, u] < T y_u} and a tracker of its own; ``bins`` has the shape (s, m).
    """

    __slots__ = ("_bins", "_steps", "_trackers", "unit")

    def __init__(self, trackers: Sequence[MarginalGains], bins: Integers, resolution: int) -> None:
        self._trackers, self._bins, self.unit = trackers, bins, resolution * len(bins)
        self._steps = np.zeros(bins.shape[1], dtype=np.int64)

    def gains(self, candidates: Integers) -> Integers:
        gained = np.zeros(candidates.size, dtype=np.int64)
        for tracker, bins in zip(self._trackers, self._bins, strict=True):
            joins = bins[candidates] == self._steps[candidates]
            gained[joins] += read_whole_gains(tracker, len(self._steps))[candidates[joins]]
        return gained

    def advance(self, element: int) -> None:
        """Add the element to the draws that it joins."""
        for draw in np.flatnonzero(self._bins[:, element] == self._steps[element]).tolist():
            self._trackers[draw].add(element)
        self._steps[element] += 1


def read_whole_gains(tracker: MarginalGains, size: int) -> Integers:
    """Return a tracker's gains where they are whole numbers, whose sums over draws are exact. Raises :class:`InvalidArgument`."""
    gains: Integers = read_gains(tracker, size)
    if gains.dtype != np.int64:
        raise InvalidArgument(f"gains must be int64 numbers of units, but {gains.dtype} was found; return whole numbers and a resolution")
    return gains


def choose_greedily(growth: Growth, scores: Scores, most: int, draws: ExponentialDraws) -> tuple[int, ...]:
    """Return up to ``most`` elements in their order: each is drawn among the offered ones with probability ∝ exp(rate·score), exactly.

    ``draws`` has the rate ε₀/unit for choices that spend ε₀ in all. Fewer come back only where nothing more is offered.
    """
    chosen: list[int] = []
    while len(chosen) < most:
        offered = growth.candidates()
        if not offered.size:
            break
        element = int(offered[draws.among(scores.gains(offered))])
        scores.advance(element)
        growth.add(element)
        chosen.append(element)
    return tuple(chosen)


def choose_with_kept_noise(tracker: MarginalGains, offered: Integers, noise: Sequence[int], most: int, floor: int = 0) -> list[int]:
    """Return up to ``most`` of ``offered`` in their order: always that of the largest gain plus noise, while it is at least ``floor``.

    ``noise`` has one integer ≥ 0 for each of ``offered``, drawn once and kept. Ties go to what comes first in ``offered``, a public
    order. Gains are whole units and must fall as the set grows: then a key on the heap is never below the true one, and a key on top
    that is up to date is the largest. Law and privacy: docs/submodular.md, Theorem 8. Raises :class:`InvalidArgument` for gains that are
    no whole numbers.
    """
    size = len(tracker.gains)
    counts = read_whole_gains(tracker, size)
    names = offered.tolist()
    heap = [(-(count + added), place) for place, (count, added) in enumerate(zip(counts[offered].tolist(), noise, strict=True))]
    heapq.heapify(heap)
    taken: list[int] = []
    while heap and len(taken) < most:
        key, place = heap[0]
        chosen = names[place]
        current = -(int(counts[chosen]) + noise[place])
        if current != key:
            heapq.heapreplace(heap, (current, place))
            continue
        if -key < floor:
            break
        heapq.heappop(heap)
        taken.append(chosen)
        tracker.add(chosen)
        counts = read_whole_gains(tracker, size)
    return taken
