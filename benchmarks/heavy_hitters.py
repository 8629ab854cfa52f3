"""The heavy-hitter monitor: records a second and memory, and its error beside the theorem's and the lower bound.

    python -m benchmarks.heavy_hitters [--records 10000000] [--steps 1000] [--users 1000000] [--file-records 10000000]

The first part times batches in memory; the second writes a Parquet file into a temporary folder, runs the monitor on it in a process of its
own and prints that process's largest resident set; the third prints errors (counts of users) for T = 100, |Y| = 1000, beta = 0.01.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from accountant.applications.heavyhitters import HeavyHitterMonitor, StreamBatch, plan_threshold, theorem_level
from tests.targets.hard_streams import least_error

ITEMS = 100_000
CHILD = """
import sys, time
from accountant.applications.heavyhitters import HeavyHitterMonitor, open_stream
monitor = HeavyHitterMonitor(k=10, epsilon=1, threshold=400, domain=range(100_000), times=range(int(sys.argv[2])), membership=sys.argv[3])
def peak():  # not ru_maxrss, which a process inherits from its parent
    return next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
before, start = peak(), time.process_time()
reported = sum(len(report.items) for report in monitor.watch(open_stream(sys.argv[1])))
print(before, peak(), reported, time.process_time() - start)
"""


def stream(records: int, steps: int, users: int, *, texts: bool = False) -> Iterator[StreamBatch]:
    """Yield a stream with items of Zipf's law whose most frequent ones change with time."""
    rng = np.random.default_rng(1)
    cumulated = np.cumsum(1 / np.arange(1, ITEMS + 1))
    for step in range(steps):
        chosen = rng.integers(0, users, size=records // steps)
        items = (np.searchsorted(cumulated / cumulated[-1], rng.random(chosen.size)) + 7 * step) % ITEMS
        yield StreamBatch(np.char.mod("user-%d", chosen).astype(object) if texts else chosen, step, items)


def speed(records: int, steps: int, users: int) -> None:
    """Print processor time for batches in memory."""
    for name, texts, membership in (
        ("integers, stored", False, "stored"),
        ("integers, keyed", False, "keyed"),
        ("texts, stored", True, "stored"),
    ):
        monitor = HeavyHitterMonitor(k=10, epsilon=1, threshold=400, domain=range(ITEMS), times=range(steps), membership=membership)
        batches = list(stream(records, steps, users, texts=texts))
        start = time.process_time()
        reported = sum(len(report.items) for report in monitor.watch(batches))
        spent = time.process_time() - start
        print(
            f"{name}: {records:,} records, {steps} steps: {spent:.1f} s, {records / spent / 1e6:.2f} million a second, {reported} reports"
        )


def memory(records: int, steps: int, users: int) -> None:
    """Print the largest resident set of a process that reads a Parquet file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "stream.parquet"
        schema = pa.schema([("user", pa.int64()), ("time", pa.int64()), ("item", pa.int64())])
        with pq.ParquetWriter(path, schema) as writer:
            for batch in stream(records, steps, users):
                columns = [batch.users, np.full(len(batch.users), batch.times), batch.items]
                writer.write_batch(pa.record_batch(columns, schema=schema))
        for membership in ("stored", "keyed"):
            command = [sys.executable, "-c", CHILD, str(path), str(steps), membership]
            before, peak, reported, spent = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
            print(
                f"{membership}: Parquet, {path.stat().st_size / 1e6:.0f} MB, {records:,} records of {users:,} users, {float(spent):.1f} s, "
                f"peak {int(peak) / 1024:.0f} MB ({(int(peak) - int(before)) / 1024:.0f} MB above the imports), {reported} reports"
            )


def errors() -> None:
    """Print errors E, all proved for probability 0.99."""
    print("k epsilon | lower bound | planned (level = E/2) | planned (level 0) | theorem, 24 | paper, 2000")
    for k in (1, 3, 10, 100):
        for epsilon in ("0.1", "1"):
            shape = {"steps": 100, "domain_size": 1000}
            planned = [plan_threshold(k, epsilon, "0.01", level=level, **shape).error for level in (None, 0)]
            paper = 2000 * k * np.log(100 * 1000 / 0.01) / float(epsilon)
            closed = 2 * theorem_level(k, epsilon, "0.01", **shape)
            print(
                k, epsilon, "|", least_error(k, epsilon, "0.01", **shape), "|", planned[0], "|", planned[1], "|", closed, f"| {paper:.0f}"
            )


def main() -> None:
    """Run all parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("--records", 10**7), ("--steps", 1000), ("--users", 10**6), ("--file-records", 10**7)):
        parser.add_argument(name, type=int, default=default)
    given = parser.parse_args()
    speed(given.records, given.steps, given.users)
    memory(given.file_records, given.steps, given.users)
    errors()


if __name__ == "__main__":
    main()
