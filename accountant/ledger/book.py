"""The accounts of a ledger: which rows belong to which, what each spent, and who may take part (docs/ledger.md, L1 and L5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from accountant.ledger.accounts import Asked, Cost, Count, Spent
from accountant.ledger.log import CHANGING, Change, Digest, Entry, Segment
from accountant.ledger.matching import Matched, Pending, fill, join, shrink, spell
from accountant.ledger.packing import CHUNK, iter_chunks, pack, unpack
from accountant.ledger.prefetch import compute_ahead, keep_memory, read_ahead
from accountant.ledger.rows import RowBatch
from accountant.ledger.store import AccountChunk, Store
from accountant.ledger.units import WIDTH, Hasher, Ids, Index, all_differ, group
from profiles import InvalidData
from profiles.arrays import Booleans, Integers, Positions
from profiles.errors import LedgerRejected


class Book:
    """The accounts as chunks of rows of an open store: :class:`~accountant.ledger.accounts.Accounts`."""

    __slots__ = ("_hasher", "_index", "_last", "_outlines", "_store")

    def __init__(self, store: Store, hasher: Hasher) -> None:
        self._store, self._hasher = store, hasher
        self._last = 0
        self._outlines: list[tuple[int, int, bytes]] | None = None
        self._index: Index | None = None

    def refresh(self, last: Entry | None = None) -> None:
        """Forget what was read: another process may have opened accounts. ``last``: the last entry that changed accounts."""
        self._outlines = self._index = None
        self._last = self._last if last is None else last.sequence

    def enroll(self, entry: int, asked: Asked, digest: Digest) -> None:
        """Open an account for each unit that has none. Raises :class:`InvalidData`."""
        self.open_accounts(entry, self._match(asked), digest)

    def spend(self, entry: int, asked: Asked, cost: Cost, digest: Digest) -> Spent:
        """Open accounts, charge those with a row that have room, and return who takes part."""
        keep_memory()
        matched = self._match(asked)
        self.open_accounts(entry, matched, digest)
        active = self.charge(entry, matched, cost, digest)
        return Spent(matched.rows_of(active), np.array_equal(active, matched.present))

    def lift(self, entry: int, asked: Asked, least: int, digest: Digest) -> None:
        """Raise budgets to those of the rows, or to ``least`` for units without one, where they are lower."""
        budgets: list[Integers] = []

        def count(batch: RowBatch, first_row: int) -> Integers:
            budgets.append(asked.budgets(batch, first_row))
            return np.zeros(batch.size, np.int64)

        matched = self._match(Asked(asked.rows, asked.budgets, count, asked.records))
        self.open_accounts(entry, matched, digest)
        most = np.full(matched.totals.size, np.iinfo(np.int64).max)
        for place, amounts in zip(matched.places, budgets, strict=True):
            np.minimum.at(most, spell(place), amounts)
        most[most == np.iinfo(np.int64).max] = least
        matched.present[:] = True
        self.raise_budgets(entry, matched, most, digest)

    def _match(self, asked: Asked) -> Matched:
        shifts = asked.shifts or (lambda batch, _: np.zeros(batch.size, np.int64))
        matched = self.match(asked.rows, shifts, asked.budgets)
        asked.require_records(matched.most_rows)
        return matched

    @property
    def outlines(self) -> list[tuple[int, int, bytes]]:
        """Of each segment the first account, how many there are, and the fingerprint of their rows."""
        if self._outlines is None:
            outlines = self._store.list_outlines()
            count = 0
            for first, size, _ in outlines:
                if first != count or not 0 < size <= CHUNK:
                    raise LedgerRejected("the accounts of the ledger are not numbered one after the other; restore it from a backup")
                count += size
            self._outlines = outlines
        return self._outlines

    @property
    def size(self) -> int:
        """How many accounts there are."""
        return self.outlines[-1][0] + self.outlines[-1][1] if self.outlines else 0

    def hash_text(self, text: str) -> bytes:
        return self._hasher.hash_text(text)

    def look_up(self, hashed: bytes) -> tuple[tuple[int, int], ...] | None:
        """Return what the unit with this hash of its id spent, and its budget. Raises :class:`LedgerRejected`."""
        number = int(self._lookup().find(hashed)[0])
        return None if number < 0 else (self._look_at(number // CHUNK, number % CHUNK),)

    def _look_at(self, chunk: int, place: int) -> tuple[int, int]:
        kept = self._store.read_account(chunk)
        if kept is None:
            raise LedgerRejected("accounts of the ledger are missing; restore it from a backup of its log")
        self.require_whole(kept, self._last)
        return int(unpack(kept.spent)[place]), int(unpack(kept.budgets)[place])

    def _lookup(self) -> Index:
        if self._index is None:
            self._index = Index.of(b"".join(segment.hashes for segment in self._store.iter_segments(self._hasher)))
        return self._index

    def match(self, batches: Iterable[RowBatch], count: Count, budget: Count) -> Matched:
        """Return the rows by account. Accounts that are not known are opened: their budgets are the smallest of their rows'.

        ``count``: the shifts of the rows of a batch, ``budget``: their budgets, which is asked for new accounts only.
        """
        known = self.size
        matched = Matched(known, np.zeros(known, np.uint32), np.zeros(known, np.bool_), [], [], np.zeros(0, np.int64))
        pending: list[Pending] = []
        places, segment, first_row = matched.places, 0, 0
        repeated = False
        for batch, fingerprint in read_ahead((batch, self._hasher.fingerprint(batch.ids)) for batch in batches):
            steps = count(batch, first_row)
            whole = self._match_whole(batch.ids, fingerprint, segment)
            if whole is not None:
                segment += 1
                repeated |= matched.put(whole, steps)
                places.append(whole)
            else:
                place = self._match_rows(batch, steps, fingerprint, budget, first_row, len(places), pending)
                if not isinstance(place, slice):
                    rows = np.flatnonzero(place >= 0)
                    repeated |= rows.size > 0 and (bool(matched.present[place[rows]].any()) or np.unique(place[rows]).size < rows.size)
                    matched.widen()
                    np.add.at(matched.totals, place[rows], steps[rows])
                    matched.present[place[rows]] = True
                    segment = self._next_segment(place, segment)
                places.append(place)
            first_row += batch.size
        if pending:
            repeated |= self._open_accounts(matched, pending)
        if repeated:
            counts = np.zeros(matched.present.size, np.int64)
            for taken in places:
                np.add.at(counts, spell(taken), 1)
            matched.most_rows = int(counts.max())
            if int(matched.totals.min(initial=0)) < 0:
                raise InvalidData("one unit has more records than can be charged together; merge its records first")
        return matched

    def _match_whole(self, ids: Ids, fingerprint: bytes, segment: int) -> slice | None:
        if segment >= len(self.outlines):
            return None
        first, size, known = self.outlines[segment]
        return slice(first, first + size) if known == fingerprint and size == ids.size else None

    def _next_segment(self, place: Positions, segment: int) -> int:
        """Return the segment that may come after rows that were looked up one by one: the one after the last row's."""
        last = int(place[-1]) if place.size else -1
        if last < 0:
            return segment
        starts = [outline[0] for outline in self.outlines]
        return int(np.searchsorted(starts, last, side="right"))

    def _match_rows(
        self, batch: RowBatch, steps: Integers, fingerprint: bytes, budget: Count, first_row: int, number: int, pending: list[Pending]
    ) -> slice | Positions:
        """Return the accounts of the rows of a batch, −1 for those that are not known; an empty slice where none is."""
        hashes = self._hasher.hashes(batch.ids)
        place = self._lookup().find(hashes) if self.size else None
        rows = None if place is None else np.flatnonzero(place < 0)
        if place is None or rows is None or rows.size == batch.size:
            pending.append(Pending(number, None, hashes, shrink(steps), shrink(budget(batch, first_row)), fingerprint))
            return slice(0, 0)
        if rows.size:
            chosen = np.frombuffer(hashes, dtype=f"V{WIDTH}")[rows].tobytes()
            pending.append(Pending(number, rows, chosen, steps[rows], budget(batch, first_row)[rows]))
        return place

    def _open_accounts(self, matched: Matched, pending: Sequence[Pending]) -> bool:
        """Open accounts for rows without one, in the order of the rows, and tell whether two rows have the same."""
        steps, budgets = join([item.steps for item in pending]), join([item.budgets for item in pending])
        apart = all_differ([item.hashes for item in pending])
        totals, least = (steps, budgets) if apart else self._open_groups(matched, pending, steps, budgets)
        if apart:
            done = matched.known
            for item in pending:
                accounts = slice(done, done + len(item.hashes) // WIDTH)
                matched.places[item.batch] = fill(matched.places[item.batch], item.rows, accounts)
                matched.segments.append(Segment(done, item.hashes, item.fingerprint))
                done = accounts.stop
        matched.totals = np.concatenate([matched.totals, totals]) if matched.known else totals
        matched.present = np.concatenate([matched.present, np.ones(totals.size, np.bool_)])
        matched.budgets = least
        return totals.size < steps.size

    @staticmethod
    def _open_groups(matched: Matched, pending: Sequence[Pending], steps: Integers, budgets: Integers) -> tuple[Integers, Integers]:
        """Open one account for all rows with the same hash; return the total steps and the least budget of each account."""
        hashes = b"".join(item.hashes for item in pending)
        firsts, groups = group(hashes)
        totals, least = np.zeros(firsts.size, np.int64), np.full(firsts.size, np.iinfo(np.int64).max)
        np.add.at(totals, groups, steps)
        np.minimum.at(least, groups, budgets)
        table = np.frombuffer(hashes, dtype=f"V{WIDTH}")
        start = done = 0
        for item in pending:
            here = groups[start : start + len(item.hashes) // WIDTH]
            matched.places[item.batch] = fill(matched.places[item.batch], item.rows, here + matched.known)
            fresh = int(here.max()) + 1 - done
            if fresh > 0:
                opened = table[firsts[done : done + fresh]].tobytes()
                matched.segments.append(Segment(matched.known + done, opened, item.fingerprint if fresh == here.size else b""))
                done += fresh
            start += here.size
        return totals, least

    def charge(self, entry: int, matched: Matched, cost: Cost, digest: Digest) -> Booleans:
        """Charge all present accounts that have room for the cost, write that down, and return which these are.

        ``cost``: the amounts for total shifts. An account takes part if what it spent and this cost are at most its budget; else it is
        charged nothing. The decision is about the account's own rows, budget and spending alone.
        """
        active = np.zeros(matched.totals.size, dtype=np.bool_)

        def decide(chunk: int, part: slice, account: AccountChunk | None) -> tuple[Change, AccountChunk]:
            spent, budgets = self._unpack(account, part, entry, matched)
            amounts = cost(matched.totals[part].astype(np.int64))
            takes_part = matched.present[part] & (spent + amounts <= budgets)
            amounts[~takes_part] = 0
            active[part] = takes_part
            spent += amounts
            return Change("cost", chunk, pack(amounts)), AccountChunk.sealed(chunk, entry, pack(spent), pack(budgets), self._hasher)

        chunks = ((chunk, part, self._store.read_account(chunk)) for chunk, part in enumerate(iter_chunks(matched.totals.size)))
        for change, account in compute_ahead(decide, chunks):  # the store is read and written by this thread alone
            self._store.write_change(entry, change)
            digest.add_change(change)
            self._store.write_account(account)
        return active

    def open_accounts(self, entry: int, matched: Matched, digest: Digest) -> None:
        """Write the accounts that :meth:`match` opened, and the budgets of all accounts in their chunks."""
        for segment in matched.segments:
            self._store.write_segment(entry, segment, self._hasher)
            digest.add_segment(segment)
        if matched.segments:
            first = matched.known // CHUNK * CHUNK
            for place, part in enumerate(iter_chunks(matched.totals.size - first)):
                chunk = first // CHUNK + place
                here = slice(first + part.start, first + part.stop)
                self._write_budgets(chunk, entry, self._read(chunk, here, entry, matched), digest)
        self.refresh()

    def raise_budgets(self, entry: int, matched: Matched, budgets: Integers, digest: Digest) -> None:
        """Raise the budgets of present accounts to ``budgets`` where they are lower; nothing is ever lowered."""
        for chunk, part in enumerate(iter_chunks(matched.totals.size)):
            spent, before = self._read(chunk, part, entry, matched)
            after = np.where(matched.present[part], np.maximum(before, budgets[part]), before)
            self._write_budgets(chunk, entry, (spent, after), digest)

    def _write_budgets(self, chunk: int, entry: int, account: tuple[Integers, Integers], digest: Digest) -> None:
        spent, budgets = account
        change = Change("budget", chunk, pack(budgets))
        self._store.write_change(entry, change)
        digest.add_change(change)
        self._store.write_account(AccountChunk.sealed(chunk, entry, pack(spent), change.packed, self._hasher))

    def _read(self, chunk: int, part: slice, entry: int, matched: Matched) -> tuple[Integers, Integers]:
        return self._unpack(self._store.read_account(chunk), part, entry, matched)

    def _unpack(self, account: AccountChunk | None, part: slice, entry: int, matched: Matched) -> tuple[Integers, Integers]:
        """Return what the accounts of a chunk spent, and their budgets; those that were opened just now have spent nothing."""
        size = part.stop - part.start
        known = min(max(matched.known - part.start, 0), size)
        if known and account is None:
            raise LedgerRejected("accounts of the ledger are missing; restore it from a backup of its log")
        before, budgets_before = np.zeros(0, np.int64), np.zeros(0, np.int64)
        if account is not None:
            self.require_whole(account, entry)
            before, budgets_before = unpack(account.spent), unpack(account.budgets)
            if before.size not in (known, size) or before.size != budgets_before.size:
                raise LedgerRejected("accounts of the ledger are missing; restore it from a backup of its log")
            if before.size == size:
                return before, budgets_before
        spent, budgets = np.zeros(size, np.int64), np.zeros(size, np.int64)
        spent[: before.size], budgets[: before.size] = before, budgets_before
        fresh = max(part.start + before.size - matched.known, 0)
        budgets[before.size :] = matched.budgets[fresh : fresh + size - before.size]
        return spent, budgets

    def require_whole(self, account: AccountChunk, entry: int) -> None:
        """Refuse accounts that are not what was written last: by this ``entry``, or by the last one before it that changed accounts.

        Raises :class:`LedgerRejected`.
        """
        if account.sequence not in (self._last, entry) or not account.is_whole(self._hasher):
            raise LedgerRejected("accounts of the ledger are not what was written: run pdp ledger verify --repair")

    def fold(self, entries: Sequence[Entry]) -> Iterator[tuple[int, Integers, Integers]]:
        """Yield of each chunk what its accounts spent and their budgets, as they follow from the log alone.

        Raises :class:`LedgerRejected` where what an entry did is not what it was sealed with.
        """
        size = self.size
        spent, budgets = np.zeros(size, np.int64), np.zeros(size, np.int64)
        for entry in entries:
            digest = Digest()
            for segment in self._store.iter_segments(self._hasher, entry.sequence):
                digest.add_segment(segment)
            for change in self._store.iter_changes(entry.sequence):
                digest.add_change(change)
                amounts = unpack(change.packed)
                part = slice(change.chunk * CHUNK, change.chunk * CHUNK + amounts.size)
                if part.stop > size:
                    raise LedgerRejected(f"entry {entry.sequence} of the ledger has amounts of no account; restore it from a backup")
                if change.kind == "cost":
                    spent[part] += amounts
                else:
                    budgets[part] = amounts
            if digest.finish() != entry.digest:
                raise LedgerRejected(
                    f"what entry {entry.sequence} of the ledger did to the accounts is not what was written; restore it from a backup"
                )
        for chunk, part in enumerate(iter_chunks(size)):
            yield chunk, spent[part], budgets[part]

    def list_state(self, entries: Sequence[Entry]) -> Iterator[tuple[bytes, Integers, Integers]]:
        """Yield the accounts as they follow from the first ``entries`` of the log."""
        hashes = b"".join(segment.hashes for entry in entries for segment in self._store.iter_segments(self._hasher, entry.sequence))
        if not self.size:
            return
        _, spent, budgets = zip(*self.fold(entries), strict=True)  # component by component, and each chunk by chunk
        shape, known = (-1, self.size), len(hashes) // WIDTH
        yield hashes, np.concatenate(spent).reshape(shape)[:, :known], np.concatenate(budgets).reshape(shape)[:, :known]

    def trace(self, hashed: bytes, entries: Sequence[Entry]) -> Iterator[tuple[Entry, tuple[int, ...], tuple[int, ...]]]:
        """Yield what each of ``entries`` did to one account; nothing of those that came before it."""
        number = int(self._lookup().find(hashed)[0])
        if number < 0:
            return
        chunks = self.name_chunks(number // CHUNK)
        budgets: dict[int, int] = {}
        for entry in entries:
            costs, known = dict.fromkeys(chunks, 0), False
            for chunk in chunks if entry.kind in CHANGING else ():
                for change in self._store.iter_changes(entry.sequence, chunk):
                    amounts = unpack(change.packed)
                    if number % CHUNK < amounts.size:
                        known, amount = True, int(amounts[number % CHUNK])
                        (costs if change.kind == "cost" else budgets)[chunk] = amount
            if known:
                yield entry, tuple(costs.values()), tuple(budgets[chunk] for chunk in chunks)

    def name_chunks(self, chunk: int) -> tuple[int, ...]:
        """Return under which numbers the store has a chunk of accounts: one for each component."""
        return (chunk,)

    def repair(self, entries: Sequence[Entry], *, write: bool) -> int:
        """Return in how many chunks the accounts are not what follows from the log, and ``write`` them anew there."""
        last = find_last_change(entries, self._store)
        repaired = 0
        for chunk, spent, budgets in self.fold(entries):
            kept = self._store.read_account(chunk)
            made = AccountChunk.sealed(chunk, last.get(chunk, 0), pack(spent), pack(budgets), self._hasher)
            if kept != made:
                repaired += 1
                if write:
                    self._store.write_account(made)
        return repaired


def find_last_change(entries: Sequence[Entry], store: Store) -> dict[int, int]:
    """Return of each chunk the last entry that changed it."""
    last_changes: dict[int, int] = {}
    for entry in entries:
        for change in store.iter_changes(entry.sequence):
            last_changes[change.chunk] = entry.sequence
    return last_changes
