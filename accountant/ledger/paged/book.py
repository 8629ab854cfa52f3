"""The accounts of a ledger of version 2: which rows belong to which, what each spent, and who may take part (docs/ledger.md, L1 and L5)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accountant.ledger.accounts import Accounts, Asked, Cost, Spent
from accountant.ledger.log import CHANGING, Change, Digest, Entry
from accountant.ledger.paged.changes import (
    BUDGET,
    COST,
    DENSE,
    FLAT,
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
from accountant.ledger.paged.enrolling import PART, AccountWriter
from accountant.ledger.paged.finding import Finder, iter_groups
from accountant.ledger.paged.hashing import Hashing, PageHasher
from accountant.ledger.paged.reading import PageRows, RowReader
from accountant.ledger.paged.store import (
    ACCOUNTS,
    BUDGETS,
    LATE,
    NEW,
    Page,
    PageStore,
    State,
    make_pages,
    per_page,
    read_amounts,
)
from accountant.ledger.units import Hasher
from profiles import InvalidData
from profiles.arrays import Booleans, Integers
from profiles.errors import LedgerRejected

#: Pages of few rows that are read and written together.
_TOGETHER = 2_000
#: Integers below this are exact in binary64.
_EXACT = 2**53


#: The state after a charge, which rows take part, and whether everybody does.
_Charged = tuple[State, Booleans, bool]


class PageBook:
    """The accounts as pages of an open store: :class:`~accountant.ledger.accounts.Accounts`. ``width``: components of an account."""

    __slots__ = ("_hasher", "_last", "_reader", "_store", "_width", "_writer")

    def __init__(self, store: PageStore, hasher: Hasher, maps: Path | None = None, width: int = 1) -> None:
        self._store, self._hasher, self._width = store, PageHasher.of(hasher), width
        self._reader, self._writer = RowReader(store, self._hasher, maps), AccountWriter(store, self._hasher, width)
        self._last: Entry | None = None

    def refresh(self, last: Entry | None = None) -> None:
        """Forget what was read: another process may have written. ``last``: the last entry that changed accounts."""
        self._last = self._last if last is None else last

    def _read_state(self) -> State:
        state = self._store.read_state(self._hasher)
        if self._last is None and state is None:
            return NEW
        if self._last is None or state is None or state.sequence != self._last.sequence:
            raise LedgerRejected("the state of the accounts is not what was written: run pdp ledger verify --repair")
        return state

    def enroll(self, entry: int, asked: Asked, digest: Digest) -> None:
        """Open an account for each unit that has none. Raises :class:`InvalidData`."""
        state = self._read_state()
        rows = self._reader.read(asked, state, self._last)
        state = self._writer.open(entry, state, rows, asked, digest)
        if asked.records is not None and rows.slots.size:
            present = np.zeros(state.slots, np.bool_)
            present[rows.slots] = True
            each = int(np.count_nonzero(present)) == rows.slots.size
            asked.require_records(1 if each else int(np.bincount(rows.slots).max()))
        self._store.write_state(replace(state, sequence=entry), self._hasher)

    # charges

    def spend(self, entry: int, asked: Asked, cost: Cost, digest: Digest) -> Spent:
        """Open accounts, charge those with a row that have room, and return who takes part."""
        state = self._read_state()
        rows = self._reader.read(asked, state, self._last)
        state = self._writer.open(entry, state, rows, asked, digest)
        sparse = rows.slots.size * 16 <= state.slots
        state, active, everybody = (self._spend_sparse if sparse else self._spend_dense)(entry, state, rows, asked, cost, digest)
        self._store.write_state(replace(state, sequence=entry), self._hasher)
        return Spent(active, everybody)

    def _spend_dense(self, entry: int, state: State, rows: PageRows, asked: Asked, cost: Cost, digest: Digest) -> _Charged:
        per, worst = per_page(self._width), np.array(asked.worst, np.int64)
        pages = -(-state.slots // per)
        totals, present = self._add_up(rows, pages * per, asked)
        codes = np.empty((self._width, pages * per), "<u2")
        took = np.zeros(pages * per, np.bool_)
        step = max(PART // per, 1)
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
            self._writer.change(entry, Change(DENSE, piece, packed), digest)
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
    def _add_up(rows: PageRows, size: int, asked: Asked) -> tuple[NDArray[np.integer[Any]], Booleans]:
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

    def _spend_sparse(self, entry: int, state: State, rows: PageRows, asked: Asked, cost: Cost, digest: Digest) -> _Charged:
        units, places = np.unique(rows.slots, return_inverse=True)
        worst = np.array(asked.worst, np.int64)
        totals, _ = self._add_up(PageRows(places.astype(np.int32), rows.steps, rows.hashes, [], [], set()), units.size, asked)
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
        self._writer.change(entry, Change(SPARSE, 0, pack_sparse(units.astype(np.int64), codes, worst, room_for(rows.slots.size))), digest)
        return state, took[places.reshape(-1)], bool(took.all())

    # budgets

    def lift(self, entry: int, asked: Asked, least: int, digest: Digest) -> None:
        """Raise budgets to those of the rows, or to ``least`` for units without one, where they are lower."""
        state = self._read_state()
        rows = self._reader.read(asked, state, self._last)
        asked_before = asked if state.flat is None or asked.flat is None else replace(asked, flat=state.flat)
        state = self._writer.open(entry, state, rows, asked_before, digest, lifts=True)
        if state.flat is not None and asked.flat is not None:
            state = replace(state, flat=tuple(map(max, state.flat, asked.flat)))
            self._writer.change(entry, Change(FLAT, 0, np.array(state.flat, "<i8").tobytes()), digest)
        else:
            if state.flat is not None:
                before = np.repeat(np.array(state.flat, np.int64)[:, None], state.slots, axis=1)
                state = self._writer.extend(entry, replace(state, flat=None))
            else:
                before = self._budgets(state, 0, -(-state.slots // per_page(self._width)))[:, : state.slots]
            most = np.full(before.shape, np.iinfo(np.int64).max)
            self._writer.take_least(most, rows, asked, 0)
            most[most == np.iinfo(np.int64).max] = least
            state = self._writer.write_budgets(entry, state, 0, np.maximum(before, most), digest)
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
            per, step = per_page(self._width), max(PART // per_page(self._width), 1)
            for first in range(0, last.size, step):
                stop = min(first + step, last.size)
                made = [
                    page
                    for number in range(first, stop)
                    for page in make_pages([number], int(last[number]), table, amounts[:, number * per : (number + 1) * per], self._hasher)
                ]
                repaired += self._compare(table, first, made, write=write)
        buckets = [self._writer.bucket(number, sequence, data) for number, (sequence, data) in enumerate(folded.late)]
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
            kept = {page.number: page for page in self._store.read_pages(table, first, first + len(made), self._hasher)}
        except LedgerRejected:
            kept = {}
            for page in made:
                try:
                    (kept[page.number],) = self._store.read_pages(table, page.number, page.number + 1, self._hasher)
                except LedgerRejected:
                    continue
        wrong = [page for page in made if kept.get(page.number) != page]
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
        state = self._writer.begin(entry, replace(NEW, hashing=hashing, flat=flat if same else None), digest)
        pairs = np.frombuffer(rename(b"".join(hashes)), "<u8").reshape(-1, 2)
        if len(pairs):
            slots = np.empty(len(pairs), np.int32)
            state = self._writer.add(entry, state, [pairs], slots, digest)
            placed = np.zeros((self._width, state.slots), np.int64)
            if state.flat is None:
                placed[:, slots] = limits
                state = self._writer.write_budgets(entry, state, 0, placed, digest)
            placed[:, slots] = np.concatenate(spent, axis=1)
            for start in range(0, state.slots, PIECE):
                self._writer.change(entry, Change(COST, start, placed[:, start : start + PIECE].astype("<i8").tobytes()), digest)
            state = self._writer.overwrite(ACCOUNTS, entry, state, 0, placed)
        self._store.write_state(replace(state, sequence=entry), self._hasher)

    def read_hashing(self) -> Hashing:
        """Return how ids are hashed."""
        return self._read_state().hashing
