"""``pdp ledger``: the persistent account of each unit: opened, charged, released from, reported, checked, kept and restored."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from accountant.cli.options import (
    AllOption,
    ConstantOption,
    JsonOption,
    QOption,
    RuleOption,
    ShowValuesOption,
    StatisticOption,
    parse_assignments,
)
from accountant.cli.output import print_as_it_is, print_json, print_line
from accountant.cli.streams import load_quietly, quiet_output
from accountant.files import check_not_input, check_writable, write_whole
from profiles.errors import InvalidArgument, LedgerRejected
from profiles.hypotheses import count_assumptions
from profiles.private import EYES_ONLY
from profiles.suggestions import suggest

if TYPE_CHECKING:
    from accountant.ledger import Ledger

HELP = (
    "Keep an account of what each unit (a person, or a person and a month) has spent over many releases. What is charged is durable before "
    "anything is run, and is never given back. ACTION is init, charge, release, raise, report, verify, backup, restore or migrate."
)
EXAMPLE = """\b
Examples:
  pdp ledger init people.ledger --data examples/people.csv --key id \\
    --budget 2 --anchor people.anchor
  pdp ledger charge people.ledger examples/income.toml \\
    --statistic z=income --name "income 2026" --active take-part.csv
  pdp ledger release people.ledger "count 2026" \\
    --mechanism profiles.mechanisms.weighted_count:default --out count.json
  pdp ledger report people.ledger --public
  pdp ledger report people.ledger --unit ada
  pdp ledger verify people.ledger
  pdp ledger backup people.ledger --log people.log
"""


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line says."""

    action: Annotated[str, typer.Argument(metavar="ACTION", help="what to do")]
    file: Annotated[str, typer.Argument(metavar="FILE", help="the ledger: a file, or postgresql://HOST/DATABASE#SCHEMA")]
    what: Annotated[
        str | None, typer.Argument(metavar="[PROFILE|NAME|NEW]", help="charge: the profile; release: its name; migrate: the new file")
    ] = None
    data: Annotated[
        str | None, typer.Option("--data", metavar="D", help="CSV, Parquet or NPY file; by default the one of init, where it was")
    ] = None
    key: Annotated[str | None, typer.Option("--key", metavar="COLUMN", help="init: the column of ids, or several with commas")] = None
    budget: Annotated[str | None, typer.Option("--budget", metavar="EXPR", help="init, raise: nats for each unit, in columns")] = None
    attribute: Annotated[
        list[str] | None, typer.Option("--attribute", metavar="NAME=LO:HI", help="the public range of a column in --budget (repeatable)")
    ] = None
    notion: Annotated[str | None, typer.Option("--notion", metavar="pure|zcdp", help="init: what is added up; pure by default")] = None
    mode: Annotated[
        str | None, typer.Option("--mode", metavar="individual|public", help="init: who is left out; individual by default")
    ] = None
    records: Annotated[int | None, typer.Option("--records", metavar="K", help="init: how many records a unit has at most")] = None
    protects: Annotated[
        str | None,
        typer.Option(
            "--protects", metavar="user|user-period", help="init: whose an account is; by default a user's, where the key is a column"
        ),
    ] = None
    anchor: Annotated[Path | None, typer.Option("--anchor", metavar="A", help="the file that gets each hash; init makes it")] = None
    secret: Annotated[
        Path | None, typer.Option("--secret", metavar="S", help="the key under which ids are hashed; FILE.key, needed for a server")
    ] = None
    table: Annotated[
        Path | None, typer.Option("--table", metavar="FOLDER", help="init: keep the accounts in a table of Parquet files, for many units")
    ] = None
    engine: Annotated[
        str | None, typer.Option("--engine", metavar="NAME", help="what computes the spending of a table: duckdb, polars or spark")
    ] = None
    statistic: StatisticOption = None
    name: Annotated[str | None, typer.Option("--name", metavar="N", help="charge: the name of the release")] = None
    active: Annotated[
        Path | None,
        typer.Option("--active", metavar="OUT", help="charge: where to write the rows that take part (0600); by default FILE.N.active.csv"),
    ] = None
    mechanism: Annotated[
        str | None, typer.Option("--mechanism", metavar="REF", help="release: package.module:object, a mechanism that can be run")
    ] = None
    out: Annotated[Path | None, typer.Option("--out", metavar="O", help="release: where to write the output (JSON)")] = None
    target_epsilon: Annotated[
        str | None, typer.Option("--target-epsilon", "-e", metavar="E", help="charge, release: sample with weights for this target")
    ] = None
    rule: RuleOption = None
    q: QOption = None
    constant: ConstantOption = None
    public: Annotated[bool, typer.Option("--public", help="report: what may be published")] = False
    unit: Annotated[str | None, typer.Option("--unit", metavar="K", help="report: one unit, for your eyes only")] = None
    guarantee: Annotated[Path | None, typer.Option("--guarantee", metavar="FILE", help="report: write it, for pdp compose")] = None
    composition: Annotated[
        Path | None, typer.Option("--composition", metavar="FILE", help="report: write the budget as an event, for pdp account")
    ] = None
    repair: Annotated[bool, typer.Option("--repair", help="verify: write accounts anew that are not what follows from the log")] = False
    log: Annotated[Path | None, typer.Option("--log", metavar="L", help="backup: the file to write; restore: the file to read")] = None
    everything: AllOption = False
    show_values: ShowValuesOption = False
    json: JsonOption = False


