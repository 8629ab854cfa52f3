"""Probabilities and weights for samplers, and variance-optimal sampling: seconds for a million records. python -m benchmarks.selection"""

from __future__ import annotations

import time

import numpy as np

from accountant import make_rule, prepare_selection
from accountant.rules import variance_optimal
from profiles import declare

ROWS = 1_000_000
LLOYD = declare(
    "weighted DP-Lloyd", "T*w*(1/beta_count + z/beta_sum)", record={"z": [0, 4]},
    parameters={"T": 10, "beta_count": 25, "beta_sum": 50},
)  # fmt: skip
CORESET = {"m": 100, "n": 1000, "lam": "0.5", "mean": 2}


def main() -> None:
    """Print one line for each rule: the best of five runs of processor time."""
    z = np.random.default_rng(0).uniform(0, 4, ROWS)
    rules = {
        "uniform": make_rule("uniform", LLOYD, {"rate": "0.1"}),
        "coreset, exponent 1": make_rule("coreset-l1", LLOYD, CORESET),
        "coreset, exponent 2": make_rule("coreset-l2", LLOYD, CORESET),
        "coreset, exponent 3/2": make_rule("coreset", LLOYD, {**CORESET, "exponent": "3/2"}),
        "coreset, exponent 4/3": make_rule("coreset", LLOYD, {**CORESET, "exponent": "4/3"}),
        "privacy-constrained": make_rule("privacy-constrained", LLOYD, target_epsilon=20),
    }
    for name, rule in rules.items():
        selector = prepare_selection(LLOYD, rule)
        print(f"{name:24} {min(_seconds(lambda s=selector: s.select({'z': z})) for _ in range(5)):.3f} s")
    print(f"{'variance-optimal':24} {min(_seconds(lambda: variance_optimal(z, ROWS // 10)) for _ in range(5)):.3f} s")


def _seconds(work) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


if __name__ == "__main__":
    main()
