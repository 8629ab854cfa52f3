"""Output files that are written atomically: beside the target, flushed to disk, renamed; removed on any failure."""

from __future__ import annotations

import contextlib
import csv
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from accountant.files import replace_file
from profiles import InvalidData, UnwritableOutput
from profiles.arrays import Floats

#: Writes one batch: input columns (or None), weights, probabilities.
WriteBatch = Callable[[Any, Floats, Floats], None]
FORMATS = {".csv": "csv", ".parquet": "parquet", ".pq": "parquet", ".npy": "npy"}
ADDED = ("weight", "q")


def output_format(path: Path) -> str:
    """Return the format of an output file by its suffix; raise :class:`UnwritableOutput` for others and for folders that do not exist."""
    format_ = FORMATS.get(path.suffix.lower())
    if format_ is None:
        raise UnwritableOutput(f"the output {path} must end in .csv, .parquet or .npy; rename it")
    try:
        if path.is_dir():
            raise UnwritableOutput(f"the output {path} is a folder; name a file in it")
        if not path.parent.is_dir():
            raise UnwritableOutput(f"the folder of the output {path} does not exist; create it first")
    except OSError as error:  # a name that is too long, say
        raise UnwritableOutput(f"the output {str(path)[:80]!r} cannot be written ({error.strerror}); name another file") from None
    return format_


@contextlib.contextmanager
def open_writer(path: Path, rows: int) -> Iterator[WriteBatch]:
    """Yield a function that writes batches, ``rows`` rows in all.

    CSV and Parquet hold the input columns (where the input is a table), then ``weight`` and ``q``; NPY holds the weights only, as a float64
    array of length ``rows``. Floats are written so that reading them gives the same binary64 number.
    """
    kind = output_format(path)
    with replace_file(path) as stream:
        if kind == "npy":
            write_npy_header(stream, rows)
            yield lambda _table, weights, _q: _write_raw(stream, weights)
            return
        with csv_writer(stream) if kind == "csv" else parquet_writer(stream) as write:
            yield write


def write_npy_header(stream: IO[bytes], *shape: int) -> None:
    """Write the header of an NPY file of float64 numbers in C order. NumPy leaves room in it: it is as long for any number of rows."""
    np.lib.format.write_array_header_1_0(stream, {"descr": "<f8", "fortran_order": False, "shape": shape})  # type: ignore[no-untyped-call, unused-ignore]


def _write_raw(stream: IO[bytes], weights: Floats) -> None:
    stream.write(np.ascontiguousarray(weights, dtype="<f8").tobytes())


@contextlib.contextmanager
def parquet_writer(stream: IO[bytes]) -> Iterator[WriteBatch]:
    """Yield a function that writes batches as row groups of a Parquet file."""
    with contextlib.ExitStack() as stack:
        writer: Any = None

        def write(table: Any, weights: Floats, q: Floats) -> None:
            nonlocal writer
            joined = join_columns(table, weights, q)
            if writer is None:
                writer = stack.enter_context(pq.ParquetWriter(stream, joined.schema, use_dictionary=_repetitive(joined.schema)))
            writer.write_batch(joined)

        yield write


def _repetitive(schema: Any) -> list[str]:
    """Return the columns worth a dictionary: trying one for floats that hardly repeat takes more time than all other work on them."""
    return [name for name, kind in zip(schema.names, schema.types, strict=True) if not pa.types.is_floating(kind)]


@contextlib.contextmanager
def csv_writer(stream: IO[bytes]) -> Iterator[WriteBatch]:
    """Yield a function that writes batches as lines of a CSV file, the column names first."""
    # Arrow's CSV writer puts every text cell in quotes; the cells of a CSV input are text, and are to come out as they went in
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
    writer, started = csv.writer(text, lineterminator="\n"), False

    def write(table: Any, weights: Floats, q: Floats) -> None:
        nonlocal started
        joined = join_columns(table, weights, q)
        if not started:
            writer.writerow(joined.schema.names)
            started = True
        writer.writerows(zip(*(column.to_pylist() for column in joined.columns), strict=True))

    try:
        yield write
        text.flush()
    finally:
        with contextlib.suppress(OSError, ValueError):
            text.detach()


def join_columns(table: Any, weights: Floats, q: Floats) -> Any:
    """Return a record batch of the input columns, ``weight`` and ``q``."""
    columns = {} if table is None else dict(zip(table.schema.names, table.columns, strict=True))
    for name in ADDED:
        if name in columns:
            raise InvalidData(f"the data already has a column {name!r}, which the output adds; rename it in the input")
    columns["weight"], columns["q"] = pa.array(weights), pa.array(q)
    return pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))
