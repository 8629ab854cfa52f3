"""Which rows a database has and which accounts are kept in them, by the version of its tables: chunks, or pages."""

from __future__ import annotations

from pathlib import Path

from accountant.ledger.accounts import Accounts
from accountant.ledger.book import Book
from accountant.ledger.database import NEWEST, Database
from accountant.ledger.mixed_book import MixedBook
from accountant.ledger.paged.book import PageBook
from accountant.ledger.paged.store import PageStore
from accountant.ledger.sqlite import name_maps
from accountant.ledger.store import Store
from accountant.ledger.units import Hasher


def open_store(database: Database) -> Store:
    """Return the rows of a ledger in an open database."""
    return PageStore(database) if database.version == NEWEST else Store(database)


def open_book(store: Store, hasher: Hasher, components: int, secret: Path) -> Accounts:
    """Return the accounts in a store, of so many components each. Maps are beside the file, and those of a server beside the secret."""
    if isinstance(store, PageStore):
        return PageBook(store, hasher, name_maps([*store.database.files, secret][0]), components)
    return Book(store, hasher) if components == 1 else MixedBook(store, hasher, components)
