"""Time of weights under Gaussian noise beside the pure path, in one run: tables, records of a data set, single records.

    python -m benchmarks.gaussian_weights [--rows 10000000] [--steps 10 1000]

The goals: a record's weight in 10 ms (one step) and 1 s (1,000 steps), the table of a data set in 60 s, and records weighed at no less than
half the speed of the pure path. Both paths are timed by turns, in batches as files are read; ``pdp weights`` uses w and q = 1/w of the pure
solver, ``pdp sample`` numbers that are rounded further. Checking a table again is the kernel's time alone.
"""

from __future__ import annotations

import argparse
import time
from fractions import Fraction

import numpy as np

from accountant.rules import make_rule
from accountant.rules.gaussian import make_gaussian_rule
from accountant.selection.select import prepare_selection, prepare_tabulated
from accountant.weights.fast import probabilities
from accountant.weights.gaussian import gaussian_weight
from accountant.weights.gaussian.proved import prove_gaussian
from accountant.weights.gaussian.table import make_table
from accountant.weights.gaussian.target import GaussianTarget
from profiles import declare

BATCH = 65_536
NOISY = declare("noisy sum", notion="gaussian", mu="w*z/30", record={"z": [0, 4]})
PURE = declare("sum", "w*z", record={"z": [0, 4]})
DELTA = Fraction(1, 10**5)


def timed(work, repeats=1):
    """Return the shortest of ``repeats`` times in seconds of processor time, and what the work returns."""
    best, found = float("inf"), None
    for _ in range(repeats):
        start = time.process_time()
        found = work()
        best = min(best, time.process_time() - start)
    return best, found


def run(rows: int, steps: list[int]) -> None:
    """Print the figures."""
    convexity = prove_gaussian(NOISY)
    zs = np.random.default_rng(1).uniform(0, 4, rows)
    batches = [{"z": zs[start : start + BATCH]} for start in range(0, rows, BATCH)]
    pure = prepare_selection(PURE, make_rule("privacy-constrained", PURE, None, 4))
    spent, table = timed(lambda: make_table(convexity, GaussianTarget(Fraction(1), DELTA, 1)))
    checked, rejected = timed(table.find_rejected)
    print(f"table, 1 step: {len(table.rows)} rows in {spent:.1f} s, checked by the kernel in {checked:.1f} s, accepted: {rejected is None}")
    noisy = prepare_tabulated(convexity, table, make_gaussian_rule(Fraction(1), DELTA, 1))
    solver = pure.solver
    if solver is None:
        raise SystemExit("the pure path has no solver")
    paths = {
        "Gaussian (pdp weights and pdp sample)": noisy.select,
        "pure, pdp sample": pure.select,
        "pure, pdp weights": lambda part: probabilities(solver.solve(part).weights),
    }
    times = dict.fromkeys(paths, float("inf"))
    for _ in range(3):
        for name, path in paths.items():
            times[name] = min(times[name], timed(lambda path=path: [path(part) for part in batches])[0])
    first = next(iter(times.values()))
    for name, spent in times.items():
        print(f"{name:40} {rows} records in {spent:6.2f} s, {spent / first:5.2f} of the Gaussian path")
    spent, found = timed(lambda: gaussian_weight(NOISY, 1, DELTA, {"z": "1.5"}), 5)
    print(f"one record, 1 step, 30 digits, with its certificate: {spent * 1e3:.1f} ms (w = {float(found.lower):.6g})")
    for count in steps:
        top = GaussianTarget(Fraction(1), DELTA, count)
        narrow = declare("noisy sum", notion="gaussian", mu=f"w*z/{30 * int(count**0.5 + 1)}", record={"z": [0, 4]})
        spent, found = timed(lambda narrow=narrow, count=count: gaussian_weight(narrow, 1, DELTA, {"z": "1.5"}, steps=count))
        print(f"one record, {count} steps: {spent:.2f} s (w = {float(found.lower):.6g})")
        spent, table = timed(lambda narrow=narrow, top=top: make_table(prove_gaussian(narrow), top))
        checked, rejected = timed(table.find_rejected)
        print(f"table, {count} steps: {len(table.rows)} rows in {spent:.1f} s, checked in {checked:.1f} s, accepted: {rejected is None}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10**7)
    parser.add_argument("--steps", type=int, nargs="*", default=[10, 1000])
    options = parser.parse_args()
    run(options.rows, options.steps)
