"""Rows of a charge with the slots of their units: looked up in maps of orders that were seen, or hashed and found in the pages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from accountant.ledger.accounts import Asked
from accountant.ledger.log import Entry
from accountant.ledger.paged.cutting import cut
from accountant.ledger.paged.finding import Finder
from accountant.ledger.paged.hashing import PageHasher, Pairs
from accountant.ledger.paged.maps import SMALLEST, Maps, Slots, is_kept
from accountant.ledger.paged.store import (
    PageStore,
    State,
)
from accountant.ledger.prefetch import compute_ahead, keep_memory
from accountant.ledger.rows import RowBatch
from accountant.ledger.units import Ids

#: So many more hashes are held at least, where there is no room for them.
_MORE = 1 << 20
#: The largest number of 32 bits.
_NARROW = 2**32 - 1


@dataclass(slots=True)
class PageRows:
    """Rows that were read: their slots (−1 for units without one), their shifts, and the batches, where budgets are asked of them."""

    slots: Slots
    steps: NDArray[np.integer[Any]]
    hashes: Pairs = field(repr=False)
    hashed: list[tuple[int, int, bytes | None]] = field(repr=False)
    batches: list[tuple[RowBatch, int]] = field(repr=False)
    seen: set[bytes] = field(repr=False)

    def take_hashes(self) -> Pairs:
        """Return the hashes, which are not held any more."""
        hashes, self.hashes = self.hashes, np.empty((0, 2), np.uint64)
        return hashes


@dataclass(frozen=True, slots=True)
class RowReader:
    """What reads rows of a ledger. ``maps``: where orders of rows are kept, None where they are not."""

    store: PageStore
    hasher: PageHasher
    maps: Path | None = None

    def read(self, asked: Asked, state: State, last: Entry | None) -> PageRows:
        """Read rows, and find the slots of their units."""
        keep_memory()
        steps: list[NDArray[np.integer[Any]]] = []
        batches: list[tuple[RowBatch, int]] = []
        maps = self._open_maps(state)

        def count() -> Iterator[Ids]:
            first_row = 0
            for batch in asked.rows:
                if asked.shifts is not None:
                    shifts = asked.shifts(batch, first_row)
                    steps.append(shifts.astype(np.uint32) if shifts.size and int(shifts.max()) <= _NARROW else shifts)
                if asked.flat is None or state.flat is None:
                    batches.append((batch, first_row))
                first_row += batch.size
                yield batch.ids

        def place(piece: Ids) -> tuple[Ids, bytes | None, Slots | None, Pairs | None]:
            key = maps.key(piece) if maps is not None and is_kept(piece) else None
            known = None if maps is None or key is None else maps.find(key, piece.size)
            return piece, key, known, self.hasher.hash_ids(piece, state.hashing) if known is None else None

        slots: list[Slots] = []
        held, size = np.empty((max(state.slots, 1 << 16), 2), np.uint64), 0
        hashed: list[tuple[int, int, bytes | None]] = []
        seen: set[bytes] = set()
        rows = 0
        for piece, key, known, hashes in compute_ahead(place, ((item,) for item in cut(count()))):
            if hashes is None and known is not None and key is not None:
                slots.append(known)
                seen.add(key)
            elif hashes is not None:
                slots.append(np.full(piece.size, -1, np.int32))
                hashed.append((rows, piece.size, key))
                if size + piece.size > len(held):
                    held.resize((size + max(piece.size, _MORE), 2), refcheck=False)  # no copy, where the C library moves pages
                held[size : size + piece.size] = hashes
                size += piece.size
            rows += piece.size
        pa.default_memory_pool().release_unused()
        made = PageRows(_concatenate(slots, np.int32), _concatenate(steps, np.int64), held[:size], hashed, batches, seen)
        looked_up = Finder(self.store, self.hasher, state).find(made.hashes) if state.slots else np.full(size, -1, np.int32)
        self._put(made, looked_up, maps, last)
        return made

    def _open_maps(self, state: State) -> Maps | None:
        if self.maps is None or state.slots < SMALLEST:
            return None
        maps = Maps(self.maps, self.hasher, state.slots, self.store.find_hash)
        maps.look()
        return maps

    def _put(self, rows: PageRows, looked_up: Slots, maps: Maps | None, last: Entry | None) -> None:
        """Write the slots of rows whose ids were hashed, and keep those of pieces that are known as a whole."""
        done, kept = 0, {}
        for first, size, key in rows.hashed:
            part = looked_up[done : done + size]
            rows.slots[first : first + size] = part
            if key is not None and size and int(part.min()) >= 0:
                kept[key] = part
            done += size
        if maps is not None and last is not None and (kept or rows.seen):
            maps.keep(kept, rows.seen, last)


def _concatenate(parts: list[NDArray[Any]], kind: Any) -> NDArray[Any]:
    """Return parts as one array; they are not held any more."""
    made = np.concatenate(parts) if parts else np.zeros(0, kind)
    parts.clear()
    return made
