"""Data sets by name or object: a path whose suffix or first line tells the format, an array, or an Arrow table."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from accountant.data.arrays import ArraySource
from accountant.data.frames import Source
from accountant.data.svmlight import SvmlightSource, looks_like_svmlight
from accountant.data.tables import TableSource
from profiles import InvalidArgument, UnreadableFile
from profiles.suggestions import suggest_file

BATCH_ROWS = 65_536
_COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
_FORMATS = {
    ".csv": "csv", ".parquet": "parquet", ".pq": "parquet", ".npy": "npy",
    ".svm": "svmlight", ".svmlight": "svmlight", ".libsvm": "svmlight",
}  # fmt: skip


def open_dataset(
    data: Any,
    *,
    format: str | None = None,  # noqa: A002
    batch_rows: int = BATCH_ROWS,
    may_be_empty: bool = False,
) -> Source:
    """Return a source of batches for a path (CSV, Parquet, NPY, svmlight; text also compressed), a NumPy array or an Arrow table; a source
    is returned as it is.

    ``format`` (csv, parquet, npy, svmlight) is recognised by the suffix, else by the first line. ``may_be_empty``: a table without rows is
    accepted, because a refusal would reveal that it has none. Raises :class:`UnreadableFile` for a file that is missing, empty or of no
    known format.
    """
    if batch_rows < 1:
        raise InvalidArgument(f"a batch needs at least 1 row, but {batch_rows} was asked for; give a positive number")
    if isinstance(data, np.ndarray):
        return ArraySource(None, batch_rows, data, may_be_empty)
    if isinstance(data, (pa.Table, pa.RecordBatch)):
        table = data if isinstance(data, pa.Table) else pa.Table.from_batches([data])
        return TableSource(None, "table", batch_rows, table, may_be_empty)
    if isinstance(data, Source):
        return data
    if not isinstance(data, (str, os.PathLike)):
        raise InvalidArgument(f"data must be a path, an array or an Arrow table, but {type(data).__name__} was found; give one")
    path = Path(data)
    _require_file(path)
    match format or find_format(path):
        case "csv" | "parquet" as kind:
            return TableSource(path, kind, batch_rows, may_be_empty=may_be_empty)
        case "npy":
            return ArraySource(path, batch_rows, may_be_empty=may_be_empty)
        case "svmlight":
            return SvmlightSource(path, batch_rows)
    raise UnreadableFile(f"the format of {path.name} is not known; give a .csv, .parquet, .npy or svmlight file, or name its format")


def find_format(path: Path) -> str | None:
    """Return the format that the suffix or the first line tells, else None."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    while suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    known = _FORMATS.get(suffixes[-1]) if suffixes else None
    return known or ("svmlight" if looks_like_svmlight(path) else None)


def _require_file(path: Path) -> None:
    try:
        if path.is_dir():
            raise UnreadableFile(f"a data file was expected, but {path} is a folder; name a file in it")
        if path.exists() and not path.is_file():
            raise UnreadableFile(f"a data file is read more than once, but {path} is not a regular file; save the data in one")
        if path.stat().st_size == 0:
            raise UnreadableFile(f"the data file {path} is empty; give a file with at least one record")
        with path.open("rb"):
            pass
    except FileNotFoundError:
        raise UnreadableFile(f"the data file {path} does not exist; check the path{suggest_file(path)}") from None
    except (OSError, ValueError) as error:
        raise UnreadableFile(f"the data file {path} cannot be read ({str(error)[:100]}); check its permissions") from None
