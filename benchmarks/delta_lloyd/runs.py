"""One law of noise in one dimension: runs of ``DPLloyd`` on a mixture, beside Lloyd without noise from the same centres.

Every seed has a mixture and initial centres of its own, which are those of all laws: costs of two laws are compared seed by seed.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accountant import DPLloyd
from accountant.applications.kmeans.gaussian import choose_deviations
from accountant.applications.kmeans.planning import choose_scales
from benchmarks.study.store import Row, Task
from profiles import to_exact
from profiles.mechanisms.nearest import find_nearest

PARTS = ("lloyd",)
LAWS = ("laplace", "gaussian")
DIMENSIONS = (2, 4, 8, 16, 32, 64)
ITERATIONS = (5, 20)
DELTA, RADIUS, CLUSTERS, ROWS = "1e-6", 1, 8, 20_000
#: Length of a component's centre, and root of its mean squared distance from it: neither depends on d.
_AWAY, _WITHIN = 0.6, 0.2
#: How far from it the centre starts.
_START = 0.3
Array = NDArray[np.float64]


def make_tasks(part: str, chosen: argparse.Namespace) -> list[Task]:
    """Return a task for each law, dimension, number of iterations and ε."""
    seeds = chosen.seeds or (2 if chosen.quick else 50 if chosen.full else 25)
    dimensions = DIMENSIONS[:2] if chosen.quick else DIMENSIONS
    rows = 2_000 if chosen.quick else ROWS
    return [
        Task(part, {"law": law, "d": d, "T": rounds, "epsilon": epsilon, "n": rows, "k": CLUSTERS, "delta": DELTA, "seeds": seeds})
        for epsilon in ("1", "4")
        for rounds in ITERATIONS
        for d in dimensions
        for law in LAWS
    ]


def run_one(task: Task) -> list[Row]:
    """Return a row for each seed: mean squared distance to the nearest centre, with noise and without."""
    key = task.key
    found: list[Row] = []
    for seed in range(key["seeds"]):
        points, start = make_mixture(seed, key["n"], key["d"], key["k"])
        model = fit(points, start, key, seed)
        plain = follow_plain(points, start, key["T"])
        bound = model.guarantee_.bound
        found.append(
            {
                "seed": seed,
                "cost": measure(points, model.cluster_centers_),
                "plain": measure(points, plain),
                "initial": measure(points, start),
                "certified_epsilon": float(bound.upper if key["law"] == "laplace" else bound.epsilon),
                "certified_delta": 0.0 if key["law"] == "laplace" else float(bound.delta),
                "predicted": predict(key),
            }
        )
    return found


def fit(points: Array, start: Array, key: Any, seed: int) -> DPLloyd:
    """Return the estimator after one private run from public centres."""
    own = {"noise": "gaussian", "delta": key["delta"]} if key["law"] == "gaussian" else {}
    return DPLloyd(
        key["k"], epsilon=key["epsilon"], radius=RADIUS, iterations=key["T"], init=start, outside="project", random_state=1000 + seed, **own
    ).fit(points)


def make_mixture(seed: int, rows: int, dimension: int, clusters: int) -> tuple[Array, Array]:
    """Return records of a mixture of equal parts, within the unit ball but for tails that the estimator moves onto it, and where centres
    start: 0.3 away from the means, which stands for public knowledge. (Centres that are drawn without any knowledge make all laws alike in
    many dimensions: nearly all records go to the one that is closest to 0.)
    """
    rng = np.random.default_rng([20, dimension, seed])
    means = rng.normal(size=(clusters, dimension))
    means *= _AWAY / np.linalg.norm(means, axis=1, keepdims=True)
    points = means[rng.integers(0, clusters, rows)] + rng.normal(size=(rows, dimension)) * (_WITHIN / np.sqrt(dimension))
    moves = rng.normal(size=means.shape)
    return points, means + _START * moves / np.linalg.norm(moves, axis=1, keepdims=True)


def follow_plain(points: Array, start: Array, rounds: int) -> Array:
    """Return the centres of Lloyd's algorithm without noise; an empty cluster keeps its centre."""
    centres = start.copy()
    for _ in range(rounds):
        labels = find_nearest(points, centres)
        counts = np.bincount(labels, minlength=len(centres))
        sums = np.stack([np.bincount(labels, weights=column, minlength=len(centres)) for column in points.T], axis=1)
        centres = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], centres)
    return centres


def measure(points: Array, centres: Array) -> float:
    """Return the mean squared distance of records to their nearest centre."""
    labels = find_nearest(points, centres)
    return float(np.square(points - centres[labels]).sum(axis=1).mean())


def predict(key: Any) -> float:
    """Return the first-order mean squared error of a centre with n/k records, ‖c‖₂ = 0.6, by the deviations of the noise."""
    d, members = key["d"], key["n"] / key["k"]
    given = {"radius": to_exact(RADIUS), "iterations": key["T"], "dimension": d}
    epsilon = to_exact(key["epsilon"])
    if key["law"] == "gaussian":
        normal = choose_deviations(epsilon, to_exact(key["delta"]), **given)
        return (d * float(normal.sigma_sum) ** 2 + _AWAY**2 * float(normal.sigma_count) ** 2) / members**2
    laplace = choose_scales(epsilon, p=2, **given)
    return (d * (d + 1) * float(laplace.beta_sum) ** 2 + 2 * _AWAY**2 * float(laplace.beta_count) ** 2) / members**2
