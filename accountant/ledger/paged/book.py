"""The accounts of a ledger of version 2: which rows belong to which, what each spent, and who may take part (docs/ledger.md, L1 and L5)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from accountant.ledger.accounts import Accounts, Asked, Cost, Spent
from accountant.ledger.log import CHANGING, Change, Digest, Entry, Segment
from accountant.ledger.paged.changes import (
    BUDGET,
    COST,
    DENSE,
    FLAT,
    HASHING,
    PIECE,
    SPARSE,
    Folded,
    fold,
    pack_dense,
    pack_sparse,
    read_amounts_of,
    room_for,
)
from accountant.ledger.paged.codes import LEFT_OUT, decode_all, encode_all, take_part
from accountant.ledger.paged.cutting import cut
from accountant.ledger.paged.finding import Finder, bucket_of, iter_groups, join_bucket, split_bucket
from accountant.ledger.paged.hashing import Hashing, PageHasher, Pairs
from accountant.ledger.paged.maps import SMALLEST, Maps, Slots, is_kept
from accountant.ledger.paged.store import (
    ACCOUNTS,
    BUCKETS,
    BUDGETS,
    LATE,
    LATER,
    NEW,
    NUMBERS,
    SEGMENT,
    Page,
    PageStore,
    State,
    make_pages,
    per_page,
    read_amounts,
)
from accountant.ledger.prefetch import compute_ahead, keep_memory
from accountant.ledger.rows import RowBatch
from accountant.ledger.units import Hasher, Ids
from profiles import InvalidData
from profiles.arrays import Booleans, Integers
from profiles.errors import LedgerRejected

#: So many units or more that come at once are a run of their own; fewer are late. The slots of a run are a multiple of the second, or of
#: the third where they are fewer.
_RUN, _PAD, _SMALL_PAD = 50_000, 50_000, 1_000
#: So many units that come late take this many slots at least, and else a power of two.
_LEAST_LATE = 16
#: Slots that are charged at once.
_PART = 625_000
#: Pages of few rows that are read and written together.
_TOGETHER = 2_000
#: So many more hashes are held at least, where there is no room for them.
_MORE = 1 << 20
#: The largest number of 32 bits; integers below the other are exact in binary64.
_NARROW, _EXACT = 2**32 - 1, 2**53


@dataclass(slots=True)
class _Rows:
    """Rows that were read: their slots (−1 for units without one), their shifts, and the batches, where budgets are asked of them."""

    slots: Slots
    steps: NDArray[np.integer[Any]]
    hashes: Pairs = field(repr=False)
    hashed: list[tuple[int, int, bytes | None]] = field(repr=False)
    batches: list[tuple[RowBatch, int]] = field(repr=False)
    seen: set[bytes] = field(repr=False)

    def take_hashes(self) -> Pairs:
        """Return the hashes, which are not held any more."""
        found, self.hashes = self.hashes, np.empty((0, 2), np.uint64)
        return found


class PageBook:
    """The accounts as pages of an open store: :class:`~accountant.ledger.accounts.Accounts`. ``width``: components of an account."""

    __slots__ = ("_hasher", "_last", "_maps_path", "_store", "_width")

    def __init__(self, store: PageStore, hasher: Hasher, maps: Path | None = None, width: int = 1) -> None:
        self._store, self._hasher, self._maps_path, self._width = store, PageHasher.of(hasher), maps, width
        self._last: Entry | None = None

    def refresh(self, last: Entry | None = None) -> None:
        """Forget what was read: another process may have written. ``last``: the last entry that changed accounts."""
        self._last = self._last if last is None else last

    def _read_state(self) -> State:
        found = self._store.read_state(self._hasher)
        if self._last is None and found is None:
            return NEW
        if self._last is None or found is None or found.sequence != self._last.sequence:
            raise LedgerRejected("the state of the accounts is not what was written: run pdp ledger verify --repair")
        return found

    # rows

    def _read(self, asked: Asked, state: State) -> _Rows:
        """Read rows, and find the slots of their units."""
        keep_memory()
        steps: list[NDArray[np.integer[Any]]] = []
        batches: list[tuple[RowBatch, int]] = []
        maps = self._open_maps(state)

        def count() -> Iterator[Ids]:
            first_row = 0
            for batch in asked.rows:
                if asked.shifts is not None:
                    found = asked.shifts(batch, first_row)
                    steps.append(found.astype(np.uint32) if found.size and int(found.max()) <= _NARROW else found)
                if asked.flat is None or state.flat is None:
                    batches.append((batch, first_row))
                first_row += batch.size
                yield batch.ids

        def place(piece: Ids) -> tuple[Ids, bytes | None, Slots | None, Pairs | None]:
            key = maps.key(piece) if maps is not None and is_kept(piece) else None
            known = None if maps is None or key is None else maps.find(key, piece.size)
            return piece, key, known, self._hasher.hash_ids(piece, state.hashing) if known is None else None

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
        made = _Rows(_concatenate(slots, np.int32), _concatenate(steps, np.int64), held[:size], hashed, batches, seen)
        found = Finder(self._store, self._hasher, state).find(made.hashes) if state.slots else np.full(size, -1, np.int32)
        self._put(made, found, maps)
        return made

    def _open_maps(self, state: State) -> Maps | None:
        if self._maps_path is None or state.slots < SMALLEST:
            return None
        maps = Maps(self._maps_path, self._hasher, state.slots, self._store.find_hash)
        maps.look()
        return maps

    def _put(self, rows: _Rows, found: Slots, maps: Maps | None) -> None:
        """Write the slots of rows whose ids were hashed, and keep those of pieces that are known as a whole."""
        done, kept = 0, {}
        for first, size, key in rows.hashed:
            part = found[done : done + size]
            rows.slots[first : first + size] = part
            if key is not None and size and int(part.min()) >= 0:
                kept[key] = part
            done += size
        if maps is not None and self._last is not None and (kept or rows.seen):
            maps.keep(kept, rows.seen, self._last)

    # accounts that are opened

    def enroll(self, entry: int, asked: Asked, digest: Digest) -> None:
        """Open an account for each unit that has none. Raises :class:`InvalidData`."""
        state = self._read_state()
        rows = self._read(asked, state)
        state = self._open(entry, state, rows, asked, digest)
        if asked.records is not None and rows.slots.size:
            present = np.zeros(state.slots, np.bool_)
            present[rows.slots] = True
            each = int(np.count_nonzero(present)) == rows.slots.size
            asked.require_records(1 if each else int(np.bincount(rows.slots).max()))
        self._store.write_state(replace(state, sequence=entry), self._hasher)

    def _open(self, entry: int, state: State, rows: _Rows, asked: Asked, digest: Digest, *, lifts: bool = False) -> State:
        """Open accounts for the units of rows without one; where all budgets are raised after it, theirs are 0 until then."""
        begins = not state.lasts[LATE]
        if begins:
            state = self._begin(entry, replace(state, flat=asked.flat), digest)
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
            state = self._add(entry, state, given, slots, digest)
            if slots is not rows.slots:
                rows.slots[fresh] = slots
            if state.flat is None and not lifts:
                state = self._open_budgets(entry, state, first, rows, asked, digest)
        return state

    def _begin(self, entry: int, state: State, digest: Digest) -> State:
        """Write what an empty ledger has."""
        self._change(entry, Change(HASHING, 0, state.hashing.value.encode()), digest)
        if state.flat is not None:
            self._change(entry, Change(FLAT, 0, np.array(state.flat, "<i8").tobytes()), digest)
        pages = [self._bucket(number, entry, b"") for number in range(BUCKETS)]
        self._store.write_pages(LATE, pages)
        return state.put(LATE, slice(0, BUCKETS), entry)

    def _bucket(self, number: int, entry: int, data: bytes) -> Page:
        return Page(number, entry, data, self._hasher.seal(LATE.encode(), number, entry.to_bytes(8, "little"), data))

    def _change(self, entry: int, change: Change, digest: Digest) -> None:
        self._store.write_change(entry, change)
        digest.add_change(change)

    def _add(self, entry: int, state: State, given: list[Pairs], slots: Slots, digest: Digest) -> State:
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
        nobody = self._hasher.hash_nobody(first, padded - count)
        nobody = nobody[np.argsort(nobody[:, 0])]
        at = np.searchsorted(ordered[:, 0], nobody[:, 0]) + np.arange(len(nobody))
        real = np.ones(padded, np.bool_)
        real[at] = False
        before = (at - np.arange(len(at))).astype(np.int32)  # how many hashes come before each one that is nobody's
        rank = -1
        for start in range(0, size, _PART):
            ranks = rank + np.cumsum(distinct[start : start + _PART], dtype=np.int32)
            rank = int(ranks[-1])
            slots[order[start : start + _PART]] = ranks + first + np.searchsorted(before, ranks, "right").astype(np.int32)
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
            self._store.write_segment(entry, segment, self._hasher.hasher)
            digest.add_segment(segment)
        state = self._extend(entry, state)
        return self._add_late(entry, state, mixed, first) if late else state

    def _extend(self, entry: int, state: State) -> State:
        """Write the pages of accounts that new slots need."""
        for table in (ACCOUNTS, BUDGETS) if state.flat is None else (ACCOUNTS,):
            per = per_page(self._width)
            first, last = self._store.next_page(table), -(-state.slots // per)
            for start in range(first, last, _PART // per):
                size = min(_PART // per, last - start)
                pages = make_pages(range(start, start + size), entry, table, np.zeros((self._width, size * per), np.int64), self._hasher)
                self._store.write_pages(table, pages)
                state = state.put(table, slice(start, start + size), entry)
        return state

    def _add_late(self, entry: int, state: State, hashes: Pairs, first: int) -> State:
        buckets = bucket_of(hashes)
        for number in np.unique(buckets).tolist():
            (page,) = self._store.read_last(state, LATE, number, number + 1, self._hasher)
            held, slots = split_bucket(page.data)
            rows = np.flatnonzero(buckets == number)
            made = self._bucket(number, entry, join_bucket(np.concatenate([held, hashes[rows]]), np.concatenate([slots, first + rows])))
            self._store.write_pages(LATE, [made])
            state = state.put(LATE, slice(number, number + 1), entry)
        return state

    def _open_budgets(self, entry: int, state: State, first: int, rows: _Rows, asked: Asked, digest: Digest) -> State:
        """Write the budgets of slots from ``first`` on: the least of their rows'."""
        least = np.full((self._width, state.slots), np.iinfo(np.int64).max)
        self._take_least(least, rows, asked, first)
        least[least == np.iinfo(np.int64).max] = 0
        return self._write_budgets(entry, state, first, least[:, first:], digest)

    @staticmethod
    def _take_least(least: Integers, rows: _Rows, asked: Asked, first: int) -> None:
        for batch, first_row in rows.batches:
            slots = rows.slots[first_row : first_row + batch.size]
            chosen = np.flatnonzero(slots >= first)
            if chosen.size:
                amounts = np.atleast_2d(asked.budgets(batch, first_row))
                for component, row in enumerate(amounts):
                    np.minimum.at(least[component], slots[chosen], row[chosen])

    def _write_budgets(self, entry: int, state: State, first: int, budgets: Integers, digest: Digest) -> State:
        """Write budgets of the slots from ``first`` on, and what they are changed to."""
        for start in range(0, budgets.shape[1], PIECE):
            part = budgets[:, start : start + PIECE]
            self._change(entry, Change(BUDGET, first + start, part.astype("<i8").tobytes()), digest)
        return self._overwrite(BUDGETS, entry, state, first, budgets)

    def _overwrite(self, table: str, entry: int, state: State, first: int, amounts: Integers) -> State:
        """Write amounts of the slots from ``first`` on into the pages of a table."""
        per, stop = per_page(self._width), first + amounts.shape[1]
        for page in range(first // per, -(-stop // per), _PART // per):
            last = min(page + _PART // per, -(-stop // per))
            old = self._store.read_last(state, table, page, last, self._hasher)
            values = read_amounts(old, self._width).copy()
            low, high = max(first, page * per), min(stop, last * per)
            values[:, low - page * per : high - page * per] = amounts[:, low - first : high - first]
            made = make_pages(range(page, last), entry, table, values, self._hasher)
            self._store.write_pages(table, made)
            state = state.put(table, slice(page, last), entry)
        return state

    # charges

    def spend(self, entry: int, asked: Asked, cost: Cost, digest: Digest) -> Spent:
        """Open accounts, charge those with a row that have room, and return who takes part."""
        state = self._read_state()
        rows = self._read(asked, state)
        state = self._open(entry, state, rows, asked, digest)
        sparse = rows.slots.size * 16 <= state.slots
        state, active, everybody = (self._spend_sparse if sparse else self._spend_dense)(entry, state, rows, asked, cost, digest)
        self._store.write_state(replace(state, sequence=entry), self._hasher)
        return Spent(active, everybody)

    def _spend_dense(self, entry: int, state: State, rows: _Rows, asked: Asked, cost: Cost, digest: Digest) -> tuple[State, Booleans, bool]:
        per, worst = per_page(self._width), np.array(asked.worst, np.int64)
        pages = -(-state.slots // per)
        totals, present = self._add_up(rows, pages * per, asked)
        codes = np.empty((self._width, pages * per), "<u2")
        took = np.zeros(pages * per, np.bool_)
        step = max(_PART // per, 1)
        for first in range(0, pages, step):
            last = min(first + step, pages)
            part = slice(first * per, last * per)
            old = self._store.read_last(state, ACCOUNTS, first, last, self._hasher)
            spent = read_amounts(old, self._width)
            made = encode_all(np.atleast_2d(cost(totals[part].astype(np.int64))), worst.tolist())
            amounts = decode_all(made, worst.tolist())
            room = (spent + amounts <= self._budgets(state, first, last)).all(axis=0)
            active = present[part] & room
            codes[:, part], took[part] = take_part(made, present[part], active), active
            new = make_pages(range(first, last), entry, ACCOUNTS, spent + np.where(active, amounts, 0), self._hasher)
            self._store.write_pages(ACCOUNTS, new)
        for piece, packed in pack_dense(codes, worst):
            self._change(entry, Change(DENSE, piece, packed), digest)
        return state.put(ACCOUNTS, slice(0, pages), entry), took[rows.slots], bool((took == present).all())

    def _budgets(self, state: State, first: int, last: int) -> Integers:
        if state.flat is not None:
            return np.array(state.flat, np.int64)[:, None]
        return read_amounts(self._store.read_last(state, BUDGETS, first, last, self._hasher), self._width)

    def _budgets_at(self, state: State, numbers: Sequence[int], at: Integers) -> Integers:
        """Return the budgets at some places of pages with these numbers."""
        if state.flat is not None:
            return np.array(state.flat, np.int64)[:, None]
        return read_amounts(self._store.read_few(state, BUDGETS, numbers, self._hasher), self._width)[:, at]

    @staticmethod
    def _add_up(rows: _Rows, size: int, asked: Asked) -> tuple[NDArray[np.integer[Any]], Booleans]:
        """Return the total shift of each slot, and whether it has a row."""
        present = np.zeros(size, np.bool_)
        present[rows.slots] = True
        if int(np.count_nonzero(present)) == rows.slots.size:
            totals = np.zeros(size, rows.steps.dtype)
            totals[rows.slots] = rows.steps
            return totals, present
        counts = np.bincount(rows.slots, minlength=size)
        most = int(counts.max())
        asked.require_records(most)
        if most * int(rows.steps.max(initial=0)) >= 2**62:
            raise InvalidData("one unit has more records than can be charged together; merge its records first")
        summed = np.zeros(size, np.int64)
        if most * int(rows.steps.max(initial=0)) < _EXACT:
            return np.bincount(rows.slots, rows.steps, minlength=size).astype(np.int64), present
        np.add.at(summed, rows.slots, rows.steps)
        return summed, present

    def _spend_sparse(
        self, entry: int, state: State, rows: _Rows, asked: Asked, cost: Cost, digest: Digest
    ) -> tuple[State, Booleans, bool]:
        units, places = np.unique(rows.slots, return_inverse=True)
        worst = np.array(asked.worst, np.int64)
        totals, _ = self._add_up(_Rows(places.astype(np.int32), rows.steps, rows.hashes, [], [], set()), units.size, asked)
        made = encode_all(np.atleast_2d(cost(totals.astype(np.int64))), worst.tolist())
        amounts = decode_all(made, worst.tolist())
        took = np.zeros(units.size, np.bool_)
        per = per_page(self._width)
        groups = list(iter_groups(units // per))
        for first in range(0, len(groups), _TOGETHER):
            some = groups[first : first + _TOGETHER]
            numbers = [page for page, _, _ in some]
            spent = read_amounts(self._store.read_few(state, ACCOUNTS, numbers, self._hasher), self._width).copy()
            part = slice(some[0][1], some[-1][2])
            at = np.repeat(np.arange(len(some)) * per, [end - start for _, start, end in some]) + units[part] % per
            after = spent[:, at] + amounts[:, part]
            took[part] = (after <= self._budgets_at(state, numbers, at)).all(axis=0)
            spent[:, at] = np.where(took[part], after, spent[:, at])
            self._store.write_pages(ACCOUNTS, make_pages(numbers, entry, ACCOUNTS, spent, self._hasher))
        state = state.put(ACCOUNTS, np.unique(units // per), entry)
        codes = np.where(took, made, np.uint16(LEFT_OUT)).astype("<u2")
        self._change(entry, Change(SPARSE, 0, pack_sparse(units.astype(np.int64), codes, worst, room_for(rows.slots.size))), digest)
        return state, took[places.reshape(-1)], bool(took.all())

    # budgets

    def lift(self, entry: int, asked: Asked, least: int, digest: Digest) -> None:
        """Raise budgets to those of the rows, or to ``least`` for units without one, where they are lower."""
        state = self._read_state()
        rows = self._read(asked, state)
        asked_before = asked if state.flat is None or asked.flat is None else replace(asked, flat=state.flat)
        state = self._open(entry, state, rows, asked_before, digest, lifts=True)
        if state.flat is not None and asked.flat is not None:
            state = replace(state, flat=tuple(map(max, state.flat, asked.flat)))
            self._change(entry, Change(FLAT, 0, np.array(state.flat, "<i8").tobytes()), digest)
        else:
            if state.flat is not None:
                before = np.repeat(np.array(state.flat, np.int64)[:, None], state.slots, axis=1)
                state = self._extend(entry, replace(state, flat=None))
            else:
                before = self._budgets(state, 0, -(-state.slots // per_page(self._width)))[:, : state.slots]
            most = np.full(before.shape, np.iinfo(np.int64).max)
            self._take_least(most, rows, asked, 0)
            most[most == np.iinfo(np.int64).max] = least
            state = self._write_budgets(entry, state, 0, np.maximum(before, most), digest)
        self._store.write_state(replace(state, sequence=entry), self._hasher)

    # looking up, checking

    def hash_text(self, text: str) -> bytes:
        return self._hasher.hash_text(text, self._read_state().hashing).tobytes()

    def look_up(self, hashed: bytes) -> tuple[tuple[int, int], ...] | None:
        """Return what the unit with this hash of its id spent, and its budget. Raises :class:`LedgerRejected`."""
        state = self._read_state()
        slot = self._find(hashed, state)
        if slot < 0:
            return None
        page, at = divmod(slot, per_page(self._width))
        spent = read_amounts(self._store.read_last(state, ACCOUNTS, page, page + 1, self._hasher), self._width)
        budgets = self._budgets(state, page, page + 1)
        return tuple(zip(spent[:, at].tolist(), budgets[:, 0 if state.flat is not None else at].tolist(), strict=True))

    def _find(self, hashed: bytes, state: State) -> int:
        """Return the slot of a hash, −1 for none."""
        return int(Finder(self._store, self._hasher, state).find(np.frombuffer(hashed, "<u8").reshape(1, 2))[0])

    def list_state(self, entries: Sequence[Entry]) -> Iterator[tuple[bytes, Integers, Integers]]:
        """Yield the accounts as they follow from the first ``entries`` of the log; none of nobody."""
        folded = self.fold(entries)
        budgets = folded.budgets
        if budgets is None:
            budgets = np.broadcast_to(np.array(folded.state.flat or (0,), np.int64)[:, None], folded.spent.shape)
        for entry in entries:
            for segment in self._store.iter_segments(self._hasher.hasher, entry.sequence):
                pairs = np.frombuffer(segment.hashes, "<u8").reshape(-1, 2)
                real, part = self._hasher.is_somebody(pairs), slice(segment.first, segment.first + len(pairs))
                yield np.ascontiguousarray(pairs[real]).tobytes(), folded.spent[:, part][:, real], budgets[:, part][:, real]

    def trace(self, hashed: bytes, entries: Sequence[Entry]) -> Iterator[tuple[Entry, tuple[int, ...], tuple[int, ...]]]:
        """Yield what each of ``entries`` did to one account; nothing of those that came before it."""
        slot = self._find(hashed, self._read_state())
        if slot < 0:
            return
        opened, budget = self._store.find_opening(slot), (0,) * self._width
        for entry in entries:
            cost = (0,) * self._width
            for change in self._store.iter_changes_of(entry.sequence, slot) if entry.kind in CHANGING else ():
                amounts = read_amounts_of(change, slot, self._width)
                if amounts is not None and change.kind in (FLAT, BUDGET):
                    budget = amounts
                elif amounts is not None:
                    cost = tuple(one + more for one, more in zip(cost, amounts, strict=True))
            if entry.kind in CHANGING and entry.sequence >= opened:
                yield entry, cost, budget

    def fold(self, entries: Sequence[Entry]) -> Folded:
        """Return the accounts as they follow from the log alone. Raises :class:`LedgerRejected`."""
        return fold(self._store, self._hasher, entries, self._width)

    def repair(self, entries: Sequence[Entry], *, write: bool) -> int:
        """Return how many pages are not what follows from the log, and ``write`` them anew."""
        folded = self.fold(entries)
        repaired = 0
        state = folded.state
        tables = {ACCOUNTS: (folded.spent, folded.spent_last)}
        if folded.budgets is not None:
            tables[BUDGETS] = (folded.budgets, folded.budgets_last)
        for table, (amounts, last) in tables.items():
            per, step = per_page(self._width), max(_PART // per_page(self._width), 1)
            for first in range(0, last.size, step):
                stop = min(first + step, last.size)
                made = [
                    page
                    for number in range(first, stop)
                    for page in make_pages([number], int(last[number]), table, amounts[:, number * per : (number + 1) * per], self._hasher)
                ]
                repaired += self._compare(table, first, made, write=write)
        buckets = [self._bucket(number, sequence, data) for number, (sequence, data) in enumerate(folded.late)]
        repaired += self._compare(LATE, 0, buckets, write=write)
        for table, count in ((ACCOUNTS, folded.spent_last.size), (BUDGETS, folded.budgets_last.size), (LATE, len(buckets))):
            if self._store.count_pages(table) > count:
                raise LedgerRejected("the ledger has accounts that no entry of its log opened; restore it from a backup")
        if self._read_or_none() != state:
            repaired += 1
            if write:
                self._store.write_state(state, self._hasher)
        return repaired

    def _read_or_none(self) -> State | None:
        try:
            return self._store.read_state(self._hasher)
        except (LedgerRejected, ValueError):
            return None

    def _compare(self, table: str, first: int, made: list[Page], *, write: bool) -> int:
        try:
            if self._store.read_pages(table, first, first + len(made), self._hasher) == made:
                return 0
            found = {page.number: page for page in self._store.read_pages(table, first, first + len(made), self._hasher)}
        except LedgerRejected:
            found = {}
            for page in made:
                try:
                    (found[page.number],) = self._store.read_pages(table, page.number, page.number + 1, self._hasher)
                except LedgerRejected:
                    continue
        wrong = [page for page in made if found.get(page.number) != page]
        if write:
            self._store.write_pages(table, wrong)
        return len(wrong)

    # going on from another ledger

    def adopt(
        self,
        entry: int,
        before: Accounts,
        entries: Sequence[Entry],
        flat: tuple[int, ...] | None,
        digest: Digest,
        rename: Callable[[bytes], bytes],
    ) -> None:
        """Open accounts with the hashes, spending and budgets of another ledger's. ``flat``: the budget in force, where it is one;
        ``rename``: from its hashes to those of this one.
        """
        hashing = before.read_hashing() if isinstance(before, PageBook) else Hashing.BLAKE2B
        pieces = list(before.list_state(entries))
        none = np.zeros((self._width, 0), np.int64)
        hashes, spent, budgets = zip((b"", none, none), *pieces, strict=True)
        limits = np.concatenate(budgets, axis=1)
        same = flat is not None and bool((limits == np.array(flat)[:, None]).all())
        state = self._begin(entry, replace(NEW, hashing=hashing, flat=flat if same else None), digest)
        pairs = np.frombuffer(rename(b"".join(hashes)), "<u8").reshape(-1, 2)
        if len(pairs):
            slots = np.empty(len(pairs), np.int32)
            state = self._add(entry, state, [pairs], slots, digest)
            placed = np.zeros((self._width, state.slots), np.int64)
            if state.flat is None:
                placed[:, slots] = limits
                state = self._write_budgets(entry, state, 0, placed, digest)
            placed[:, slots] = np.concatenate(spent, axis=1)
            for start in range(0, state.slots, PIECE):
                self._change(entry, Change(COST, start, placed[:, start : start + PIECE].astype("<i8").tobytes()), digest)
            state = self._overwrite(ACCOUNTS, entry, state, 0, placed)
        self._store.write_state(replace(state, sequence=entry), self._hasher)

    def read_hashing(self) -> Hashing:
        """Return how ids are hashed."""
        return self._read_state().hashing


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
        for start in range(0, len(made), _PART):  # whose places have 8 bytes each
            held[start : start + _PART] = parts[order[start : start + _PART], column]
        parts[:, column] = held
    return made


def _places_of(rows: _Rows, fresh: Slots) -> Integers:
    """Return where the hashes of some rows are among those that were made."""
    starts = np.array([first for first, _, _ in rows.hashed])
    offsets = np.concatenate([[0], np.cumsum([size for _, size, _ in rows.hashed])])
    piece = np.searchsorted(starts, fresh, side="right") - 1
    found: Integers = offsets[piece] + fresh - starts[piece]
    return found


def _concatenate(parts: list[NDArray[Any]], kind: Any) -> NDArray[Any]:
    """Return parts as one array; they are not held any more."""
    made = np.concatenate(parts) if parts else np.zeros(0, kind)
    parts.clear()
    return made
