"""``pdp ledger``: the persistent account of each unit: opened, charged, released from, reported, checked, kept and restored."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from accountant.cli.answers import GuaranteeOption
from accountant.cli.completion import complete_mechanism
from accountant.cli.options import (
    AllOption,
    ConstantOption,
    JsonOption,
    ProfileArgument,
    QOption,
    RuleOption,
    ShowValuesOption,
    StatisticOption,
    Verb,
    parse_assignments,
    say_examples,
)
from accountant.cli.output import print_as_it_is, print_json, print_line, print_result, print_written
from accountant.cli.streams import load_quietly, quiet_output
from accountant.files import check_not_input, check_writable, write_whole
from profiles.errors import InvalidArgument, LedgerRejected
from profiles.hypotheses import count_assumptions
from profiles.private import EYES_ONLY

if TYPE_CHECKING:
    from accountant.ledger import Ledger

HELP = (
    "Keep an account of what each unit (a person, or a person and a month) has spent over many releases. What is charged is durable before "
    "anything is run, and is never given back."
)
FileArgument = Annotated[str, typer.Argument(metavar="FILE", help="the ledger: a file, or postgresql://HOST/DATABASE#SCHEMA")]
NewArgument = Annotated[str, typer.Argument(metavar="NEW", help="the ledger to make")]
BudgetOption = Annotated[str, typer.Option("--budget", metavar="EXPR", help="nats for each unit, a number or an expression in columns")]
AttributeOption = Annotated[
    list[str] | None, typer.Option("--attribute", metavar="NAME=LO:HI", help="the public range of a column in --budget (repeatable)")
]
NewAnchorOption = Annotated[Path, typer.Option("--anchor", metavar="A", help="the file to make, which gets the hash of each entry")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the command line says of every ledger."""

    file: FileArgument
    secret: Annotated[
        Path | None, typer.Option("--secret", metavar="S", help="the key under which ids are hashed; FILE.key, needed for a server")
    ] = None
    json: JsonOption = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opened(Options):
    """What it says of a ledger with its accounts."""

    anchor: Annotated[Path | None, typer.Option("--anchor", metavar="A", help="the file that gets the hash of each entry, if it moved")] = (
        None
    )
    table: Annotated[Path | None, typer.Option("--table", metavar="FOLDER", help="the table with the accounts, if it moved")] = None
    engine: Annotated[
        str | None, typer.Option("--engine", metavar="NAME", help="what computes the spending of a table: duckdb, polars or spark")
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _OnData(_Opened):
    """What it says where the data are read."""

    data: Annotated[
        str | None, typer.Option("--data", metavar="D", help="CSV, Parquet or NPY file; by default the one of init, where it was")
    ] = None
    show_values: ShowValuesOption = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Charging(_OnData):
    """What it says of the sample that a release may be run on."""

    target_epsilon: Annotated[
        str | None, typer.Option("--target-epsilon", "-e", metavar="E", help="sample with weights for this target")
    ] = None
    rule: RuleOption = None
    q: QOption = None
    constant: ConstantOption = None

    def sampling(self) -> dict[str, Any]:
        constants = parse_assignments(self.constant, "--constant") or None
        return {"rule": self.rule, "q": self.q, "constants": constants, "target_epsilon": self.target_epsilon}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Init(_OnData):
    file: FileArgument
    data: Annotated[str, typer.Option("--data", metavar="D", help="CSV, Parquet or NPY file with the units")]
    key: Annotated[str, typer.Option("--key", metavar="COLUMN", help="the column of ids, or several with commas")]
    budget: BudgetOption
    anchor: NewAnchorOption
    attribute: AttributeOption = None
    cap: Annotated[
        str | None, typer.Option("--cap", metavar="E", help="what budgets may ever be raised to; then this is what is promised")
    ] = None
    notion: Annotated[str, typer.Option("--notion", metavar="pure|zcdp", help="what is added up")] = "pure"
    mode: Annotated[str, typer.Option("--mode", metavar="individual|public", help="who is left out")] = "individual"
    records: Annotated[int | None, typer.Option("--records", metavar="K", help="how many records a unit has at most")] = None
    protects: Annotated[
        str | None,
        typer.Option("--protects", metavar="user|user-period", help="whose an account is; by default a user's, where the key is a column"),
    ] = None
    table: Annotated[
        Path | None, typer.Option("--table", metavar="FOLDER", help="keep the accounts in a table of Parquet files, for many units")
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Charge(_Charging):
    file: FileArgument
    profile: ProfileArgument
    name: Annotated[str, typer.Option("--name", metavar="N", help="the name of the release")]
    statistic: StatisticOption = None
    active: Annotated[
        Path | None,
        typer.Option("--active", metavar="OUT", help="where to write the rows that take part (0600); by default FILE.N.active.csv"),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Release(_Charging):
    file: FileArgument
    name: Annotated[str, typer.Argument(metavar="NAME", help="the name of the release")]
    mechanism: Annotated[
        str,
        typer.Option(
            "--mechanism", metavar="REF", help="package.module:object, a mechanism that can be run", autocompletion=complete_mechanism
        ),
    ]
    out: Annotated[Path, typer.Option("--out", metavar="O", help="where to write the output (JSON)")]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Raise(_OnData):
    file: FileArgument
    budget: BudgetOption
    attribute: AttributeOption = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Report(_Opened):
    file: FileArgument
    public: Annotated[bool, typer.Option("--public", help="what may be published, as without --unit")] = False
    unit: Annotated[str | None, typer.Option("--unit", metavar="K", help="one unit, for your eyes only")] = None
    guarantee: GuaranteeOption = None
    composition: Annotated[
        Path | None, typer.Option("--composition", metavar="FILE", help="write the budget as an event, for pdp account")
    ] = None
    delta: Annotated[
        str | None, typer.Option("--delta", metavar="D", help="fixed beforehand, for the ex-post report of a raised ledger in zcdp")
    ] = None
    everything: AllOption = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Verify(_Opened):
    file: FileArgument
    repair: Annotated[bool, typer.Option("--repair", help="write accounts anew that are not what follows from the log")] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Backup(_Opened):
    file: FileArgument
    log: Annotated[Path, typer.Option("--log", metavar="L", help="the file to write")]


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


def _init(options: _Init) -> int:
    from accountant.ledger import Ledger

    with Ledger.create(
        options.file,
        options.data,
        key=options.key,
        budget=options.budget,
        anchor=options.anchor,
        notion=options.notion,
        mode=options.mode,
        attributes=_read_ranges(options.attribute),
        cap=options.cap,
        records=options.records,
        unit=options.protects,
        secret=options.secret,
        table=options.table,
        engine=options.engine,
    ) as ledger:
        protection = ledger.settings.protection
        told = {"sequence": 0, "hash": ledger.journal.entries[0].hash.hex(), "ledger": ledger.settings.ledger}
        name = ledger.name
    return print_result(
        told | {"protection": protection.to_object()},
        f"ledger {name} opened: entry 0, {told['hash']}",
        f"protection            {protection.describe()}, by the key {options.key}",
        f"anchor                {options.anchor}; keep it elsewhere, where nothing is taken from it",
        f"secret                {options.secret or f'{options.file}.key'}; without it nobody finds an account again",
        as_json=options.json,
    )


def _read_ranges(items: list[str] | None) -> dict[str, list[str]]:
    found = {}
    for name, given in parse_assignments(items, "--attribute").items():
        low, colon, high = given.partition(":")
        if not colon:
            raise InvalidArgument(
                f"--attribute needs NAME=LO:HI, but {name}={given[:40]} was found; write for example --attribute years=0:10"
            )
        found[name] = [low.strip(), high.strip()]
    return found


def _open(options: _Opened) -> Ledger:
    from accountant.ledger import Ledger

    return Ledger.open(options.file, anchor=options.anchor, secret=options.secret, table=options.table, engine=options.engine)


def _charge(options: _Charge) -> int:
    from accountant.data import parse_statistic
    from accountant.ledger.writing import check_active, check_outputs, write_active

    declaration = load_quietly(options.profile)
    with _open(options) as ledger:
        data = ledger.find_data(options.data)
        active = _find_active(options, ledger, data)
        if active is not None:
            check_active(active, data)
            check_outputs(ledger, active)
        receipt = ledger.charge(
            options.name,
            declaration,
            data,
            statistics=[parse_statistic(text) for text in options.statistic or []],
            **options.sampling(),
        )
        if active is not None:
            write_active(active, data, receipt)
    told: dict[str, object] = {"name": receipt.name, "sequence": receipt.sequence, "hash": receipt.hash}
    taken = f"rows that take part, {EYES_ONLY}: {active} (mode 0600); run it on these alone, and tell nobody how many they are"
    return print_result(
        told if active == options.active else told | {"active": str(active)},
        f"charged {receipt.name!r}: entry {receipt.sequence}, {receipt.hash}",
        *([] if active is None else [taken]),
        as_json=options.json,
    )


def _find_active(options: _Charge, ledger: Ledger, data: Any) -> Path | None:
    """Return where the rows that take part are written: where it is said, and for an individual ledger in a file else beside it.

    Raises :class:`InvalidArgument` where that one is there, or for a ledger on a server.
    """
    from accountant.ledger.settings import ReleaseMode

    if options.active is not None or ledger.settings.mode is not ReleaseMode.INDIVIDUAL:
        return options.active
    if not ledger.journal.store.database.files:
        raise InvalidArgument(
            "a ledger in individual mode leaves out units that have no room for a release, but --active was not given, which takes the "
            "rows that it may be run on; name a file"
        )
    ledger.require_unused(options.name)
    kind = ".parquet" if str(data).lower().endswith(".parquet") else ".csv"
    said = re.sub(r"[^A-Za-z0-9._]+", "-", options.name).strip("-.") or "release"
    beside = Path(f"{options.file}.{said}.active{kind}")
    if os.path.lexists(beside):
        raise InvalidArgument(f"the rows that take part were to be written to {beside}, which is there already; name a file with --active")
    return beside


def _release(options: _Release) -> int:
    from accountant.ledger.outputs import to_printable
    from accountant.ledger.writing import check_outputs

    check_writable(options.out)
    check_not_input(options.out, options.data, "data")
    declaration = load_quietly(options.mechanism)
    if declaration.mechanism is None:
        raise InvalidArgument(f"a mechanism that can be run was expected, but {options.mechanism[:60]!r} is a profile; charge it instead")
    with _open(options) as ledger:
        check_outputs(ledger, options.out)
        with quiet_output():
            output = ledger.run(options.name, declaration.mechanism, options.data, **options.sampling())
        entry = ledger.journal.find("output", options.name.strip())
    write_whole(options.out, _to_text(to_printable(output)))
    told: dict[str, object] = {"name": options.name.strip(), "out": str(options.out)}
    if entry is not None:
        told |= {"sequence": entry.sequence, "hash": entry.hash.hex()}
    return print_result(
        told,
        f"released {told['name']!r}: entry {told['sequence']}, {told['hash']}",
        f"output written to {options.out}; asked for again, it is the same one, and costs nothing",
        as_json=options.json,
    )


def _to_text(value: Any) -> str:
    import json

    return json.dumps(value, indent=2, ensure_ascii=True, allow_nan=False) + "\n"


def _raise(options: _Raise) -> int:
    with _open(options) as ledger:
        entry = ledger.raise_budget(options.budget, options.data, attributes=_read_ranges(options.attribute))
        raised = ledger.is_raised
    what = (
        "from now on the ledger has no guarantee, because no cap was fixed at its opening: --guarantee, --composition and pdp compose "
        "refuse it, and pdp ledger report tells what holds ex post"
        if raised
        else "the guarantee stays that of the cap, whatever budgets are in force"
    )
    return print_result(
        {"sequence": entry.sequence, "hash": entry.hash.hex(), "has_guarantee": not raised},
        f"budgets raised: entry {entry.sequence}, {entry.hash.hex()}; {what}",
        "it supposes from now on that raises are decided from outputs and public things alone (raises-from-outputs)",
        as_json=options.json,
    )


def _report(options: _Report) -> int:
    from accountant.guarantees import render
    from accountant.interop.files import write_guarantee
    from accountant.ledger.report import report_public
    from accountant.ledger.writing import check_outputs, write_composition

    if options.unit is not None and (options.public or options.guarantee is not None or options.composition is not None):
        raise InvalidArgument(
            "--unit reports on one unit, which is private, and was given together with what may be published; leave one out"
        )
    for path in (options.guarantee, options.composition):
        if path is not None:
            check_writable(path)
    with _open(options) as ledger:
        check_outputs(ledger, options.guarantee, options.composition)
        if options.unit is not None:
            account = ledger.account(tuple(options.unit.split(",")) if len(ledger.settings.key) > 1 else options.unit)
            said = f"{EYES_ONLY}    spent {account['spent']} of {account['budget']} nats, {account['left']} left"
            return print_result({"private": account}, said, as_json=options.json)
        raised = ledger.is_raised
        if not raised and options.delta is not None:
            raise InvalidArgument("--delta is for the ex-post report of a raised ledger, but this one has a guarantee; leave it out")
        if raised and (options.guarantee is not None or options.composition is not None):
            ledger.guarantee()  # refuses, and says why
        told, guarantee = report_public(ledger, options.delta), None if raised else ledger.guarantee()
        composition = "" if options.composition is None else write_composition(ledger)
    if options.guarantee is not None and guarantee is not None:
        write_whole(options.guarantee, write_guarantee(guarantee))
    if options.composition is not None:
        write_whole(options.composition, composition)
    if options.json:
        print_json(told)
        return 0
    _print_report(told)
    if guarantee is None:
        _print_ex_post(told["ex_post"])
    else:
        print_as_it_is(render(guarantee, everything=options.everything).rstrip())
    print_written(guarantee=options.guarantee)
    if options.composition is not None:
        print_line(f"composition written to {options.composition}; bound it with: pdp account {options.composition} --delta D")
    return 0


def _print_report(told: dict[str, Any]) -> None:
    from accountant.cli.output import print_table
    from profiles.protection import read_protection

    budget = told["budget"]
    print_line(f"ledger                {told['ledger']}, {told['notion']}, mode {told['mode']}, units by {', '.join(told['key'])}")
    print_line(f"protection            {read_protection(**told['protection']).describe()}")
    print_line(f"budget                {budget['expression']}, from {budget['least']} to {budget['most']} nats")
    left = f"; {told['left']} left" if "left" in told else " for each record" if told["records"] is None else ""
    if told["cap"] is not None:
        print_line(f"cap                   {told['cap']} nats: what is promised, whatever budgets are in force")
    print_line(f"charged at worst      {told['at_worst']} nats{left}")
    rows = [
        (str(item["sequence"]), item["kind"], item.get("name", item.get("budget", "")), item.get("at_worst", ""), item["time"])
        for item in told["entries"]
    ]
    print_table("the log", ("entry", "kind", "name", "at worst", "time"), rows)


def _print_ex_post(told: dict[str, Any]) -> None:
    print_line("no guarantee: budgets were raised without a cap")
    print_line(told["statement"])
    print_line(f"it rests on {count_assumptions(len(told['premises']))}:")
    for item in told["premises"]:
        print_line(f"  {item['id']}: {item['sentence']}")


def _verify(options: _Verify) -> int:
    with _open(options) as ledger:
        repaired = ledger.verify(repair=options.repair)
        head = ledger.journal.entries[-1]
    told = {"verdict": "accepted", "sequence": head.sequence, "hash": head.hash.hex(), "repaired": repaired > 0}
    return print_result(
        told,
        f"accepted: log, seals, anchor and accounts agree up to entry {head.sequence}, {head.hash.hex()}",
        *(["accounts that were not what follows from the log were written anew"] if repaired else []),
        as_json=options.json,
    )


def _backup(options: _Backup) -> int:
    from accountant.ledger.backup import back_up
    from accountant.ledger.writing import check_outputs

    check_writable(options.log)
    with _open(options) as ledger:
        check_outputs(ledger, options.log)
        entries = back_up(ledger, options.log)
        head = ledger.journal.entries[-1].hash.hex()
    return print_result(
        {"entries": entries, "hash": head, "log": str(options.log)},
        f"{entries} entries written to {options.log}, up to {head}; it is as private as the ledger, and needs its secret and its anchor",
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

    with Ledger.open(options.file) as old, migrate(old, options.new, anchor=options.anchor, secret=options.secret) as made:
        head, names = made.journal.entries[0].hash.hex(), (made.name, old.name)
        left = len(made.carry().hypotheses)
    return print_result(
        {"sequence": 0, "hash": head, "ledger": names[0], "open_hypotheses": left},
        f"{names[0]} goes on from {names[1]}: entry 0, {head}; charge the old one no more",
        f"all that the old one rests on goes with it: {count_assumptions(left)}",
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
    "charge": Verb(
        "Charge a release that you then run yourself. In individual mode it may be run on the rows that are written to OUT, and no other.",
        _Charge,
        _charge,
        """pdp ledger charge people.ledger examples/income.toml \\
    --statistic z=income --name "income 2026" --active take-part.csv""",
    ),
    "release": Verb(
        "Charge a mechanism, run it, store its output and write it. Under a name that was released, the stored one is written, for free.",
        _Release,
        _release,
        """pdp ledger release people.ledger "count 2026" \\
    --mechanism profiles.mechanisms.weighted_count:default --out count.json""",
    ),
    "raise": Verb(
        "Raise the budgets; nothing lowers them.",
        _Raise,
        _raise,
        "pdp ledger raise people.ledger --budget 3",
    ),
    "report": Verb(
        "Report what may be published, or one unit's account for you.",
        _Report,
        _report,
        """pdp ledger report people.ledger --public
  pdp ledger report people.ledger --unit ada""",
    ),
    "verify": Verb(
        "Check log, seals, anchor and accounts against each other.",
        _Verify,
        _verify,
        "pdp ledger verify people.ledger",
    ),
    "backup": Verb(
        "Write the log to a file, for its owner's eyes.",
        _Backup,
        _backup,
        "pdp ledger backup people.ledger --log people.log",
    ),
    "restore": Verb(
        "Make a ledger of a backup of its log.",
        _Restore,
        _restore,
        """pdp ledger restore again.ledger --log people.log \\
    --anchor people.anchor --secret people.ledger.key""",
    ),
    "migrate": Verb(
        "Go on in a new ledger, with all that the old one rests on. The old one is charged no more.",
        _Migrate,
        _migrate,
        "pdp ledger migrate people.ledger next.ledger --anchor next.anchor",
    ),
}
EXAMPLE = say_examples(*(verb.example for verb in VERBS.values()))