_SAMPLING = ("target_epsilon", "rule", "q", "constant")
_FILES = ("anchor", "secret", "table", "engine")
_ALWAYS = frozenset({"action", "file", "everything", "show_values", "json"})


def run(options: Options) -> int:
    if options.action not in _ACTIONS:
        hint = suggest(options.action, _ACTIONS)
        raise InvalidArgument(f"pdp ledger does {', '.join(_ACTIONS)}, but {options.action[:40]!r} was asked for; name one of them{hint}")
    act, needed, allowed = _ACTIONS[options.action]
    default = {item.name: item.default for item in fields(Options)}
    given = {name for name in default if name not in _ALWAYS and getattr(options, name) != default[name]}
    for name in sorted(given - {*needed, *allowed}):
        raise InvalidArgument(f"{_say(name)} was given, but pdp ledger {options.action} does not take it; leave it out")
    for name in needed:
        if name not in given:
            raise InvalidArgument(f"pdp ledger {options.action} needs {_say(name)}, but it was not given; see pdp ledger --help")
    return act(options)


def _say(name: str) -> str:
    return "a third word" if name == "what" else f"--{name.replace('_', '-')}"


def _init(options: Options) -> int:
    from accountant.ledger import Ledger

    with Ledger.create(
        options.file,
        options.data,
        key=options.key,
        budget=options.budget,
        anchor=str(options.anchor),
        notion=options.notion or "pure",
        mode=options.mode or "individual",
        attributes=_read_ranges(options.attribute),
        records=options.records,
        unit=options.protects,
        secret=options.secret,
        table=options.table,
        engine=options.engine,
    ) as ledger:
        protection = ledger.settings.protection
        told = {"sequence": 0, "hash": ledger.journal.entries[0].hash.hex(), "ledger": ledger.settings.ledger}
        name = ledger.name
    if options.json:
        print_json(told | {"protection": protection.to_object()})
    else:
        print_line(f"ledger {name} opened: entry 0, {told['hash']}")
        print_line(f"protection            {protection.describe()}, by the key {options.key}")
        print_line(f"anchor                {options.anchor}; keep it elsewhere, where nothing is taken from it")
        print_line(f"secret                {options.secret or f'{options.file}.key'}; without it nobody finds an account again")
    return 0


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


def _open(options: Options) -> Ledger:
    from accountant.ledger import Ledger

    return Ledger.open(options.file, anchor=options.anchor, secret=options.secret, table=options.table, engine=options.engine)


def _sampling(options: Options) -> dict[str, Any]:
    constants = parse_assignments(options.constant, "--constant") or None
    return {"rule": options.rule, "q": options.q, "constants": constants, "target_epsilon": options.target_epsilon}


