"""Weights from Parquet to Parquet: time a row and peak memory from 10^5 to 10^8 rows, and the same map inside DuckDB, Polars and Spark.

    python -m benchmarks.rows [--rows 100000 ...] [--engine-rows 1000000 ...] [--folder DIR]

Each figure comes from a process of its own, on one core (Spark: a cluster of two executors, not pinned). Time is from the opened input to
the finished output; imports, the proof of convexity and Spark's start are left out. Memory is the peak resident size of the process,
everything included; for Spark that of its largest Python worker, and of all its processes together. The engines' weights are compared, bit
for bit, with those of the single-machine path.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
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

import profiles
from accountant.data import compute_weights_file, parse_statistic
from accountant.engines import arrow_weights
from accountant.weights.convexity import prove_convexity

SPEC = "z=l2(x,y)"
PROFILE = profiles.declare("weighted DP-Lloyd", "T*w*(1/a + z/b)", record={"z": [0, "1.5"]}, parameters={"T": 10, "a": "20.5", "b": 30})
GROUP = 122_880
Found = dict[str, Any]


def make_data(path: Path, rows: int) -> None:
    """Write ``rows`` rows of two uniform columns, a row group at a time."""
    rng = np.random.default_rng(1)
    schema = pa.schema([("x", pa.float64()), ("y", pa.float64())])
    with pq.ParquetWriter(path, schema, use_dictionary=False, compression="none") as writer:
        for start in range(0, rows, GROUP):
            size = min(GROUP, rows - start)
            writer.write_table(pa.table({"x": rng.uniform(-1, 1, size), "y": rng.uniform(-1, 1, size)}, schema=schema))


def timed(work: Callable[[], object]) -> Found:
    """Return real and processor seconds of ``work`` and the peak memory of this process in MB."""
    before = peak_memory()
    start, processor = time.perf_counter(), time.process_time()
    work()
    real, busy = time.perf_counter() - start, time.process_time() - processor
    return {"real": real, "busy": busy, "peak": peak_memory(), "before": before}


def peak_memory() -> float:
    """Return the peak resident size of this process in MB; ``ru_maxrss`` would start at that of the process that started it."""
    status = Path("/proc/self/status")
    if status.exists():
        return next(int(line.split()[1]) / 1024 for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run_single(data: str, out: str) -> Found:
    """The streaming path of ``pdp weights``."""
    convexity = prove_convexity(PROFILE, 2)
    warm_up()
    return timed(lambda: compute_weights_file(PROFILE, data, out, convexity=convexity, target_epsilon=2, specs=[parse_statistic(SPEC)]))


def run_duckdb(data: str, out: str) -> Found:
    """The map as a function in SQL."""
    import duckdb  # noqa: PLC0415

    weights, connection = arrow_weights(PROFILE, 2, [SPEC]), duckdb.connect()

    def pair(x: Any, y: Any) -> Any:
        batch = weights(pa.record_batch({"x": x.combine_chunks(), "y": y.combine_chunks()}))
        return batch.select(["weight", "q"]).to_struct_array()

    connection.create_function("pair", pair, ["DOUBLE", "DOUBLE"], "STRUCT(weight DOUBLE, q DOUBLE)", type="arrow", null_handling="special")
    connection.execute("SET threads = 1")
    warm_up()
    found = timed(lambda: connection.execute(f"COPY (SELECT *, unnest(pair(x, y)) FROM '{data}') TO '{out}' (FORMAT parquet)"))
    connection.remove_function("pair")
    connection.close()
    return found


def run_polars(data: str, out: str) -> Found:
    """The map in Polars' streaming engine."""
    import polars as pl  # noqa: PLC0415

    weights, frame = arrow_weights(PROFILE, 2, [SPEC]), pl.scan_parquet(data)
    schema = {**frame.collect_schema(), "weight": pl.Float64, "q": pl.Float64}

    def weigh(part: Any) -> Any:
        table = part.to_arrow()
        return pl.from_arrow(pa.Table.from_batches(weights.stream(table.to_batches()), weights.schema(table.schema)))

    warm_up()
    return timed(lambda: frame.map_batches(weigh, schema=schema, streamable=True).sink_parquet(out))


def run_spark(data: str, out: str) -> Found:
    """The map in mapInArrow, on a local cluster of two executors of one core each."""
    import pyspark  # noqa: PLC0415
    from pyspark.sql import SparkSession  # noqa: PLC0415
    from pyspark.sql.types import DoubleType, StructField, StructType  # noqa: PLC0415

    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    weights = arrow_weights(PROFILE, 2, [SPEC])
    spark = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.ui.enabled", "false")
        .config("spark.log.level", "ERROR")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", 65_536)
        .getOrCreate()
    )
    try:
        rows = spark.read.parquet(data)
        schema = StructType([*rows.schema.fields, *(StructField(name, DoubleType()) for name in ("weight", "q"))])
        mapped = rows.mapInArrow(weights.stream, schema)
        rows.limit(1000).mapInArrow(weights.stream, schema).collect()  # workers start here
        found = timed(lambda: mapped.write.parquet(out))
        workers, everything = _descendants_peak()
        return {**found, "peak": workers, "all": everything}
    finally:
        application = spark.sparkContext.applicationId
        spark.stop()
        shutil.rmtree(Path(pyspark.__file__).parent / "work" / application, ignore_errors=True)


