"""Named columns of a table that is small enough to be held whole: of a CSV, Parquet or JSON file, or of an Arrow table."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from accountant.data.opening import find_format
from accountant.data.tables import is_text
from profiles import InvalidArgument, InvalidData, UnreadableFile
from profiles.arrays import Floats
from profiles.files import read_text
from profiles.private import quote_failure

#: JSON files of so many bytes at most.
_LARGEST = 200_000_000


def load_columns(data: Any, names: list[str]) -> tuple[Any, str]:
    """Return an Arrow table of the named columns, those of a CSV file as texts, and what to call it. Raises :class:`UnreadableFile`,
    :class:`InvalidData`, :class:`InvalidArgument`.
    """
    if len(set(names)) != len(names):
        raise InvalidArgument(f"the columns {', '.join(map(repr, names))} were named, one of them twice; name different ones")
    if isinstance(data, pa.Table):
        return _choose(data, names, "the table"), "the table"
    if not isinstance(data, (str, os.PathLike)):
        raise InvalidArgument(f"data must be a path or an Arrow table, but {type(data).__name__} was found; give one")
    path = Path(data)
    if path.suffix.lower() == ".json":
        return read_rows(load_json(path), names, path.name), path.name
    kind = find_format(path) if path.is_file() else None
    if kind not in ("csv", "parquet"):
        raise UnreadableFile(f"a CSV, Parquet or JSON file is needed, but {path} is not one; check the path")
    try:
        return _choose(_load_csv(path) if kind == "csv" else pq.ParquetFile(str(path)), names, path.name), path.name
    except (pa.ArrowInvalid, pa.ArrowException, EOFError, OSError) as error:
        raise UnreadableFile(f"{path.name} could not be read as {kind}; correct it", private=quote_failure(error)) from None


def load_json(path: Path) -> Any:
    """Return what a JSON file holds. Raises :class:`UnreadableFile`, :class:`InvalidData`."""
    text = read_text(path, _LARGEST)
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidData(f"{path.name} is not JSON; correct it, or name a CSV or Parquet file") from None


def read_rows(rows: Any, names: list[str], label: str) -> Any:
    """Return an Arrow table of a list of JSON objects, the named values of each. Raises :class:`InvalidData`."""
    if not isinstance(rows, list) or not all(isinstance(row, dict) and set(names) <= set(row) for row in rows):
        raise InvalidData(f"{label} must hold a list of rows with {', '.join(map(repr, names))}, but something else was found; correct it")
    columns = {name: [row[name] for row in rows] for name in names}
    try:
        made = {name: pa.array(column, type=None if column else pa.int64()) for name, column in columns.items()}
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        raise InvalidData(f"a column of {label} mixes texts and numbers, or holds something else; write each in one way") from None
    return pa.table(made)


def _load_csv(path: Path) -> Any:
    with pa.input_stream(str(path), compression="detect") as stream, pyarrow.csv.open_csv(stream) as reader:
        text = dict.fromkeys(reader.schema.names, pa.string())
    converting = pyarrow.csv.ConvertOptions(column_types=text, strings_can_be_null=False)
    with pa.input_stream(str(path), compression="detect") as stream:
        return pyarrow.csv.read_csv(stream, convert_options=converting)


def _choose(data: Any, names: list[str], label: str) -> Any:
    held = (data.schema_arrow if isinstance(data, pq.ParquetFile) else data.schema).names
    for name in names:
        if list(held).count(name) != 1:
            raise InvalidData(
                f"{label} must have one column {name!r}, but it has {list(held).count(name) or 'none'} of that name; name one that it has",
                private=f"the columns are {', '.join(map(repr, held[:20]))}",
            )
    return data.read(columns=names) if isinstance(data, pq.ParquetFile) else data.select(names)


def read_numbers(column: Any, name: str, label: str) -> Floats:
    """Return a column as finite numbers. Raises :class:`InvalidData`."""
    try:
        if is_text(column.type):
            column = pc.utf8_trim_whitespace(column)
        floats: Floats = np.asarray(pc.cast(column, pa.float64()).combine_chunks())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise InvalidData(f"the column {name!r} of {label} must hold numbers, but something else was found; correct it") from None
    if not np.isfinite(floats).all():
        raise InvalidData(f"the column {name!r} of {label} has a missing or infinite value; fill or drop these rows")
    return floats
