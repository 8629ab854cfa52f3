"""``pdp ledger init``, ``raise``, ``restore`` and ``migrate``: what makes ledgers, and what their budgets are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from accountant.cli.ledger_verbs.options import (
    AttributeOption,
    BudgetOption,
    DataOptions,
    FileArgument,
    NewAnchorOption,
    NewArgument,
    Options,
    open_ledger,
    read_ranges,
    split_unit,
)
from accountant.cli.options import (
    Verb,
)
from accountant.cli.output import print_result
from profiles.errors import LedgerRejected
from profiles.hypotheses import count_assumptions


@dataclass(frozen=True, slots=True, kw_only=True)
class _Init(DataOptions):
    file: FileArgument
    data: Annotated[str, typer.Option("--data", metavar="D", help="CSV, Parquet or NPY file with the units")]
    key: Annotated[str, typer.Option("--key", metavar="COLUMN", help="the column of ids, or several with commas")]
    budget: BudgetOption
    anchor: NewAnchorOption
    attribute: AttributeOption = None
    cap: Annotated[
        str | None, typer.Option("--cap", metavar="E", help="the largest budget that raises may ever reach; the ledger then promises it")
    ] = None
    notion: Annotated[str, typer.Option("--notion", metavar="pure|zcdp|mixed", help="what is added up")] = "pure"
    mode: Annotated[
        str,
        typer.Option(
            "--mode",
            metavar="public|individual",
            help="public: everybody takes part in a release, or it is refused; individual: units without room are left out silently",
        ),
    ] = "public"
    records: Annotated[
        int | None, typer.Option("--records", metavar="K", help="how many records a unit has at most; by default 1 in public mode")
    ] = None
    protects: Annotated[
        str | None,
        typer.Option(
            "--protects",
            metavar="user|user-period",
            help="whose account it is: a user's, or that of a user in one period; by default a user's if the key is one column",
        ),
    ] = None
    table: Annotated[
        Path | None, typer.Option("--table", metavar="FOLDER", help="keep the accounts in a table of Parquet files, for many units")
    ] = None
    menu: Annotated[
        Path | None,
        typer.Option("--menu", metavar="FILE", help="in mixed: a composition of steps on samples, each taken as often as its count says"),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Raise(DataOptions):
    file: FileArgument
    budget: BudgetOption
    attribute: AttributeOption = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Restore(Options):
    file: NewArgument
    log: Annotated[Path, typer.Option("--log", metavar="L", help="the backup to read")]
    anchor: Annotated[Path, typer.Option("--anchor", metavar="A", help="the file that got the hash of each entry")]
    table: Annotated[Path | None, typer.Option("--table", metavar="FOLDER", help="where to make the table with the accounts")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Migrate(Options):
    file: FileArgument
    new: NewArgument
    anchor: NewAnchorOption
    rotate: Annotated[
        bool, typer.Option("--rotate", help="with a new secret: the old secret alone can neither open nor forge the new ledger")
    ] = False
    forget: Annotated[
        list[str] | None,
        typer.Option("--forget", metavar="U", help="forget an id: its account stays, but can no longer be found (repeatable)"),
    ] = None


def _init(options: _Init) -> int:
    from accountant.curves import read_composition_file
    from accountant.guarantees.render import describe_bound
    from accountant.ledger import Ledger
    from accountant.ledger.room import MODES

    with Ledger.create(
        options.file,
        options.data,
        key=options.key,
        budget=", ".join(options.budget),
        anchor=options.anchor,
        notion=options.notion,
        mode=options.mode,
        attributes=read_ranges(options.attribute),
        cap=options.cap,
        records=options.records,
        unit=options.protects,
        secret=options.secret,
        table=options.table,
        engine=options.engine,
        note=options.note(),
        menu=None if options.menu is None else read_composition_file(options.menu).composition,
    ) as ledger:
        protection = ledger.settings.protection
        told = {"sequence": 0, "hash": ledger.journal.entries[0].hash.hex(), "ledger": ledger.settings.ledger}
        name, mode, promised, records = ledger.name, ledger.settings.mode, describe_bound(ledger.guarantee()), ledger.settings.records
    return print_result(
        told | {"protection": protection.to_object(), "mode": mode.value},
        f"ledger {name} opened: entry 0, {told['hash']}",
        f"protection            {protection.describe()}, by the key {options.key}",
        f"mode                  {mode.value}: {MODES[mode]}",
        f"promise               {promised}, for all releases together",
        f"records               {'any number' if records is None else f'at most {records}'} of a unit in a release",
        f"anchor                {options.anchor}; keep it elsewhere, where nothing can be removed from it",
        f"secret                {options.secret or f'{options.file}.key'}; without it no account can be found again",
        *(
            [f"table                 {options.table}; it has the accounts, which a backup of the log has not: copy it as well"]
            if options.table
            else []
        ),
        as_json=options.json,
    )


def _raise(options: _Raise) -> int:
    with open_ledger(options) as ledger:
        entry = ledger.raise_budget(", ".join(options.budget), options.data, attributes=read_ranges(options.attribute))
        raised = ledger.is_raised
    what = (
        "from now on the ledger has no guarantee, because no cap was fixed at its opening: --guarantee, --composition, pdp compose "
        "and pdp release refuse it, and pdp ledger report gives what holds ex post"
        if raised
        else "the guarantee stays that of the cap, whatever budgets are in force"
    )
    return print_result(
        {"sequence": entry.sequence, "hash": entry.hash.hex(), "has_guarantee": not raised},
        f"budgets raised: entry {entry.sequence}, {entry.hash.hex()}; {what}",
        "from now on it assumes that raises are decided from outputs and public things alone (raises-from-outputs)",
        as_json=options.json,
    )


def _restore(options: _Restore) -> int:
    from accountant.ledger.backup import restore

    ledger, lost = restore(options.file, options.log, anchor=options.anchor, secret=options.secret, table=options.table)
    with ledger:
        head = ledger.journal.entries[-1]
    if lost:
        raise LedgerRejected(
            f"the ledger was restored up to entry {head.sequence}, but the backup lacks what its anchor has, {lost}: it is refused "
            "until it is restored from a newer backup"
        )
    return print_result(
        {"sequence": head.sequence, "hash": head.hash.hex(), "lost": None},
        f"restored up to entry {head.sequence}, {head.hash.hex()}: all that the anchor has",
        as_json=options.json,
    )


def _migrate(options: _Migrate) -> int:
    from accountant.ledger import Ledger
    from accountant.ledger.backup import migrate

    with Ledger.open(options.file) as old:
        forget = [split_unit(item, old) for item in options.forget or []]
        made = migrate(old, options.new, anchor=options.anchor, secret=options.secret, rotate=options.rotate, forget=forget)
    with made:
        head, names = made.journal.entries[0].hash.hex(), (made.name, old.name)
        left = len(made.carry().hypotheses)
    return print_result(
        {"sequence": 0, "hash": head, "ledger": names[0], "open_hypotheses": left},
        f"{names[0]} goes on from {names[1]}: entry 0, {head}; do not charge the old one any more",
        f"it has all assumptions of the old one: {count_assumptions(left)}",
        *(["a new secret was made: keep it, and let outsiders compare the new key (pdp ledger export)"] if options.rotate else []),
        *(["ids were forgotten in the new ledger; the old one, its secret and its backups still have them"] if forget else []),
        as_json=options.json,
    )


VERBS = {
    "init": Verb(
        "Open an account for each unit of a data set.",
        _Init,
        _init,
        """pdp ledger init people.ledger --data examples/people.csv --key id \\
    --budget 2 --anchor people.anchor""",
    ),
    "raise": Verb(
        "Raise the budgets; nothing lowers them.",
        _Raise,
        _raise,
        "pdp ledger raise people.ledger --budget 3",
    ),
    "restore": Verb(
        "Make a ledger from a backup of its log.",
        _Restore,
        _restore,
        """pdp ledger restore again.ledger --log people.log \\
    --anchor people.anchor --secret people.ledger.key""",
    ),
    "migrate": Verb(
        "Continue in a new ledger, with all hypotheses of the old one. The old one can no longer be charged.",
        _Migrate,
        _migrate,
        "pdp ledger migrate people.ledger next.ledger --anchor next.anchor",
    ),
}
