"""Roots: entries with a Merkle root of all accounts as they stood after an entry, and what one of them has of an account (docs/ledger.md).

A root is public and reveals nothing of the accounts: its keys follow from the secret and the number of the entry whose accounts it has, and
nothing in the log says how long it took to compute.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from accountant.ledger.amounts import Amounts
from accountant.ledger.journal import Journal
from accountant.ledger.ledger import Ledger
from accountant.ledger.log import CHANGING, ROOT, Digest, Entry
from accountant.ledger.merkle import DEPTH, build, find_places, hash_leaf
from accountant.ledger.units import WIDTH, Hasher
from profiles.arrays import Integers, Positions
from profiles.errors import LedgerRejected

#: Leaves whose amounts are put together at once.
_TOGETHER = 1 << 16


def append_root(ledger: Ledger) -> Entry:
    """Append the root of a Merkle tree over all accounts as they stand, and return its entry: public, and it reveals nothing about them.

    Others wait while the accounts are read, as for a charge, and not while the root is computed (some 15 µs a unit): what they charge
    meanwhile comes under the next root. The time is that at which it began, or that of the entries that came in between. Where another
    process appended a root of these accounts, or of newer ones, meanwhile, that one is returned: roots are in the order of their accounts.
    """
    journal, stamp = ledger.journal, ledger.stamp()
    with journal.reading():
        of, known = find_last_change(journal.entries), len(journal.entries)
        accounts = _Accounts.read(journal, of)
    root, _ = _Seeded(journal.hasher, of).build(accounts)

    def work(_: int, __: Digest) -> Mapping[str, Any]:
        time = max([stamp["time"], *(str(entry.body["time"]) for entry in journal.entries[known:])])
        return {"root": root.hex(), "depth": DEPTH, "of": of, **stamp, "time": time}

    with journal.turn():
        journal.synchronise()
        newest = find_root(journal.entries[known:])
        if newest is not None and find_covered(journal.entries, newest) >= of:
            return newest
        return journal.write(ROOT, "", work)


def append_monthly_root(ledger: Ledger) -> Entry | None:
    """Append a root as :func:`append_root` does where the newest one is not of this month (UTC) and accounts changed since; return it."""
    ledger.journal.catch_up()
    entries = ledger.journal.entries
    newest = find_root(entries)
    if newest is not None:
        this_month = str(newest.body["time"])[:7] == ledger.tell_time()[:7]
        if this_month or find_covered(entries, newest) == find_last_change(entries):
            return None
    return append_root(ledger)


def find_root(entries: Sequence[Entry]) -> Entry | None:
    """Return the newest root."""
    return next((entry for entry in reversed(entries) if entry.kind == ROOT), None)


def find_last_change(entries: Sequence[Entry]) -> int:
    """Return the number of the last entry that changed accounts."""
    return next(entry.sequence for entry in reversed(entries) if entry.kind in CHANGING)


def find_covered(entries: Sequence[Entry], root: Entry) -> int:
    """Return the number of the entry after which a root has the accounts: the one that it names, or in earlier releases the last change."""
    named = root.body.get("of")
    return int(named) if named is not None else find_last_change(entries[: root.sequence])


@dataclass(frozen=True, slots=True)
class Proof:
    """What the newest root has of one account. ``of``: the number that its entry names."""

    entry: Entry
    of: int | None
    place: int
    salt: bytes
    spent: Amounts
    budget: Amounts
    path: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class RootedAccounts:
    """The newest root of a ledger, and the accounts that it has, as they follow from the log."""

    entry: Entry
    accounts: _Accounts

    @classmethod
    def read(cls, journal: Journal) -> RootedAccounts | None:
        """Return them; None where there is no root. Inside of a turn."""
        root = find_root(journal.entries)
        return None if root is None else cls(root, _Accounts.read(journal, find_covered(journal.entries, root)))

    def prove(self, hashed: bytes, hasher: Hasher) -> Proof | None:
        """Return the proof of the account with this hash of its id; None where it came later.

        Raises :class:`LedgerRejected` where the accounts do not have the root that the log says.
        """
        of = self.entry.body.get("of")
        seeded = _Seeded(hasher, self.entry.sequence if of is None else int(of))
        root, leaf = seeded.build(self.accounts, hashed)
        if root.hex() != self.entry.body["root"]:
            raise LedgerRejected("the accounts do not have the root that the log says; run pdp ledger verify")
        if leaf is None:
            return None
        row, place, path = leaf
        spent, budget = (Amounts(tuple(part[:, row].tolist())) for part in (self.accounts.spent, self.accounts.budgets))
        return Proof(self.entry, of, place, seeded.salt(hashed), spent, budget, path)


@dataclass(frozen=True, slots=True)
class _Accounts:
    """Accounts after an entry: the hashes of their ids one after the other, and amounts of shape (components, n)."""

    hashes: bytes
    spent: Integers
    budgets: Integers

    @classmethod
    def read(cls, journal: Journal, of: int) -> _Accounts:
        """Return those after the entry with the number ``of``. Raises as ``Accounts.list_state``."""
        nobody = b"", np.zeros((1, 0), np.int64), np.zeros((1, 0), np.int64)
        hashes, spent, budgets = zip(*(list(journal.accounts.list_state(journal.entries[: of + 1])) or [nobody]), strict=True)
        return cls(b"".join(hashes), np.concatenate(spent, axis=1), np.concatenate(budgets, axis=1))

    def find(self, hashed: bytes) -> int | None:
        """Return the row of an account."""
        rows = np.flatnonzero((np.frombuffer(self.hashes, "<u8").reshape(-1, 2) == np.frombuffer(hashed, "<u8")).all(axis=1))
        return int(rows[0]) if rows.size else None


class _Seeded:
    """What the tree of one root is made with: all of it follows from the secret and a number of an entry."""

    def __init__(self, hasher: Hasher, number: int) -> None:
        seed = hasher.seal(b"root", number.to_bytes(8, "little"))
        self._place, self._salt, self._fill = (
            hashlib.blake2b(key=seed, digest_size=32, person=what) for what in (b"place", b"salt", b"fill")
        )

    def fill(self, height: int, place: int) -> bytes:
        made = self._fill.copy()
        made.update((height | place << 8).to_bytes(9, "little"))
        return made.digest()

    def salt(self, hashed: bytes) -> bytes:
        made = self._salt.copy()
        made.update(hashed)
        return made.digest()

    def build(self, accounts: _Accounts, wanted: bytes | None = None) -> tuple[bytes, tuple[int, int, tuple[bytes, ...]] | None]:
        """Return the root over the accounts, and the row, the place and the path of the one with the hash ``wanted``."""
        places = find_places(self._hash_places(accounts.hashes))
        order = np.argsort(places)
        row = None if wanted is None else accounts.find(wanted)
        own: Sequence[int] = () if row is None else (int(places[row]),)
        root, paths = build(places[order].data, self._iter_leaves(accounts, order), self.fill, own)
        return root, None if row is None else (row, own[0], paths[own[0]])

    def _hash_places(self, hashes: bytes) -> Any:
        hashed = bytearray()
        for start in range(0, len(hashes), WIDTH):
            made = self._place.copy()
            made.update(hashes[start : start + WIDTH])
            hashed += made.digest()[: DEPTH // 8]
        return np.frombuffer(hashed, "<u4")

    def _iter_leaves(self, accounts: _Accounts, order: Positions) -> Iterator[bytes]:
        """Yield the leaves of accounts in an order: those of :func:`make_leaf`, some at once."""
        amounts = np.concatenate([accounts.spent, accounts.budgets])
        width = 8 * len(amounts)
        for first in range(0, order.size, _TOGETHER):
            rows = order[first : first + _TOGETHER]
            packed = np.ascontiguousarray(amounts[:, rows].T, "<i8").tobytes()
            for number, row in enumerate(rows.tolist()):
                hashed = accounts.hashes[WIDTH * row : WIDTH * (row + 1)]
                yield _hash_account(self.salt(hashed), hashed, packed[width * number : width * (number + 1)])


def make_leaf(salt: bytes, hashed: bytes, spent: Sequence[int], budget: Sequence[int]) -> bytes:
    """Return the leaf of an account: nobody finds out what is in it without its salt."""
    return _hash_account(salt, hashed, b"".join(value.to_bytes(8, "little") for value in (*spent, *budget)))


def _hash_account(salt: bytes, hashed: bytes, amounts: bytes) -> bytes:
    return hash_leaf(salt, hashed, *(amounts[start : start + 8] for start in range(0, len(amounts), 8)))
