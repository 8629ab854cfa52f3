"""Time and memory of opening a ledger and of charging it, from Parquet files: ``python -m benchmarks.ledger [UNITS [ENGINE]]``.

Limits: 1 s and 500 MB for a charge of 10^7 units. The data are read, checked, charged and made durable; each part runs in a process of its
own, so that its peak memory is its own. With an ENGINE (duckdb, polars) the accounts are a table beside the log.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from accountant.data import parse_statistic
from accountant.ledger import Ledger
from profiles import declare

PROFILE = declare("sum", "w*z/3", record={"z": [0, 1]})
CHARGES = 3


def write(folder: Path, units: int) -> None:
    """Write a table of ids and values, in groups of a million rows."""
    values = np.random.default_rng(0).uniform(-1, 1, units)
    pq.write_table(pa.table({"id": np.arange(units), "x": values}), folder / "people.parquet", row_group_size=1 << 20)


def report(what: str, wall: float, processor: float) -> None:
    """Print a line."""
    status = Path("/proc/self/status").read_text(encoding="ascii")  # not ru_maxrss, which a process inherits from its parent
    peak = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) / 1e3
    print(f"{what:<12} {wall:8.2f} s   {processor:8.2f} s of processor time   {peak:7.0f} MB", flush=True)


def open_ledger(folder: Path, engine: str | None) -> None:
    """Open accounts for all ids."""
    start = time.perf_counter(), time.process_time()
    table = None if engine is None else folder / "table"
    Ledger.create(folder / "l.db", folder / "people.parquet", budget="2.5", anchor=folder / "anchor", table=table, engine=engine).close()
    report("init", time.perf_counter() - start[0], time.process_time() - start[1])


def charge(folder: Path, engine: str | None) -> None:
    """Charge them some times."""
    with Ledger.open(folder / "l.db", engine=engine) as ledger:
        before = len(ledger.journal.entries)
        for number in range(CHARGES):
            start = time.perf_counter(), time.process_time()
            ledger.charge(str(before + number), PROFILE, statistics=[parse_statistic("z=l2")])
            report("charge", time.perf_counter() - start[0], time.process_time() - start[1])


def main() -> None:
    """Run each part in a process of its own."""
    parts = {"init": open_ledger, "charge": charge}
    if len(sys.argv) > 2 and sys.argv[1] in parts:
        parts[sys.argv[1]](Path(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else None)
        return
    units = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**6
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), units)
        print(f"{units} units")
        for part in parts:
            subprocess.run([sys.executable, "-m", "benchmarks.ledger", part, folder, *sys.argv[2:]], check=True, env=os.environ)


if __name__ == "__main__":
    main()
