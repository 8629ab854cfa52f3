"""The receipt of a charge, and how it comes about: one entry, decided by public numbers, that charges who takes part."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from accountant.data.clipping import ClippedSource
from accountant.ledger.accounts import Asked
from accountant.ledger.anchor import check_name
from accountant.ledger.charges import Charge
from accountant.ledger.inputs import Seen
from accountant.ledger.log import CHARGE, OUTPUT, REFUSED, Digest
from accountant.ledger.notes import to_note
from accountant.ledger.opened import OpenedLedger
from accountant.ledger.requests import Request
from accountant.ledger.room import Room
from accountant.ledger.rows import RowBatch
from accountant.ledger.settings import ReleaseMode
from accountant.selection.select import Selection
from profiles import InvalidArgument
from profiles.arrays import Booleans, Integers
from profiles.errors import LedgerRejected, OverBudget, ReleaseUsed
from profiles.stored import profile_object


@dataclass(frozen=True, slots=True)
class Receipt:
    """That a release was charged: the number of the entry in the log and its hash, both public.

    ``active`` is private: which rows of the data take part, shape (n,); so is ``selections``, how they are sampled, batch by batch.
    ``seen``: the file that the rows are of, where they are of one, as it was when it was charged. ``partial``: whether units may be missing
    from the release, by public numbers. ``clipped``: the rows, where they were moved into the declared ranges: what is run must take these.
    """

    name: str
    sequence: int
    hash: str
    active: Booleans = field(repr=False)
    selections: tuple[Selection, ...] = field(default=(), repr=False)
    seen: Seen | None = field(default=None, repr=False)
    partial: bool = False
    clipped: ClippedSource | None = field(default=None, repr=False)

    def require_same(self) -> None:
        """Refuse data that are not those that were charged any more: whoever reads a file again calls this after it, and before anything
        is handed out. Raises :class:`InvalidData`.
        """
        if self.seen is not None:
            self.seen.require_same("the charge stays, and nothing is handed out: take another name")


def charge_rows(
    ledger: OpenedLedger,
    name: str,
    charge: Charge,
    rows: Iterable[RowBatch],
    seen: Seen | None = None,
    request: Request | None = None,
    *,
    partial: bool | None = None,
    note: Mapping[str, object] | None = None,
    elsewhere: bool = False,
) -> Receipt:
    """Charge a release that was prepared to the units of ``rows``, of the file ``seen`` if they are of one. See :meth:`charge`.

    ``request``: what it was asked with, to which alone its output is served again; ``elsewhere``: whether the caller's user runs it.
    """
    checked = check_name(name)
    charge.require(ledger.settings.protection)
    budget, said = ledger.budget, to_note(note)
    active: list[Booleans] = []
    found_rooms: list[Room] = []
    selections: list[Selection] = []

    def count(batch: RowBatch, first_row: int) -> Integers:
        steps, chosen = charge.count(batch.statistics, batch.size, first_row)
        if chosen is not None:
            selections.append(chosen)
        return steps

    def work(entry: int, digest: Digest) -> Mapping[str, Any]:
        require_unused(ledger, checked)
        ledger.journal.require_open()
        if ledger.budget != budget:
            raise InvalidArgument("the budgets were raised while a release was prepared, and nothing was charged; charge it again")
        stamp = ledger.stamp(said)
        room = ledger.find_room(charge, stamp)
        found_rooms.append(room)
        room.require(partial=ledger.partial if partial is None else partial)
        records = charge.limit_records(ledger.settings.records)
        asked = Asked(rows, budget.count, count, records, budget.flat, room.cost.values)
        spending = ledger.journal.accounts.spend(entry, asked, charge.cost, digest)
        if ledger.settings.mode is ReleaseMode.PUBLIC and not spending.everybody:
            raise LedgerRejected("an account has less room than the public spending leaves it; run pdp ledger verify")
        if seen is not None:
            seen.require_same("nothing was charged: charge it again")
        active.append(spending.active)
        mark = None if request is None else request.seal(entry, ledger.journal.hasher)
        if mark is not None:
            ledger.journal.store.write_mark(entry, mark)
        asked_with = {} if request is None else request.to_body()
        told = {
            "cost": room.cost.to_body(),
            "spent": (room.spent + room.cost).to_body(),
            "partial": room.partial,
            **({"elsewhere": True} if elsewhere else {}),
        }
        return charge.describe() | asked_with | told | stamp

    try:
        entry = ledger.journal.append(CHARGE, checked, work)
    except OverBudget as refusal:
        _log_refusal(ledger, checked, found_rooms[-1], refusal, said)
        raise
    return Receipt(checked, entry.sequence, entry.hash.hex(), active[0], tuple(selections), seen, bool(entry.body["partial"]))


def _log_refusal(ledger: OpenedLedger, name: str, room: Room, refusal: OverBudget, note: Mapping[str, object]) -> None:
    """Append that a charge was refused, and by which public numbers. The name stays free."""
    body = {"profile": profile_object(room.profile), **room.tell(), "decided_by": room.decider, "reason": str(refusal)}
    ledger.journal.append(REFUSED, name, lambda _, __: {**body, **ledger.stamp(note)})


def require_unused(ledger: OpenedLedger, name: str) -> None:
    """Refuse a name that was charged before. Raises :class:`ReleaseUsed`."""
    entry = ledger.journal.find(CHARGE, name)
    if entry is not None:
        published = ledger.journal.find(OUTPUT, name) is not None
        how = "its output is stored: ask for that" if published else "its run was not published, and is not repeated: use another name"
        raise ReleaseUsed(f"the release {name!r} was to be charged, but entry {entry.sequence} charged it before; {how}")