def _descendants_peak() -> tuple[float, float]:
    """Return the largest peak resident size of a Python worker, and the sum over all processes below this one, in MB."""
    found: dict[int, tuple[int, str, float]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                lines = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines() if ":" in line)
            except OSError:
                continue
            if "VmHWM" in lines:
                found[int(folder.name)] = (int(lines["PPid"]), lines["Name"].strip(), int(lines["VmHWM"].split()[0]) / 1024)
    below = {os.getpid()}
    while more := {pid for pid, (parent, _, _) in found.items() if parent in below} - below:
        below |= more
    others = [found[pid] for pid in below - {os.getpid()}]
    return max((peak for _, name, peak in others if "python" in name), default=0.0), sum(peak for _, _, peak in others)


def warm_up() -> None:
    """Make Arrow import what it imports when it is first used, which includes pandas where that is installed."""
    arrow_weights(PROFILE, 2, [SPEC])(pa.record_batch({"x": np.zeros(10), "y": np.zeros(10)}))


RUNS = {"single": run_single, "duckdb": run_duckdb, "polars": run_polars, "spark": run_spark}


def measure(kind: str, data: Path, out: Path) -> Found:
    """Run one path in a process of its own; an error becomes a line of the table."""
    core = {} if kind == "spark" or not shutil.which("taskset") else {"pin": ["taskset", "-c", "0"]}
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"}
    command = [*core.get("pin", []), sys.executable, "-m", "benchmarks.rows", "--run", kind, str(data), str(out)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if run.returncode:
        return {"failed": run.stderr.strip().splitlines()[-1][:120] if run.stderr.strip() else f"exit code {run.returncode}"}
    result: Found = json.loads(run.stdout.splitlines()[-1])
    return result


def same_weights(one: Path, other: Path) -> bool:
    """Tell whether two outputs have the same weights and probabilities, bit for bit, in any order of the rows."""
    tables = [pq.read_table(path, columns=["weight", "q"]) for path in (one, other)]
    return all(
        np.array_equal(np.sort(tables[0][name].to_numpy()).view(np.int64), np.sort(tables[1][name].to_numpy()).view(np.int64))
        for name in ("weight", "q")
    )


def report(kind: str, rows: int, found: Found, note: str = "") -> None:
    """Print a line of the table."""
    if "failed" in found:
        print(f"{rows:>11,}  {kind:8} failed: {found['failed']}", flush=True)
        return
    extra = f", all processes {found['all']:.0f}" if "all" in found else f" ({found['before']:.0f} before)"
    busy = "       " if kind == "spark" else f"{found['busy'] / rows * 1e9:7.0f}"
    print(
        f"{rows:>11,}  {kind:8} {found['real']:8.2f} s {found['real'] / rows * 1e9:7.0f} {busy}   {found['peak']:6.0f}{extra}  {note}",
        flush=True,
    )


def run(sizes: list[int], engine_sizes: list[int], folder: str | None) -> None:
    """Print the table."""
    print("       rows  path         time     ns/row  of processor   peak MB")
    for rows in sorted({*sizes, *engine_sizes}):
        need = rows * 16 * (4 if rows in engine_sizes else 3)
        with tempfile.TemporaryDirectory(dir=folder, prefix="pdp-rows-") as name:
            room = shutil.disk_usage(name).free
            if room < 2 * need:
                print(f"{rows:>11,}  left out: {2 * need / 1e9:.1f} GB of disk are wanted, {room / 1e9:.1f} are free")
                continue
            data, single = Path(name, "in.parquet"), Path(name, "single.parquet")
            make_data(data, rows)
            report("single", rows, measure("single", data, single))
            for kind in ("duckdb", "polars", "spark") if rows in engine_sizes else ():
                out = Path(name, f"{kind}.parquet")
                found = measure(kind, data, out)
                note = "" if "failed" in found else ("same bits" if same_weights(single, out) else "OTHER BITS")
                report(kind, rows, found, note)
                shutil.rmtree(out) if out.is_dir() else out.unlink(missing_ok=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="*", default=[10**5, 10**6, 10**7, 10**8])
    parser.add_argument("--engine-rows", type=int, nargs="*", default=[10**6, 10**7])
    parser.add_argument("--folder", help="where the data is written for a while (default: the folder for temporary files)")
    parser.add_argument("--run", nargs=3, metavar=("KIND", "DATA", "OUT"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        print(json.dumps(RUNS[options.run[0]](*options.run[1:])))
    else:
        run(options.rows, options.engine_rows, options.folder)
