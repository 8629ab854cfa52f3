"""Figure 5: time of weights, sampling and DP-Lloyd on the sample, relative to DP-Lloyd on all points, one thread, ε = 3, T = 10, k = 25.

Times are processor times of one thread, so that other work on the machine does not show; medians of the repeats. The weights are in three
parts: the norms (for all rules but the uniform one), the proof of convexity (privacy-constrained sampling, once for a profile, whatever
n is) and the rest (for privacy-constrained sampling with the certification of every weight). The noise scales are computed beforehand.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from accountant import optimal_weights, prove_convexity
from accountant.weights.fast import ProvedConvexity, probabilities
from benchmarks.study import adapters
from benchmarks.study.data import Data, load
from benchmarks.study.kmeans import CLUSTERS, ITERATIONS, public_centres
from benchmarks.study.store import Row, Task
from benchmarks.study.table1 import ROWS
from profiles import Profile

EPSILON = 3.0
#: The data sets and sizes of Figure 5 (left), from its tables.
SIZES = {
    "covertype": (5_000, 10_000, 15_000, 20_000, 50_000),
    "ijcnn1": (3_000, 5_000, 7_000, 10_000, 15_000, 20_000),
    "pose": (3_000, 5_000, 8_000),
    "kdd-protein": (5_000, 10_000, 15_000, 20_000),
    "fma": (5_000, 10_000, 15_000),
}
METHODS = ("uniform", "coreset", "constrained")
Array = adapters.Array
Result = TypeVar("Result")


def run_timing(task: Task) -> list[Row]:
    """Return one row: median seconds of each part for a method and size; for ``full`` those of DP-Lloyd on all points."""
    key = task.key
    data, size, method = load(key["dataset"]), key["m"], key["method"]
    ratio = adapters.RATIOS["least-error"](data.facts)
    scales, _ = adapters.calibrate(method, data.facts, data.norms, size, EPSILON, ratio=ratio, iterations=ITERATIONS)
    parts: dict[str, list[float]] = {"norms": [], "proof": [], "solve": [], "sampling": [], "lloyd": []}
    sampled = 0
    for repeat in range(key["repeats"]):
        rng = np.random.default_rng([repeat, size])
        points, weights = data.points, np.ones(len(data.points))
        if method != "full":
            q, weights = _weigh(data, method, size, scales, parts)
            points, weights = _timed(parts["sampling"], lambda q=q, w=weights, r=rng: _draw(data, q, w, r))
        sampled += len(points)
        _timed(parts["lloyd"], lambda p=points, w=weights, r=rng: _lloyd(data, p, w, scales, r))
    seconds = {name: statistics.median(times) if times else 0.0 for name, times in parts.items()}
    return [{**seconds, "n": data.facts.n, "sampled": sampled / key["repeats"]}]


def relate(rows: list[Row]) -> list[Row]:
    """Return the rows of the samples with ``full``, ``weights``, relative time and size; data sets without a full run are left out."""
    full = {row["dataset"]: row["lloyd"] for row in rows if row["method"] == "full"}
    found = []
    for row in rows:
        if row["method"] == "full" or row["dataset"] not in full:
            continue
        weights = row["norms"] + row["proof"] + row["solve"]
        base = full[row["dataset"]]
        relative = (weights + row["sampling"] + row["lloyd"]) / base
        found.append({**row, "full": base, "weights": weights, "relative_time": relative, "relative_size": row["m"] / row["n"]})
    return found


def _timed(times: list[float], work: Callable[[], Result]) -> Result:
    start = time.process_time()
    result = work()
    times.append(time.process_time() - start)
    return result


def _weigh(data: Data, method: str, size: int, scales: adapters.Scales, parts: dict[str, list[float]]) -> tuple[Array, Array]:
    norms = data.norms
    if method != "uniform":
        found = _timed(parts["norms"], lambda: np.sqrt(np.einsum("nd,nd->n", data.points, data.points)))
        norms = np.minimum(found, float(data.facts.radius))
    if method != "constrained":
        return _timed(parts["solve"], lambda: adapters.weigh(method, data.facts, norms, size, EPSILON, scales, ITERATIONS))
    profile = adapters.declare_lloyd(data.facts, scales, ITERATIONS)
    convexity = _timed(parts["proof"], lambda: prove_convexity(profile, EPSILON))
    return _timed(parts["solve"], lambda: _solve(profile, norms, convexity))


def _solve(profile: Profile, norms: Array, convexity: ProvedConvexity) -> tuple[Array, Array]:
    weights = optimal_weights(profile, EPSILON, {"z": norms}, convexity=convexity).weights
    return probabilities(weights), weights


def _draw(data: Data, q: Array, weights: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    chosen = np.flatnonzero(rng.random(len(q)) < q)
    return data.points[chosen], weights[chosen]


def _lloyd(data: Data, points: Array, weights: Array, scales: adapters.Scales, rng: np.random.Generator) -> Array:
    noise = adapters.draw_noise(rng, scales, (ITERATIONS, CLUSTERS, data.facts.dimension), "gamma")
    centres = public_centres(rng, data.facts.dimension, float(data.facts.mean_square) ** 0.5)
    return adapters.run_lloyd(points, weights, centres, noise, least_count=1.0, ball=float(data.facts.radius))


def make_tasks(datasets: list[str], *, repeats: int, full_repeats: int, quick: bool) -> list[Task]:
    """Return the tasks; a synthetic data set of scale s has its sizes divided by s."""
    tasks = []
    for dataset in datasets:
        name, _, scale = dataset.removeprefix("like-").partition("/")
        tasks.append(Task("timing", {"dataset": dataset, "method": "full", "m": 0, "repeats": full_repeats}))
        for size in SIZES[name][:1] if quick else SIZES[name]:
            m = size // int(scale or 1)
            chosen = [method for method in METHODS if method != "coreset" or _fits(dataset, m)]
            tasks += [Task("timing", {"dataset": dataset, "method": method, "m": m, "repeats": repeats}) for method in chosen]
    return tasks


def _fits(dataset: str, size: int) -> bool:
    """Tell whether the coreset rule has q ≤ 1 for this m everywhere (KDD-Protein with m = 20,000 has not)."""
    name, _, scale = dataset.removeprefix("like-").partition("/")
    facts = ROWS[name].facts
    share = size * int(scale or 1) / facts.n
    return share * (1 + float(facts.radius**2 / facts.mean_square)) / 2 <= 1
