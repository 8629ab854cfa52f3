"""Small instances and slow definitions that tests compare with."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import chain, combinations, product

import numpy as np

from accountant.applications.submodular.matroids import GraphicMatroid, Matroid, OracleMatroid, PartitionMatroid, UniformMatroid

Members = frozenset[int]
Value = Callable[[Members], Fraction]


def subsets(items: Iterable[int]) -> list[Members]:
    listed = list(items)
    return [frozenset(chosen) for size in range(len(listed) + 1) for chosen in combinations(listed, size)]


def bases(matroid: Matroid) -> list[Members]:
    return [members for members in subsets(range(matroid.size)) if len(members) == matroid.rank and matroid.is_independent(members)]


def multilinear(value: Value, y: list[Fraction]) -> Fraction:
    """Definition D.1, term by term."""
    total = Fraction(0)
    for members in subsets(range(len(y))):
        weight = Fraction(1)
        for element, coordinate in enumerate(y):
            weight *= coordinate if element in members else 1 - coordinate
        total += weight * value(members)
    return total


def covers(users: Iterable[Iterable[int]]) -> Value:
    listed = [frozenset(user) for user in users]
    return lambda members: Fraction(sum(bool(user & members) for user in listed))


MATROIDS: list[Matroid] = [
    UniformMatroid(4, 2),
    UniformMatroid(3, 5),
    UniformMatroid(3, 0),
    PartitionMatroid([0, 0, 1, 1, 1], [1, 2]),
    PartitionMatroid([0, 2, 1, 2, 0], [5, 0, 1]),
    GraphicMatroid(3, [(0, 1), (1, 2), (2, 0), (0, 1)]),
    GraphicMatroid(5, [(0, 1), (1, 2), (2, 0), (3, 4), (3, 3), (4, 3), (0, 2)]),
    GraphicMatroid(4, [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]),
    # transversal: 0, 1, 2 matched to a, b; elements 0 with a, 1 with a or b, 2 with b
    OracleMatroid(4, lambda members: len(members) <= 2 and not {0, 3} <= members),
]


def random_forest_pair(rng: np.random.Generator, vertices: int, edges: int) -> tuple[GraphicMatroid, Members, Members]:
    graph = GraphicMatroid(vertices, rng.integers(vertices, size=(edges, 2)))
    return graph, random_base(graph, rng), random_base(graph, rng)


def random_base(matroid: Matroid, rng: np.random.Generator) -> Members:
    growth, chosen = matroid.start(), set[int]()
    while (free := growth.candidates()).size:
        element = int(rng.choice(free))
        growth.add(element)
        chosen.add(element)
    return frozenset(chosen)


def powerset_types(size: int) -> list[tuple[int, ...]]:
    return list(chain.from_iterable(combinations(range(size), count) for count in range(size + 1)))


def all_bins(draws: int, size: int, rounds: int) -> list[np.ndarray]:
    return [np.array(flat).reshape(draws, size) for flat in product(range(rounds), repeat=draws * size)]
