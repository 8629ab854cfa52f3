"""The persistent ledger: made once, charged before every release, and never refunded (docs/ledger.md)."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from accountant.data.clipping import ClippedSource, clip_rows
from accountant.data.opening import open_dataset
from accountant.data.specs import StatisticSpec, describe_spec
from accountant.data.weighing import complete_specs
from accountant.ledger.accounts import Asked
from accountant.ledger.amounts import Amounts
from accountant.ledger.analysis import Analysis, make_analysis
from accountant.ledger.anchor import Anchor
from accountant.ledger.budgets import BudgetRule, budget_body, to_budget_rule, to_cap
from accountant.ledger.inputs import look
from accountant.ledger.journal import Journal, find_place, read_first, read_secret
from accountant.ledger.log import BUDGET, OPEN, OUTPUT, QUOTA, Digest, Entry
from accountant.ledger.making import NewFiles, discard, open_accounts, remember
from accountant.ledger.menus import add_steps, to_menu
from accountant.ledger.notes import to_note
from accountant.ledger.notions import LedgerNotion, to_ledger_notion
from accountant.ledger.opened import OpenedLedger
from accountant.ledger.opening import open_store
from accountant.ledger.packing import CHUNK
from accountant.ledger.places import to_place
from accountant.ledger.quotas import to_subject
from accountant.ledger.receipts import Receipt, charge_rows
from accountant.ledger.release import LedgerRelease, prepare_release, publish_own
from accountant.ledger.requests import read_mark
from accountant.ledger.rows import leave_out, open_rows
from accountant.ledger.settings import (
    LedgerSettings,
    make_check,
    make_token,
    open_settings,
    to_key,
    to_mode,
    to_protection,
    to_records,
)
from accountant.ledger.succession import require_ended
from accountant.ledger.tables.versions import Folder
from accountant.ledger.units import SECRET_BYTES, Hasher
from profiles import InvalidArgument, Profile
from profiles.errors import LedgerRejected
from profiles.hypotheses import ARITHMETIC, RECORD_STATISTICS, RUN_ON_ACTIVE, STATISTICS
from profiles.protection import Neighbors
from profiles.randomness.system import open_generator


class Ledger(OpenedLedger):
    """The accounts of units (people, or people × periods) over many releases. Make one with :meth:`create`, use it with :meth:`open`.

    Claim: all releases through the ledger together lose at most its budget about each unit, in the ledger's notion, even if each is chosen
    in view of earlier outputs (docs/ledger.md, L1 and L2), under the hypotheses of :meth:`guarantee`.
    """

    __slots__ = ()

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        data: Any,
        *,
        key: object = "id",
        budget: object,
        anchor: str | os.PathLike[str],
        notion: object = "pure",
        mode: object = "public",
        attributes: Mapping[str, object] | None = None,
        cap: object = None,
        records: int | None = None,
        unit: object = None,
        ids: Any = None,
        secret: str | os.PathLike[str] | None = None,
        table: str | os.PathLike[str] | None = None,
        engine: object = None,
        partial: bool = False,
        version: int | None = None,
        note: Mapping[str, object] | None = None,
        menu: object = None,
    ) -> Ledger:
        """Return a new ledger with an account for each unit of ``data``: a file or an Arrow table with the ``key`` columns, or an array
        with ``ids`` beside it. ``unit``: "user", or "user-period", which is the default if the key has several columns.

        ``mode``: in "public" everybody takes part in every release, or it is refused as a whole; in "individual" units without room are
        left out silently: if this is possible, by public numbers, a release needs ``partial``. ``budget``: nats for each unit, a number or
        an expression in columns, whose public ranges are ``attributes``. ``cap``: the largest budget that raises may reach, public and
        fixed: the ledger promises it from the beginning; without a cap a ledger whose budgets are raised has no guarantee any more
        (docs/ledger.md, Theorems C and O). ``anchor``: a separate file that gets the hash of every entry. ``records``: the largest number
        of records of one unit in a release; in public mode one by default. ``secret``: the file for the key under which ids are hashed, by
        default PATH.key. ``table``: a folder for the accounts, whose spending an ``engine`` ("duckdb", "polars", "spark") computes, for
        more units than fit into memory (docs/ledger.md, section 4). ``version``: of its tables, 1 (chunks of accounts) or 2 (pages), by
        default the newest, and 1 with a table. ``note``: who asked, for its entries, see :meth:`stamp`. ``menu``: a composition of steps on
        Poisson samples that a mixed ledger takes, each as often as its count says (docs/ledger.md, Theorem R).

        Raises :class:`UnwritableOutput` if one of the files exists, :class:`InvalidArgument`, :class:`InvalidData`.
        """
        chosen_notion, chosen, columns = to_ledger_notion(notion), to_mode(mode), to_key(key)
        steps = None if menu is None else to_menu(menu)
        if steps and chosen_notion is not LedgerNotion.MIXED:
            raise InvalidArgument("a menu of steps was given, but a ledger in the notion mixed alone takes them; open one, or leave it out")
        rule = to_budget_rule(budget if steps is None else add_steps(budget, steps), attributes, chosen_notion)
        further = len(rule.floor.values) - len(chosen_notion.components)
        if further and len(steps or ()) + 1 != further:
            raise InvalidArgument("a budget names steps that the menu does not have; give a menu with as many kinds of them")
        if table is not None and len(rule.floor.values) > 1:
            raise InvalidArgument(
                "accounts in a table hold one number, but those of the notion mixed hold several; open it without a table"
            )
        hidden = secrets.token_bytes(SECRET_BYTES)
        settings = LedgerSettings(
            make_token(),
            chosen_notion,
            chosen,
            columns,
            rule,
            to_records(records, chosen),
            make_check(hidden),
            to_protection(unit, Neighbors.ADD_REMOVE, columns),
            table=table is not None,
            spent=Amounts((0,) * len(rule.floor.values)),
            cap=to_cap(cap if cap is None or not steps else add_steps(cap, steps), chosen_notion, width=len(rule.floor.values)),
            menu=steps or () if further else None,
        )
        rule = settings.limit(rule)
        rows, said = open_rows(data, settings.key, rule.specs, ids), to_note(note)
        journal = NewFiles(path, anchor, secret, table).begin(hidden, settings, engine, version)

        def work(entry: int, digest: Digest) -> Mapping[str, Any]:
            journal.accounts.enroll(entry, Asked(rows, rule.count, records=settings.records, flat=rule.flat), digest)
            return settings.to_body(cls.tell_time()) | said

        try:
            journal.append(OPEN, "", work)
            remember(journal, data=data)
        except BaseException:
            discard(journal, settings)
            raise
        return cls(journal, settings, partial=partial, note=said)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        anchor: str | os.PathLike[str] | None = None,
        secret: str | os.PathLike[str] | None = None,
        table: str | os.PathLike[str] | None = None,
        engine: object = None,
        partial: bool = False,
        note: Mapping[str, object] | None = None,
    ) -> Ledger:
        """Return the ledger in a file or on a server, after checking its log against itself, its secret and its anchor.

        ``anchor``, ``secret``, ``table``: where these are, if they were moved. ``engine``: what computes the spending of a ledger with a
        table, by default the first that is installed: any of them continues the work of another. ``partial``: the default of later calls
        for whether units may be missing from a release, which matters only in individual mode; ``note``: the default for who asked
        (:meth:`stamp`).

        Raises :class:`UnreadableFile` (another file, an unknown version), :class:`LedgerRejected` (a changed history, an old copy),
        :class:`UnwritableOutput`.
        """
        store = open_store(to_place(path).open())
        try:
            first, key = read_first(store), find_place(store, "secret", secret)
            hidden = read_secret(key)
            settings, hasher = open_settings(first, hidden), Hasher.of(hidden)
            require_ended(store, settings, hasher)
            kept = Anchor(find_place(store, "anchor", anchor), settings.ledger)
            folder = Folder(find_place(store, "table", table), settings.ledger) if settings.table else None
            accounts = open_accounts(store, hasher, settings, key, folder, engine)
            ledger = cls(Journal(store, kept, hasher, settings.previous, accounts), settings, partial=partial, note=note)
            ledger.journal.catch_up()
            if anchor is not None or secret is not None or (table is not None and folder is not None):
                remember(ledger.journal, key, table=None if folder is None else folder.path)
        except BaseException:
            store.database.close()
            raise
        return ledger

    def charge(
        self,
        name: str,
        reference: object,
        data: Any = None,
        *,
        statistics: Sequence[StatisticSpec] = (),
        ids: Any = None,
        partial: bool | None = None,
        note: Mapping[str, object] | None = None,
        clip: bool = False,
        **sampling: Any,
    ) -> Receipt:
        """Charge a release that is run elsewhere, and return its receipt; ``receipt.active`` are the rows that it may be run on.

        ``reference``: a profile, its file or a mechanism with one; ``data``: by default the file that the ledger was opened with;
        ``statistics``: how its statistics are read from columns (:func:`accountant.data.parse_statistic`); ``sampling``: see
        :func:`~accountant.ledger.charges.prepare_charge`. A unit is charged whether or not a sample takes its records. ``partial``: whether
        units may be missing from the release, in individual mode; by default what the ledger was opened with; ``note``: see :meth:`stamp`.
        ``clip``: move each row into the declared ranges instead of refusing all rows because of one: a column to the nearer end, the
        columns of a norm towards 0. The release must then be run on the clipped rows, ``receipt.clipped``. Raises :class:`ReleaseUsed` for
        a name that was charged before, :class:`OverBudget` in public mode, and in individual mode if units may have no room for it and
        ``partial`` is not set; :class:`InvalidData`.
        """
        charge = self.prepare(reference, **sampling)
        specs = complete_specs(charge.profile, statistics) if charge.profile.record else ()
        source = self.find_data(data)
        seen, read = look(source), (*specs, *self.budget.specs)
        if clip:
            charge, source = replace(charge, clipped=True), _clip(charge.profile, source, read, self.settings.key, ids)
        rows = open_rows(source, self.settings.key, read, ids)
        moved = ", moved into its declared range, also in what is run" if clip else ""
        said = [RECORD_STATISTICS.about(names=describe_spec(spec) + moved) for spec in specs]
        # how statistics are read is told anew where they are read here; a guarantee says it of what is run
        supposed = (*((STATISTICS,) if specs else ()), ARITHMETIC, RUN_ON_ACTIVE.about(name=name))
        charge = charge.restate(said).update_hypotheses({}, supposed)
        receipt = charge_rows(self, name, charge, rows, seen, partial=partial, note=note, elsewhere=True)
        return replace(receipt, clipped=source) if clip else receipt

    def release(
        self,
        name: str,
        mechanism: Any,
        data: Any = None,
        *,
        key: object = None,
        ids: Any = None,
        bits: object = None,
        partial: bool | None = None,
        note: Mapping[str, object] | None = None,
        clip: bool = False,
        **sampling: Any,
    ) -> LedgerRelease:
        """Charge a release and return the rows for it, for a ``with`` block that runs it and publishes the output.

            with ledger.release("2026-07 centres", mechanism, data) as r:
                r.publish(mechanism.run(r.active_data, r.weights, rng))

        In place of the mechanism there may be a guarantee for records, such as ``PrivateGreedy(...).guarantee``: every active record is
        charged its ε, and the code in the block must have this guarantee. ``data``: a file or table with the key columns and otherwise
        numbers, or an array with ``ids`` beside it. The charge is durable when the block begins, and stays whatever happens in it. A
        release that was published before is not charged again: ``r.published`` is true, and ``r.output`` has the stored output; with
        another mechanism, other options or other data the name is refused. With ``sampling`` (:func:`accountant.plan_sample`) a Poisson
        sample of the active records is drawn, with random bits of ``bits``; ``r.weights`` are its weights, None where all have 1. ``clip``:
        first put each record into the declared range by the mechanism's own rule (``mechanism.clip``), instead of refusing all records
        because of one; the clipped records are charged and used. Raises as :meth:`charge` does.
        """
        return prepare_release(
            self, name, mechanism, data, key=key, ids=ids, bits=bits, sampling=sampling, partial=partial, note=note, clip=clip
        )

    def run(
        self,
        name: str,
        mechanism: Any,
        data: Any = None,
        *,
        key: object = None,
        ids: Any = None,
        rng: np.random.Generator | None = None,
        bits: object = None,
        partial: bool | None = None,
        note: Mapping[str, object] | None = None,
        clip: bool = False,
        **sampling: Any,
    ) -> Any:
        """Charge a release, run the mechanism once on the active records, store the output and return it; or return the stored output, if
        the same mechanism, options and data were published under this name before. ``rng``: the random numbers of the mechanism, None for
        the system's secure source. See :meth:`release`.
        """
        generator = open_generator(rng)
        with prepare_release(
            self,
            name,
            mechanism,
            data,
            key=key,
            ids=ids,
            bits=bits,
            sampling=sampling,
            partial=partial,
            noise=generator[1],
            note=note,
            clip=clip,
        ) as release:
            if release.published:
                return release.output
            return release.publish(mechanism.run(release.active_data, release.weights, generator[0]))

    def analysis(
        self,
        name: str,
        ids: Any = None,
        *,
        data: str | os.PathLike[str] | None = None,
        key: object = None,
        partial: bool | None = None,
        note: Mapping[str, object] | None = None,
    ) -> Analysis:
        """Return one analysis under a name: what estimators and applications of this project take as ``ledger=``.

            DPKMeans(3, epsilon="1/2", radius=4).fit(X, ledger=ledger.analysis("2026-07 centres", ids=people))

        ``ids``: the unit of each row that is given to the fit, or of each user, where an application reads users; or ``data``: a file, and
        ``key``: its columns of ids, by default those of the ledger; ``partial``, ``note``: see :meth:`charge`. The algorithm is charged and
        run on the rows of the units with room, and its output is stored; with the same name and arguments it is returned again at no cost
        (docs/ledger.md, section 7). Raises :class:`InvalidArgument`.
        """
        return make_analysis(self, name, ids, data, key, partial=partial, note=note)

    def publish(self, name: str, output: object, *, note: Mapping[str, object] | None = None) -> Any:
        """Store the output of a release that was charged by :meth:`charge` and then run elsewhere, and return it as it was stored: from now
        on it may be published, and :meth:`output` returns it.

        That it was run once, on the rows of the charge, is a hypothesis of the charge already (``run-on-active``). Raises
        :class:`InvalidArgument` where nothing was charged under the name, or for an output that is no number, text, array or list of them;
        :class:`ReleaseUsed` for a release that has an output, or was charged to be run by the ledger.
        """
        return publish_own(self, name, output, note)

    def set_quota(self, of: str, name: str, most: object, *, note: Mapping[str, object] | None = None) -> Entry:
        """Set a quota: the largest total cost, at worst, of the releases ``of`` an "analyst" or for a "purpose" with this ``name`` since
        the ledger was made, a number of nats, or three in the notion mixed. The last quota counts. A charge beyond it is refused.

        It is a rule of the office: no privacy guarantee depends on it, and two quotas may add up to more than the budgets. Raises
        :class:`InvalidArgument`.
        """
        subject, named = to_subject(of, name)
        checked = to_note({subject: named})[subject]
        limit = to_cap(most, self.settings.notion, "quota", self.settings.width)
        if limit is None:
            raise InvalidArgument("a quota needs a number of nats, but none was given; give one")
        body = {"of": subject, "most": limit.to_body()}
        return self.journal.append(QUOTA, checked, lambda _, __: {**body, **self.stamp(note)})

    def raise_budget(
        self,
        budget: object,
        data: Any = None,
        *,
        attributes: Mapping[str, object] | None = None,
        ids: Any = None,
        note: Mapping[str, object] | None = None,
    ) -> Entry:
        """Raise the budgets of the units of ``data`` to another rule, if that is more; nothing is ever lowered. With a cap, which is never
        exceeded, the guarantee stays that of the cap; without one there is no guarantee after this, only :meth:`report_ex_post`
        (docs/ledger.md, Theorems C and O).

        Raises :class:`InvalidArgument`, :class:`InvalidData`.
        """
        rule, said = self.settings.limit(to_budget_rule(budget, attributes, self.settings.notion, self.settings.width)), to_note(note)
        self._require_raise(rule)
        rows = open_rows(self.find_data(data), self.settings.key, rule.specs, ids)

        def work(entry: int, digest: Digest) -> Mapping[str, Any]:
            self.journal.require_open()
            self._require_raise(rule)  # again: another process may have raised them meanwhile
            self.journal.accounts.lift(entry, Asked(rows, rule.count, flat=rule.flat), rule.least, digest)
            return {"budget": budget_body(rule), **self.stamp(said)}

        return self.journal.append(BUDGET, "", work)

    def _require_raise(self, rule: BudgetRule) -> None:
        before = self.budget
        if not (before.attained.within(rule.ceiling) and before.floor.within(rule.floor)):
            notion = self.settings.notion.value
            new, old = ([item.say(up=False, notion=notion) for item in (limits.floor, limits.ceiling)] for limits in (rule, before))
            raise InvalidArgument(
                f"budgets can only be raised, but the new ones, from {new[0]} to {new[1]}, may be lower than those in force, from "
                f"{old[0]} to "
                f"{old[1]}; give a rule that is at least as large, for example with Max"
            )

    def verify(self, *, repair: bool = False) -> int:
        """Check everything: log, seals, anchor, and that the accounts are what follows from the log; return how many chunks were repaired.

        Raises :class:`LedgerRejected` if something is wrong that the log cannot repair, or, without ``repair``, if accounts are wrong.
        """
        journal = self.journal
        damage = journal.store.database.find_damage()
        if damage is not None:
            raise LedgerRejected(f"the ledger {journal.store.database.name} is damaged ({damage}); restore it from a backup of its log")
        with journal.turn(), journal.store.database.transaction():
            journal.entries = []
            journal.synchronise()
            for entry in journal.select(OUTPUT):
                self.output(entry.name)
            for entry in journal.charges:
                read_mark(journal.store, entry, journal.hasher)
            if journal.store.count_strays():
                raise LedgerRejected("the ledger has rows that no entry of its log wrote; restore it from a backup")
            repaired = journal.accounts.repair(journal.entries, write=repair)
        if repaired and not repair:
            raise LedgerRejected(
                "accounts of the ledger are not what follows from its log, which is whole: write them anew with pdp ledger verify --repair"
            )
        return repaired


def _clip(profile: Profile, data: Any, specs: Sequence[StatisticSpec], key: Sequence[str], ids: Any) -> ClippedSource:
    """Return rows moved into the declared ranges of a profile. Raises :class:`InvalidArgument`."""
    if ids is not None:
        raise InvalidArgument(
            "rows of an array with ids beside it were to be clipped, but their columns have no names; clip them beforehand"
        )
    return clip_rows(open_dataset(data, batch_rows=CHUNK), profile, [leave_out(spec, key) for spec in specs], columns=True)
