"""The file of a ledger: one SQLite database, written ahead and synchronously, whose triggers refuse deletion and change of history."""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from accountant.ledger.log import Change, Entry, Segment, read_body
from accountant.ledger.units import WIDTH, Hasher
from profiles import UnreadableFile, UnwritableOutput
from profiles.errors import LedgerRejected

#: "pdpl", and the version of the tables.
APPLICATION, VERSION = 0x7064706C, 1
_WAIT_SECONDS = 120
_Found = TypeVar("_Found")

_TABLES = {
    "log": "(seq INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, body TEXT NOT NULL, hash BLOB NOT NULL, digest BLOB NOT "
    "NULL, seal BLOB NOT NULL)",
    "segments": "(first INTEGER PRIMARY KEY, seq INTEGER NOT NULL, hashes BLOB NOT NULL, fingerprint BLOB NOT NULL, seal BLOB NOT NULL)",
    "changes": "(seq INTEGER NOT NULL, kind TEXT NOT NULL, chunk INTEGER NOT NULL, packed BLOB NOT NULL, PRIMARY KEY (seq, kind, chunk))",
    "outputs": "(seq INTEGER PRIMARY KEY, value BLOB NOT NULL)",
    "accounts": "(chunk INTEGER PRIMARY KEY, seq INTEGER NOT NULL, spent BLOB NOT NULL, budgets BLOB NOT NULL, seal BLOB NOT NULL)",
    "places": "(what TEXT PRIMARY KEY, path TEXT NOT NULL)",
}
#: What is history: neither changed nor deleted. The accounts are what follows from it, and the places where files are may move.
_HISTORY = ("log", "segments", "changes", "outputs")
_SCHEMA = (
    [f"CREATE TABLE {name} {columns}" for name, columns in _TABLES.items()]
    + [
        f"CREATE TRIGGER {name}_{act.lower()} BEFORE {act} ON {name} BEGIN SELECT RAISE(ABORT, 'history is not changed'); END"
        for name in _HISTORY
        for act in ("UPDATE", "DELETE")
    ]
    + ["CREATE TRIGGER accounts_delete BEFORE DELETE ON accounts BEGIN SELECT RAISE(ABORT, 'accounts are not deleted'); END"]
)


@dataclass(frozen=True, slots=True)
class Account:
    """A chunk of accounts as it stands: what was spent and the budgets (packed), sealed with the number of the entry that wrote it."""

    chunk: int
    sequence: int
    spent: bytes
    budgets: bytes
    seal: bytes

    @classmethod
    def sealed(cls, chunk: int, sequence: int, spent: bytes, budgets: bytes, hasher: Hasher) -> Account:
        """Return a chunk with its seal."""
        return cls(chunk, sequence, spent, budgets, _seal(chunk, sequence, spent, budgets, hasher))

    def is_whole(self, hasher: Hasher) -> bool:
        """Tell whether this is what was written."""
        return self.seal == _seal(self.chunk, self.sequence, self.spent, self.budgets, hasher)


def _seal_segment(sequence: int, segment: Segment, hasher: Hasher) -> bytes:
    numbers = (sequence.to_bytes(8, "little"), segment.first.to_bytes(8, "little"))
    return hasher.seal(b"segment", *numbers, segment.hashes, segment.fingerprint)


def _seal(chunk: int, sequence: int, spent: bytes, budgets: bytes, hasher: Hasher) -> bytes:
    return hasher.seal(b"account", chunk.to_bytes(8, "little"), sequence.to_bytes(8, "little"), spent, budgets)


