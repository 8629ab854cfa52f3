"""What the command line says of a ledger: where it and its files are, the data, a sample; and how it is opened."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from accountant.cli.options import (
    ConstantOption,
    JsonOption,
    QOption,
    RuleOption,
    ShowValuesOption,
    parse_assignments,
)
from profiles.errors import InvalidArgument

if TYPE_CHECKING:
    from accountant.ledger import Ledger

FileArgument = Annotated[str, typer.Argument(metavar="FILE", help="the ledger: a file, or postgresql://HOST/DATABASE#SCHEMA")]
NewArgument = Annotated[str, typer.Argument(metavar="NEW", help="the ledger to make")]
BudgetOption = Annotated[
    list[str],
    typer.Option(
        "--budget",
        metavar="EXPR",
        help="nats for each unit, a number or an expression in columns; in mixed epsilon=E, mu2=M, delta=D, rho=R",
    ),
]
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
class OpenedOptions(Options):
    """What it says of a ledger with its accounts."""

    anchor: Annotated[Path | None, typer.Option("--anchor", metavar="A", help="the file that gets the hash of each entry, if it moved")] = (
        None
    )
    table: Annotated[Path | None, typer.Option("--table", metavar="FOLDER", help="the table with the accounts, if it moved")] = None
    engine: Annotated[
        str | None,
        typer.Option("--engine", metavar="NAME", help="the engine that computes the spending of a table: duckdb, polars or spark"),
    ] = None


AnalystOption = Annotated[
    str | None, typer.Option("--analyst", metavar="WHO", help="who asks for it (public; a quota may be set for each)")
]
PurposeOption = Annotated[str | None, typer.Option("--purpose", metavar="WHY", help="what it is for (public; a quota may be set for each)")]
ApproverOption = Annotated[str | None, typer.Option("--approver", metavar="WHO", help="who approved it: public")]
PlanOption = Annotated[
    bool, typer.Option("--plan", help="print what it would cost and what would be left, from public numbers; spends and reads nothing")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteOptions(OpenedOptions):
    """What it says of who asked for an entry of the log."""

    analyst: AnalystOption = None
    purpose: PurposeOption = None
    approver: ApproverOption = None

    def note(self) -> dict[str, object]:
        """Return it by name, as ``Ledger.stamp`` takes it."""
        return {"analyst": self.analyst, "purpose": self.purpose, "approver": self.approver}


@dataclass(frozen=True, slots=True, kw_only=True)
class DataOptions(NoteOptions):
    """What it says where the data are read."""

    data: Annotated[
        str | None, typer.Option("--data", metavar="D", help="CSV, Parquet or NPY file; by default the file of init, at its last place")
    ] = None
    show_values: ShowValuesOption = False


PartialOption = Annotated[
    bool, typer.Option("--partial", help="in individual mode: charge even if some units lack the budget and are left out")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChargingOptions(DataOptions):
    """What it says of the sample that a release may be run on, and whether units may be missing from it."""

    partial: PartialOption = False
    clip: Annotated[
        bool, typer.Option("--clip", help="move each row into the declared ranges instead of refusing all rows because of one")
    ] = False
    target_epsilon: Annotated[
        str | None, typer.Option("--target-epsilon", "-e", metavar="E", help="sample with weights for this target")
    ] = None
    rule: RuleOption = None
    q: QOption = None
    constant: ConstantOption = None

    def sampling(self) -> dict[str, Any]:
        """Return the options of a sample by name, as :func:`~accountant.ledger.charges.prepare_charge` takes them."""
        constants = parse_assignments(self.constant, "--constant") or None
        return {"rule": self.rule, "q": self.q, "constants": constants, "target_epsilon": self.target_epsilon}


def open_ledger(options: OpenedOptions) -> Ledger:
    from accountant.ledger import Ledger

    note = options.note() if isinstance(options, NoteOptions) else None
    return Ledger.open(options.file, anchor=options.anchor, secret=options.secret, table=options.table, engine=options.engine, note=note)


def read_ranges(items: list[str] | None) -> dict[str, list[str]]:
    ranges = {}
    for name, given in parse_assignments(items, "--attribute").items():
        low, colon, high = given.partition(":")
        if not colon:
            raise InvalidArgument(
                f"--attribute needs NAME=LO:HI, but {name}={given[:40]} was found; write for example --attribute years=0:10"
            )
        ranges[name] = [low.strip(), high.strip()]
    return ranges


def split_unit(given: str, ledger: Ledger) -> str | tuple[str, ...]:
    """Return the id of a unit as ``Ledger.account`` takes it: one text, or one for each key column."""
    return tuple(given.split(",")) if len(ledger.settings.key) > 1 else given
