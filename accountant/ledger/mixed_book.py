"""Accounts with several components: chunks of a store as those of one, the chunks of each component after those of the one before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from accountant.ledger.accounts import Asked, Cost, Spent
from accountant.ledger.book import Book
from accountant.ledger.log import Change, Digest, Entry
from accountant.ledger.matching import Matched
from accountant.ledger.packing import CHUNK, iter_chunks, pack, unpack
from accountant.ledger.store import AccountChunk, Store
from accountant.ledger.units import Hasher
from profiles.arrays import Booleans, Integers
from profiles.errors import LedgerRejected

#: The chunk c of component j is number c + j · _APART.
_APART = 1 << 24


class MixedBook(Book):
    """Accounts with several components, of which the budgets of all but the first are one number for all units. A unit takes part if
    every component has room (docs/ledger.md, Theorem M).
    """

    __slots__ = ("_components", "_more")

    def __init__(self, store: Store, hasher: Hasher, components: int) -> None:
        super().__init__(store, hasher)
        self._components = components
        self._more: tuple[int, ...] = ()

    def enroll(self, entry: int, asked: Asked, digest: Digest) -> None:
        self._more = () if asked.flat is None else asked.flat[1:]
        super().enroll(entry, asked, digest)

    def spend(self, entry: int, asked: Asked, cost: Cost, digest: Digest) -> Spent:
        self._more = () if asked.flat is None else asked.flat[1:]
        return super().spend(entry, asked, cost, digest)

    def lift(self, entry: int, asked: Asked, least: int, digest: Digest) -> None:
        """Raise the budgets of all accounts to ``least`` and the further ones of ``asked``: they are numbers, and no row is read."""
        self._more = () if asked.flat is None else asked.flat[1:]
        nobody = Matched(self.size, np.zeros(self.size, np.uint32), np.ones(self.size, np.bool_), [], [], np.zeros(0, np.int64))
        for component, budget in enumerate((least, *self._more)):
            for chunk, part in enumerate(iter_chunks(self.size)):
                spent, before = self._read_component(component, chunk, part, entry, nobody)
                self._write_budgets(chunk + component * _APART, entry, (spent, np.maximum(before, budget)), digest)

    def look_up(self, hashed: bytes) -> tuple[tuple[int, int], ...] | None:
        number = int(self._lookup().find(hashed)[0])
        if number < 0:
            return None
        return tuple(self._look_at(number // CHUNK + component * _APART, number % CHUNK) for component in range(self._components))

    def name_chunks(self, chunk: int) -> tuple[int, ...]:
        return tuple(chunk + component * _APART for component in range(self._components))

    def charge(self, entry: int, matched: Matched, cost: Cost, digest: Digest) -> Booleans:
        """Charge all present accounts with room in every component for the cost, of shape (components, n), and return which these are."""
        active = np.zeros(matched.totals.size, dtype=np.bool_)
        changes: list[list[Change]] = [[] for _ in range(self._components)]
        for chunk, part in enumerate(iter_chunks(matched.totals.size)):
            components = [self._read_component(component, chunk, part, entry, matched) for component in range(self._components)]
            amounts = cost(matched.totals[part].astype(np.int64))
            takes_part = matched.present[part].copy()
            for (spent, budgets), prices in zip(components, amounts, strict=True):
                takes_part &= spent + prices <= budgets
            active[part] = takes_part
            for component, ((spent, budgets), prices) in enumerate(zip(components, amounts, strict=True)):
                taken = np.where(takes_part, prices, 0)
                number = chunk + component * _APART
                changes[component].append(Change("cost", number, pack(taken)))
                self._store.write_account(AccountChunk.sealed(number, entry, pack(spent + taken), pack(budgets), self._hasher))
        for change in (change for several in changes for change in several):  # in the order in which they are read again
            self._store.write_change(entry, change)
            digest.add_change(change)
        return active

    def open_accounts(self, entry: int, matched: Matched, digest: Digest) -> None:
        """Write the accounts that were opened: those of the first component, and the same of the others, with their budgets."""
        opened = bool(matched.segments)
        super().open_accounts(entry, matched, digest)
        first = matched.known // CHUNK * CHUNK if opened else matched.totals.size
        for component in range(1, self._components):
            for place, part in enumerate(iter_chunks(matched.totals.size - first)):
                chunk, here = first // CHUNK + place, slice(first + part.start, first + part.stop)
                amounts = self._read_component(component, chunk, here, entry, matched)
                self._write_budgets(chunk + component * _APART, entry, amounts, digest)

    def _read_component(self, component: int, chunk: int, part: slice, entry: int, matched: Matched) -> tuple[Integers, Integers]:
        budgets = matched.budgets if component == 0 else np.full(matched.budgets.size, self._more[component - 1])
        account = self._store.read_account(chunk + component * _APART)
        return self._unpack(account, part, entry, replace(matched, budgets=budgets))

    def fold(self, entries: Sequence[Entry]) -> Iterator[tuple[int, Integers, Integers]]:
        """Yield of each chunk of each component what its accounts spent and their budgets, as they follow from the log alone.

        Raises :class:`LedgerRejected` where what an entry did is not what it was sealed with.
        """
        size = self.size
        spent, budgets = (np.zeros((self._components, size), np.int64) for _ in range(2))
        for entry in entries:
            digest = Digest()
            for segment in self._store.iter_segments(self._hasher, entry.sequence):
                digest.add_segment(segment)
            for change in self._store.iter_changes(entry.sequence):
                digest.add_change(change)
                amounts = unpack(change.packed)
                component, chunk = divmod(change.chunk, _APART)
                part = slice(chunk * CHUNK, chunk * CHUNK + amounts.size)
                if part.stop > size or component >= self._components:
                    raise LedgerRejected(f"entry {entry.sequence} of the ledger has amounts of no account; restore it from a backup")
                if change.kind == "cost":
                    spent[component, part] += amounts
                else:
                    budgets[component, part] = amounts
            if digest.finish() != entry.digest:
                raise LedgerRejected(
                    f"what entry {entry.sequence} of the ledger did to the accounts is not what was written; restore it from a backup"
                )
        for component in range(self._components):
            for chunk, part in enumerate(iter_chunks(size)):
                yield chunk + component * _APART, spent[component, part], budgets[component, part]
