"""Errors of our answers beside those of other libraries at one guarantee, and time beside DuckDB.

    python -m benchmarks.release [--peers PYTHON] [--runs 2000] [--rows 10000000]

The goals: at ε = 1 for one record more or less, with a private number of rows, an error never more than 1.02 times that of the best
other library; 10⁷ rows of a Parquet file within 3 times DuckDB's own plain aggregate (count, sum and mean of clipped columns).
``--peers``: an interpreter that has OpenDP and diffprivlib. Tumult's library has no release for this interpreter: its count, sum and
average are drawn here as they are published (Berghel et al. 2022, "Tumult Analytics", and the documentation of Tumult Core: geometric or
Laplace noise, and for an average half of ε each for the noisy number of rows and the noisy sum of distances from the middle of the clip).
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from accountant import By, Count, Histogram, Mean, Quantile, Sum, release
from accountant.applications.answers.planning import plan_release
from accountant.applications.answers.releasing import count_rows, draw_part
from accountant.applications.answers.rows import open_table
from profiles.randomness import open_bits

PEOPLE = 10_000
#: Releases of what is fast: errors are then known to about 0.25 %.
MANY = 200_000


def make_people(rows: int) -> dict[str, np.ndarray]:
    """Return a synthetic table: whole ages, incomes with cents, four regions."""
    rng = np.random.default_rng(1)
    regions = np.array(["N", "S", "E", "W"])[rng.integers(0, 4, rows)]
    return {
        "ages": rng.integers(0, 100, rows),
        "incomes": np.minimum(np.round(rng.lognormal(10, 0.6, rows), 2), 150_000),
        "regions": regions,
    }


def measure_ours(people: dict[str, np.ndarray], runs: int) -> dict[str, float]:
    """Return the root mean squared errors of single answers at ε = 1, of ``runs`` releases of the same exact totals."""
    table = open_table(pa.table({"age": people["ages"], "income": people["incomes"], "region": people["regions"]}))
    ages, incomes = people["ages"], people["incomes"]
    asked: dict[str, tuple[Any, float]] = {
        "count": (Count(), len(ages)),
        "sum of whole numbers": (Sum("age", (0, 110)), float(ages.sum())),
        "sum": (Sum("income", (0, 150_000)), float(incomes.sum())),
        "mean": (Mean("age", (0, 110)), float(ages.mean())),
        "one cell of a histogram": (Histogram("region", ["N", "S", "E", "W"]), float((people["regions"] == "N").sum())),
        "median": (Quantile("age", "0.5", (0, 110, 1)), float(np.median(ages))),
    }
    bits, found = open_bits(), {}
    for name, (request, truth) in asked.items():
        plan = plan_release(request, 1, integers=table.integers)
        totals = count_rows(table, plan, None)
        if name == "median":
            drawn = [np.array([draw_part(totals[0], 1, bits)[0] for _ in range(runs)])]
        else:
            for total in totals:  # as many cells with the same total, each with noise of its own
                total.values = np.repeat(total.values[:1], MANY)
            drawn = [np.array(draw_part(total, 1, bits), dtype=float) for total in totals]
        value = drawn[0] if name != "mean" else float(totals[0].noise.part.middle) + drawn[0] / np.maximum(drawn[1], 1)
        found[name] = float(np.sqrt(np.mean((value - truth) ** 2)))
    return found


def measure_tumult(people: dict[str, np.ndarray]) -> dict[str, float]:
    """Return the errors of the algorithms that are published for count, sum and average, with noise of NumPy."""
    rng, ages, rows = np.random.default_rng(2), people["ages"], len(people["ages"])

    def geometric(rate: float) -> np.ndarray:
        return rng.geometric(-math.expm1(-rate), MANY) - rng.geometric(-math.expm1(-rate), MANY)

    sums = int((ages - 55).sum()) + geometric(0.5 / 55)
    means = 55 + sums / np.maximum(rows + geometric(0.5), 1)
    errors = {
        "count": geometric(1.0),
        "sum of whole numbers": geometric(1 / 110),
        "sum": rng.laplace(0, 150_000, MANY),
        "mean": means - ages.mean(),
        "one cell of a histogram": geometric(1.0),
    }
    return {name: float(np.sqrt(np.mean(np.square(values)))) for name, values in errors.items()}


def compare_errors(peers: str | None, runs: int) -> None:
    """Print the errors of all libraries."""
    people = make_people(PEOPLE)
    told: dict[str, dict[str, Any]] = {"ours": measure_ours(people, runs), "Tumult, as published": measure_tumult(people)}
    if peers is not None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "people.npz")
            np.savez(path, **people)
            script = Path(__file__).with_name("peers.py")
            ran = subprocess.run([peers, str(script), str(path), str(runs)], capture_output=True, text=True, check=True)
            told |= json.loads(ran.stdout)
    print(
        f"root mean squared errors at epsilon = 1, {PEOPLE} rows; ours and Tumult's are off by about {math.sqrt(1.25 / MANY):.2%}, medians"
    )
    print(f"and those of other libraries, of {runs} releases, by about {math.sqrt(1.25 / runs):.1%}")
    for name, ours in told["ours"].items():
        others = {library: found[name] for library, found in told.items() if library != "ours" and name in found}
        best = min(others.values(), default=math.nan)
        listed = ", ".join(f"{library} {value:.6g}" for library, value in others.items())
        print(f"  {name}: ours {ours:.6g}; {listed}; ours over the best {ours / best if best else math.nan:.3f}")
    for library, found in told.items():
        for name, why in found.get("left out", {}).items():
            print(f"  {library} has no {name}: {why}")


def time_best(call: Callable[[], object], repeats: int) -> float:
    """Return the shortest time of several runs."""
    times = []
    for _ in range(repeats):
        before = time.perf_counter()
        call()
        times.append(time.perf_counter() - before)
    return min(times)


def compare_times(rows: int, repeats: int = 5) -> None:
    """Print the times of a release of a Parquet file and of plain aggregates of DuckDB."""
    people = make_people(rows)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "people.parquet")
        table = pa.table({"age": people["ages"], "income": people["incomes"], "region": people["regions"]})
        pq.write_table(table, path)
        numbers = "count(*), sum(least(greatest(income, 0), 150000)), avg(least(greatest(age, 0), 110))"
        asked = [Count(), Sum("income", (0, 150_000)), Mean("age", (0, 110))]
        regions = ["N", "S", "E", "W"]
        cases: dict[str, tuple[str, Callable[[], object]]] = {
            "count, sum and mean": (f"select {numbers} from '{path}'", lambda: release(path, asked, epsilon=1)),
            "histogram": (
                f"select region, count(*) from '{path}' group by region",
                lambda: release(path, Histogram("region", regions), epsilon=1),
            ),
            "count, sum and mean by region": (
                f"select region, {numbers} from '{path}' group by region",
                lambda: release(path, asked, epsilon=1, by=By("region", regions)),
            ),
            "count, sum and mean of a filter": (
                f"select {numbers} from '{path}' where age >= 18",
                lambda: release(path, asked, epsilon=1, where="age >= 18"),
            ),
        }
        print(f"{rows} rows of Parquet, the best of {repeats} runs; load {os.getloadavg()[0]:.1f}")
        for name, (query, ours) in cases.items():
            plain, private = time_best(lambda query=query: duckdb.sql(query).fetchall(), repeats), time_best(ours, repeats)
            print(f"  {name}: DuckDB {plain:.3f} s, ours {private:.3f} s, ratio {private / plain:.2f}")


def main() -> None:
    """Run both comparisons."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", help="an interpreter that has OpenDP and diffprivlib")
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--rows", type=int, default=10**7)
    given = parser.parse_args()
    compare_errors(given.peers, given.runs)
    if given.rows:
        compare_times(given.rows)


if __name__ == "__main__":
    main()
