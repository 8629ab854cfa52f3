"""The journal of an open ledger: its store, anchor and log together, and the order in which they are written (docs/ledger.md, L4)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from accountant.files import sync_folder
from accountant.ledger.accounts import Accounts
from accountant.ledger.anchor import Anchor
from accountant.ledger.book import Book
from accountant.ledger.database import StoreLocation
from accountant.ledger.inputs import require_regular
from accountant.ledger.log import CHANGING, CHARGE, END, OPEN, START, Digest, Entry, body_text, check_entry, make_entry
from accountant.ledger.store import Store
from accountant.ledger.units import SECRET_BYTES, Hasher
from profiles import InvalidArgument, UnreadableFile, UnwritableOutput
from profiles.errors import LedgerRejected

#: More secrets are in no file: a ledger that went on with a new one every month, for twenty years.
_MOST_SECRETS = 256


class Journal:
    """An open ledger as a store and an anchor. ``entries``: what was read or written of its log so far; ``accounts``: in its store,
    where nothing else is given.

    ``previous``: the hash that the first entry goes on from.
    """

    __slots__ = ("accounts", "anchor", "entries", "hasher", "previous", "store")

    def __init__(self, store: Store, anchor: Anchor, hasher: Hasher, previous: bytes = START, accounts: Accounts | None = None) -> None:
        self.store, self.anchor, self.hasher, self.previous = store, anchor, hasher, previous
        self.entries: list[Entry] = []
        self.accounts: Accounts = Book(store, hasher) if accounts is None else accounts

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Keep all other writers out, of the anchor and of the store."""
        with self.anchor.locked(), self.store.database.turn():
            yield

    @contextmanager
    def reading(self) -> Iterator[None]:
        """See the ledger at one moment, after reading what other processes appended. Raises as :meth:`append` does."""
        with self.turn(), self.store.database.reading():
            self.synchronise()
            yield

    def catch_up(self) -> None:
        """Read what other processes appended. Raises as :meth:`append` does."""
        with self.reading():
            pass

    def synchronise(self) -> None:
        """Read what other processes appended, check it, and bring the anchor up to date. Inside of a turn."""
        last = self.entries[-1] if self.entries else None
        fresh = self.store.read_entries(-1 if last is None else last.sequence)
        for entry in fresh:
            check_entry(last, entry, self.hasher, self.previous)
            last = entry
        entries = [*self.entries, *fresh]
        if self.anchor.compare(entries):
            self.anchor.append(entries[-1])
        self.entries = entries
        self._refresh()

    def adopt(self, entries: list[Entry]) -> None:
        """Take entries that were checked as what was read."""
        self.entries = entries
        self._refresh()

    def _refresh(self) -> None:
        self.accounts.refresh(next((entry for entry in reversed(self.entries) if entry.kind in CHANGING), None))

    def append(self, kind: str, name: str, work: Callable[[int, Digest], Mapping[str, Any]]) -> Entry:
        """Append an entry: what ``work`` writes and the entry become durable together, then the anchor gets it; only then is it returned.

        ``work`` gets the entry's number and the digest of what it writes, and returns the body. Where it raises, nothing was written.
        Raises :class:`LedgerRejected` for an old copy or a changed history, :class:`UnwritableOutput`.
        """
        with self.turn():
            return self.write(kind, name, work)

    def write(self, kind: str, name: str, work: Callable[[int, Digest], Mapping[str, Any]]) -> Entry:
        """Append an entry inside of a turn. See :meth:`append`."""
        with self.store.database.transaction():
            self.synchronise()
            last = self.entries[-1] if self.entries else None
            digest = Digest()
            body = work(0 if last is None else last.sequence + 1, digest)
            entry = make_entry(last, kind, name, body, digest.finish(), self.hasher, self.previous)
            self.store.write_entry(entry, body_text(body))
        self.entries.append(entry)
        self._refresh()
        self.anchor.append(entry)
        return entry

    def find(self, kind: str, name: str) -> Entry | None:
        """Return the entry of a kind with a name."""
        return next((entry for entry in self.entries if entry.kind == kind and entry.name == name), None)

    def select(self, kind: str) -> list[Entry]:
        """Return the entries of a kind."""
        return [entry for entry in self.entries if entry.kind == kind]

    def require_open(self) -> None:
        """Refuse a ledger that went on in another one: both together would be two budgets. Raises :class:`LedgerRejected`."""
        for entry in self.select(END):
            raise LedgerRejected(
                f"this ledger was migrated to {entry.body['to']} and is charged no more; it serves its outputs: charge the new one"
            )

    @property
    def charges(self) -> list[Entry]:
        """The entries of releases that were charged."""
        return self.select(CHARGE)


def read_first(store: Store) -> Entry:
    """Return the opening of a ledger, not checked. Raises :class:`LedgerRejected`."""
    entries = store.read_entries(-1)
    if not entries or entries[0].kind != OPEN or entries[0].sequence != 0:
        raise LedgerRejected(
            f"the log of the ledger {store.database.name} does not begin with its opening: it was never finished, or is damaged; "
            "restore it from a backup, or make another one"
        )
    return entries[0]


def find_place(store: Store, what: str, given: str | os.PathLike[str] | None) -> Path:
    """Return where the anchor or the secret is, whatever folder one works in later: as ``given``, or where it was last.

    Raises :class:`UnreadableFile`.
    """
    place = store.read_place(what) if given is None else given
    if place is None:
        raise UnreadableFile(f"the {what} of the ledger is not known; name it with --{what}")
    return Path(place).absolute()


def find_secret(place: StoreLocation, given: str | os.PathLike[str] | None) -> Path:
    """Return where the secret of a new ledger is. Raises :class:`InvalidArgument` where that must be said, and was not."""
    path = place.secret if given is None else Path(given)
    if path is None:
        raise InvalidArgument("a ledger on a server needs a file for its secret, but none was named; name one with --secret")
    return path.absolute()


def write_secret(path: Path, secret: bytes) -> None:
    """Write the secret of a new ledger, for its owner's eyes. Raises :class:`UnwritableOutput`, also where the file is there already."""
    try:
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(handle, "w") as stream:
            stream.write(secret.hex() + "\n")
            stream.flush()
            os.fsync(stream.fileno())
        sync_folder(path.parent)
    except FileExistsError:
        raise UnwritableOutput(f"the secret {path} is there already, and may belong to another ledger; name another file") from None
    except OSError as error:
        raise UnwritableOutput(f"the secret {path} could not be written ({error.strerror}); check folder and rights") from None


def read_secret(path: Path) -> bytes:
    """Return the secret in a file, or all of them, the last one first (``Hasher.of``). Raises :class:`UnreadableFile`."""
    require_regular(path, "the secret")
    try:
        secret = bytes.fromhex(path.read_text(encoding="ascii").strip())
    except FileNotFoundError:
        raise UnreadableFile(
            f"the secret {path} of the ledger is not there; name it with --secret, or get it from where it is kept"
        ) from None
    except (OSError, ValueError):
        raise UnreadableFile(f"the secret {path} of the ledger cannot be read; name the file that was made with the ledger") from None
    if len(secret) not in range(SECRET_BYTES, SECRET_BYTES * _MOST_SECRETS + 1, SECRET_BYTES):
        raise UnreadableFile(f"the secret {path} of the ledger is damaged; name the file that was made with the ledger")
    return secret
