"""A ledger's files while they are made, opened and given up: the store, the anchor, the secret, and a table."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from accountant.ledger.accounts import Accounts
from accountant.ledger.anchor import Anchor
from accountant.ledger.database import NEWEST, VERSION
from accountant.ledger.journal import Journal, find_place, find_secret, write_secret
from accountant.ledger.opening import open_book, open_store
from accountant.ledger.places import to_place
from accountant.ledger.settings import LedgerSettings
from accountant.ledger.store import Store
from accountant.ledger.tables.accounts_table import TableBook
from accountant.ledger.tables.choosing import to_engine
from accountant.ledger.tables.versions import Folder
from accountant.ledger.units import Hasher
from profiles import InvalidArgument, UnwritableOutput

_Path = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class NewFiles:
    """Where a new ledger is to be, its anchor, its secret (PATH.key where none is named) and the folder of its table, if it has one."""

    path: _Path
    anchor: _Path
    secret: _Path | None = None
    table: _Path | None = None

    def begin(self, hidden: bytes, settings: LedgerSettings, engine: object = None, version: int | None = None) -> Journal:
        """Return the journal of a ledger without an entry, with the secret ``hidden``: store, anchor, secret and table, empty.

        Raises as :meth:`accountant.ledger.Ledger.create` does.
        """
        where, anchored = to_place(self.path), Path(self.anchor).absolute()
        key = find_secret(where, self.secret)
        folder = None if self.table is None else Folder(Path(self.table).absolute(), settings.ledger)
        files = [item.absolute() for item in (anchored, key, where.file, None if folder is None else folder.path) if item is not None]
        if len(set(files)) < len(files):
            raise InvalidArgument("the ledger, its anchor and its secret are three files, but two have one name; name three")
        if engine is not None and folder is None:
            raise InvalidArgument("an engine computes the spending of a ledger with a table, but no folder for one was named; name one")
        newest = NEWEST if folder is None else VERSION
        if version is not None and (type(version) is not int or not VERSION <= version <= newest):
            raise InvalidArgument(f"a version of tables from {VERSION} to {newest} was expected for this ledger, but another was asked for")
        if where.file is not None and os.path.lexists(where.file):
            raise UnwritableOutput(f"the ledger {where.file.name} is there already, and is never written over; name another file")
        with ExitStack() as made:
            if folder is not None:
                to_engine(engine)
                folder.create()
                made.callback(folder.discard)
            write_secret(key, hidden)
            made.callback(key.unlink)
            anchor = Anchor(anchored, settings.ledger)
            anchor.create()
            made.callback(anchor.remove)
            store = open_store(where.create(newest if version is None else version))
            made.callback(store.database.discard)
            hasher = Hasher.of(hidden)
            journal = Journal(store, anchor, hasher, settings.previous, open_accounts(store, hasher, settings, key, folder, engine))
            remember(journal, key, table=None if folder is None else folder.path)
            made.pop_all()
        return journal


def open_accounts(
    store: Store, hasher: Hasher, settings: LedgerSettings, secret: Path, folder: Folder | None, engine: object = None
) -> Accounts:
    """Return the accounts of a ledger with its secret in a file: in its store, or in the table in ``folder`` where there is one.

    Raises :class:`InvalidArgument` for an engine without a table.
    """
    if folder is None:
        if engine is not None:
            raise InvalidArgument("an engine was named, but the accounts of this ledger are in its store, and no table; leave it out")
        return open_book(store, hasher, settings.width, secret)
    return TableBook(store, hasher, folder, to_engine(engine))


def discard(journal: Journal, settings: LedgerSettings) -> None:
    """Remove what was made of a ledger that could not be opened; one with an entry is closed, and never removed."""
    if journal.entries:
        journal.store.database.close()
        return
    key = find_place(journal.store, "secret", None)
    if settings.table:
        Folder(find_place(journal.store, "table", None), settings.ledger).discard()
    journal.store.database.discard()
    journal.anchor.remove()
    key.unlink(missing_ok=True)


def remember(journal: Journal, secret: Path | None = None, data: object = None, table: Path | None = None) -> None:
    """Write down where the anchor is, and the secret, the data and the table, where they are given."""
    store = journal.store
    with store.database.turn(), store.database.transaction():
        store.write_place("anchor", journal.anchor.path.absolute())
        if secret is not None:
            store.write_place("secret", secret.absolute())
        if table is not None:
            store.write_place("table", table.absolute())
        if isinstance(data, (str, os.PathLike)):
            store.write_place("data", Path(data).absolute())
