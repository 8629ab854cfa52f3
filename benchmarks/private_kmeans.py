"""``pdp kmeans`` from a Parquet file to centres beside scikit-learn's ``KMeans`` on the data in memory; its time a row and its memory.

    python -m benchmarks.private_kmeans [--rows N ...] [--repeats N] [--folder DIR]

The first part runs both by turns in one process on one thread, 10⁶ × 22, k = 25, and takes the least processor time of each: the command
with everything it does (reading, statistics, method, exact noise, the proof of the worst case, the certificate), ``KMeans(n_init=1)`` with
its default stopping. The second part runs the command in a process of its own for each number of rows, of two columns: processor time a
row, and the peak resident size of the process.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from accountant.cli.main import invoke
from benchmarks.rows import Found, make_data, timed
from profiles.arrays import Floats

ROWS, COLUMNS, CLUSTERS, SOURCES = 10**6, 22, 25, 40
_LIMIT_MB = 1000


def make_mixture() -> Floats:
    """Return 40 clusters of normal records, shape (10⁶, 22)."""
    rng = np.random.default_rng(0)
    means = rng.normal(size=(SOURCES, COLUMNS)) * 0.3
    points: Floats = means[rng.integers(0, SOURCES, ROWS)] + rng.normal(size=(ROWS, COLUMNS)) * 0.15
    return points


def run_command(data: Path, out: Path, clusters: int, radius: str) -> None:
    """Run ``pdp kmeans``, without what it prints. Raises RuntimeError where it fails."""
    words = ["kmeans", data, "--clusters", clusters, "--epsilon", 1, "--radius", radius, "--out", out / "centres.csv"]
    with contextlib.redirect_stdout(io.StringIO()):
        code = invoke([str(word) for word in (*words, "--certificate", out / "certificate.json")])
    if code:
        raise RuntimeError(f"pdp kmeans was timed, but it ended with exit code {code}")


def compare(folder: Path, repeats: int) -> None:
    """Print processor times of both, and their ratio."""
    points = make_mixture()
    data = folder / "mixture.parquet"
    pq.write_table(pa.table({f"x{number}": column for number, column in enumerate(points.T)}), data)
    ours, theirs = [], []
    with threadpool_limits(1):
        for _ in range(repeats):
            start = time.process_time()
            run_command(data, folder, CLUSTERS, "5")
            middle = time.process_time()
            model = KMeans(CLUSTERS, n_init=1, random_state=0).fit(points)
            ours.append(middle - start)
            theirs.append(time.process_time() - middle)
    print(
        f"{ROWS:,} x {COLUMNS}, k = {CLUSTERS}: pdp kmeans from Parquet {min(ours):.2f} s, KMeans in memory {min(theirs):.2f} s "
        f"({model.n_iter_} iterations), ratio {min(ours) / min(theirs):.2f} (limit 1), one thread, processor time, least of {repeats}",
        flush=True,
    )


def grow(folder: Path, rows: int) -> None:
    """Print time a row and peak memory for one number of rows, where the disk has room for the file."""
    need, room = rows * 16, shutil.disk_usage(folder).free
    if room < 2 * need:
        print(f"{rows:>11,}  left out: {2 * need / 1e9:.1f} GB of disk are wanted, {room / 1e9:.1f} are free")
        return
    data = folder / "rows.parquet"
    make_data(data, rows)
    command = [sys.executable, "-m", "benchmarks.private_kmeans", "--run", str(data)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    data.unlink()
    found: Found = json.loads(done.stdout.splitlines()[-1])
    print(
        f"{rows:>11,}  {found['real']:8.1f} s  {found['busy'] / rows * 1e9:7.0f} ns/row of processor  peak {found['peak']:5.0f} MB "
        f"({found['before']:.0f} before; limit {_LIMIT_MB})",
        flush=True,
    )


def main() -> None:
    """Run both parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="*", default=[10**6, 10**7, 10**8])
    parser.add_argument("--repeats", type=int, default=3, help="0 leaves the first part out")
    parser.add_argument("--folder", help="where the data is written for a while (default: the folder for temporary files)")
    parser.add_argument("--run", type=Path, metavar="DATA", help=argparse.SUPPRESS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder, prefix="pdp-kmeans-") as name:
        folder = Path(name)
        if options.run:
            with threadpool_limits(1):
                print(json.dumps(timed(lambda: run_command(options.run, folder, 8, "2"))))
            return
        if options.repeats:
            compare(folder, options.repeats)
        for rows in options.rows:
            grow(folder, rows)


if __name__ == "__main__":
    main()
