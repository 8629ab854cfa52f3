"""Matroids on the ground set 0, ..., m − 1: what the algorithms ask of one, and the uniform and the partition matroid.

The matroid is public. Privacy needs none of its axioms (docs/matroids.md); they are hypotheses of the utility bound alone.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from profiles import InvalidArgument
from profiles.hypotheses import Hypothesis

Integers = NDArray[np.int64]
Members = frozenset[int]


class Growth(Protocol):
    """An independent set that grows by one element at a time."""

    def candidates(self) -> Integers:
        """Return, in increasing order, every element outside the set whose addition keeps it independent."""

    def add(self, element: int) -> None:
        """Add one of the candidates."""


class Matroid(Protocol):
    """What continuous greedy and swap rounding ask of a matroid."""

    @property
    def size(self) -> int:
        """The number m of elements."""

    @property
    def rank(self) -> int:
        """The size k of a base."""

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """What the utility bound takes for granted about it; empty where the axioms are proved."""

    def is_independent(self, members: Collection[int]) -> bool:
        """Tell whether a set is independent."""

    def start(self) -> Growth:
        """Return a growing set that is empty."""

    def exchange(self, first: Members, second: Members, leaving: int) -> int | None:
        """Return j in second − first such that both first − ``leaving`` + j and second − j + ``leaving`` are independent, or None.

        ``leaving`` lies in first − second. For two bases of a matroid there is one (symmetric exchange, Brualdi 1969).
        """


def find_exchange(matroid: Matroid, first: Members, second: Members, leaving: int) -> int | None:
    """Return the least j that :meth:`Matroid.exchange` asks for, by asking about every one; None where there is none."""
    without = first - {leaving}
    for entering in sorted(second - first):
        if matroid.is_independent(without | {entering}) and matroid.is_independent((second - {entering}) | {leaving}):
            return entering
    return None


def require_count(value: object, what: str, least: int = 1) -> int:
    """Return a public integer of at least ``least``. Raises :class:`InvalidArgument`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise InvalidArgument(f"{what} must be an integer of at least {least}, but {str(value)[:40]!r} was found; give one")
    return int(value)


class _CountedGrowth:
    """Grows a set in which at most ``capacities[c]`` elements may have the label c."""

    __slots__ = ("_free", "_labels", "_left")

    def __init__(self, labels: Integers, capacities: Integers) -> None:
        self._labels, self._left = labels, capacities.copy()
        self._free = self._left[labels] > 0

    def candidates(self) -> Integers:
        return np.flatnonzero(self._free)

    def add(self, element: int) -> None:
        self._free[element] = False
        label = self._labels[element]
        self._left[label] -= 1
        if not self._left[label]:
            self._free &= self._labels != label


@dataclass(frozen=True, slots=True)
class UniformMatroid:
    """All sets of at most k of m elements: the cardinality constraint.

    >>> UniformMatroid(5, 2).rank, UniformMatroid(5, 2).is_independent({0, 1, 2})
    (2, False)
    """

    size: int
    limit: int

    def __post_init__(self) -> None:
        require_count(self.size, "the number of elements")
        require_count(self.limit, "the size of a set", least=0)

    @property
    def rank(self) -> int:
        """min(k, m)."""
        return min(self.limit, self.size)

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """It is a matroid (Oxley 2011, Example 1.2.7)."""
        return ()

    def is_independent(self, members: Collection[int]) -> bool:
        """Tell whether a set has at most k elements."""
        return len(members) <= self.limit

    def start(self) -> Growth:
        """Return a growing set that is empty."""
        return _CountedGrowth(np.zeros(self.size, dtype=np.int64), np.array([self.limit]))

    def exchange(self, first: Members, second: Members, leaving: int) -> int | None:
        """Return any element of second − first: sizes do not change."""
        return min(second - first, default=None) if leaving in first else None


@dataclass(frozen=True, slots=True)
class PartitionMatroid:
    """At most ``capacities[c]`` elements of each part c; ``labels[u]`` is the part of element u.

    >>> matroid = PartitionMatroid([0, 0, 1, 1, 1], [1, 2])
    >>> matroid.rank, matroid.is_independent({0, 2, 3}), matroid.is_independent({0, 1})
    (3, True, False)
    """

    labels: Sequence[int] | Integers
    capacities: Sequence[int] | Integers
    _labels: Integers = field(init=False, repr=False, compare=False)
    _capacities: Integers = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        capacities = read_integers(self.capacities, "capacities", bound=None)
        labels = read_integers(self.labels, "labels", bound=capacities.size)
        if not labels.size:
            raise InvalidArgument("a partition matroid needs at least one element, but no labels were found; give one label an element")
        object.__setattr__(self, "_labels", labels)
        object.__setattr__(self, "_capacities", capacities)

    @property
    def size(self) -> int:
        """The number m of elements."""
        return self._labels.size

    @property
    def rank(self) -> int:
        """Σ over parts of min(capacity, size of the part)."""
        return int(np.minimum(np.bincount(self._labels, minlength=self._capacities.size), self._capacities).sum())

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """It is a matroid: a direct sum of uniform ones (Oxley 2011, Section 4.2)."""
        return ()

    def is_independent(self, members: Collection[int]) -> bool:
        """Tell whether no part has more elements than its capacity."""
        counts = np.bincount(self._labels[list(members)], minlength=self._capacities.size)
        return bool((counts <= self._capacities).all())

    def start(self) -> Growth:
        """Return a growing set that is empty."""
        return _CountedGrowth(self._labels, self._capacities)

    def exchange(self, first: Members, second: Members, leaving: int) -> int | None:
        """Return an element of the part of ``leaving``: counts do not change. There is one, as bases have equal counts."""
        label = self._labels[leaving]
        same = min((j for j in second - first if self._labels[j] == label), default=None)
        return find_exchange(self, first, second, leaving) if same is None else same


def read_integers(values: object, what: str, bound: int | None) -> Integers:
    """Return a copy of a list of integers in [0, ``bound``) that nobody can write to. Raises :class:`InvalidArgument`."""
    found = np.asarray(values)
    if found.ndim != 1 or (found.size and found.dtype.kind not in "iu"):
        raise InvalidArgument(f"{what} must be a list of integers, but {found.dtype} of shape {found.shape} was found; give integers")
    if found.size and (int(found.min()) < 0 or (bound is not None and int(found.max()) >= bound)):
        raise InvalidArgument(f"{what} must be at least 0{'' if bound is None else f' and below {bound}'}; correct them")
    result = found.astype(np.int64)
    result.flags.writeable = False
    return result