def _charge(options: Options) -> int:
    from accountant.data import parse_statistic
    from accountant.ledger.writing import check_active, check_outputs, write_active

    declaration = load_quietly(str(options.what))
    with _open(options) as ledger:
        data = ledger.find_data(options.data)
        active = _find_active(options, ledger, data)
        if active is not None:
            check_active(active, data)
            check_outputs(ledger, active)
        receipt = ledger.charge(
            str(options.name),
            declaration,
            data,
            statistics=[parse_statistic(text) for text in options.statistic or []],
            **_sampling(options),
        )
        if active is not None:
            write_active(active, data, receipt)
    if options.json:
        told: dict[str, object] = {"name": receipt.name, "sequence": receipt.sequence, "hash": receipt.hash}
        print_json(told if active == options.active else told | {"active": str(active)})
    else:
        print_line(f"charged {receipt.name!r}: entry {receipt.sequence}, {receipt.hash}")
        if active is not None:
            print_line(f"rows that take part, {EYES_ONLY}: {active} (mode 0600); run it on these alone, and tell nobody how many they are")
    return 0


def _find_active(options: Options, ledger: Ledger, data: Any) -> Path | None:
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
    ledger.require_unused(str(options.name))
    kind = ".parquet" if str(data).lower().endswith(".parquet") else ".csv"
    said = re.sub(r"[^A-Za-z0-9._]+", "-", str(options.name)).strip("-.") or "release"
    beside = Path(f"{options.file}.{said}.active{kind}")
    if os.path.lexists(beside):
        raise InvalidArgument(f"the rows that take part were to be written to {beside}, which is there already; name a file with --active")
    return beside


def _release(options: Options) -> int:
    from accountant.ledger.outputs import to_printable
    from accountant.ledger.writing import check_outputs

    out = Path(str(options.out))
    check_writable(out)
    check_not_input(out, options.data, "data")
    declaration = load_quietly(str(options.mechanism))
    if declaration.mechanism is None:
        raise InvalidArgument(
            f"a mechanism that can be run was expected, but {str(options.mechanism)[:60]!r} is a profile; charge it instead"
        )
    with _open(options) as ledger:
        check_outputs(ledger, out)
        with quiet_output():
            output = ledger.run(str(options.what), declaration.mechanism, options.data, **_sampling(options))
        entry = ledger.journal.find("output", str(options.what).strip())
    write_whole(out, _to_text(to_printable(output)))
    told = {"name": str(options.what).strip(), "out": str(out)}
    if entry is not None:
        told |= {"sequence": entry.sequence, "hash": entry.hash.hex()}  # type: ignore[dict-item]
    if options.json:
        print_json(told)
    else:
        print_line(f"released {told['name']!r}: entry {told['sequence']}, {told['hash']}")
        print_line(f"output written to {out}; asked for again, it is the same one, and costs nothing")
    return 0


def _to_text(value: Any) -> str:
    import json

    return json.dumps(value, indent=2, ensure_ascii=True, allow_nan=False) + "\n"


def _raise(options: Options) -> int:
    with _open(options) as ledger:
        entry = ledger.raise_budget(options.budget, options.data, attributes=_read_ranges(options.attribute))
    if options.json:
        print_json({"sequence": entry.sequence, "hash": entry.hash.hex()})
    else:
        print_line(f"budgets raised: entry {entry.sequence}, {entry.hash.hex()}; the guarantee is that of the last budgets")
        print_line("it supposes from now on that nobody decides on raises by what was released or spent (raises-fixed)")
    return 0


def _report(options: Options) -> int:
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
            if options.json:
                print_json({"private": account})
            else:
                print_line(f"{EYES_ONLY}    spent {account['spent']} of {account['budget']} nats, {account['left']} left")
            return 0
        told, guarantee = report_public(ledger), ledger.guarantee()
        composition = "" if options.composition is None else write_composition(ledger)
    if options.guarantee is not None:
        write_whole(options.guarantee, write_guarantee(guarantee))
    if options.composition is not None:
        write_whole(options.composition, composition)
    if options.json:
        print_json(told)
        return 0
    _print_report(told)
    print_as_it_is(render(guarantee, everything=options.everything).rstrip())
    if options.guarantee is not None:
        print_line(f"guarantee written to {options.guarantee}; add it to others with: pdp compose {options.guarantee} OTHER...")
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
    print_line(f"charged at worst      {told['at_worst']} nats{left}")
    rows = [
        (str(item["sequence"]), item["kind"], item.get("name", item.get("budget", "")), item.get("at_worst", ""), item["time"])
        for item in told["entries"]
    ]
    print_table("the log", ("entry", "kind", "name", "at worst", "time"), rows)


