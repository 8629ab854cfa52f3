"""Ids in pieces that end where the ids themselves say so: the same rows after others are the same pieces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from accountant.ledger.units import Ids

#: Rows of a piece: at least, in the mean beyond that, and at most.
LEAST, _MEAN, MOST = 24_576, 8_192, 49_152
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


def cut(parts: Iterable[Ids]) -> Iterator[Ids]:
    """Yield the ids of consecutive rows in pieces. One row more or less changes the pieces around it, and no others."""
    held: list[Any] = []
    size = first_row = 0
    for part in parts:
        marks = np.flatnonzero(_mark(part.values) < np.uint64((1 << 64) // _MEAN))
        start = 0
        while part.size - start:
            least = start + LEAST - size - 1
            at = int(np.searchsorted(marks, max(least, start)))
            end = min(int(marks[at]) + 1 if at < marks.size else part.size, start + MOST - size)
            whole = (at < marks.size and end == int(marks[at]) + 1) or size + end - start == MOST
            held.append(part.values[start:end])
            size += end - start
            start = end
            if whole:
                yield Ids(_join(held), first_row)
                first_row += size
                held, size = [], 0
    if held:
        yield Ids(_join(held), first_row)


def _join(held: list[Any]) -> Any:
    if len(held) == 1:
        return held[0]
    if len({str(item.type) for item in held}) > 1:
        held = [item.cast(pa.string()) for item in held]
    return pa.concat_arrays(held)


def _mark(values: Any) -> NDArray[np.uint64]:
    """Return a number for each id, of its value or of its last letters and those before them."""
    if pa.types.is_int64(values.type):
        numbers = np.ascontiguousarray(values.to_numpy(zero_copy_only=False)).view(np.uint64)
    else:
        _, offsets, letters = values.buffers()
        if offsets is None or not len(values):
            return np.zeros(0, np.uint64)
        ends = np.frombuffer(offsets, np.int32)[values.offset + 1 : values.offset + len(values) + 1].astype(np.int64)
        body = np.zeros(0, np.uint8) if letters is None else np.frombuffer(letters, np.uint8)
        start = max(int(ends[0]) - 64, 0)
        near = np.concatenate([np.zeros(8, np.uint8), body[start : int(ends[-1])]])
        windows = np.lib.stride_tricks.sliding_window_view(near, 8)[ends - start]
        numbers = np.ascontiguousarray(windows).view("<u8").reshape(-1)
    mixed: NDArray[np.uint64] = (numbers ^ (numbers >> np.uint64(29))) * _FACTOR
    return (mixed ^ (mixed >> np.uint64(32))) * _FACTOR
