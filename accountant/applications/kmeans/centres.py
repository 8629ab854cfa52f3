"""Centres as files: one row a centre, the columns those of the data."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from accountant.data.writers import output_format
from profiles.arrays import Floats


def write_centres(stream: IO[bytes], path: Path, centres: Floats, names: Sequence[str]) -> None:
    """Write centres, shape (k, d), in the format that the suffix of ``path`` names: each number so that it is read back as it is.

    Raises :class:`profiles.UnwritableOutput` for another suffix.
    """
    kind = output_format(path)
    if kind == "npy":
        np.lib.format.write_array(stream, np.ascontiguousarray(centres, dtype="<f8"), version=(1, 0), allow_pickle=False)  # type: ignore[no-untyped-call, unused-ignore]
    elif kind == "parquet":
        pq.write_table(pa.table({name: centres[:, place] for place, name in enumerate(names)}), stream)
    else:
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(names)
        writer.writerows([[repr(float(value)) for value in row] for row in centres])
        stream.write(text.getvalue().encode())
