"""An open ledger: its log, what it was opened with, and all that can be said of it without changing it."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from accountant.guarantees import Guarantee
from accountant.guarantees.theorem import Carried
from accountant.ledger.amounts import Amounts
from accountant.ledger.budgets import BudgetRule
from accountant.ledger.charges import Charge, prepare_charge
from accountant.ledger.ex_post import ExPost
from accountant.ledger.journal import Journal
from accountant.ledger.notes import to_note
from accountant.ledger.outputs import load_output
from accountant.ledger.promises import carry, conclude_promise, find_budget, is_raised, report_ex_post
from accountant.ledger.quotas import find_quotas
from accountant.ledger.room import Room
from accountant.ledger.settings import LedgerSettings, tell_time
from accountant.ledger.units import spell_text
from profiles import InvalidArgument, InvalidData


class OpenedLedger:
    """What releases, analyses and charges need of a ledger: :class:`~accountant.ledger.ledger.Ledger` without what makes and charges it.

    ``partial``: whether units may be missing from its releases where a call says nothing; ``note``: what its entries say of who asked.
    """

    __slots__ = ("journal", "note", "partial", "settings")

    def __init__(
        self, journal: Journal, settings: LedgerSettings | None = None, *, partial: bool = False, note: Mapping[str, object] | None = None
    ) -> None:
        if not isinstance(journal, Journal) or settings is None:
            raise InvalidArgument(
                "a ledger is opened or created, and not made by calling its class; write Ledger.open(path), or for a new one "
                "Ledger.create(path, data, budget=..., anchor=...)"
            )
        self.journal, self.settings, self.partial, self.note = journal, settings, partial, to_note(note)

    def close(self) -> None:
        """Close the store. What was charged is durable already."""
        self.journal.store.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    @property
    def name(self) -> str:
        """The name of its file, or its address without user and password."""
        return self.journal.store.database.name

    @property
    def budget(self) -> BudgetRule:
        """The rule of budgets that is in force."""
        return find_budget(self.journal, self.settings)

    @property
    def spent(self) -> Amounts:
        """What a unit was charged at most so far, or each record where any number of these may come: a public number."""
        charges = self.journal.charges
        return Amounts.read(charges[-1].body["spent"], "what was spent") if charges else self.settings.spent

    @property
    def is_raised(self) -> bool:
        """Whether budgets were raised without a cap, here or in a ledger before: then there is no guarantee, but an ex-post report."""
        return is_raised(self.journal, self.settings)

    @staticmethod
    def tell_time() -> str:
        """Return the time for the next entry. A clock that was set back or ahead is told of in reports, and stops nothing."""
        return tell_time()

    def stamp(self, note: Mapping[str, object] | None = None) -> dict[str, str]:
        """Return what every entry says besides what it does: the time, and who asked for it, for which purpose, and who approved it.

        ``note``: lines of text under ``analyst``, ``purpose`` and ``approver``, public as all entries are, in place of those that the
        ledger was opened with. Nothing that the ledger promises rests on them. Raises :class:`InvalidArgument`.
        """
        return {"time": self.tell_time(), **self.note, **to_note(note)}

    def prepare(self, reference: object, **sampling: Any) -> Charge:
        """Return what a release is charged here: see :func:`~accountant.ledger.charges.prepare_charge`."""
        return prepare_charge(reference, self.settings.notion, self.settings.menu, **sampling)

    def find_data(self, data: Any) -> Any:
        """Return the data of a call, or where the ledger was opened with a file, that. Raises :class:`InvalidArgument`."""
        source = self.journal.store.read_place("data") if data is None else data
        if source is None:
            raise InvalidArgument("a charge needs the data, but none were given, and the ledger was not opened with a file; give them")
        return source

    def look_ahead(self, reference: object, *, note: Mapping[str, object] | None = None, **sampling: Any) -> Room:
        """Return what a release would cost at most and leave, by public numbers, and whether units may be missing from it. Spends nothing,
        and needs no data.

        ``reference``, ``note``, ``sampling``: as :meth:`charge` takes them. Raises :class:`InvalidArgument` as that does.
        """
        charge = self.prepare(reference, **sampling)
        charge.require(self.settings.protection)
        self.journal.catch_up()
        return self.find_room(charge, self.stamp(note))

    def find_room(self, charge: Charge, note: Mapping[str, str]) -> Room:
        """Return the same for a release that was prepared, by the entries that were read so far."""
        quotas = find_quotas(self.journal.entries, note)
        cost, records = charge.worst_cost(charge.limit_records(self.settings.records) or 1), self.settings.records
        return Room(charge.profile, cost, self.spent, self.budget.floor, self.settings.mode, records, self.settings.notion.sign, quotas)

    def output(self, name: str) -> Any:
        """Return the stored output of a release. Raises :class:`InvalidArgument` where there is none, :class:`LedgerRejected`."""
        return load_output(self.journal, name)

    def guarantee(self) -> Guarantee:
        """Return what everything that was charged so far promises together, and ever will: the cap, whatever budgets are in force, and
        where there is none the largest budget, as long as none was raised.

        It rests on all that any entry rests on, and the ledger that this one goes on from; on ``own-budget`` where any budget ever came
        from columns, and on ``raises-from-outputs`` where any was raised. Raises :class:`NoGuarantee` where budgets were raised without a
        cap: :meth:`report_ex_post` says what holds then.
        """
        self.journal.catch_up()
        return conclude_promise(self.journal, self.settings)

    def carry(self) -> Carried:
        """Return what all that was released rests on, and what was discharged of it: also where there is no guarantee. For what goes on
        from this ledger.
        """
        return carry(self.journal, self.settings)

    def report_ex_post(self, delta: object = None) -> ExPost:
        """Return what holds of a ledger whose budgets were raised without a cap: a sentence, and no guarantee (docs/ledger.md, Theorem O).

        ``delta``: fixed before the first output, for a ledger in zcdp; None there names the level alone. Raises :class:`InvalidArgument`
        for a ledger that has a guarantee, and as finding an ε does.
        """
        self.journal.catch_up()
        return report_ex_post(self.journal, self.settings, delta)

    def account(self, key: object) -> dict[str, Any]:
        """Return what one unit has spent of what, in nats: private, for the eyes of whoever may see the data.

        ``key``: its id, or a tuple of them where the key has several columns. Raises :class:`InvalidData` for an unknown unit.
        """
        with self.journal.reading():
            components = self.journal.accounts.look_up(self.hash_unit(key))
        if components is None:
            raise InvalidData("a unit of this ledger was asked for, but it has no account for it; check the id")
        spent, budget = (Amounts(tuple(part)) for part in zip(*components, strict=True))
        return {"spent": spent.tell(up=True), "budget": budget.tell(up=False), "left": budget.less(spent).tell(up=False)}

    def hash_unit(self, key: object) -> bytes:
        """Return the keyed hash under which a unit has its account: private. Raises :class:`InvalidArgument`."""
        parts = [str(part) for part in (key if isinstance(key, (tuple, list)) else (key,))]
        if len(parts) != len(self.settings.key):
            raise InvalidArgument(f"a unit of this ledger is identified by {', '.join(self.settings.key)}; give a value for each of them")
        return self.journal.accounts.hash_text(
            parts[0] if len(parts) == 1 else ";".join(f"{len(spell_text(part))}:{part}" for part in parts)
        )
