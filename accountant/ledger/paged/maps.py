"""Where the rows of pieces that were seen before belong: a file of one size beside the ledger, which may be removed at any time.

A piece is known by a keyed hash of its ids. What is kept of it are slots, which never change; and the entry up to which they were known,
with its hash, so that nothing is believed that was kept beside another history.
"""

from __future__ import annotations

import contextlib
import hmac
import os
import stat
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from accountant.ledger.log import Entry
from accountant.ledger.paged.cutting import LEAST, MOST
from accountant.ledger.paged.hashing import PageHasher
from accountant.ledger.units import Ids

Slots = NDArray[np.int32]
#: Ledgers with fewer slots keep no maps.
SMALLEST = 50_000
#: Of a block: the seal, the key of its piece, the number and the hash of an entry, how many rows, and when it was used last.
_HEAD = struct.Struct("<32s32sq32sqq")
_BLOCK = _HEAD.size + 4 * MOST
#: Orders of all rows that are kept.
_ORDERS = 2


@dataclass(frozen=True, slots=True)
class Maps:
    """The file at ``path``, for a ledger with this many ``slots``."""

    path: Path
    hasher: PageHasher
    slots: int
    find_hash: Callable[[int], bytes | None]
    places: dict[bytes, int] = field(default_factory=dict, repr=False)
    used: dict[int, int] = field(default_factory=dict, repr=False)
    known: dict[int, bytes | None] = field(default_factory=dict, repr=False)

    @property
    def blocks(self) -> int:
        """How many pieces there is room for: by the number of slots alone."""
        return _ORDERS * (self.slots // (LEAST + LEAST // 4) + 4)

    def key(self, ids: Ids) -> bytes:
        """Return the key of a piece."""
        return self.hasher.hasher.fingerprint(ids)

    def look(self) -> None:
        """Read which pieces are known."""
        with self._open(os.O_RDONLY) as handle:
            if handle is None:
                return
            for block in range(os.fstat(handle).st_size // _BLOCK):
                _, key, sequence, hashed, _, used = _HEAD.unpack(os.pread(handle, _HEAD.size, block * _BLOCK))
                if used > 0 and sequence >= 0:
                    if sequence not in self.known:
                        self.known[sequence] = self.find_hash(sequence)
                    if self.known[sequence] == hashed:
                        self.places[key] = block
                    self.used[block] = used

    def find(self, key: bytes, size: int) -> Slots | None:
        """Return the slots of a piece of ``size`` rows; None where they are not known, or not what was kept."""
        block = self.places.get(key)
        if block is None:
            return None
        data = b""
        with self._open(os.O_RDONLY) as handle:
            if handle is not None:
                data = os.pread(handle, _BLOCK, block * _BLOCK)
        if len(data) != _BLOCK:
            return None
        seal, own, sequence, hashed, rows, _ = _HEAD.unpack_from(data)
        slots = data[_HEAD.size : _HEAD.size + 4 * size]
        if own != key or rows != size or not hmac.compare_digest(seal, self._seal(key, sequence, hashed, slots)):
            return None
        return np.frombuffer(slots, "<i4") if self.known.get(sequence) == hashed else None

    def keep(self, slots_of: dict[bytes, Slots], seen: set[bytes], last: Entry) -> None:
        """Keep the slots of pieces, in place of those that were used longest ago; ``seen``: the pieces of the same rows that were known."""
        with self._open(os.O_RDWR | os.O_CREAT) as handle:
            if handle is None:
                return
            size = self.blocks * _BLOCK
            if os.fstat(handle).st_size != size:
                os.ftruncate(handle, 0)
                os.ftruncate(handle, size)
                self.used.clear()
                self.places.clear()
            now = max(self.used.values(), default=0) + 1
            taken = {self.places[key] for key in seen if key in self.places}
            for block in taken:
                os.pwrite(handle, struct.pack("<q", now), block * _BLOCK + _HEAD.size - 8)
            free = sorted(set(range(self.blocks)) - taken, key=lambda block: self.used.get(block, 0))
            for block, (key, slots) in zip(free, slots_of.items(), strict=False):
                data = slots.astype("<i4").tobytes()
                seal = self._seal(key, last.sequence, last.hash, data)
                head = _HEAD.pack(seal, key, last.sequence, last.hash, slots.size, now)
                os.pwrite(handle, (head + data).ljust(_BLOCK, b"\0"), block * _BLOCK)

    def _seal(self, key: bytes, sequence: int, hashed: bytes, slots: bytes) -> bytes:
        return self.hasher.hasher.seal(b"map", key, sequence.to_bytes(8, "little"), hashed, slots)

    @contextlib.contextmanager
    def _open(self, flags: int) -> Iterator[int | None]:
        """Yield the open file; None where there is none, or it cannot be used: then ids are hashed."""
        handle = None
        try:
            with contextlib.suppress(OSError):
                handle = os.open(self.path, flags | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0), 0o600)
                if not stat.S_ISREG(os.fstat(handle).st_mode):
                    os.close(handle)
                    handle = None
            with contextlib.suppress(OSError):
                yield handle
        finally:
            if handle is not None:
                os.close(handle)


def is_kept(ids: Ids) -> bool:
    """Tell whether the slots of a piece are kept: not of few rows, which are as fast without."""
    return MOST >= ids.size >= 4_096 and (pa.types.is_int64(ids.values.type) or pa.types.is_string(ids.values.type))
