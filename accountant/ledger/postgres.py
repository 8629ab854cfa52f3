"""A ledger on a PostgreSQL server, for writers on several hosts: one schema, whose triggers refuse deletion and change of history.

Writers take turns by an advisory lock of their session, which the server keeps until it is done with the last statement of a writer that
died: whoever is next sees what was committed.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count, islice
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
from profiles import InvalidArgument, MissingExtra, PDPError, UnreadableFile, UnwritableOutput
from profiles.errors import LedgerRejected
from profiles.randomness.forks import mark_process

try:
    import psycopg
    from psycopg import errors
    from psycopg.conninfo import conninfo_to_dict
except ImportError as error:
    raise MissingExtra(
        "psycopg is needed for a ledger on a PostgreSQL server, but it is not installed; install pdp-accountant[postgres]"
    ) from error

#: The schema of a ledger where the address names none.
SCHEMA = "pdp_ledger"
_REFUSE = "CREATE FUNCTION {}() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''{}''; END'"


def _list_statements(tables: dict[str, str], history: tuple[str, ...], accounts: tuple[str, ...], stored: dict[str, str]) -> list[str]:
    """Return what makes the tables of a version, the triggers that keep them, and how columns are ``stored``."""
    keep = "CREATE TRIGGER keep BEFORE {} OR TRUNCATE ON {} EXECUTE FUNCTION {}()"
    return [
        *(f"CREATE TABLE {name} {columns.replace('INTEGER', 'BIGINT').replace('BLOB', 'BYTEA')}" for name, columns in tables.items()),
        _REFUSE.format("refuse_change", "history is not changed"),
        _REFUSE.format("refuse_deletion", "accounts are not deleted"),
        *(keep.format("UPDATE OR DELETE", name, "refuse_change") for name in history),
        *(keep.format("DELETE", name, "refuse_deletion") for name in accounts),
        *(f"ALTER TABLE {name} ENABLE ALWAYS TRIGGER keep" for name in (*history, *accounts)),
        *(f"ALTER TABLE {name} {how}" for name, how in stored.items()),
    ]


_SCHEMAS = {
    VERSION: _list_statements(
        TABLES,
        HISTORY,
        ("accounts",),
        {  # amounts are packed already
            "changes": "ALTER packed SET STORAGE EXTERNAL",
            "segments": "ALTER hashes SET STORAGE EXTERNAL",
            "accounts": "ALTER spent SET STORAGE EXTERNAL, ALTER budgets SET STORAGE EXTERNAL",
        },
    ),
    # What is compressed has a size that tells of amounts: nothing is. Two pages of accounts, in one piece each, are one of the server.
    NEWEST: _list_statements(
        PAGED_TABLES,
        PAGED_HISTORY,
        PAGED_ACCOUNTS,
        {
            "changes": "ALTER packed SET STORAGE EXTERNAL",
            "segments": "ALTER hashes SET STORAGE EXTERNAL",
            "runs": "ALTER fences SET STORAGE EXTERNAL",
            "late": "ALTER body SET STORAGE EXTERNAL",
            "state": "ALTER body SET STORAGE EXTERNAL",
            "ids": "ALTER body SET STORAGE PLAIN",
            "accounts": "ALTER body SET STORAGE PLAIN",
            "budgets": "ALTER body SET STORAGE PLAIN",
        },
    ),
}
#: What the tables, their keys and their triggers are, in one text for each.
_DESCRIBE = """
SELECT concat_ws(' ', c.relname, c.relkind, c.relpersistence, c.relrowsecurity, c.relhasrules,
    (SELECT string_agg(concat_ws(' ', a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull), ', ' ORDER BY a.attnum)
        FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped),
    (SELECT string_agg(pg_get_constraintdef(k.oid), ', ' ORDER BY k.conname) FROM pg_constraint k
        WHERE k.conrelid = c.oid AND k.contype <> 'n'),
    (SELECT string_agg(concat_ws(' ', t.tgname, t.tgtype, t.tgenabled, p.prosrc), ', ' ORDER BY t.tgname)
        FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid WHERE t.tgrelid = c.oid AND NOT t.tgisinternal))
