"""Matroids on the ground set 0, ..., m − 1: what the algorithms ask of one, and the uniform, the partition and the graphic matroid.

The matroid is public. Privacy needs none of its axioms (docs/submodular.md); they are hypotheses of the utility bound alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from accountant.applications.choosing import CountedGrowth, Growth, count_up_to
from profiles import InvalidArgument
from profiles.arrays import Integers
from profiles.hypotheses import Hypothesis
from profiles.numbers import to_integer

Members = frozenset[int]


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


@dataclass(frozen=True, slots=True)
class UniformMatroid:
    """All sets of at most k of m elements: the cardinality constraint.

    >>> UniformMatroid(5, 2).rank, UniformMatroid(5, 2).is_independent({0, 1, 2})
    (2, False)
    """

    size: int
    limit: int

    def __post_init__(self) -> None:
        to_integer(self.size, "the number of elements", 1)
        to_integer(self.limit, "the size of a set", 0)

    @property
    def rank(self) -> int:
        return min(self.limit, self.size)

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """It is a matroid (Oxley 2011, Example 1.2.7)."""
        return ()

    def is_independent(self, members: Collection[int]) -> bool:
        return len(members) <= self.limit

    def start(self) -> Growth:
        return count_up_to(self.size, self.limit)

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
        capacities = to_integers(self.capacities, "capacities", bound=None)
        labels = to_integers(self.labels, "labels", bound=capacities.size)
        if not labels.size:
            raise InvalidArgument("a partition matroid needs at least one element, but no labels were found; give one label per element")
        object.__setattr__(self, "_labels", labels)
        object.__setattr__(self, "_capacities", capacities)

    @property
    def size(self) -> int:
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
        return CountedGrowth(self._labels, self._capacities)

    def exchange(self, first: Members, second: Members, leaving: int) -> int | None:
        """Return an element of the part of ``leaving``: counts do not change. There is one, as bases have equal counts."""
        label = self._labels[leaving]
        same = min((j for j in second - first if self._labels[j] == label), default=None)
        return find_exchange(self, first, second, leaving) if same is None else same


class _ForestGrowth:
    """Grows a forest; ``_trees[v]`` names the tree of vertex v."""

    __slots__ = ("_ends", "_trees")

    def __init__(self, ends: Integers, vertices: int) -> None:
        self._ends, self._trees = ends, np.arange(vertices)

    def candidates(self) -> Integers:
        return np.flatnonzero(self._trees[self._ends[0]] != self._trees[self._ends[1]])

    def add(self, element: int) -> None:
        kept, gone = self._trees[self._ends[:, element]]
        self._trees[self._trees == gone] = kept


@dataclass(frozen=True, slots=True)
class GraphicMatroid:
    """Sets of edges without a cycle in a public multigraph on the vertices 0, ..., ``vertices`` − 1; ``edges`` has shape (m, 2).

    >>> triangle = GraphicMatroid(3, [(0, 1), (1, 2), (2, 0)])
    >>> triangle.rank, triangle.is_independent({0, 1}), triangle.is_independent({0, 1, 2})
    (2, True, False)
    """

    vertices: int
    edges: Sequence[tuple[int, int]] | ArrayLike
    _ends: Integers = field(init=False, repr=False, compare=False)
    _rank: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        to_integer(self.vertices, "the number of vertices", 1)
        pairs = np.asarray(self.edges)
        if pairs.ndim != 2 or pairs.shape[1:] != (2,) or not len(pairs):
            raise InvalidArgument(f"edges must have shape (m, 2) with m of at least 1, but {pairs.shape} was found; give pairs of vertices")
        ends = to_integers(pairs.ravel(), "vertices of edges", self.vertices).reshape(-1, 2).T
        object.__setattr__(self, "_ends", ends)
        growth, rank = _ForestGrowth(ends, self.vertices), 0
        while (free := growth.candidates()).size:
            growth.add(int(free[0]))
            rank += 1
        object.__setattr__(self, "_rank", rank)

    @property
    def size(self) -> int:
        return int(self._ends.shape[1])

    @property
    def rank(self) -> int:
        """The number of vertices less that of components."""
        return self._rank

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """It is a matroid (Oxley 2011, Proposition 1.1.7)."""
        return ()

    def is_independent(self, members: Collection[int]) -> bool:
        parents: dict[int, int] = {}

        def find(vertex: int) -> int:
            while (up := parents.get(vertex, vertex)) != vertex:
                parents[vertex] = parents.get(up, up)
                vertex = up
            return vertex

        for edge in members:
            one, other = find(int(self._ends[0, edge])), find(int(self._ends[1, edge]))
            if one == other:
                return False
            parents[one] = other
        return True

    def start(self) -> Growth:
        return _ForestGrowth(self._ends, self.vertices)

    def exchange(self, first: Members, second: Members, leaving: int) -> int | None:
        """Return an edge of the path in ``second`` between the ends of ``leaving`` that joins the two trees of first − ``leaving``.

        The path starts in one of these trees and ends in the other, so such an edge exists; it is not in ``first``, because an edge of
        first − ``leaving`` does not join them; and it lies on the only cycle of second + ``leaving``.
        """
        start, goal = (int(v) for v in self._ends[:, leaving])
        side = set(self._walk(first - {leaving}, start))
        reached = self._walk(second, start)
        if goal in side or goal not in reached:  # not a pair of spanning forests
            return find_exchange(self, first, second, leaving)
        vertex = goal
        while True:
            previous, edge = reached[vertex]
            if previous in side and vertex not in side:
                return edge
            vertex = previous

    def _walk(self, members: Iterable[int], start: int) -> dict[int, tuple[int, int]]:
        """Return vertex → (previous vertex, edge) for every vertex that edges join to ``start``."""
        near: dict[int, list[tuple[int, int]]] = {}
        for edge in members:
            one, other = (int(v) for v in self._ends[:, edge])
            near.setdefault(one, []).append((other, edge))
            near.setdefault(other, []).append((one, edge))
        reached, waiting = {start: (start, -1)}, [start]
        while waiting:
            vertex = waiting.pop()
            for other, edge in near.get(vertex, ()):
                if other not in reached:
                    reached[other] = (vertex, edge)
                    waiting.append(other)
        return reached


def to_integers(values: object, what: str, bound: int | None) -> Integers:
    """Return a copy of a list of integers in [0, ``bound``) that nobody can write to. Raises :class:`InvalidArgument`."""
    integers = np.asarray(values)
    if integers.ndim != 1 or (integers.size and integers.dtype.kind not in "iu"):
        raise InvalidArgument(f"{what} must be a list of integers, but {integers.dtype} of shape {integers.shape} was found; give integers")
    if integers.size and (int(integers.min()) < 0 or (bound is not None and int(integers.max()) >= bound)):
        raise InvalidArgument(f"{what} must be at least 0{'' if bound is None else f' and below {bound}'}; correct them")
    result = integers.astype(np.int64)
    result.flags.writeable = False
    return result
