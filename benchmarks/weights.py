"""Time of optimal weights for 500,000 records, as a multiple of one ``numpy.log1p`` pass over an array of that length in the same run.

    python -m benchmarks.weights [--rows 500000] [--repeats 7]

The goals: at most 30 for profiles linear in w, at most 500 for others. ``refined`` counts the rows that ball arithmetic had to finish.
The weights are certified feasible in every run; there is no faster mode without the guarantee.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np

import profiles
from accountant.data import open_dataset, parse_statistic
from accountant.weights.fast import ProvedConvexity, optimal_weights

LINEAR = [
    ("w*z", "1"),
    ("w*z", "50"),
    ("w*z", "5000"),
    ("w*z", "0.001"),
    ("w*z", "1e-6"),
    ("10*w*(2/41 + z/30)", "1"),
    ("w*z*sqrt(z)", "1"),
]
OTHER = [
    ("w**2*z/10 + w*z/20", "2"),
    ("w**(3/2)*z", "1"),
    ("w*z + log(1 + w*z)", "2"),
    ("exp(w*z/4) - 1", "1"),
    ("w**2*z", "0.001"),
]


def best_time(work: Callable[[], object], repeats: int) -> float:
    """Return the shortest of ``repeats`` times in seconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def report(label: str, text: str, target: str, *, z: np.ndarray, repeats: int) -> None:
    """Time one profile against the unit, by turns, and print its line."""
    profile = profiles.declare("benchmark", text, record={"z": [0, 1]})
    convexity = ProvedConvexity(profile, Fraction(0), "by hand: for the benchmark only")
    statistics, out = {"z": z * min(1.0, float(target))}, np.empty_like(z)
    result = optimal_weights(profile, target, statistics, convexity=convexity)
    spent = unit = float("inf")
    for _ in range(repeats):
        unit = min(unit, best_time(lambda: np.log1p(z, out=out), 10))
        spent = min(spent, best_time(lambda: optimal_weights(profile, target, statistics, convexity=convexity), 1))
    print(
        f"{label:8} {text:24} {target:>6} {unit * 1e3:7.3f} ms {spent * 1e3:9.1f} ms {spent / unit:8.1f} x   refined {result.refined_rows}"
    )


def run(rows: int, repeats: int) -> None:
    """Print the table."""
    z = np.random.default_rng(1).uniform(1e-3, 1, rows)
    print(f"{rows} records; profile, target, one numpy.log1p pass, weights, ratio")
    for text, target in LINEAR:
        report("linear", text, target, z=z, repeats=repeats)
    for text, target in OTHER:
        report("other", text, target, z=z, repeats=max(2, repeats // 3))
    folder = Path(os.environ.get("PDP_SHARED_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
    if (folder / "ijcnn1.trn.bz2").exists():
        batches = open_dataset(folder / "ijcnn1.trn.bz2").batches([parse_statistic("z=l2")])
        norms = np.concatenate([batch.statistics["z"] for batch in batches])
        report("ijcnn1", "10*w*(2/41 + z/30)", "1.5", z=norms / norms.max(), repeats=repeats)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    run(options.rows, options.repeats)
