"""Figure 5: time of weights, sampling and DP-Lloyd on the sample, relative to DP-Lloyd on all points, one thread, ε = 3, T = 10, k = 25.

Weights include the norms (for all rules but the uniform one) and, for privacy-constrained sampling, the proof of the premise and the
certification of every weight. The noise scales are computed beforehand: they are a function of public numbers, or (constrained) part of the
experiment's design. Each time is the median of ``repeats``; what is timed in one task is timed by turns.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from benchmarks.study import adapters
from benchmarks.study.data import Data, load
from benchmarks.study.kmeans import CLUSTERS, ITERATIONS, public_centres
from benchmarks.study.store import Row, Task
from benchmarks.study.table1 import ROWS

EPSILON = 3.0
#: The data sets and sizes of Figure 5 (left), from its tables.
SIZES = {
    "covertype": (5_000, 10_000, 15_000, 20_000, 50_000),
    "ijcnn1": (3_000, 5_000, 7_000, 10_000, 15_000, 20_000),
    "pose": (3_000, 5_000, 8_000),
    "kdd-protein": (5_000, 10_000, 15_000, 20_000),
    "fma": (5_000, 10_000, 15_000),
}
Result = TypeVar("Result")


def run_timing(task: Task) -> list[Row]:
    """Return one row: median seconds of each part for a method and size, and of DP-Lloyd on all points."""
    key = task.key
    data = load(key["dataset"])
    ratio = adapters.least_error_ratio(data.facts)
    size, method = key["m"], key["method"]
    scales = adapters.calibrate(method, data.facts, data.norms, size, EPSILON, ratio=ratio, iterations=ITERATIONS)
    parts: dict[str, list[float]] = {"weights": [], "sampling": [], "lloyd": [], "full": []}
    sampled = 0
    for repeat in range(key["repeats"]):
        rng = np.random.default_rng([repeat, size])
        weighed = _timed(parts["weights"], lambda: _weigh(data, method, size, scales))
        chosen = _timed(parts["sampling"], lambda q=weighed[0], w=weighed[1], r=rng: _draw(data, q, w, r))
        sampled += len(chosen[0])
        _timed(parts["lloyd"], lambda c=chosen, r=rng: _lloyd(data, *c, scales, r))
        if repeat < key["full_repeats"]:
            _timed(parts["full"], lambda r=rng: _lloyd(data, data.points, np.ones(len(data.points)), scales, r))
    seconds = {name: statistics.median(times) for name, times in parts.items()}
    share = (seconds["weights"] + seconds["sampling"] + seconds["lloyd"]) / seconds["full"]
    return [
        {**seconds, "n": data.facts.n, "sampled": sampled / key["repeats"], "relative_time": share, "relative_size": size / data.facts.n}
    ]


def _timed(times: list[float], work: Callable[[], Result]) -> Result:
    start = time.perf_counter()
    result = work()
    times.append(time.perf_counter() - start)
    return result


def _weigh(data: Data, method: str, size: int, scales: adapters.Scales) -> tuple[adapters.Array, adapters.Array]:
    norms = (
        data.norms
        if method == "uniform"
        else np.minimum(np.sqrt(np.einsum("nd,nd->n", data.points, data.points)), float(data.facts.radius))
    )
    return adapters.weigh(method, data.facts, norms, size, EPSILON, scales, ITERATIONS)


def _draw(data: Data, q: adapters.Array, weights: adapters.Array, rng: np.random.Generator) -> tuple[adapters.Array, adapters.Array]:
    chosen = np.flatnonzero(rng.random(len(q)) < q)
    return data.points[chosen], weights[chosen]


def _lloyd(
    data: Data, points: adapters.Array, weights: adapters.Array, scales: adapters.Scales, rng: np.random.Generator
) -> adapters.Array:
    noise = adapters.draw_noise(rng, scales, (ITERATIONS, CLUSTERS, data.facts.dimension), "gamma")
    centres = public_centres(rng, data.facts.dimension, float(data.facts.mean_square) ** 0.5)
    return adapters.run_lloyd(points, weights, centres, noise, least_count=1.0, ball=float(data.facts.radius))


def make_tasks(datasets: list[str], *, repeats: int, full_repeats: int, quick: bool) -> list[Task]:
    """Return the tasks; a synthetic data set of scale s has its sizes divided by s."""
    tasks = []
    for dataset in datasets:
        name, _, scale = dataset.removeprefix("like-").partition("/")
        for size in SIZES[name][:1] if quick else SIZES[name]:
            m = size // int(scale or 1)
            for method in ("uniform", "coreset", "constrained"):
                if method != "coreset" or _fits(dataset, m):
                    key = {"dataset": dataset, "method": method, "m": m, "repeats": repeats, "full_repeats": full_repeats}
                    tasks.append(Task("timing", key))
    return tasks


def _fits(dataset: str, size: int) -> bool:
    """Tell whether the coreset rule has q ≤ 1 for this m everywhere (KDD-Protein with m = 20,000 has not)."""
    name, _, scale = dataset.removeprefix("like-").partition("/")
    facts = ROWS[name].facts
    share = size * int(scale or 1) / facts.n
    return share * (1 + float(facts.radius**2 / facts.mean_square)) / 2 <= 1
