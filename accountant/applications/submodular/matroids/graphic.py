"""The graphic matroid: forests of a multigraph. Elements are edges; loops are allowed and belong to no forest."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from accountant.applications.submodular.matroids.matroid import Growth, Integers, Members, find_exchange, read_integers, require_count
from profiles import InvalidArgument
from profiles.hypotheses import Hypothesis


class _ForestGrowth:
    """Grows a forest; ``_trees[v]`` names the tree of vertex v."""

    __slots__ = ("_ends", "_trees")

    def __init__(self, ends: NDArray[np.int64], vertices: int) -> None:
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
    _ends: NDArray[np.int64] = field(init=False, repr=False, compare=False)
    _rank: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require_count(self.vertices, "the number of vertices")
        pairs = np.asarray(self.edges)
        if pairs.ndim != 2 or pairs.shape[1:] != (2,) or not len(pairs):
            raise InvalidArgument(f"edges must have shape (m, 2) with m of at least 1, but {pairs.shape} was found; give pairs of vertices")
        ends = read_integers(pairs.ravel(), "vertices of edges", self.vertices).reshape(-1, 2).T
        object.__setattr__(self, "_ends", ends)
        growth, rank = _ForestGrowth(ends, self.vertices), 0
        while (free := growth.candidates()).size:
            growth.add(int(free[0]))
            rank += 1
        object.__setattr__(self, "_rank", rank)

    @property
    def size(self) -> int:
        """The number m of edges."""
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
        """Tell whether edges form a forest."""
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
        """Return a growing forest without edges."""
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
