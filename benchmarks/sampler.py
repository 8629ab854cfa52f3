"""The Poisson sampler: exact draws as a multiple of ``rng.random(n) < q`` in the same run, and a file larger than the memory it may use.

    python -m benchmarks.sampler [--rows 4000000] [--repeats 7] [--megabytes 1200] [--limit 400]

The first part times draws alone, and the numbers (q, w) with them. The second writes a Parquet file of ``megabytes`` MB into a temporary
folder, samples it in a process of its own from file to file, and prints the largest resident set of that process, which must stay below
``limit`` MB. The temporary folder is removed. ``rng.random(n) < q`` is what others use; it selects with q rounded up to multiples of 2^-53.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from accountant.samples import plan_sample
from benchmarks.weights import best_time
from profiles import declare
from profiles.randomness.bernoulli import PoissonSampler

PROFILE = declare("sum", "w*(z + 1/100)", record={"z": [0, 1]})
COLUMNS = 8
CHUNK = 131_072
CHILD = """
import sys, time
from accountant import plan_sample, sample_file
from profiles import declare
plan = plan_sample(declare("sum", "w*(z + 1/100)", record={"z": [0, 1]}), **({"target_epsilon": 2} if sys.argv[3] == "constrained" else {"q": "1/1000 + z/200"}))
def peak():  # not ru_maxrss, which a process inherits from its parent
    return next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
before, start = peak(), time.perf_counter()
summary = sample_file(plan, sys.argv[1], sys.argv[2])
spent = time.perf_counter() - start
print(before, peak(), summary.private.records, summary.private.sample_size, spent)
"""  # noqa: E501


def draws(rows: int, repeats: int) -> None:
    """Print the times of draws and pairs."""
    rng = np.random.default_rng(1)
    z = rng.random(rows)
    rule, constrained = plan_sample(PROFILE, q="1/1000 + z/200"), plan_sample(PROFILE, target_epsilon=2)
    q = rule.selector.select({"z": z}).probabilities
    secure, seeded = PoissonSampler(), PoissonSampler(1)
    work: dict[str, Callable[[], object]] = {
        "rng.random(n) < q (not exact)": lambda: rng.random(rows) < q,
        "exact draws, secure source": lambda: secure.select(q),
        "exact draws, seeded generator": lambda: seeded.select(q),
        "pairs of an expression + secure draws": lambda: secure.select(rule.selector.select({"z": z}).probabilities),
        "certified weights + secure draws": lambda: secure.select(constrained.selector.select({"z": z}).probabilities),
    }
    best = dict.fromkeys(work, float("inf"))
    for _ in range(repeats):
        for name, item in work.items():
            best[name] = min(best[name], best_time(item, 1))
    unit = next(iter(best.values()))
    print(f"{rows} records")
    for name, spent in best.items():
        print(f"{name:40} {spent / rows * 1e9:7.2f} ns a record {spent / unit:7.2f} x")


def memory(megabytes: int, limit: int) -> bool:
    """Sample a large file and print the memory that it took; tell whether it stayed below the limit."""
    rng, rows = np.random.default_rng(2), megabytes * 1_000_000 // (8 * COLUMNS)
    names = ["z", *(f"x{i}" for i in range(1, COLUMNS))]
    fine = True
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.parquet"
        with pq.ParquetWriter(
            path, pa.schema([(name, pa.float64()) for name in names]), compression="none", use_dictionary=False
        ) as writer:
            for start in range(0, rows, CHUNK):
                size = min(CHUNK, rows - start)
                writer.write_table(pa.table({name: rng.random(size) for name in names}))
        for kind in ("expression", "constrained"):
            arguments = [sys.executable, "-c", CHILD, str(path), str(Path(folder) / "sample.parquet"), kind]
            before, peak, records, selected, spent = map(
                float, subprocess.run(arguments, check=True, capture_output=True, text=True).stdout.split()
            )
            fine &= peak < limit * 1_000
            print(
                f"{kind:12} {path.stat().st_size / 1e6:.0f} MB, {records:.0f} records, {selected:.0f} selected: {spent:.1f} s, "
                f"{records / spent / 1e6:.1f} million records/s; largest resident set {peak / 1e3:.0f} MB ({before / 1e3:.0f} MB before "
                f"sampling), limit {limit} MB: {'kept' if peak < limit * 1_000 else 'EXCEEDED'}"
            )
    return fine


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--megabytes", type=int, default=1_200)
    parser.add_argument("--limit", type=int, default=400)
    options = parser.parse_args()
    draws(options.rows, options.repeats)
    sys.exit(0 if memory(options.megabytes, options.limit) else 1)
