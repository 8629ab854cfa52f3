"""What a ledger keeps, as rows: its log, what each entry did to the accounts, the accounts as they stand, and outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from accountant.ledger.database import Database, Values
from accountant.ledger.log import Change, Entry, Segment, read_body
from accountant.ledger.units import WIDTH, Hasher
from profiles.errors import LedgerRejected

_Found = TypeVar("_Found")


@dataclass(frozen=True, slots=True)
class AccountChunk:
    """A chunk of accounts as it stands: what was spent and the budgets (packed), sealed with the number of the entry that wrote it."""

    chunk: int
    sequence: int
    spent: bytes
    budgets: bytes
    seal: bytes

    @classmethod
    def sealed(cls, chunk: int, sequence: int, spent: bytes, budgets: bytes, hasher: Hasher) -> AccountChunk:
        """Return a chunk with its seal."""
        return cls(chunk, sequence, spent, budgets, _seal(chunk, sequence, spent, budgets, hasher))

    def is_whole(self, hasher: Hasher) -> bool:
        """Tell whether this is what was written."""
        return self.seal == _seal(self.chunk, self.sequence, self.spent, self.budgets, hasher)


def seal_segment(sequence: int, segment: Segment, hasher: Hasher) -> bytes:
    """Return the keyed hash of new accounts and of the entry that opened them."""
    numbers = (sequence.to_bytes(8, "little"), segment.first.to_bytes(8, "little"))
    return hasher.seal(b"segment", *numbers, segment.hashes, segment.fingerprint)


def _seal(chunk: int, sequence: int, spent: bytes, budgets: bytes, hasher: Hasher) -> bytes:
    return hasher.seal(b"account", chunk.to_bytes(8, "little"), sequence.to_bytes(8, "little"), spent, budgets)


@dataclass(frozen=True, slots=True)
class Store:
    """The rows of a ledger in an open ``database``, whose errors these methods raise; and :class:`LedgerRejected` for values that are not
    of the type that was written.
    """

    database: Database

    def _rows(self, statement: str, values: Values, kinds: tuple[type, ...], make: Callable[..., _Found]) -> Iterator[_Found]:
        for row in self.database.iter_rows(statement, values):
            yield make(*self._require_types(row, kinds))

    def _row(self, statement: str, values: Values, kinds: tuple[type, ...], make: Callable[..., _Found]) -> _Found | None:
        row = self.database.find_row(statement, values)
        return None if row is None else make(*self._require_types(row, kinds))

    def _require_types(self, row: tuple[object, ...], kinds: tuple[type, ...]) -> tuple[object, ...]:
        if tuple(map(type, row)) != kinds or any(isinstance(item, int) and item < 0 for item in row):
            raise LedgerRejected(f"the ledger {self.database.name} is damaged; restore it from a backup of its log")
        return row

    def read_entries(self, after: int) -> list[Entry]:
        """Return the entries after a number. Raises :class:`LedgerRejected`, :class:`UnreadableFile`."""

        def make(seq: int, kind: str, name: str, body: str, hash: bytes, digest: bytes, seal: bytes) -> Entry:  # noqa: A002
            return Entry(seq, kind, name, read_body(body, seq), hash, digest, seal)

        statement = "SELECT seq, kind, name, body, hash, digest, seal FROM log WHERE seq > ? ORDER BY seq"
        return list(self._rows(statement, (after,), (int, str, str, str, bytes, bytes, bytes), make))

    def iter_segments(self, hasher: Hasher, sequence: int | None = None) -> Iterator[Segment]:
        """Yield the segments of an entry, or all. Raises :class:`LedgerRejected` for one that is not what was written."""

        def make(seq: int, first: int, hashes: bytes, fingerprint: bytes, seal: bytes) -> Segment:
            segment = Segment(first, hashes, fingerprint)
            if seal_segment(seq, segment, hasher) != seal:
                raise LedgerRejected(f"the accounts from {first} on of the ledger are damaged; restore it from a backup of its log")
            return segment

        where, values = ("", ()) if sequence is None else ("WHERE seq = ? ", (sequence,))
        statement = f"SELECT seq, first, hashes, fingerprint, seal FROM segments {where}ORDER BY first"  # noqa: S608 - words of ours
        return self._rows(statement, values, (int, int, bytes, bytes, bytes), make)

    def list_outlines(self) -> list[tuple[int, int, bytes]]:
        """Return of each segment the first account, how many there are, and the fingerprint of their ids as rows."""

        def make(first: int, length: int, fingerprint: bytes) -> tuple[int, int, bytes]:
            return first, length // WIDTH, fingerprint

        return list(self._rows("SELECT first, length(hashes), fingerprint FROM segments ORDER BY first", (), (int, int, bytes), make))

    def iter_changes(self, sequence: int, chunk: int | None = None) -> Iterator[Change]:
        """Yield what an entry does to the accounts, or to those of one chunk."""
        where, values = ("", (sequence,)) if chunk is None else (" AND chunk = ?", (sequence, chunk))
        statement = f"SELECT kind, chunk, packed FROM changes WHERE seq = ?{where} ORDER BY kind, chunk"  # noqa: S608 - words of ours
        return self._rows(statement, values, (str, int, bytes), Change)

    def read_account(self, chunk: int) -> AccountChunk | None:
        """Return a chunk of accounts, None where there is none."""
        statement = "SELECT chunk, seq, spent, budgets, seal FROM accounts WHERE chunk = ?"
        return self._row(statement, (chunk,), (int, int, bytes, bytes, bytes), AccountChunk)

    def read_output(self, sequence: int) -> bytes | None:
        """Return the output that an entry stored."""
        return self._row("SELECT value FROM outputs WHERE seq = ?", (sequence,), (bytes,), bytes)

    def count_strays(self) -> int:
        """Return how many rows belong to no entry of the log."""
        told = "seq NOT IN (SELECT seq FROM log)"
        wrong = {
            "segments": told,
            "changes": told,
            "outputs": "seq NOT IN (SELECT seq FROM log WHERE kind IN ('charge', 'output'))",
            "log": "seq < 0",
            "accounts": "chunk NOT IN (SELECT chunk FROM changes)",
        }
        counts = (f"SELECT count(*) FROM {table} WHERE {where}" for table, where in wrong.items())  # noqa: S608 - words of ours
        return sum(self._row(statement, (), (int,), int) or 0 for statement in counts)

    def read_place(self, what: str) -> str | None:
        """Return where a file was last, such as the anchor."""
        return self._row("SELECT path FROM places WHERE what = ?", (what,), (str,), str)

    def write_entry(self, entry: Entry, body: str) -> None:
        """Write an entry."""
        row = (entry.sequence, entry.kind, entry.name, body, entry.hash, entry.digest, entry.seal)
        self.database.execute("INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?)", row)

    def write_segment(self, sequence: int, segment: Segment, hasher: Hasher) -> None:
        """Write new accounts."""
        row = (segment.first, sequence, segment.hashes, segment.fingerprint, seal_segment(sequence, segment, hasher))
        self.database.execute("INSERT INTO segments VALUES (?, ?, ?, ?, ?)", row)

    def write_change(self, sequence: int, change: Change) -> None:
        """Write what an entry does to a chunk."""
        self.database.execute("INSERT INTO changes VALUES (?, ?, ?, ?)", (sequence, change.kind, change.chunk, change.packed))

    def write_account(self, account: AccountChunk) -> None:
        """Write a chunk of accounts in place of the one that was."""
        row = (account.chunk, account.sequence, account.spent, account.budgets, account.seal)
        self.database.execute(
            "INSERT INTO accounts VALUES (?, ?, ?, ?, ?) ON CONFLICT (chunk) DO UPDATE SET seq = excluded.seq, "
            "spent = excluded.spent, budgets = excluded.budgets, seal = excluded.seal",
            row,
        )

    def write_output(self, sequence: int, value: bytes) -> None:
        """Write an output."""
        self.database.execute("INSERT INTO outputs VALUES (?, ?)", (sequence, value))

    def write_mark(self, sequence: int, value: bytes) -> None:
        """Write what is kept beside the entry of a charge, where outputs of other entries are."""
        self.database.execute("INSERT INTO outputs VALUES (?, ?)", (sequence, value))

    def forget_place(self, what: str) -> None:
        """Forget where a file is."""
        self.database.execute("DELETE FROM places WHERE what = ?", (what,))

    def write_place(self, what: str, path: Path | str) -> None:
        """Write where a file is."""
        self.database.execute("INSERT INTO places VALUES (?, ?) ON CONFLICT (what) DO UPDATE SET path = excluded.path", (what, str(path)))
