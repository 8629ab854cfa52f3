"""Accounts of pages while they are opened: slots in the order of hashes, the pages that these need, and the budgets in them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from accountant.ledger.accounts import Asked
from accountant.ledger.log import Change, Digest, Segment
from accountant.ledger.paged.changes import (
    BUDGET,
    FLAT,
    HASHING,
    PIECE,
)
from accountant.ledger.paged.finding import bucket_of, join_bucket, split_bucket
from accountant.ledger.paged.hashing import PageHasher, Pairs
from accountant.ledger.paged.maps import Slots
from accountant.ledger.paged.reading import PageRows
from accountant.ledger.paged.store import (
    ACCOUNTS,
    BUCKETS,
    BUDGETS,
    LATE,
    LATER,
    NUMBERS,
    SEGMENT,
    Page,
    PageStore,
    State,
    make_pages,
    per_page,
    read_amounts,
)
from profiles.arrays import Integers

#: So many units or more that come at once are a run of their own; fewer are late. The slots of a run are a multiple of the second, or of
#: the third where they are fewer.
_RUN, _PAD, _SMALL_PAD = 50_000, 50_000, 1_000
#: So many units that come late take this many slots at least, and else a power of two.
_LEAST_LATE = 16
#: Slots that are written at once.
PART = 625_000


@dataclass(frozen=True, slots=True)
class AccountWriter:
    """What opens accounts of ``width`` components, and writes amounts of consecutive slots."""

    store: PageStore
    hasher: PageHasher
    width: int

    def open(self, entry: int, state: State, rows: PageRows, asked: Asked, digest: Digest, *, lifts: bool = False) -> State:
        """Open accounts for the units of rows without one; where all budgets are raised after it, theirs are 0 until then."""
        begins = not state.lasts[LATE]
        if begins:
            state = self.begin(entry, replace(state, flat=asked.flat), digest)
        hashes = rows.take_hashes()
        new = rows.slots < 0
        if new.any():
            first = state.slots
            fresh: Any = slice(None) if new.all() else np.flatnonzero(new).astype(np.int32)  # 12 bytes a unit
            if not new.all() and fresh.size < len(hashes):
                hashes = hashes[_places_of(rows, fresh)]
            given = [hashes]
            del hashes  # as many bytes as all else together
            slots = rows.slots if new.all() else np.empty(fresh.size, np.int32)
            state = self.add(entry, state, given, slots, digest)
            if slots is not rows.slots:
                rows.slots[fresh] = slots
            if state.flat is None and not lifts:
                state = self._open_budgets(entry, state, first, rows, asked, digest)
        return state

    def begin(self, entry: int, state: State, digest: Digest) -> State:
        """Write what an empty ledger has."""
        self.change(entry, Change(HASHING, 0, state.hashing.value.encode()), digest)
        if state.flat is not None:
            self.change(entry, Change(FLAT, 0, np.array(state.flat, "<i8").tobytes()), digest)
        pages = [self.bucket(number, entry, b"") for number in range(BUCKETS)]
        self.store.write_pages(LATE, pages)
        return state.put(LATE, slice(0, BUCKETS), entry)

    def bucket(self, number: int, entry: int, data: bytes) -> Page:
        """Return a sealed bucket of units that came later."""
        return Page(number, entry, data, self.hasher.seal(LATE.encode(), number, entry.to_bytes(8, "little"), data))

    def change(self, entry: int, change: Change, digest: Digest) -> None:
        """Write what an entry does, and add it to its digest."""
        self.store.write_change(entry, change)
        digest.add_change(change)

    def add(self, entry: int, state: State, given: list[Pairs], slots: Slots, digest: Digest) -> State:
        """Give each distinct hash a slot, and write those of all into ``slots``; the hashes are taken out of ``given``, and sorted where
        they stand.
        """
        hashes = given.pop()
        size = len(hashes)
        order = _find_order(hashes)
        ordered = _sort(hashes, order)
        same = ordered[1:, 0] == ordered[:-1, 0]
        if same.any() and bool((same & (ordered[1:, 1] != ordered[:-1, 1])).any()):  # so that equal ones stand side by side
            again = np.lexsort((ordered[:, 1], ordered[:, 0])).astype(np.int32)
            order, ordered = order[again], _sort(ordered, again)
        del hashes, same
        distinct = np.ones(len(ordered), np.bool_)
        distinct[1:] = (ordered[1:, 0] != ordered[:-1, 0]) | (ordered[1:, 1] != ordered[:-1, 1])
        if not distinct.all():
            ordered = ordered[distinct]
        count = len(ordered)
        late = state.slots > 0 and count < _RUN
        if late:
            first, padded = state.slots, max(_LEAST_LATE, 1 << (count - 1).bit_length())
        else:
            first = -(-state.slots // NUMBERS) * NUMBERS
            padded = -(-count // (_SMALL_PAD if count < _RUN else _PAD)) * (_SMALL_PAD if count < _RUN else _PAD)
        nobody = self.hasher.hash_nobody(first, padded - count)
        nobody = nobody[np.argsort(nobody[:, 0])]
        at = np.searchsorted(ordered[:, 0], nobody[:, 0]) + np.arange(len(nobody))
        real = np.ones(padded, np.bool_)
        real[at] = False
        before = (at - np.arange(len(at))).astype(np.int32)  # how many hashes come before each one that is nobody's
        rank = -1
        for start in range(0, size, PART):
            ranks = rank + np.cumsum(distinct[start : start + PART], dtype=np.int32)
            rank = int(ranks[-1])
            slots[order[start : start + PART]] = ranks + first + np.searchsorted(before, ranks, "right").astype(np.int32)
        del order
        state = replace(state, slots=first + padded, late=state.late + (padded if late else 0))
        done, mixed = 0, np.empty((0, 2), np.uint64)
        step = padded if late else SEGMENT
        for start in range(0, padded, step):
            part = real[start : start + step]
            more = int(np.count_nonzero(part))
            mixed = np.empty((part.size, 2), np.uint64)
            mixed[part], mixed[~part] = ordered[done : done + more], nobody[start - done : start - done + part.size - more]
            done += more
            segment = Segment(first + start, mixed.tobytes(), LATER if late else b"")
            self.store.write_segment(entry, segment, self.hasher.hasher)
            digest.add_segment(segment)
        state = self.extend(entry, state)
        return self._add_late(entry, state, mixed, first) if late else state

    def extend(self, entry: int, state: State) -> State:
        """Write the pages of accounts that new slots need."""
        for table in (ACCOUNTS, BUDGETS) if state.flat is None else (ACCOUNTS,):
            per = per_page(self.width)
            first, last = self.store.next_page(table), -(-state.slots // per)
            for start in range(first, last, PART // per):
                size = min(PART // per, last - start)
                pages = make_pages(range(start, start + size), entry, table, np.zeros((self.width, size * per), np.int64), self.hasher)
                self.store.write_pages(table, pages)
                state = state.put(table, slice(start, start + size), entry)
        return state

    def _add_late(self, entry: int, state: State, hashes: Pairs, first: int) -> State:
        buckets = bucket_of(hashes)
        for number in np.unique(buckets).tolist():
            (page,) = self.store.read_last(state, LATE, number, number + 1, self.hasher)
            held, slots = split_bucket(page.data)
            rows = np.flatnonzero(buckets == number)
            made = self.bucket(number, entry, join_bucket(np.concatenate([held, hashes[rows]]), np.concatenate([slots, first + rows])))
            self.store.write_pages(LATE, [made])
            state = state.put(LATE, slice(number, number + 1), entry)
        return state

    def _open_budgets(self, entry: int, state: State, first: int, rows: PageRows, asked: Asked, digest: Digest) -> State:
        """Write the budgets of slots from ``first`` on: the least of their rows'."""
        least = np.full((self.width, state.slots), np.iinfo(np.int64).max)
        self.take_least(least, rows, asked, first)
        least[least == np.iinfo(np.int64).max] = 0
        return self.write_budgets(entry, state, first, least[:, first:], digest)

    @staticmethod
    def take_least(least: Integers, rows: PageRows, asked: Asked, first: int) -> None:
        """Lower amounts of slots from ``first`` on to those that their rows ask for."""
        for batch, first_row in rows.batches:
            slots = rows.slots[first_row : first_row + batch.size]
            chosen = np.flatnonzero(slots >= first)
            if chosen.size:
                amounts = np.atleast_2d(asked.budgets(batch, first_row))
                for component, row in enumerate(amounts):
                    np.minimum.at(least[component], slots[chosen], row[chosen])

    def write_budgets(self, entry: int, state: State, first: int, budgets: Integers, digest: Digest) -> State:
        """Write budgets of the slots from ``first`` on, and what they are changed to."""
        for start in range(0, budgets.shape[1], PIECE):
            part = budgets[:, start : start + PIECE]
            self.change(entry, Change(BUDGET, first + start, part.astype("<i8").tobytes()), digest)
        return self.overwrite(BUDGETS, entry, state, first, budgets)

    def overwrite(self, table: str, entry: int, state: State, first: int, amounts: Integers) -> State:
        """Write amounts of the slots from ``first`` on into the pages of a table."""
        per, stop = per_page(self.width), first + amounts.shape[1]
        for page in range(first // per, -(-stop // per), PART // per):
            last = min(page + PART // per, -(-stop // per))
            old = self.store.read_last(state, table, page, last, self.hasher)
            values = read_amounts(old, self.width).copy()
            low, high = max(first, page * per), min(stop, last * per)
            values[:, low - page * per : high - page * per] = amounts[:, low - first : high - first]
            made = make_pages(range(page, last), entry, table, values, self.hasher)
            self.store.write_pages(table, made)
            state = state.put(table, slice(page, last), entry)
        return state


def _find_order(hashes: Pairs) -> Any:
    """Return the order of the first halves, a quarter of all values after the other: what one sort of all needs is four times as much."""
    quarters = hashes.view(np.uint8).reshape(-1, 16)[:, 7] >> 6  # the two highest bits
    order, done = np.empty(len(hashes), np.int32), 0
    for quarter in range(4):
        members = np.flatnonzero(quarters == quarter).astype(np.int32)
        order[done : done + members.size] = members[np.argsort(hashes[members, 0])]
        done += members.size
    return order


def _sort(hashes: Pairs, order: Any) -> Pairs:
    """Bring hashes into an order where they stand, four bytes after the other: a second copy would be as much as all else together."""
    made = hashes if hashes.flags.writeable else hashes.copy()
    parts = made.view(np.uint32)
    held = np.empty(len(made), np.uint32)
    for column in range(4):
        for start in range(0, len(made), PART):  # whose places have 8 bytes each
            held[start : start + PART] = parts[order[start : start + PART], column]
        parts[:, column] = held
    return made


def _places_of(rows: PageRows, fresh: Slots) -> Integers:
    """Return where the hashes of some rows are among those that were made."""
    starts = np.array([first for first, _, _ in rows.hashed])
    offsets = np.concatenate([[0], np.cumsum([size for _, size, _ in rows.hashed])])
    piece = np.searchsorted(starts, fresh, side="right") - 1
    places: Integers = offsets[piece] + fresh - starts[piece]
    return places
