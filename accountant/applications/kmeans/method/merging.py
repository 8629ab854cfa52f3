"""Weighted k-means without privacy on points that were released: how many cells become k clusters. Post-processing, which costs nothing."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from profiles.arrays import Floats

#: Starts of which the best is kept, and the most rounds of each: a few hundred points take milliseconds.
_STARTS, _ROUNDS = 10, 100


def merge_points(points: Floats, weights: Floats, clusters: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return the cluster of each point, shape (s,): the best of several runs of weighted k-means from k-means++.

    ``points``: shape (s, d); ``weights``: positive, shape (s,). Fewer points than clusters are a cluster each.

    >>> merge_points(np.array([[0.0], [0.1], [5.0]]), np.ones(3), 2, np.random.default_rng(0)).tolist() in ([0, 0, 1], [1, 1, 0])
    True
    """
    if len(points) <= clusters:
        return np.arange(len(points))
    squares = np.einsum("sd,sd->s", points, points)
    best, least = np.zeros(len(points), dtype=np.intp), math.inf
    for _ in range(_STARTS):
        labels, cost = _settle(points, squares, weights, _spread(points, squares, weights, clusters, rng))
        if cost < least:
            best, least = labels, cost
    return best


def _distances(points: Floats, squares: Floats, centres: Floats) -> Floats:
    """Return squared distances, shape (s, k), at least 0."""
    squared = points @ (-2 * centres.T)
    squared += squares[:, np.newaxis]
    squared += np.einsum("kd,kd->k", centres, centres)
    return np.maximum(squared, 0, out=squared)


def _spread(points: Floats, squares: Floats, weights: Floats, clusters: int, rng: np.random.Generator) -> Floats:
    """Return first centres by greedy k-means++: the best of 2 + log k candidates, drawn with weight times squared distance."""
    candidates = 2 + int(math.log(clusters))
    chosen = np.empty(clusters, dtype=np.intp)
    chosen[0] = rng.choice(len(points), p=weights / weights.sum())
    nearest = _distances(points, squares, points[chosen[:1]])[:, 0]
    for j in range(1, clusters):
        mass = np.cumsum(weights * nearest)
        if not mass[-1] > 0:  # every point is a centre already
            chosen[j:] = chosen[0]
            break
        drawn = np.minimum(np.searchsorted(mass, rng.random(candidates) * mass[-1], side="right"), len(points) - 1)
        then = np.minimum(nearest[:, np.newaxis], _distances(points, squares, points[drawn]))
        best = int((weights @ then).argmin())
        chosen[j], nearest = drawn[best], then[:, best]
    return points[chosen].copy()


def _settle(points: Floats, squares: Floats, weights: Floats, centres: Floats) -> tuple[NDArray[np.intp], float]:
    """Return the labels and the cost after Lloyd's rounds without noise; a cluster that gets empty keeps its centre."""
    labels = np.full(len(points), -1, dtype=np.intp)
    for _ in range(_ROUNDS):
        distances = _distances(points, squares, centres)
        nearest = distances.argmin(axis=1)
        if np.array_equal(nearest, labels):
            break
        labels = nearest
        members = np.zeros((len(centres), len(points)))
        members[labels, np.arange(len(points))] = weights
        totals = members.sum(axis=1, keepdims=True)
        centres = np.where(totals > 0, members @ points / np.where(totals > 0, totals, 1), centres)
    return labels, float(weights @ distances[np.arange(len(points)), labels])
