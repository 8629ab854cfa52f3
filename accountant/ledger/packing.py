"""Amounts of a chunk of units as bytes: 65,536 integers of 64 bits, in fewer bytes where that loses nothing."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import numpy as np

from profiles import UnreadableFile
from profiles.arrays import Integers

#: Units a chunk.
CHUNK = 65_536
_HEAD = struct.Struct("<cBI")


def pack(amounts: Integers) -> bytes:
    """Return amounts ≥ 0 as bytes: one number where all are equal, 32 bits each where a common power of two leaves so many, else 64.

    >>> [len(pack(np.array(amounts))) for amounts in ([7] * 100, [1 << 40, 2 << 40], [1, 1 << 40])]
    [14, 14, 22]
    """
    size = amounts.size
    first = int(amounts[0]) if size else 0
    if bool((amounts == first).all()):
        return _HEAD.pack(b"c", 0, size) + first.to_bytes(8, "little")
    bits = int(np.bitwise_or.reduce(amounts))
    shift = (bits & -bits).bit_length() - 1
    if bits >> shift < 2**32:
        return _HEAD.pack(b"4", shift, size) + np.right_shift(amounts, shift).astype("<u4").tobytes()
    return _HEAD.pack(b"8", 0, size) + amounts.astype("<i8").tobytes()


def unpack(data: bytes) -> Integers:
    """Return the amounts of :func:`pack`. Raises :class:`UnreadableFile` for other bytes.

    >>> unpack(pack(np.array([3, 5 << 40]))).tolist()
    [3, 5497558138880]
    """
    try:
        kind, shift, size = _HEAD.unpack_from(data)
        rest = data[_HEAD.size :]
        width = {b"c": 8, b"4": 4 * size, b"8": 8 * size}[kind]
        if len(rest) != width or size > CHUNK or shift > 62:
            raise ValueError("length")
        if kind == b"c":
            return np.full(size, int.from_bytes(rest, "little", signed=True), dtype=np.int64)
        found = np.frombuffer(rest, dtype="<u4" if kind == b"4" else "<i8").astype(np.int64)
    except (ValueError, KeyError, struct.error, TypeError):
        raise UnreadableFile(
            "a chunk of amounts was expected in the ledger, but other bytes were found; restore it from a backup"
        ) from None
    return np.left_shift(found, shift) if shift else found


def iter_chunks(size: int) -> Iterator[slice]:
    """Yield the chunks of ``size`` accounts."""
    return (slice(start, min(size, start + CHUNK)) for start in range(0, size, CHUNK))
