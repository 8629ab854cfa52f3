"""The file of a ledger: one SQLite database, written ahead and synchronously, whose triggers refuse deletion and change of history."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from accountant.ledger.database import (
    APPLICATION,
    HISTORY,
    NEWEST,
    PAGED_ACCOUNTS,
    PAGED_HISTORY,
    PAGED_TABLES,
    TABLES,
    VERSION,
    WAIT_SECONDS,
    Values,
)
from accountant.ledger.inputs import require_regular
from accountant.ledger.write_ahead import has_ledger_in_log, list_pages
from profiles import UnreadableFile, UnwritableOutput
from profiles.errors import LedgerRejected
from profiles.randomness.forks import mark_process


def _list_statements(tables: dict[str, str], history: tuple[str, ...], accounts: tuple[str, ...]) -> list[str]:
    """Return what makes the tables of a version, and the triggers that keep them."""
    return (
        [f"CREATE TABLE {name} {columns}" for name, columns in tables.items()]
        + [
            f"CREATE TRIGGER {name}_{act.lower()} BEFORE {act} ON {name} BEGIN SELECT RAISE(ABORT, 'history is not changed'); END"
            for name in history
            for act in ("UPDATE", "DELETE")
        ]
        + [
            f"CREATE TRIGGER {name}_delete BEFORE DELETE ON {name} BEGIN SELECT RAISE(ABORT, 'accounts are not deleted'); END"
            for name in accounts
        ]
    )


_SCHEMAS = {
    VERSION: _list_statements(TABLES, HISTORY, ("accounts",)),
    NEWEST: _list_statements(PAGED_TABLES, PAGED_HISTORY, PAGED_ACCOUNTS),
}
#: Bytes of a page of the file: those of chunks are large; a page of accounts is one page of the file.
_PAGES = {VERSION: 65_536, NEWEST: 4_096}


@dataclass(frozen=True, slots=True)
class FilePlace:
    """A ledger in the file at ``path``."""

    path: Path

    @property
    def secret(self) -> Path:
        return Path(f"{self.path}.key")

    @property
    def file(self) -> Path:
        return self.path

    def create(self, version: int) -> FileDatabase:
        """Return a new file with the tables of a version. Raises :class:`UnwritableOutput`, also where there is one already."""
        path = self.path
        try:
            handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        except FileExistsError:
            raise UnwritableOutput(f"the ledger {path} is there already, and is never written over; name another file") from None
        except OSError as error:
            raise UnwritableOutput(f"the ledger {path} could not be written ({error.strerror}); check folder and rights") from None
        os.close(handle)
        try:
            made = FileDatabase(path, _connect(path), version)
        except BaseException:
            remove(path)
            raise
        try:
            made.execute(f"PRAGMA page_size = {_PAGES[version]}")
            made.prepare()
            with made.transaction():
                for statement in _SCHEMAS[version]:
                    made.execute(statement)
                made.execute(f"PRAGMA application_id = {APPLICATION}")
                made.execute(f"PRAGMA user_version = {version}")
            made.watch()
        except BaseException:
            made.discard()
            raise
        return made

    def open(self) -> FileDatabase:
        """Return the file. Raises :class:`UnreadableFile` for another file, or another version; it is not touched then."""
        path = self.path
        _require_database(path)
        made = FileDatabase(path, _connect(path), VERSION)
        try:
            made.prepare()
            (version,) = made.find_row("PRAGMA user_version") or (None,)
            (kind,) = made.find_row("PRAGMA application_id") or (None,)
            statements = [row[0] for row in made.iter_rows("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid")]
            if kind != APPLICATION:
                raise UnreadableFile(f"a ledger was expected in {path.name}, but another database was found; name the ledger")
            if version not in _SCHEMAS:
                raise UnreadableFile(
                    f"a ledger of version {VERSION} or {NEWEST} was expected in {path.name}, but version {version} was found; use another "
                    "release"
                )
            made.version = version
            if statements != _SCHEMAS[version]:
                raise LedgerRejected(
                    f"the tables or triggers of the ledger {path.name} are not those that were made; restore it from a backup"
                )
            made.watch()
            made.require_size()
        except BaseException:
            made.close()
            raise
        return made


class FileDatabase:
    """An open file of a ledger: a :class:`~accountant.ledger.database.Database`.

    SQLite's locks are the process's: whatever else opens and closes the file in it, or a fork, drops them, and another process that
    closes the ledger last then removes the write-ahead log, to which this one would go on to commit. So before and after each transaction
    both files must be those that were opened, and a forked process is refused.
    """

    __slots__ = ("_connection", "_files", "_path", "_process", "version")

    def __init__(self, path: Path, connection: sqlite3.Connection, version: int) -> None:
        self.version = version
        self._path, self._connection, self._process = path.absolute(), connection, mark_process()
        self._files: tuple[tuple[int, int], ...] | None = None

    @property
    def name(self) -> str:
        return self._path.name

    @property
    def files(self) -> tuple[Path, ...]:
        """The file, those that SQLite keeps beside it, and the maps of a ledger of pages."""
        return _list_files(self._path)

    def prepare(self) -> None:
        """Say how durable what is written has to be."""
        if self.find_row("PRAGMA journal_mode = WAL") != ("wal",):
            raise UnwritableOutput(
                f"the ledger {self.name} needs a file system on which SQLite can write ahead, but this one does not allow it; put "
                "it on a local disk"
            )
        self.execute("PRAGMA synchronous = FULL")
        self.execute("PRAGMA fullfsync = ON")  # macOS: through the cache of the disk
        self.execute("PRAGMA checkpoint_fullfsync = ON")
        self.execute("PRAGMA cell_size_check = ON")
        self.execute("PRAGMA cache_size = -32768")
        self.execute("PRAGMA secure_delete = OFF")  # pages of accounts that were, which the log has as well, are not filled with zeros

    def watch(self) -> None:
        """Remember which files are open."""
        self._files = _identify(self._path)

    def require_size(self) -> None:
        """Refuse a file with pages that no transaction wrote, or that lacks some which the write-ahead log has not either: what SQLite
        would find when it comes to them, if ever. Raises :class:`LedgerRejected`.
        """
        if self._count_bytes() == self._path.stat().st_size:
            return
        self.execute("BEGIN IMMEDIATE")  # others may copy the log back meanwhile, which makes the file no longer than it is to be
        try:
            size, whole = self._path.stat().st_size, self._count_bytes()
            (page,) = self.find_row("PRAGMA page_size") or (0,)
            missing = set(range(size // page + 1, whole // page + 1))
            wrong = size > whole or (missing and not missing <= list_pages(_list_files(Path(os.path.realpath(self._path)))[1]))
        finally:
            self.execute("ROLLBACK")
        if wrong:
            raise LedgerRejected(
                f"the ledger {self.name} is damaged: its file has another length than what was written; restore it from a backup of its log"
            )

    def _count_bytes(self) -> int:
        (pages,), (size,) = self.find_row("PRAGMA page_count") or (0,), self.find_row("PRAGMA page_size") or (0,)
        return int(pages * size)

    def _require_files(self, what: str) -> None:
        """Refuse to go on with files that are not at their place any more. Raises :class:`UnwritableOutput`."""
        if self._files is not None and _identify(self._path) != self._files:
            raise UnwritableOutput(f"the file of the ledger {self.name} or its write-ahead log was removed while it was open; {what}")

    def close(self) -> None:
        """Close the file; what was committed is on disk already."""
        if mark_process() == self._process:
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()

    def discard(self) -> None:
        self.close()
        remove(self._path)

    @contextlib.contextmanager
    def _reporting(self) -> Iterator[None]:
        """Turn errors of the database into ours: :class:`UnwritableOutput` for the disk, :class:`LedgerRejected` for a damaged file."""
        if mark_process() != self._process:
            raise UnreadableFile(f"the ledger {self.name} was opened before this process was forked; open it again in this one")
        try:
            yield
        except (sqlite3.Error, sqlite3.Warning, OverflowError, UnicodeDecodeError) as error:
            raise self._name_error(error) from None

    def _name_error(self, error: Exception) -> UnwritableOutput | LedgerRejected | UnreadableFile:
        text, name = str(error), self.name
        if "full" in text or "disk I/O" in text:
            return UnwritableOutput(f"the ledger {name} could not be written (the disk is full or failed); nothing was written: make room")
        if "readonly" in text or "unable to open" in text:
            return UnwritableOutput(f"the ledger {name} or its folder cannot be written (no right to write there); nothing was written")
        if "locked" in text or "busy" in text:
            return UnwritableOutput(
                f"the ledger {name} is in use by another process for {WAIT_SECONDS} seconds; nothing was written: try again"
            )
        if "closed" in text:
            return UnreadableFile(f"the ledger {name} was closed; open it again")
        if "thread" in text:
            return UnreadableFile(f"the ledger {name} was opened in another thread; open it again in this one")
        return LedgerRejected(f"the ledger {name} is damaged; restore it from a backup of its log")

    def execute(self, statement: str, values: Values = ()) -> None:
        with self._reporting():
            self._connection.execute(statement, tuple(values))

    def execute_many(self, statement: str, rows: Iterable[Values]) -> None:
        with self._reporting():
            self._connection.executemany(statement, rows)

    def read_rows(self, statement: str, values: Values) -> list[tuple[Any, ...]]:
        with self._reporting():
            return self._connection.execute(statement, tuple(values)).fetchall()

    def find_row(self, statement: str, values: Values = ()) -> tuple[Any, ...] | None:
        return next(self.iter_rows(statement, values), None)

    def iter_rows(self, statement: str, values: Values = ()) -> Iterator[tuple[Any, ...]]:
        with self._reporting():
            cursor = self._connection.execute(statement, tuple(values))
        while True:
            with self._reporting():
                row = cursor.fetchone()
            if row is None:
                return
            yield row

    @contextlib.contextmanager
    def turn(self) -> Iterator[None]:
        """Nothing to do: the lock of the anchor keeps other processes out, and a transaction whoever comes without it."""
        yield

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """All that is written inside is durable at the end, or nothing is; no other process writes meanwhile."""
        self.execute("BEGIN IMMEDIATE")
        try:
            self._require_files("nothing was written: open it again")
            yield
            self._commit()
            self._require_files("whether the charge is durable is not known, and nothing was run: open it again, and see its log")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
            raise

    def _commit(self) -> None:
        """End a transaction. Where the disk fails just then, the write-ahead log may have it or not: that is not known, and is said."""
        with self._reporting():
            try:
                self._connection.execute("COMMIT")
            except sqlite3.OperationalError as error:
                if "disk I/O" not in str(error):
                    raise
                raise UnwritableOutput(
                    f"the disk of the ledger {self.name} failed while an entry was made durable, and whether it is durable is not known; "
                    "nothing was run: open it again, and see its log with pdp ledger report"
                ) from None

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        self.execute("BEGIN")
        try:
            self._require_files("nothing was read: open it again")
            yield
        finally:
            with contextlib.suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")

    def find_damage(self) -> str | None:
        """Return what the database finds wrong with its own file, None for nothing."""
        row = self.find_row("PRAGMA integrity_check(1)")
        return None if row == ("ok",) else "its pages do not fit together"


def name_maps(path: Path) -> Path:
    """Return where the maps of a ledger are that are kept beside a file (``accountant/ledger/paged/maps.py``)."""
    return Path(f"{path}-maps")


def remove(path: Path) -> None:
    """Remove a file that was just made, with what the database put beside it."""
    for name in _list_files(path):
        name.unlink(missing_ok=True)


def _list_files(path: Path) -> tuple[Path, ...]:
    return path, Path(f"{path}-wal"), Path(f"{path}-shm"), name_maps(path)


def _identify(path: Path) -> tuple[tuple[int, int], ...]:
    """Return which files the ledger and its write-ahead log are; less where one is missing."""
    identities = []
    for name in (os.path.realpath(path), f"{os.path.realpath(path)}-wal"):  # SQLite writes beside what a link points to
        with contextlib.suppress(OSError):
            told = os.stat(name)
            identities.append((told.st_dev, told.st_ino))
    return tuple(identities)


def _connect(path: Path) -> sqlite3.Connection:
    try:
        return sqlite3.connect(path.absolute(), timeout=WAIT_SECONDS, isolation_level=None)  # ":memory:" is a file like others
    except sqlite3.Error:
        raise UnwritableOutput(f"the ledger {path} cannot be opened for writing; check folder and rights") from None


def _require_database(path: Path) -> None:
    """Refuse what is no SQLite file before a connection might create or change files.

    SQLite looks itself, without locks or logs: opened and closed by us, the file would lose the locks of other ledgers in this process.
    """
    require_regular(path, "the ledger")
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        raise UnreadableFile(f"the ledger {path} does not exist; check the path, or make one with: pdp ledger init") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "no such path"
        raise UnreadableFile(f"the ledger {path} cannot be read ({reason}); check its rights") from None
    try:
        look = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
    except sqlite3.Error:
        raise UnreadableFile(f"the ledger {path} cannot be read (a folder, or no right to read it); check its rights") from None
    try:
        readable = size > 0 and look.execute("PRAGMA schema_version").fetchone()
    except sqlite3.Error:
        readable = None
    finally:
        look.close()
    if not readable and not has_ledger_in_log(Path(f"{path.resolve()}-wal")):
        raise UnreadableFile(f"a ledger was expected in {path.name}, but another file was found; name the ledger")
