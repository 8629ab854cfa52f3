"""The instances of the study: real ones from scikit-learn and ijcnn1, synthetic ones with fixed seeds."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import scipy.optimize
import scipy.sparse
import scipy.sparse.csgraph
import scipy.spatial
from numpy.typing import NDArray

from accountant.applications.clustering import MetricSpace, measure_points, read_distances
from accountant.applications.clustering.solver import solve_weighted
from accountant.applications.setcover import bound_optimum, cover_cost, greedy_cover
from accountant.applications.submodular import CoverageInstance, lazy_greedy, selection_value
from benchmarks.metric_clustering import make_data
from benchmarks.set_cover import plant, spread
from benchmarks.study.data import read_ijcnn1
from profiles import InvalidArgument

Counts = NDArray[np.int64]
BINS = 64
DEGREE = 5
_SEED = 20_241


@lru_cache(maxsize=2)
def coverage(name: str, n: int = 0, m: int = 0) -> CoverageInstance:
    """Return users and their candidates.

    ``digits``: the images of scikit-learn with a pixel of full brightness (1,765 of 1,797); these, of 64 pixels, are its candidates.
    ``ijcnn1``: 49,990 records, one candidate for each of 12 features and 64 cells of [-1, 1], the one that the record falls into.
    ``skewed``: n users with 5 draws of m candidates each, with probabilities that fall like rank^-0.8. Raises :class:`InvalidArgument`.
    """
    if name == "digits":
        from sklearn.datasets import load_digits  # noqa: PLC0415

        users, items = np.nonzero(load_digits().data >= 16)
        return CoverageInstance.from_pairs(users, items, candidates=64)
    if name == "ijcnn1":
        cells = np.clip(((read_ijcnn1()[:, 10:] + 1) / 2 * BINS).astype(np.int64), 0, BINS - 1) + BINS * np.arange(12)
        return CoverageInstance.from_pairs(np.repeat(np.arange(len(cells)), 12), cells.ravel(), candidates=12 * BINS)
    if name == "skewed":
        rng, weights = np.random.default_rng(_SEED), 1 / np.arange(1, m + 1) ** 0.8
        items = rng.permutation(m)[rng.choice(m, size=n * DEGREE, p=weights / weights.sum())]
        return CoverageInstance.from_pairs(np.repeat(np.arange(n), DEGREE), items, candidates=m)
    raise InvalidArgument(f"the coverage instance {name!r} is unknown; known are digits, ijcnn1 and skewed")


def hide(k: int, users: int, m: int, rng: np.random.Generator) -> CoverageInstance:
    """Return the hard instance: k random candidates of m have ``users`` users each, of their own; nobody has another candidate."""
    chosen = rng.choice(m, size=k, replace=False)
    return CoverageInstance.from_pairs(np.arange(k * users), np.repeat(chosen, users), candidates=m)


@lru_cache(maxsize=64)
def best_coverage(name: str, n: int, m: int, k: int) -> tuple[int, str]:
    """Return the largest coverage by k candidates, by HiGHS (``digits``), or that of plain greedy."""
    instance = coverage(name, n, m)
    if name == "digits":
        return maximise(instance, np.ones((1, instance.candidates)), np.array([k])), "optimum"
    return int(selection_value(instance, lazy_greedy(instance, k))), "greedy"


def maximise(instance: CoverageInstance, capacities: NDArray[np.float64], most: NDArray[np.int64]) -> int:
    """Return max F(S) subject to ``capacities`` @ 1_S ≤ ``most``, by integer programming. Raises :class:`InvalidArgument`."""
    filled = np.flatnonzero(np.diff(instance.starts) > 0)
    rows = [tuple(instance.items[instance.starts[x] : instance.starts[x + 1]].tolist()) for x in filled]
    kinds = {row: place for place, row in enumerate(dict.fromkeys(rows))}
    counts = np.bincount([kinds[row] for row in rows])
    m = instance.candidates
    which = np.repeat(np.arange(len(kinds)), [len(row) for row in kinds])
    member = scipy.sparse.csr_array((np.ones(which.size), (which, np.concatenate(list(kinds)))), shape=(len(kinds), m))
    covered = scipy.sparse.hstack([member, -scipy.sparse.eye_array(len(kinds))])
    limits = scipy.sparse.hstack([scipy.sparse.csr_array(capacities), scipy.sparse.csr_array((len(most), len(kinds)))])
    found = scipy.optimize.milp(
        -np.concatenate([np.zeros(m), counts]),
        integrality=np.concatenate([np.ones(m), np.zeros(len(kinds))]),
        bounds=scipy.optimize.Bounds(0, 1),
        constraints=[scipy.optimize.LinearConstraint(covered, lb=0), scipy.optimize.LinearConstraint(limits, ub=most)],
        options={"time_limit": 900.0},
    )
    if found.status != 0:
        raise InvalidArgument("HiGHS did not prove an optimum within 15 minutes; give a smaller instance, or a machine that is not busy")
    return round(-float(found.fun))


@lru_cache(maxsize=2)
def cover(name: str, n: int = 0, m: int = 0, k: int = 0) -> CoverageInstance:
    """Return elements and their sets: a :func:`coverage` of real data; ``planted`` and ``spread`` of ``benchmarks.set_cover``."""
    if name == "planted":
        return plant(n, m, k, np.random.default_rng(_SEED))
    if name == "spread":
        return spread(n, m, DEGREE, np.random.default_rng(_SEED))
    return coverage(name)


@lru_cache(maxsize=16)
def least_cover(name: str, n: int, m: int, k: int) -> tuple[int, int]:
    """Return (lower, upper) for the smallest cover, by HiGHS for real data; (0, k) for ``planted``, (0, greedy) for ``spread``."""
    if name == "planted":
        return 0, k
    system = cover(name, n, m, k)
    return (0, cover_cost(greedy_cover(system), system)) if name == "spread" else bound_optimum(system)


@lru_cache(maxsize=4)
def points(name: str, n: int = 0, m: int = 0) -> tuple[MetricSpace, Counts]:
    """Return a public space and how many records stand at each of its candidates.

    ``discs``: ``make_data`` of ``benchmarks.metric_clustering`` with 8 discs. ``pixels``: the 273,280 colours of china.jpg at the
    points of a grid of m = g³ candidates in the cube. ``images``: every ninth image of the digits is a public candidate (200), the other
    1,597 are records, each at its nearest candidate. ``roads``: n records at m places of a network, three of
    four near one of five towns; distances are shortest ways in the Delaunay graph of random points. Raises :class:`InvalidArgument`.
    """
    if name == "discs":
        return make_data(n, m, 8, 7)
    if name == "roads":
        return make_roads(n, m)
    if name == "pixels":
        from sklearn.datasets import load_sample_image  # noqa: PLC0415

        side = round(m ** (1 / 3))
        ends = (np.arange(side) + 0.5) / side
        space = measure_points(np.stack(np.meshgrid(ends, ends, ends), axis=-1).reshape(-1, 3))
        records = load_sample_image("china.jpg").reshape(-1, 3) / 255.0
    elif name == "images":
        from sklearn.datasets import load_digits  # noqa: PLC0415

        images = load_digits().data / 16.0
        public = np.arange(len(images)) % 9 == 0
        space, records = measure_points(images[public]), images[~public]
    else:
        raise InvalidArgument(f"the points {name!r} are unknown; known are discs, pixels, images and roads")
    return space, np.bincount(space.snap_points(records), minlength=space.size)


def make_roads(n: int, m: int) -> tuple[MetricSpace, Counts]:
    """Return a network of m places and how many of n records stand at each: three of four near one of five towns."""
    rng = np.random.default_rng(_SEED)
    places = rng.random((m, 2))
    corners = scipy.spatial.Delaunay(places).simplices
    ends = np.unique(np.sort(np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [0, 2]]]), axis=1), axis=0)
    lengths = np.linalg.norm(places[ends[:, 0]] - places[ends[:, 1]], axis=1)
    graph = scipy.sparse.csr_array((lengths, (ends[:, 0], ends[:, 1])), shape=(m, m))
    ways = scipy.sparse.csgraph.dijkstra(graph, directed=False)
    space = read_distances((ways + ways.T) / 2)
    towns = places[rng.choice(m, 5, replace=False)]
    near = np.exp(-np.linalg.norm(places[:, np.newaxis] - towns, axis=2).min(axis=1) / 0.05)
    return space, rng.multinomial(n, 0.75 * near / near.sum() + 0.25 / m)


def scaled_costs(space: MetricSpace, power: int) -> NDArray[np.float64]:
    """Return (distance/diameter)^power."""
    found: NDArray[np.float64] = (space.distances / space.diameter) ** power
    return found


@lru_cache(maxsize=32)
def least_cost(name: str, n: int, m: int, k: int, power: int) -> float:
    """Return the cost of local search without privacy, in units of diameter^power; for k = 1 it is the least."""
    space, counts = points(name, n, m)
    costs = scaled_costs(space, power)
    chosen = solve_weighted(costs, counts.astype(np.float64), k, restarts=8)
    return float(counts @ costs[:, list(chosen)].min(axis=1))


def prove_least(name: str, n: int, m: int, k: int, power: int) -> float:
    """Return the least cost of k candidates, by integer programming: for a hundred candidates or two."""
    space, counts = points(name, n, m)
    present = np.flatnonzero(counts)
    costs, size = scaled_costs(space, power)[present], space.size
    clients = len(present)
    served = scipy.sparse.hstack(
        [scipy.sparse.csr_array((clients, size)), scipy.sparse.kron(scipy.sparse.eye_array(clients), np.ones((1, size)))]
    )
    opened = scipy.sparse.hstack(
        [scipy.sparse.kron(np.ones((clients, 1)), scipy.sparse.eye_array(size)), -scipy.sparse.eye_array(clients * size)]
    )
    number = scipy.sparse.csr_array(np.concatenate([np.ones(size), np.zeros(clients * size)])[np.newaxis])
    found = scipy.optimize.milp(
        np.concatenate([np.zeros(size), (counts[present, np.newaxis] * costs).ravel()]),
        integrality=np.concatenate([np.ones(size), np.zeros(clients * size)]),
        bounds=scipy.optimize.Bounds(0, 1),
        constraints=[
            scipy.optimize.LinearConstraint(served, lb=1, ub=1),
            scipy.optimize.LinearConstraint(opened, lb=0),
            scipy.optimize.LinearConstraint(number, ub=k),
        ],
        options={"time_limit": 900.0},
    )
    if found.status != 0:
        raise InvalidArgument("HiGHS did not prove an optimum within 15 minutes; give a smaller instance, or a machine that is not busy")
    return float(found.fun)
