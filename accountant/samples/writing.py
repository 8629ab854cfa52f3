"""Sample files: the selected rows of many batches, gathered into blocks, as Parquet, CSV, or an NPY matrix."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import IO, Any

import numpy as np
import pyarrow as pa

from accountant.data.tables import name_kind
from accountant.data.writers import ADDED, WriteBatch, csv_writer, join_columns, parquet_writer, write_npy_header
from profiles import InvalidData
from profiles.arrays import Floats
from profiles.private import quote

#: Rows of a written block: a sampling rate of 1 in 1000 would otherwise give row groups of a few dozen rows.
BLOCK = 32_768


@contextlib.contextmanager
def open_sample_writer(stream: IO[bytes], kind: str) -> Iterator[WriteBatch]:
    """Yield a function that takes the selected rows of a batch with their weights and probabilities.

    ``kind``: parquet and csv hold the input columns, ``weight`` and ``q``; npy a float64 matrix of shape (rows, columns + 2) with these two
    last. A sample without rows still has its columns.
    """
    with contextlib.ExitStack() as stack:
        writers = {"parquet": parquet_writer, "csv": csv_writer, "npy": _npy_writer}
        write = stack.enter_context(writers[kind](stream))
        pending: list[tuple[Any, Floats, Floats]] = []
        started = False

        def flush() -> None:
            nonlocal started
            table = pa.Table.from_batches([part[0] for part in pending]).combine_chunks()
            weights, q = (np.concatenate([part[index] for part in pending]) for index in (1, 2))
            start = 0
            for batch in table.to_batches() or [pending[0][0]]:
                if batch.num_rows or not started:
                    write(batch, weights[start : start + batch.num_rows], q[start : start + batch.num_rows])
                    start, started = start + batch.num_rows, True
            pending.clear()

        def add(table: Any, weights: Floats, q: Floats) -> None:
            if not pending or table.num_rows:
                pending.append((table, weights, q))
            if sum(part[1].size for part in pending) >= BLOCK:
                flush()

        yield add
        if pending:
            flush()


@contextlib.contextmanager
def _npy_writer(stream: IO[bytes]) -> Iterator[WriteBatch]:
    """Write a matrix of a number of rows that is known at the end: the header has room for any, and is written again."""
    rows, width = 0, len(ADDED)
    write_npy_header(stream, rows, width)

    def write(table: Any, weights: Floats, q: Floats) -> None:
        nonlocal rows, width
        joined = join_columns(table, weights, q)
        matrix = to_matrix(joined, joined.schema.names)
        stream.write(np.ascontiguousarray(matrix, dtype="<f8").tobytes())
        rows, width = rows + matrix.shape[0], matrix.shape[1]

    yield write
    stream.seek(0)
    write_npy_header(stream, rows, width)
    stream.seek(0, 2)


def to_matrix(table: Any, names: list[str]) -> Floats:
    """Return columns of numbers as a float64 matrix of shape (rows, len(names)). Raises :class:`InvalidData` for other columns."""
    matrix = np.empty((table.num_rows, len(names)), dtype=np.float64)
    for index, name in enumerate(names):
        column = table.column(name)
        kind = column.type
        if column.null_count or not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
            raise InvalidData(
                f"a matrix needs columns of numbers without gaps, but column number {index} (from 0) is {name_kind(kind)}"
                f"{' with missing values' if column.null_count else ''}; choose other columns, or write Parquet",
                private=f"the column is called {quote(name)}; {column.null_count} missing",
            )
        try:
            matrix[:, index] = np.asarray(column.cast(pa.float64()))
        except pa.ArrowInvalid:
            raise InvalidData(
                f"column number {index} (from 0) has integers above 2^53, which a matrix of floats cannot hold; write Parquet",
                private=f"the column is called {quote(name)}",
            ) from None
    return matrix
