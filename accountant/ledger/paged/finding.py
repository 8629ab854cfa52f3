"""Which slot a hash has: of few, the pages that they are in; of many, all pages, range by range of hashes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accountant.ledger.paged.hashing import PageHasher, Pairs
from accountant.ledger.paged.store import BUCKETS, IDS, LATE, NUMBERS, Enrolled, PageStore, State
from accountant.ledger.units import WIDTH
from profiles.arrays import Integers
from profiles.errors import LedgerRejected

Slots = NDArray[np.int32]
#: Ranges of hashes, by their first bits.
_BITS = 5
_WHOLE = np.uint64(64 - _BITS)


@dataclass(slots=True)
class Finder:
    """The slots of the units of a store in one ``state``."""

    store: PageStore
    hasher: PageHasher
    state: State
    runs: list[Enrolled] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.runs = _join(self.store.list_runs(self.hasher)) if self.state.slots else []
        gaps = self.state.slots - self.state.late - IDS * sum(run.fences.size for run in self.runs)
        if not 0 <= gaps < NUMBERS * max(len(self.runs), 1):  # a run begins with a page of amounts; else units would come anew
            raise LedgerRejected("hashes of units of the ledger are missing; restore it from a backup of its log")

    def find(self, hashes: Pairs) -> Slots:
        """Return the slot of each hash, −1 where it has none."""
        if not self.runs or not len(hashes):
            return np.full(len(hashes), -1, np.int32)
        search = self._search if len(hashes) > max(2_000, self.state.slots // 400) else self._look_up
        slots = search(self.runs[0], hashes)
        for group in self.runs[1:]:
            rows = np.flatnonzero(slots < 0).astype(np.int32)
            if rows.size:
                slots[rows] = search(group, hashes[rows])
        rows = np.flatnonzero(slots < 0).astype(np.int32)
        if self.state.late and rows.size:
            slots[rows] = self._find_late(hashes[rows])
        return slots

    def _look_up(self, run: Enrolled, hashes: Pairs) -> Slots:
        slots = np.full(len(hashes), -1, np.int32)
        high = hashes[:, 0]
        last = np.searchsorted(run.fences, high, side="right") - 1
        first = np.maximum(np.searchsorted(run.fences, high, side="left") - 1, 0)  # equal first bits may stand on two pages
        for pages in (last, first):
            rows = np.flatnonzero((slots < 0) & (pages >= 0))
            rows = rows if pages is last else rows[last[rows] != first[rows]]
            rows = rows[np.argsort(pages[rows], kind="stable")]
            groups = list(iter_groups(pages[rows]))
            numbers = [number + run.first // IDS for number, _, _ in groups]
            read = self.store.read_few_hashes(numbers, self.hasher)
            for page, (_, start, end), data in zip(numbers, groups, read, strict=True):
                held = np.frombuffer(data, "<u8").reshape(-1, 2)
                here = _match(held[:, 0], held[:, 1], hashes[rows[start:end]])
                slots[rows[start:end]] = np.where(here < 0, -1, here + page * IDS)
        return slots

    def _search(self, run: Enrolled, hashes: Pairs) -> Slots:
        slots = np.full(len(hashes), -1, np.int32)
        ranges = hashes.view(np.uint8)[:, 7] >> (8 - _BITS)  # the first bits, in little-endian order
        ends = np.searchsorted(run.fences, np.arange(1, 1 << _BITS, dtype=np.uint64) << _WHOLE, side="left").tolist()
        bounds = [0, *ends, run.fences.size]
        for number in range(1 << _BITS):
            rows = np.flatnonzero(ranges == number)
            first, last = max(bounds[number] - 1, 0), bounds[number + 1]
            if not rows.size or first >= last:
                continue
            offset = run.first // IDS
            held = np.frombuffer(self.store.read_hashes(offset + first, offset + last, self.hasher), "<u8").reshape(-1, 2)
            rows = rows[np.argsort(hashes[rows, 0])]
            here = _match(np.ascontiguousarray(held[:, 0]), held[:, 1], hashes[rows])
            slots[rows] = np.where(here < 0, -1, here + (offset + first) * IDS)
        return slots

    def _find_late(self, hashes: Pairs) -> Slots:
        placed = np.full(len(hashes), -1, np.int32)
        buckets = bucket_of(hashes)
        order = np.argsort(buckets, kind="stable")
        groups = list(iter_groups(buckets[order]))
        pages = self.store.read_few(self.state, LATE, [bucket for bucket, _, _ in groups], self.hasher)
        for (_, start, end), page in zip(groups, pages, strict=True):
            rows = order[start:end]
            held, slots = split_bucket(page.data)
            here = _match(held[:, 0], held[:, 1], hashes[rows])
            placed[rows[here >= 0]] = slots[here[here >= 0]]
        return placed


def iter_groups(numbers: NDArray[np.integer[Any]]) -> Iterator[tuple[int, int, int]]:
    """Yield each of some numbers ≥ 0 in order, with where it begins and ends.

    >>> list(iter_groups(np.array([2, 2, 5])))
    [(2, 0, 2), (5, 2, 3)]
    """
    starts = np.flatnonzero(np.diff(numbers, prepend=-1)).tolist()
    yield from zip(numbers[starts].tolist(), starts, [*starts[1:], numbers.size][: len(starts)], strict=True)


def bucket_of(hashes: Pairs) -> Integers:
    """Return the buckets of units that came later."""
    return (hashes[:, 0] % np.uint64(BUCKETS)).astype(np.int64)


def split_bucket(data: bytes) -> tuple[Pairs, Integers]:
    """Return the hashes of a bucket, in order, and their slots. Raises :class:`LedgerRejected`."""
    size, rest = divmod(len(data), WIDTH + 4)
    if rest:
        raise LedgerRejected("accounts of the ledger are not what was written: run pdp ledger verify --repair")
    return np.frombuffer(data, "<u8", 2 * size).reshape(-1, 2), np.frombuffer(data, "<u4", size, WIDTH * size).astype(np.int64)


def join_bucket(hashes: Pairs, slots: Integers) -> bytes:
    """Return a bucket of hashes and their slots."""
    order = np.lexsort((hashes[:, 1], hashes[:, 0]))
    return np.ascontiguousarray(hashes[order]).tobytes() + slots[order].astype("<u4").tobytes()


def _join(runs: list[Enrolled]) -> list[Enrolled]:
    """Return runs whose segments are joined: those that one entry wrote are in the order of their hashes."""
    made: list[list[Enrolled]] = []
    for run in runs:
        before = made[-1][-1] if made else None
        if before is not None and before.sequence == run.sequence and before.first + before.fences.size * IDS == run.first:
            made[-1].append(run)
        else:
            made.append([run])
    return [Enrolled(group[0].first, group[0].sequence, np.concatenate([run.fences for run in group])) for group in made]


def _match(high: NDArray[np.uint64], low: NDArray[np.uint64], hashes: Pairs) -> Integers:
    """Return where hashes stand among those in the order of their first bits, −1 for one that is not there."""
    places = np.full(len(hashes), -1, np.int64)
    if not high.size:
        return places
    at = np.searchsorted(high, hashes[:, 0], side="left")
    rows: NDArray[np.intp] = np.arange(len(hashes))
    while rows.size:  # hashes with the same first bits stand side by side
        place = at[rows]
        inside = place < high.size
        place = np.where(inside, place, 0)
        alike = inside & (high[place] == hashes[rows, 0])
        same = alike & (low[place] == hashes[rows, 1])
        places[rows[same]] = place[same]
        rows = rows[alike & ~same]
        at[rows] += 1
    return places
