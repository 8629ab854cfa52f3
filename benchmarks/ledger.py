"""Time, memory and growth of a ledger, from Parquet files: ``python -m benchmarks.ledger [UNITS [ENGINE]]``.

Wanted of 10^7 units on two cores, in processor time: 3 s for a charge in an order that was seen before, 6 s in a new one, one row missing
or not; 0.2 s for 1,000 units; 5 ms for one account; 20 MB of growth for a charge of all (2 MB for 10^6), 20 kB for one of 1,000; 600 MB of
memory. The data are read, checked, charged and made durable; each part runs in a process of its own, so that its peak memory is its own.
With an ENGINE (duckdb, polars, or duckdb=10GB of memory) the accounts are a table beside the log, whose folder counts as growth; with
``chunks`` they are those of version 1. Of more than 3 · 10^7 units there is one order of rows.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from accountant.data import parse_statistic
from accountant.ledger import Ledger
from profiles import declare

PROFILE = declare("sum", "w*z/3", record={"z": [0, 1]})
FEW = 1_000
#: What is done in one process, one after the other: charges of the files of this name, reading an account, checking all of it.
PARTS = ("init", "all all account few few", "less less", "mixed mixed", "account few", "verify")
MANY, PARTS_OF_MANY = 3 * 10**7, ("init", "all all few", "account", "verify")
_GROUP = 1 << 20


def write(folder: Path, units: int) -> None:
    """Write tables of ids and values, in groups of a million rows: in the order of enrolment, without the first row, shuffled, and few."""
    rng = np.random.default_rng(0)
    if units > MANY:
        _write_many(folder, units, rng)
        return
    ids, values = np.arange(units) * 7 + 3, rng.uniform(-1, 1, units)
    orders: dict[str, Any] = {"all": slice(None), "less": slice(1, None), "mixed": rng.permutation(units)}
    orders["few"] = rng.permutation(units)[:FEW]
    for name, rows in orders.items():
        pq.write_table(pa.table({"id": ids[rows], "x": values[rows]}), folder / f"{name}.parquet", row_group_size=_GROUP)


def _write_many(folder: Path, units: int, rng: np.random.Generator) -> None:
    """Write so many units that they are written group by group, with values of few digits, and some of them by chance."""
    schema = pa.schema([("id", pa.int64()), ("x", pa.float64())])
    options: Any = {"use_dictionary": ["x"], "column_encoding": {"id": "DELTA_BINARY_PACKED"}}
    with pq.ParquetWriter(folder / "all.parquet", schema, **options) as writer:
        for start in range(0, units, _GROUP):
            ids = np.arange(start, min(start + _GROUP, units)) * 7 + 3
            writer.write_table(pa.table({"id": ids, "x": rng.integers(-64, 65, ids.size) / 64}, schema=schema))
    few = np.unique(rng.integers(0, units, FEW)) * 7 + 3
    pq.write_table(pa.table({"id": few, "x": few % 64 / 64}), folder / "few.parquet")


def measure(what: str, work: Callable[[], object], path: Path) -> None:
    """Do something, and print a line."""
    size = 0 if not path.exists() else _count_bytes(path)
    start = time.perf_counter(), time.process_time()
    work()
    wall, processor = time.perf_counter() - start[0], time.process_time() - start[1]
    status = Path("/proc/self/status").read_text(encoding="ascii")  # not ru_maxrss, which a process inherits from its parent
    peak = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) / 1e3
    print(
        f"{what:<8} {wall:8.3f} s   {processor:8.3f} s of processor   {peak:7.0f} MB   grew {(_count_bytes(path) - size) / 1e6:.3f} MB",
        flush=True,
    )


def _count_bytes(path: Path) -> int:
    """Return how long the file is when its log has been copied back, and its table."""
    import sqlite3  # noqa: PLC0415

    with sqlite3.connect(path) as database:
        (pages,), (size,) = (database.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "page_size"))
    beside = sum(file.stat().st_size for file in (path.parent / "table").rglob("*") if file.is_file())
    return int(pages * size) + beside


def to_named(engine: str | None) -> object:
    """Return an engine by its name, DuckDB also with a limit of its memory."""
    if engine is None or "=" not in engine:
        return engine
    from accountant.ledger.tables.duck import DuckEngine  # noqa: PLC0415 - an extra

    return DuckEngine(engine.partition("=")[2])


def run(part: str, folder: Path, engine: str | None) -> None:
    """Do one of the parts."""
    path, kind = folder / "l.db", None if engine == "chunks" else to_named(engine)
    if part == "init":
        options: dict[str, Any] = {"table": None if kind is None else folder / "table", "engine": kind}
        if engine == "chunks":
            options["version"] = 1

        def create() -> None:
            Ledger.create(path, folder / "all.parquet", budget="100", anchor=folder / "anchor", **options).close()

        measure("init", create, path)
        return
    with Ledger.open(path, engine=kind) as ledger:
        for word in part.split():
            number = len(ledger.journal.entries)
            works: dict[str, Callable[[], object]] = {"account": lambda: ledger.account(3), "verify": ledger.verify}
            measure(word, works.get(word, lambda: _charge(ledger, f"{number} {word}", folder / f"{word}.parquet")), path)  # noqa: B023


def _charge(ledger: Ledger, name: str, path: Path) -> None:
    ledger.charge(name, PROFILE, path, statistics=[parse_statistic("z=l2")])


def main() -> None:
    """Run each part in a process of its own."""
    if len(sys.argv) > 2 and sys.argv[1] in {*PARTS, *PARTS_OF_MANY}:
        run(sys.argv[1], Path(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else None)
        return
    units = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**6
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), units)
        print(f"{units} units")
        for part in PARTS_OF_MANY if units > MANY else PARTS:
            subprocess.run([sys.executable, "-m", "benchmarks.ledger", part, folder, *sys.argv[2:]], check=True, env=os.environ)


if __name__ == "__main__":
    main()
