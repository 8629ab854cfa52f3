"""Exact noise beside the inexact noise of NumPy, OpenDP's exact samplers, and DP-Lloyd in binary64, in one run.

    python -m benchmarks.exact_noise [--numbers 1000000] [--rows 50000 1000000] [--repeats 7] [--opendp PYTHON] [--only noise,vectors,lloyd]

The goals: 10⁶ Laplace numbers in at most 4 times the time of ``rng.laplace``, and at least 50 times faster than OpenDP; DP-Lloyd in exact
arithmetic in at most 1.5 times its time in binary64 for n ≥ 50,000. Exact noise is drawn from the operating system's source and from a
seeded generator; ``words alone`` is what those 64-bit words cost. Shortest times of all, taken by turns. OpenDP runs where it is installed,
or in the interpreter that ``--opendp`` names; it adds noise to 20,000 numbers at a time, and its time is given for as many as ours.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from benchmarks.lloyd import best_times, compare_arithmetic, make_mixture
from profiles.mechanisms.k_norm_sum import draw_k_norm
from profiles.randomness import open_bits
from profiles.randomness.rounded import EXPONENTIAL, LAPLACE, NORMAL, Grid, NoiseLaw, draw_rounded, k_norm_law

SCALE = Fraction(10)
_FEW = 20_000
OPENDP = f"""
import json, time, warnings
warnings.simplefilter("ignore")
import opendp.prelude as dp
dp.enable_features("contrib", "idealized-numerics")
found = {{"version": __import__("importlib.metadata").metadata.version("opendp")}}
for name, kind in (("integers", int), ("floats", float)):
    domain = dp.atom_domain(T=float, nan=False) if kind is float else dp.atom_domain(T=int)
    add = dp.m.make_laplace(dp.vector_domain(domain), dp.l1_distance(T=kind), scale=10.0)
    zeros, spent = [kind(0)] * {_FEW}, []
    for _ in range(3):
        start = time.perf_counter()
        add(zeros)
        spent.append(time.perf_counter() - start)
    found[name] = min(spent) / {_FEW}
print(json.dumps(found))
"""


def zeros(rows: int, columns: int) -> np.ndarray:
    """Return exact sums of 0: a view, so that the noise alone is timed."""
    return np.broadcast_to(np.int64(0), (rows, columns))


def draw(law: NoiseLaw, rows: int, columns: int, source: object) -> Callable[[], object]:
    """Return work that draws exact noise."""
    grid, bits, totals = Grid.of(SCALE), open_bits(source), zeros(rows, columns)
    return lambda: draw_rounded(totals, law, grid, bits)


def show(best: dict[str, float], unit: str) -> None:
    """Print times and their multiples of ``unit``."""
    for name, spent in best.items():
        print(f"  {name:44} {spent * 1e3:10.3f} ms {spent / best[unit]:8.2f} x")


def compare_noise(numbers: int, repeats: int, opendp: str) -> None:
    """Print times of scalar noise."""
    rng, exponential = np.random.default_rng(1), "NumPy, exponential (not exact)"
    plain, secure = "NumPy, Laplace (not exact)", open_bits()
    seeded = open_bits(1)
    works: dict[str, Callable[[], object]] = {
        plain: lambda: rng.laplace(0.0, float(SCALE), numbers),
        "exact Laplace, secure source": draw(LAPLACE, numbers, 1, None),
        "exact Laplace, seeded generator": draw(LAPLACE, numbers, 1, 1),
        "words alone, secure source": lambda: secure.words(numbers),
        "words alone, seeded generator": lambda: seeded.words(numbers),
        exponential: lambda: rng.exponential(float(SCALE), numbers),
        "exact exponential, secure source": draw(EXPONENTIAL, numbers, 1, None),
        "NumPy, normal (not exact)": lambda: rng.normal(0.0, float(SCALE), numbers),
        "exact normal, secure source": draw(NORMAL, numbers, 1, None),
    }
    best = best_times(works, repeats)
    print(f"{numbers} numbers")
    show(best, plain)
    found = measure_opendp(opendp)
    if found is None:
        print("  OpenDP is not installed: pip install 'pdp-accountant[opendp]', or --opendp PYTHON")
        return
    ours = best["exact Laplace, secure source"]
    for kind in ("integers", "floats"):
        spent = found[kind] * numbers
        print(f"  OpenDP {found['version']}, Laplace on {kind:22} {spent * 1e3:14.0f} ms, {spent / ours:6.0f} times ours")


def measure_opendp(python: str) -> dict[str, float] | None:
    """Return OpenDP's seconds a number on integers and on floats, None where it does not run."""
    done = subprocess.run([python, "-c", OPENDP], capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else None


def compare_vectors(repeats: int, rows: int = 100) -> None:
    """Print times of vectors."""
    for dimension in (2, 22, 784):
        for p in (1.0, 2.0, float("inf")):
            rng, plain = np.random.default_rng(1), "binary64 (not exact)"
            works = {
                plain: lambda p=p, d=dimension, rng=rng: draw_k_norm(rng, (rows,), d, p, float(SCALE)),
                "exact, secure source": draw(k_norm_law(p), rows, dimension, None),
            }
            print(f"{rows} vectors, d = {dimension}, p = {p:g}")
            show(best_times(works, 5 * repeats), plain)


def main() -> None:
    """Print all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--numbers", type=int, default=10**6)
    parser.add_argument("--rows", type=int, nargs="+", default=[50_000, 10**6])
    parser.add_argument("--clusters", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--opendp", default=sys.executable)
    parser.add_argument("--only", default="noise,vectors,lloyd")
    options = parser.parse_args()
    parts = options.only.split(",")
    if "noise" in parts:
        compare_noise(options.numbers, options.repeats, options.opendp)
    if "vectors" in parts:
        compare_vectors(options.repeats)
    if "lloyd" in parts:
        for rows in options.rows:
            compare_arithmetic(f"DP-Lloyd {rows}", make_mixture(rows), options.clusters, 1, options.repeats)


if __name__ == "__main__":
    main()
