"""The log of a ledger: entries that are never changed, each with a hash of all before it (docs/ledger.md, section 4)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from accountant.ledger.units import Hasher
from profiles import UnreadableFile
from profiles.errors import LedgerRejected
from profiles.strict_json import one_line, read_json

#: Kinds of entries. What comes after the end is outputs of what was charged before it. Refusals are of charges, by public numbers.
OPEN, CHARGE, OUTPUT, BUDGET, END, REFUSED = "open", "charge", "output", "budget", "end", "refused"
#: A root of all accounts, and a key to sign with that took the place of another one.
ROOT, ROTATED = "root", "rotated"
#: What an analyst, or a purpose, may be charged in all: advice to the office, which no promise rests on.
QUOTA = "quota"
KINDS = (OPEN, CHARGE, OUTPUT, BUDGET, END, REFUSED, ROOT, ROTATED, QUOTA)
#: Those that change accounts.
CHANGING = (OPEN, CHARGE, BUDGET)
START = bytes(32)
#: What every entry does or does not: these have a place in its digest, and others where it does them (``accountant/ledger/paged``).
_EARLIEST = ("segment", "budget", "cost")
_CHANGES = (*_EARLIEST[1:], "table", "hashing", "flat", "dense", "sparse")


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry. ``body`` is public: nothing in it depends on the units but that somebody chose to make it.

    ``hash`` covers the entries up to this one, and is public as well. ``digest`` covers what the entry did to the accounts, which is
    private, and ``seal`` both, under the secret of the ledger.
    """

    sequence: int
    kind: str
    name: str
    body: Mapping[str, Any]
    hash: bytes
    digest: bytes
    seal: bytes


def body_text(body: Mapping[str, Any]) -> str:
    """Return the one text of a body that is hashed."""
    return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def make_entry(
    before: Entry | None, kind: str, name: str, body: Mapping[str, Any], digest: bytes, hasher: Hasher, previous: bytes = START
) -> Entry:
    """Return the entry after ``before``; the first one goes on from the hash ``previous`` of another ledger, if it does."""
    sequence = 0 if before is None else before.sequence + 1
    last, seal = (previous, START) if before is None else (before.hash, before.seal)
    hashed = hash_entry(last, sequence, kind, name, body_text(body))
    return Entry(sequence, kind, name, body, hashed, digest, hasher.seal(b"entry", seal, hashed, digest))


def check_entry(before: Entry | None, entry: Entry, hasher: Hasher | None, previous: bytes = START) -> None:
    """Refuse an entry that does not follow ``before``. Raises :class:`LedgerRejected`."""
    expected = 0 if before is None else before.sequence + 1
    if entry.sequence != expected:
        raise LedgerRejected(f"entry {expected} of the ledger was expected, but entry {entry.sequence} was found; restore it from a backup")
    made = make_entry(before, entry.kind, entry.name, entry.body, entry.digest, hasher or Hasher(START), previous)
    if entry.kind not in KINDS or made.hash != entry.hash or (hasher is not None and made.seal != entry.seal):
        raise LedgerRejected(
            f"entry {expected} of the ledger is not the one that was written: its hash or its seal is another one; restore the ledger from "
            "a backup"
        )


def read_body(text: object, sequence: int) -> Mapping[str, Any]:
    """Return the body of an entry. Raises :class:`UnreadableFile`."""
    try:
        fields = read_json(str(text))
    except ValueError as error:
        raise UnreadableFile(f"entry {sequence} of the ledger is not readable ({one_line(error)}); restore it from a backup") from None
    if not isinstance(fields, dict):
        raise UnreadableFile(f"entry {sequence} of the ledger has no fields; restore it from a backup")
    return fields


@dataclass(frozen=True, slots=True)
class Change:
    """What an entry does to a chunk of accounts: ``kind`` "cost" (amounts that are added to what was spent) or "budget" (new budgets).

    Where the accounts are a table beside the log, the one change of an entry is of the kind "table": the version that it wrote.
    """

    kind: str
    chunk: int
    packed: bytes


@dataclass(frozen=True, slots=True)
class Segment:
    """Accounts that an entry opens: the first one's number, the hashes of their ids, and a hash of the ids as rows, or no byte."""

    first: int
    hashes: bytes
    fingerprint: bytes


class Digest:
    """The hash of what an entry does to the accounts, made while it is written or read: segments in order, then budgets, then costs,
    then the version of a table, where there is one.
    """

    __slots__ = ("_parts",)

    def __init__(self) -> None:
        self._parts = {kind: hashlib.sha256() for kind in _EARLIEST}

    def add_segment(self, segment: Segment) -> None:
        """Add new accounts, in the order of their numbers."""
        self._parts["segment"].update(_frame(segment.first.to_bytes(8, "little"), segment.hashes, segment.fingerprint))

    def add_change(self, change: Change) -> None:
        """Add what is done to a chunk; those of one kind in the order of the chunks. Raises :class:`LedgerRejected` for another kind."""
        if change.kind not in _CHANGES:
            raise LedgerRejected("a cost or a budget was expected in the ledger, but another change was found; restore it from a backup")
        self._parts.setdefault(change.kind, hashlib.sha256())
        part = self._parts[change.kind]
        part.update(_frame(change.chunk.to_bytes(8, "little")) + len(change.packed).to_bytes(8, "little"))
        part.update(change.packed)

    def finish(self) -> bytes:
        """Return the hash of all that was added."""
        others = sorted(self._parts.keys() - set(_EARLIEST))
        return hashlib.sha256(b"".join(self._parts[kind].digest() for kind in (*_EARLIEST, *others))).digest()


def hash_entry(last: bytes, sequence: int, kind: str, name: str, body: str) -> bytes:
    """Return the hash of an entry and of all before it, whose hash is ``last``: SHA-256 of the parts, each after its length."""
    return hashlib.sha256(_frame(last, sequence.to_bytes(8, "little"), kind.encode(), name.encode(), body.encode())).digest()


def _frame(*parts: bytes) -> bytes:
    return b"".join(len(part).to_bytes(8, "little") + part for part in parts)