def _verify(options: Options) -> int:
    with _open(options) as ledger:
        repaired = ledger.verify(repair=options.repair)
        head = ledger.journal.entries[-1]
    told = {"verdict": "accepted", "sequence": head.sequence, "hash": head.hash.hex(), "repaired": repaired > 0}
    if options.json:
        print_json(told)
    else:
        print_line(f"accepted: log, seals, anchor and accounts agree up to entry {head.sequence}, {head.hash.hex()}")
        if repaired:
            print_line("accounts that were not what follows from the log were written anew")
    return 0


def _backup(options: Options) -> int:
    from accountant.ledger.backup import back_up
    from accountant.ledger.writing import check_outputs

    log = Path(str(options.log))
    check_writable(log)
    with _open(options) as ledger:
        check_outputs(ledger, log)
        entries = back_up(ledger, log)
        head = ledger.journal.entries[-1].hash.hex()
    if options.json:
        print_json({"entries": entries, "hash": head, "log": str(log)})
    else:
        print_line(f"{entries} entries written to {log}, up to {head}; it is as private as the ledger, and needs its secret and its anchor")
    return 0


def _restore(options: Options) -> int:
    from accountant.ledger.backup import restore

    ledger, lost = restore(options.file, str(options.log), anchor=str(options.anchor), secret=options.secret, table=options.table)
    with ledger:
        head = ledger.journal.entries[-1]
    if lost:
        raise LedgerRejected(
            f"the ledger was restored up to entry {head.sequence}, but the backup lacks what its anchor has, {lost}: it is refused "
            "until it is restored from a newer backup"
        )
    if options.json:
        print_json({"sequence": head.sequence, "hash": head.hash.hex(), "lost": None})
    else:
        print_line(f"restored up to entry {head.sequence}, {head.hash.hex()}: all that the anchor has")
    return 0


def _migrate(options: Options) -> int:
    from accountant.ledger import Ledger
    from accountant.ledger.backup import migrate

    with Ledger.open(options.file) as old, migrate(old, str(options.what), anchor=str(options.anchor), secret=options.secret) as made:
        head, names = made.journal.entries[0].hash.hex(), (made.name, old.name)
        left = len(made.guarantee().hypotheses)
    if options.json:
        print_json({"sequence": 0, "hash": head, "ledger": names[0], "open_hypotheses": left})
    else:
        print_line(f"{names[0]} goes on from {names[1]}: entry 0, {head}; charge the old one no more")
        print_line(f"all that the old one rests on goes with it: {count_assumptions(left)}")
    return 0


#: What each action does, which options it needs, and which it takes besides.
_ACTIONS: dict[str, tuple[Callable[[Options], int], tuple[str, ...], tuple[str, ...]]] = {
    "init": (
        _init,
        ("data", "key", "budget", "anchor"),
        ("attribute", "notion", "mode", "records", "protects", "secret", "table", "engine"),
    ),
    "charge": (_charge, ("what", "name"), ("data", "statistic", "active", *_SAMPLING, *_FILES)),
    "release": (_release, ("what", "mechanism", "out"), ("data", *_SAMPLING, *_FILES)),
    "raise": (_raise, ("budget",), ("data", "attribute", *_FILES)),
    "report": (_report, (), ("public", "unit", "guarantee", "composition", *_FILES)),
    "verify": (_verify, (), ("repair", *_FILES)),
    "backup": (_backup, ("log",), _FILES),
    "restore": (_restore, ("log", "anchor"), ("secret", "table")),
    "migrate": (_migrate, ("what", "anchor"), ("secret",)),
}