FROM pg_class c WHERE c.relnamespace = to_regnamespace(?) AND c.relkind NOT IN ('i', 't', 'I', 'S') ORDER BY c.relname
"""
_BEGIN = "BEGIN ISOLATION LEVEL REPEATABLE READ"
#: Rows that are fetched at once; each has up to a megabyte.
_FETCHED = 16
#: Rows that are sent at once; each has some kilobytes.
_SENT = 1_000


@dataclass(frozen=True, slots=True)
class ServerPlace:
    """A ledger in a ``schema`` of the database at an address ``url``, which may hold a password."""

    url: str = field(repr=False)
    schema: str

    @property
    def secret(self) -> None:
        """None: a server has no file beside it."""
        return

    @property
    def file(self) -> None:
        return

    @property
    def name(self) -> str:
        parameters = conninfo_to_dict(self.url)
        port = f":{parameters['port']}" if "port" in parameters else ""
        return f"postgresql://{parameters.get('host', '')}{port}/{parameters.get('dbname', '')}#{self.schema}"

    def create(self, version: int) -> ServerDatabase:
        """Return a new schema with the tables. Raises :class:`UnwritableOutput`, also where there is one already."""
        made = _connect(self)
        try:
            with made.transaction():
                if made.find_row("SELECT to_regnamespace(?)::text", (self.schema,)) != (None,):
                    raise UnwritableOutput(f"the ledger {self.name} is there already, and is never written over; name another schema")
                for statement in (f'CREATE SCHEMA "{self.schema}"', *_SCHEMAS[version]):
                    made.execute(statement)
                made.execute(f"COMMENT ON SCHEMA \"{self.schema}\" IS 'pdp ledger {version} {made.fingerprint()}'")
                made.version = version
            made.choose_lock()
        except BaseException:
            made.close()
            raise
        return made

    def open(self) -> ServerDatabase:
        """Return the tables. Raises :class:`UnreadableFile` for another schema, or another version; it is not touched then."""
        made = _connect(self)
        try:
            comment = made.find_row("SELECT coalesce(obj_description(to_regnamespace(?), 'pg_namespace'), '')", (self.schema,)) or ("",)
            told = re.fullmatch(r"pdp ledger (\d+) ([0-9a-f]{64})", comment[0])
            if told is None:
                raise UnreadableFile(f"a ledger was expected in {self.name}, but there is none; check the address, or run: pdp ledger init")
            if int(told[1]) not in _SCHEMAS:
                raise UnreadableFile(
                    f"a ledger of version {VERSION} or {NEWEST} was expected in {self.name}, but version {told[1]} was found; use another "
                    "release"
                )
            made.version = int(told[1])
            if made.fingerprint() != told[2]:
                raise LedgerRejected(
                    f"the tables or triggers of the ledger {self.name} are not those that were made; restore it from a backup"
                )
            if made.find_row("SELECT has_schema_privilege(?, 'USAGE')", (self.schema,)) != (True,):
                raise UnwritableOutput(f"the ledger {self.name} cannot be read (no right to its schema); check the user")
            made.choose_lock()
        except BaseException:
            made.close()
            raise
        return made


def to_server(address: str) -> ServerPlace:
    """Return where a ledger is from ``postgresql://HOST/DATABASE#SCHEMA``. Raises :class:`InvalidArgument`.

    >>> to_server("postgresql://ada:secret@db.example/people#year_2026").name
    'postgresql://db.example/people#year_2026'
    """
    url, _, schema = address.partition("#")
    schema = schema or SCHEMA
    if not re.fullmatch(r"[a-z_][a-z0-9_]{0,62}", schema) or schema.startswith("pg_"):
        raise InvalidArgument(
            f"the schema of a ledger was expected after # in its address, in small letters, digits and underscores, but {schema[:40]!r} "
            "was found; write for example postgresql://host/database#people"
        )
    try:
        conninfo_to_dict(url)
    except psycopg.Error:
        raise InvalidArgument(
            "the address of a ledger on a server was expected, but it cannot be read; write postgresql://host/database#schema, with "
            "letters other than ASCII letters and digits as %XX"
        ) from None
    return ServerPlace(url, schema)


class ServerDatabase:
    """An open schema of a server: a :class:`~accountant.ledger.database.Database`."""

    __slots__ = ("_connection", "_cursors", "_lock", "_owner", "_place", "version")

    def __init__(self, place: ServerPlace, connection: Any, version: int = VERSION) -> None:
        self.version = version
        self._place, self._connection, self._lock, self._cursors = place, connection, 0, count()
        self._owner = (mark_process(), threading.get_ident())

    @property
    def name(self) -> str:
        return self._place.name

    @property
    def files(self) -> tuple[Path, ...]:
        return ()

    def prepare(self) -> None:
        """Say how durable what is written has to be, and how long to wait. Raises :class:`UnwritableOutput` for a server that forgets."""
        settings = self.find_row("SELECT current_setting('fsync'), current_setting('full_page_writes'), current_setting('server_encoding')")
        if settings != ("on", "on", "UTF8"):
            raise UnwritableOutput(
                f"the ledger {self.name} needs a server that keeps what it confirmed (fsync and full_page_writes on) and a database in "
                f"UTF8, but {', '.join(map(str, settings or ()))} were found; change its settings"
            )
        (level,) = self.find_row("SELECT current_setting('synchronous_commit')") or ("",)
        wanted = level if level == "remote_apply" else "on"
        for name, value in {
            "synchronous_commit": wanted, "search_path": f'"{self._place.schema}", pg_temp', "lock_timeout": f"{WAIT_SECONDS}s",
            "tcp_keepalives_idle": "30", "tcp_keepalives_interval": "10", "tcp_keepalives_count": "3",
        }.items():  # fmt: skip
            self.find_row("SELECT set_config(?, ?, false)", (name, value))

    def choose_lock(self) -> None:
        """Find the number of the lock by which writers of this schema take turns."""
        (number,) = self.find_row("SELECT to_regnamespace(?)::oid::bigint", (self._place.schema,)) or (0,)
        self._lock = APPLICATION << 32 | int(number)

    def fingerprint(self) -> str:
        """Return a hash of what the tables, keys and triggers are."""
        descriptions = [row[0] for row in self.iter_rows(_DESCRIBE, (self._place.schema,))]
        return hashlib.sha256("\n".join(descriptions).encode()).hexdigest()

    def close(self) -> None:
        """Close the connection; what was committed is durable already."""
        with contextlib.suppress(psycopg.Error):
            self._connection.close()

    def discard(self) -> None:
        with contextlib.suppress(PDPError), self.transaction():
            self.execute(f'DROP SCHEMA "{self._place.schema}" CASCADE')
        self.close()

    @contextlib.contextmanager
    def _reporting(self) -> Iterator[None]:
        if (mark_process(), threading.get_ident()) != self._owner:
            raise UnreadableFile(f"the ledger {self.name} was opened in another thread or process; open it again in this one")
        try:
            yield
        except psycopg.Error as error:
            raise _name_error(error, self.name) from None

    def execute(self, statement: str, values: Values = ()) -> None:
        with self._reporting():
            self._connection.execute(_translate(statement), tuple(values) or None)

    def execute_many(self, statement: str, rows: Iterable[Values]) -> None:
        given = iter(rows)
        while part := list(islice(given, _SENT)):
            with self._reporting(), self._connection.cursor() as cursor:
                cursor.executemany(_translate(statement), part)

    def read_rows(self, statement: str, values: Values) -> list[tuple[Any, ...]]:
        with self._reporting(), self._connection.cursor(binary=True) as cursor:
            return list(cursor.execute(_translate(statement), tuple(values) or None).fetchall())

    def find_row(self, statement: str, values: Values = ()) -> tuple[Any, ...] | None:
        with self._reporting(), self._connection.cursor(binary=True) as cursor:
            row: tuple[Any, ...] | None = cursor.execute(_translate(statement), tuple(values) or None).fetchone()
            return row

    def iter_rows(self, statement: str, values: Values = ()) -> Iterator[tuple[Any, ...]]:
        inside = self._connection.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS
        with contextlib.nullcontext() if inside else self.reading():
            with self._reporting():
                cursor = self._connection.cursor(f"rows{next(self._cursors)}", binary=True)
                cursor.execute(_translate(statement), tuple(values) or None)
            try:
                while True:
                    with self._reporting():
                        rows = cursor.fetchmany(_FETCHED)
                    if not rows:
                        return
                    yield from rows
            finally:
                with contextlib.suppress(psycopg.Error):
                    cursor.close()

    @contextlib.contextmanager
    def turn(self) -> Iterator[None]:
        """Keep all other writers of this schema out, on all hosts."""
        self.find_row("SELECT pg_advisory_lock(?)::text", (self._lock,))
        try:
            yield
        finally:
            with contextlib.suppress(psycopg.Error):
                self._connection.execute("SELECT pg_advisory_unlock(%s)", (self._lock,))

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """All that is written inside is durable at the end, or nothing is; whoever writes without a turn is refused."""
        self.execute(_BEGIN)
        try:
            yield
            self._commit()
        except BaseException:
            self._roll_back()
            raise

    def _commit(self) -> None:
        try:
            self._connection.execute("COMMIT")
        except psycopg.OperationalError:
            raise UnwritableOutput(
                f"the connection to the ledger {self.name} was lost while a charge was made durable, and the server alone knows whether it "
                "is; nothing was run: see its log with pdp ledger report"
            ) from None
        except psycopg.Error as error:
            raise _name_error(error, self.name) from None

    def _roll_back(self) -> None:
        with contextlib.suppress(psycopg.Error):
            self._connection.execute("ROLLBACK")

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        self.execute(f"{_BEGIN} READ ONLY")
        try:
            yield
        finally:
            self._roll_back()

    def find_damage(self) -> str | None:
        """None: the server checks its pages where it reads them, and all rows are read and checked by their seals."""
        return None


def _translate(statement: str) -> str:
    return statement.replace("?", "%s")


def _connect(place: ServerPlace) -> ServerDatabase:
    given = conninfo_to_dict(place.url)
    defaults = {"connect_timeout": 10, "application_name": "pdp ledger", "client_encoding": "utf8"}
    try:
        connection = psycopg.connect(place.url, autocommit=True, **{name: value for name, value in defaults.items() if name not in given})
    except psycopg.Error:
        raise UnwritableOutput(
            f"the ledger {place.name} cannot be reached (no answer, no such database, or no right to it); check address, user and password"
        ) from None
    made = ServerDatabase(place, connection)
    try:
        made.prepare()
    except BaseException:
        made.close()
        raise
    return made


def _name_error(error: Exception, name: str) -> UnwritableOutput | LedgerRejected:
    match error:
        case errors.DiskFull() | errors.IoError():
            return UnwritableOutput(f"the ledger {name} could not be written (the disk is full or failed); nothing was written: make room")
        case errors.InsufficientPrivilege() | errors.ReadOnlySqlTransaction():
            return UnwritableOutput(f"the ledger {name} cannot be written (no right to write there); nothing was written: check the user")
        case errors.LockNotAvailable() | errors.QueryCanceled():
            return UnwritableOutput(
                f"the ledger {name} is in use by another process for {WAIT_SECONDS} seconds; nothing was written: try again"
            )
        case errors.SerializationFailure() | errors.UniqueViolation() | errors.DeadlockDetected() | errors.DuplicateSchema():
            return UnwritableOutput(f"the ledger {name} was written by another process at the same time; nothing was written: try again")
        case errors.DataCorrupted() | errors.IndexCorrupted():
            return LedgerRejected(f"the ledger {name} is damaged; restore it from a backup of its log")
        case psycopg.OperationalError() | psycopg.InterfaceError():
            return UnwritableOutput(f"the connection to the ledger {name} was lost; nothing was written: try again")
    return LedgerRejected(f"the tables of the ledger {name} are not those that were made; restore it from a backup of its log")
