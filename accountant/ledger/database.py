"""What keeps the tables of a ledger: the file of SQLite, or a schema of a PostgreSQL server. The rows are the same in both (store.py)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

#: "pdpl", and the versions of the tables: that of chunks, and that of pages.
APPLICATION, VERSION, NEWEST = 0x7064706C, 1, 2
#: How long a writer waits for another one.
WAIT_SECONDS = 120

#: The tables, in the words of SQLite.
TABLES = {
    "log": "(seq INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, body TEXT NOT NULL, hash BLOB NOT NULL, digest BLOB NOT "
    "NULL, seal BLOB NOT NULL)",
    "segments": "(first INTEGER PRIMARY KEY, seq INTEGER NOT NULL, hashes BLOB NOT NULL, fingerprint BLOB NOT NULL, seal BLOB NOT NULL)",
    "changes": "(seq INTEGER NOT NULL, kind TEXT NOT NULL, chunk INTEGER NOT NULL, packed BLOB NOT NULL, PRIMARY KEY (seq, kind, chunk))",
    "outputs": "(seq INTEGER PRIMARY KEY, value BLOB NOT NULL)",
    "accounts": "(chunk INTEGER PRIMARY KEY, seq INTEGER NOT NULL, spent BLOB NOT NULL, budgets BLOB NOT NULL, seal BLOB NOT NULL)",
    "places": "(what TEXT PRIMARY KEY, path TEXT NOT NULL)",
}
#: What is history: neither changed nor deleted. The accounts are what follows from it, and the places where files are may move.
HISTORY = ("log", "segments", "changes", "outputs")

_KEPT = ("log", "segments", "changes", "outputs", "places")
#: The same of version 2, whose accounts are pages.
PAGED_TABLES = {name: TABLES[name] for name in _KEPT} | {
    "runs": "(first INTEGER PRIMARY KEY, seq INTEGER NOT NULL, fences BLOB NOT NULL, seal BLOB NOT NULL)",
    "ids": "(page INTEGER PRIMARY KEY, body BLOB NOT NULL)",
    "late": "(page INTEGER PRIMARY KEY, body BLOB NOT NULL)",
    "accounts": "(page INTEGER PRIMARY KEY, body BLOB NOT NULL)",
    "budgets": "(page INTEGER PRIMARY KEY, body BLOB NOT NULL)",
    "state": "(one INTEGER PRIMARY KEY, body BLOB NOT NULL)",
}
PAGED_HISTORY = (*HISTORY, "runs", "ids")
#: What follows from the history, and is not deleted.
PAGED_ACCOUNTS = ("late", "accounts", "budgets", "state")

Values = Sequence[object]


class Database(Protocol):
    """An open database with the tables of one ledger. Statements have ? for their values.

    Every error is told in one sentence without what is in the tables: :class:`profiles.UnwritableOutput` for what cannot be written or
    reached, :class:`profiles.errors.LedgerRejected` for damage.
    """

    @property
    def name(self) -> str:
        """What messages call it, without passwords."""

    @property
    def version(self) -> int:
        """The version of its tables."""

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that it is in; none on a server."""

    def execute(self, statement: str, values: Values = ()) -> None:
        """Run a statement."""

    def find_row(self, statement: str, values: Values = ()) -> tuple[Any, ...] | None:
        """Return the first row that a statement finds."""

    def execute_many(self, statement: str, rows: Iterable[Values]) -> None:
        """Run a statement for each of some rows of values."""

    def read_rows(self, statement: str, values: Values) -> list[tuple[Any, ...]]:
        """Return all that a statement finds."""

    def iter_rows(self, statement: str, values: Values = ()) -> Iterator[tuple[Any, ...]]:
        """Yield what a statement finds; not all of it is held at once."""

    def turn(self) -> AbstractContextManager[None]:
        """Keep all other writers out, also between transactions; may be nested."""

    def transaction(self) -> AbstractContextManager[None]:
        """All that is written inside is durable at the end, or nothing is; no other process writes meanwhile."""

    def reading(self) -> AbstractContextManager[None]:
        """All reads inside see the tables at one moment."""

    def find_damage(self) -> str | None:
        """Return what the database finds wrong with its own pages, None for nothing."""

    def close(self) -> None:
        """Close it; what was committed is durable already."""

    def discard(self) -> None:
        """Close it and remove it: for one that was just made, and in which nothing was charged."""


class StoreLocation(Protocol):
    """Where a ledger is or will be."""

    @property
    def secret(self) -> Path | None:
        """Where its secret is where nothing is said; None where that must be said."""

    @property
    def file(self) -> Path | None:
        """The file, where it is one."""

    def create(self, version: int) -> Database:
        """Make the tables of a version. Raises :class:`profiles.UnwritableOutput`, also where there are some already."""

    def open(self) -> Database:
        """Open the tables. Raises :class:`profiles.UnreadableFile` for something else or another version, which is not touched then."""
