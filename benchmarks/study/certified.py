"""Table 1 of the paper, and for its eight rows the certified ε of the coreset rule beside the 100-point grid and the end points.

The noise is set as in the paper's experiments: the largest ψ on the grid of 100 points equals ε*. Then the certified bounds say what ε
that noise really has. Under-report: (certified lower bound − reported)/certified lower bound, a lower bound of what is missing.
"""

from __future__ import annotations

import math
import time
from fractions import Fraction

import numpy as np
from scipy.optimize import brentq

from benchmarks.study.adapters import RATIOS, certify_coreset, end_points, grid_supremum, make_scales
from benchmarks.study.data import ijcnn1_path, load
from benchmarks.study.store import Row, Task
from benchmarks.study.table1 import ROWS, TABLE_1, Facts

TARGETS = (0.1, 1.0, 10.0, 100.0, 1000.0)
LAMBDAS = ("0.5", "0.1", "0.01", "0.001", "0.0001")
ITERATIONS = 10


def calibrate_on_grid(facts: Facts, ratio: Fraction, size: int, target: float, lam: float) -> float:
    """Return the β_sum for which the grid maximum is ``target``."""

    def excess(log_scale: float) -> float:
        return math.log(grid_supremum(facts, make_scales(ratio, math.exp(log_scale)), size, ITERATIONS, lam=lam) / target)

    unit = math.log(float(facts.radius))
    return math.exp(brentq(excess, unit - 15, unit + 25, xtol=1e-13, rtol=1e-13))


def run_bounds(task: Task) -> list[Row]:
    """Return one row: what the grid and the end points report, and the certified bounds."""
    row, size, target, lam = ROWS[task.key["row"]], task.key["m"], task.key["target"], Fraction(task.key["lam"])
    ratio = RATIOS["published"](row.facts)
    scales = make_scales(ratio, calibrate_on_grid(row.facts, ratio, size, target, float(lam)))
    start = time.perf_counter()
    found = certify_coreset(row.facts, scales, size, ITERATIONS, lam)
    seconds = time.perf_counter() - start
    grid = grid_supremum(row.facts, scales, size, ITERATIONS, lam=float(lam))
    ends = end_points(row.facts, scales, size, ITERATIONS, float(lam))
    return [
        {
            "beta_sum": float(scales.sum), "beta_count": float(scales.count), "grid": grid, "ends": ends, "lower": found.lower,
            "upper": found.upper, "kernel": found.kernel, "at_z": found.at, "at_share": found.at / float(row.facts.radius),
            "grid_missing": found.lower - grid, "grid_share": (found.lower - grid) / found.lower,
            "ends_missing": found.lower - ends, "ends_share": (found.lower - ends) / found.lower, "seconds": seconds,
        }
    ]  # fmt: skip


def run_facts(task: Task) -> list[Row]:
    """Return n, d, r, x̃ of a data set as measured, the norms' range, and the numbers of Table 1 where there are any."""
    data = load(task.key["dataset"])
    row = ROWS.get(task.key["dataset"].removeprefix("like-").split("/")[0])
    printed = {} if row is None else {
        "printed_n": row.facts.n, "printed_d": row.facts.dimension, "printed_r": float(row.facts.radius),
        "printed_mean_square": float(row.facts.mean_square),
    }  # fmt: skip
    return [
        {
            "n": data.facts.n, "d": data.facts.dimension, "r": float(data.norms.max()), "mean_square": float(np.mean(data.norms**2)),
            "least_norm": float(data.norms.min()), "centre": float(np.linalg.norm(data.points.mean(axis=0))),
            "largest_m": float(data.facts.largest_size), **printed,
        }
    ]  # fmt: skip


def make_tasks(datasets: list[str], *, quick: bool) -> list[Task]:
    """Return the tasks: facts of the data sets, the table of bounds, and how the grid fares for smaller λ."""
    facts = [Task("table-1", {"dataset": name}) for name in datasets if name != "ijcnn1" or ijcnn1_path() is not None]
    bounds = [
        Task("bounds", {"row": row.name, "m": size, "target": target, "lam": "0.5"})
        for row in TABLE_1
        for size in (row.sizes[1:2] if quick else row.sizes)
        for target in (TARGETS[1::2] if quick else TARGETS)
    ]
    sweep = [
        Task("bounds", {"row": name, "m": ROWS[name].sizes[1], "target": target, "lam": lam})
        for name in ("ijcnn1", "miniboone")
        for lam in LAMBDAS[1:]
        for target in (1.0, 10.0, 100.0)
    ]
    return facts + bounds + ([] if quick else sweep)
