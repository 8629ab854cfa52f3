"""Of a ledger that goes on from another one: whether that one was ended. Until then this one is not charged, or both could be."""

from __future__ import annotations

from collections.abc import Sequence

from accountant.ledger.log import END, Entry, check_entry
from accountant.ledger.places import to_place
from accountant.ledger.settings import LedgerSettings, read_settings
from accountant.ledger.store import Store
from accountant.ledger.units import Hasher
from profiles import PDPError
from profiles.errors import LedgerRejected

#: What the place of the ledger before is kept as, until that one is known to be ended.
BEFORE = "before"


def require_ended(store: Store, settings: LedgerSettings, hasher: Hasher) -> None:
    """Refuse a ledger whose migration died before the one that it goes on from was ended. Raises :class:`LedgerRejected`."""
    before = store.read_place(BEFORE)
    if before is None:
        return
    if not _is_ended(before, settings, hasher):
        raise LedgerRejected(
            f"the migration to this ledger died before the one that it goes on from ({before}) was ended, which is charged as before; "
            "remove this one with its anchor and its secret, and migrate again"
        )
    with store.database.turn(), store.database.transaction():
        store.forget_place(BEFORE)


def _is_ended(before: str, settings: LedgerSettings, hasher: Hasher) -> bool:
    """Tell whether the log of a ledger is whole, and ends by an entry that names the one of ``settings``."""
    try:
        database = to_place(before).open()
        try:
            entries = Store(database).read_entries(-1)
        finally:
            database.close()
    except PDPError:
        return False
    named = any(entry.kind == END and entry.body.get("to") == settings.ledger for entry in entries)
    return named and any(_is_whole(entries, made) for made in (hasher, hasher.before) if made is not None)  # a new secret may have come


def _is_whole(entries: Sequence[Entry], hasher: Hasher) -> bool:
    last: Entry | None = None
    try:
        for entry in entries:
            check_entry(last, entry, hasher, read_settings(entries[0]).previous)
            last = entry
    except PDPError:
        return False
    return True
