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
#: What holds the bits above the 32nd.
_HIGH = {b"5": "<u1", b"6": "<u2"}


def pack(amounts: Integers) -> bytes:
    """Return amounts ≥ 0 as bytes: one number where all are equal; else 32, 40 or 48 bits each, if a common power of two leaves no more
    than that, or 64. Bits above the 32nd stand after the others.

    >>> [len(pack(np.array(amounts))) for amounts in ([7] * 100, [1 << 40, 2 << 40], [1, 1 << 39], [1, 1 << 47], [1, 1 << 48])]
    [14, 14, 16, 18, 22]
    """
    size = amounts.size
    first = int(amounts[0]) if size else 0
    if bool((amounts == first).all()):
        return _HEAD.pack(b"c", 0, size) + first.to_bytes(8, "little")
    bits = int(np.bitwise_or.reduce(amounts))
    shift = (bits & -bits).bit_length() - 1
    length = (bits >> shift).bit_length()
    if length > 48:
        return _HEAD.pack(b"8", 0, size) + amounts.astype("<i8").tobytes()
    low = np.right_shift(amounts, shift) if shift else amounts
    if length <= 32:
        return _HEAD.pack(b"4", shift, size) + low.astype("<u4").tobytes()
    kind = b"5" if length <= 40 else b"6"
    return b"".join((_HEAD.pack(kind, shift, size), low.astype("<u4").tobytes(), (low >> 32).astype(_HIGH[kind]).tobytes()))


def unpack(data: bytes) -> Integers:
    """Return the amounts of :func:`pack`. Raises :class:`UnreadableFile` for other bytes.

    >>> unpack(pack(np.array([3, 5 << 40]))).tolist()
    [3, 5497558138880]
    """
    try:
        kind, shift, size = _HEAD.unpack_from(data)
        rest = data[_HEAD.size :]
        width = 8 if kind == b"c" else int(kind) * size
        if kind not in b"c4568" or len(rest) != width or size > CHUNK or shift > 62:
            raise ValueError("length")
        if kind == b"c":
            return np.full(size, int.from_bytes(rest, "little", signed=True), dtype=np.int64)
        amounts = np.frombuffer(rest, dtype="<i8" if kind == b"8" else "<u4", count=size).astype(np.int64)
        if kind in _HIGH:
            amounts |= np.frombuffer(rest, dtype=_HIGH[kind], offset=4 * size).astype(np.int64) << 32
    except (ValueError, KeyError, struct.error, TypeError):
        raise UnreadableFile(
            "a chunk of amounts was expected in the ledger, but other bytes were found; restore it from a backup"
        ) from None
    return np.left_shift(amounts, shift) if shift else amounts


def iter_chunks(size: int) -> Iterator[slice]:
    """Yield the chunks of ``size`` accounts."""
    return (slice(start, min(size, start + CHUNK)) for start in range(0, size, CHUNK))