class Store:
    """An open file of a ledger. All errors of the database are told in one sentence, without what is in the file."""

    __slots__ = ("_database", "path")

    def __init__(self, path: Path, database: sqlite3.Connection) -> None:
        self.path = path
        self._database = database

    @classmethod
    def create(cls, path: Path) -> Store:
        """Return a new file. Raises :class:`UnwritableOutput`, also where there is one already."""
        try:
            handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        except FileExistsError:
            raise UnwritableOutput(f"the ledger {path} is there already, and is never written over; name another file") from None
        except OSError as error:
            raise UnwritableOutput(f"the ledger {path} could not be written ({error.strerror}); check folder and rights") from None
        os.close(handle)
        made = cls(path, _connect(path))
        with made.reporting():
            made._database.execute("PRAGMA page_size = 65536")
            made._prepare()
            made._database.execute("BEGIN IMMEDIATE")
            for statement in _SCHEMA:
                made._database.execute(statement)
            made._database.execute(f"PRAGMA application_id = {APPLICATION}")
            made._database.execute(f"PRAGMA user_version = {VERSION}")
            made._database.execute("COMMIT")
        return made

    @classmethod
    def open(cls, path: Path) -> Store:
        """Return the file at ``path``. Raises :class:`UnreadableFile` for another file, or another version; it is not touched then."""
        _require_ledger(path)
        made = cls(path, _connect(path))
        try:
            with made.reporting():
                made._prepare()
                version = made._database.execute("PRAGMA user_version").fetchone()[0]
                kind = made._database.execute("PRAGMA application_id").fetchone()[0]
                found = [row[0] for row in made._database.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid")]
            if kind != APPLICATION:
                raise UnreadableFile(f"a ledger was expected in {path.name}, but another database was found; name the ledger")
            if version != VERSION:
                raise UnreadableFile(
                    f"a ledger of version {VERSION} was expected in {path.name}, but version {version} was found; use another release"
                )
            if found != _SCHEMA:
                raise LedgerRejected(
                    f"the tables or triggers of the ledger {path.name} are not those that were made; restore it from a backup"
                )
        except BaseException:
            made.close()
            raise
        return made

    def _prepare(self) -> None:
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.execute("PRAGMA synchronous = FULL")
        self._database.execute("PRAGMA cell_size_check = ON")

    def close(self) -> None:
        """Close the file; what was committed is on disk already."""
        with contextlib.suppress(sqlite3.Error):
            self._database.close()

    @contextlib.contextmanager
    def reporting(self) -> Iterator[None]:
        """Turn errors of the database into ours: :class:`UnwritableOutput` for the disk, :class:`LedgerRejected` for a damaged file."""
        try:
            yield
        except (sqlite3.Error, sqlite3.Warning, OverflowError, UnicodeDecodeError) as error:
            raise self._name(error) from None

    def _name(self, error: Exception) -> UnwritableOutput | LedgerRejected | UnreadableFile:
        text, name = str(error), self.path.name
        if "full" in text or "disk I/O" in text:
            return UnwritableOutput(f"the ledger {name} could not be written (the disk is full or failed); nothing was charged: make room")
        if "readonly" in text or "unable to open" in text:
            return UnwritableOutput(f"the ledger {name} or its folder cannot be written (no right to write there); nothing was charged")
        if "locked" in text or "busy" in text:
            return UnwritableOutput(
                f"the ledger {name} is in use by another process for {_WAIT_SECONDS} seconds; nothing was charged: try again"
            )
        if "thread" in text:
            return UnreadableFile(f"the ledger {name} was opened in another thread; open it again in this one")
        return LedgerRejected(f"the ledger {name} is damaged; restore it from a backup of its log")

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """All that is written inside is durable at the end, or nothing is; no other process writes meanwhile."""
        with self.reporting():
            self._database.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                self._database.execute("ROLLBACK")
            raise
        try:
            with self.reporting():
                self._database.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                self._database.execute("ROLLBACK")
            raise

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """All reads inside see the ledger at one moment."""
        with self.reporting():
            self._database.execute("BEGIN")
            try:
                yield
            finally:
                with contextlib.suppress(sqlite3.Error):
                    self._database.execute("ROLLBACK")

    def _rows(self, statement: str, values: tuple[object, ...], make: Callable[..., _Found]) -> Iterator[_Found]:
        with self.reporting():
            cursor = self._database.execute(statement, values)
        while True:
            with self.reporting():
                row = cursor.fetchone()
            if row is None:
                return
            yield make(*row)

    def read_entries(self, after: int) -> list[Entry]:
        """Return the entries after a number. Raises :class:`LedgerRejected`, :class:`UnreadableFile`."""

        def make(seq: int, kind: str, name: str, body: str, hash: bytes, digest: bytes, seal: bytes) -> Entry:  # noqa: A002
            if not all(isinstance(item, bytes) for item in (hash, digest, seal)) or not isinstance(name, str) or not isinstance(kind, str):
                raise LedgerRejected(f"entry {seq} of the ledger is damaged; restore it from a backup")
            return Entry(seq, kind, name, read_body(body, seq), hash, digest, seal)

        return list(self._rows("SELECT seq, kind, name, body, hash, digest, seal FROM log WHERE seq > ? ORDER BY seq", (after,), make))

    def iter_segments(self, hasher: Hasher, sequence: int | None = None) -> Iterator[Segment]:
        """Yield the segments of an entry, or all. Raises :class:`LedgerRejected` for one that is not what was written."""

        def make(seq: int, first: int, hashes: bytes, fingerprint: bytes, seal: bytes) -> Segment:
            found = Segment(first, hashes, fingerprint)
            if not isinstance(hashes, bytes) or not isinstance(fingerprint, bytes) or _seal_segment(seq, found, hasher) != seal:
                raise LedgerRejected(f"the accounts from {first} on of the ledger are damaged; restore it from a backup of its log")
            return found

        where, values = ("", ()) if sequence is None else ("WHERE seq = ? ", (sequence,))
        return self._rows(f"SELECT seq, first, hashes, fingerprint, seal FROM segments {where}ORDER BY first", values, make)  # noqa: S608

    def list_outlines(self) -> list[tuple[int, int, bytes]]:
        """Return of each segment the first account, how many there are, and the fingerprint of their ids as rows."""

        def make(first: int, length: int, fingerprint: bytes) -> tuple[int, int, bytes]:
            return first, length // WIDTH, bytes(fingerprint)

        return list(self._rows("SELECT first, length(hashes), fingerprint FROM segments ORDER BY first", (), make))

    def iter_changes(self, sequence: int) -> Iterator[Change]:
        """Yield what an entry does to the accounts."""
        return self._rows("SELECT kind, chunk, packed FROM changes WHERE seq = ? ORDER BY kind, chunk", (sequence,), Change)

    def read_account(self, chunk: int) -> Account | None:
        """Return a chunk of accounts, None where there is none."""
        return next(self._rows("SELECT chunk, seq, spent, budgets, seal FROM accounts WHERE chunk = ?", (chunk,), Account), None)

    def read_output(self, sequence: int) -> bytes | None:
        """Return the output that an entry stored."""
        return next(self._rows("SELECT value FROM outputs WHERE seq = ?", (sequence,), bytes), None)

    def count_rows(self, table: str) -> int:
        """Return the number of rows of one of our tables."""
        return next(self._rows(f"SELECT count(*) FROM {table if table in _TABLES else 'log'}", (), int), 0)  # noqa: S608 - names of ours

    def read_place(self, what: str) -> str | None:
        """Return where a file was last, such as the anchor."""
        return next(self._rows("SELECT path FROM places WHERE what = ?", (what,), str), None)

    def write_entry(self, entry: Entry, body: str) -> None:
        """Write an entry."""
        row = (entry.sequence, entry.kind, entry.name, body, entry.hash, entry.digest, entry.seal)
        with self.reporting():
            self._database.execute("INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?)", row)

    def write_segment(self, sequence: int, segment: Segment, hasher: Hasher) -> None:
        """Write new accounts."""
        row = (segment.first, sequence, segment.hashes, segment.fingerprint, _seal_segment(sequence, segment, hasher))
        with self.reporting():
            self._database.execute("INSERT INTO segments VALUES (?, ?, ?, ?, ?)", row)

    def write_change(self, sequence: int, change: Change) -> None:
        """Write what an entry does to a chunk."""
        with self.reporting():
            self._database.execute("INSERT INTO changes VALUES (?, ?, ?, ?)", (sequence, change.kind, change.chunk, change.packed))

    def write_account(self, account: Account) -> None:
        """Write a chunk of accounts in place of the one that was."""
        row = (account.chunk, account.sequence, account.spent, account.budgets, account.seal)
        with self.reporting():
            self._database.execute(
                "INSERT INTO accounts VALUES (?, ?, ?, ?, ?) ON CONFLICT (chunk) DO UPDATE SET seq = excluded.seq, "
                "spent = excluded.spent, budgets = excluded.budgets, seal = excluded.seal",
                row,
            )

    def write_output(self, sequence: int, value: bytes) -> None:
        """Write an output."""
        with self.reporting():
            self._database.execute("INSERT INTO outputs VALUES (?, ?)", (sequence, value))

    def write_place(self, what: str, path: Path) -> None:
        """Write where a file is."""
        with self.reporting():
            self._database.execute("INSERT OR REPLACE INTO places VALUES (?, ?)", (what, str(path)))

    def find_damage(self) -> str | None:
        """Return what the database finds wrong with its own file, None for nothing."""
        found = next(self._rows("PRAGMA integrity_check(1)", (), str), "no answer")
        return None if found == "ok" else "its pages do not fit together"


def _connect(path: Path) -> sqlite3.Connection:
    try:
        return sqlite3.connect(path, timeout=_WAIT_SECONDS, isolation_level=None)
    except sqlite3.Error:
        raise UnwritableOutput(f"the ledger {path} cannot be opened for writing; check folder and rights") from None


def _require_ledger(path: Path) -> None:
    """Refuse what is no SQLite file before the database looks at it, which might create or change files."""
    try:
        with path.open("rb") as stream:
            head = stream.read(100)
    except FileNotFoundError:
        raise UnreadableFile(f"the ledger {path} does not exist; check the path, or make one with: pdp ledger init") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "no such path"
        raise UnreadableFile(f"the ledger {path} cannot be read ({reason}); check its rights") from None
    if not re.match(rb"SQLite format 3\x00", head):
        raise UnreadableFile(f"a ledger was expected in {path.name}, but another file was found; name the ledger")
