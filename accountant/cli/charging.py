"""What the commands share that charge their release to a ledger: four options, and the analysis that they stand for."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from accountant.cli.files import list_outputs
from accountant.cli.options import ScreenOptions, ShowValuesOption
from accountant.cli.output import print_line
from accountant.files import check_not_input
from profiles.errors import InvalidArgument

if TYPE_CHECKING:
    from accountant.ledger import Analysis, Ledger

LedgerOption = Annotated[
    str | None,
    typer.Option(
        "--ledger",
        metavar="L",
        help="charge this ledger first (a file, or a server), and run on the units with enough budget left",
    ),
]
NameOption = Annotated[str | None, typer.Option("--name", metavar="N", help="with --ledger: the name of the release")]
KeyOption = Annotated[
    str | None, typer.Option("--key", metavar="COLUMN", help="with --ledger: the column of ids, or several with commas; by default its own")
]
AnchorOption = Annotated[Path | None, typer.Option("--anchor", metavar="A", help="with --ledger: its anchor; by default at its last place")]

PartialOption = Annotated[
    bool, typer.Option("--partial", help="with --ledger in individual mode: charge even if some units lack the budget and are left out")
]

AnalystOption = Annotated[str | None, typer.Option("--analyst", metavar="WHO", help="with --ledger: who asks for it, public")]
PurposeOption = Annotated[str | None, typer.Option("--purpose", metavar="WHY", help="with --ledger: what it is for, public")]
ApproverOption = Annotated[str | None, typer.Option("--approver", metavar="WHO", help="with --ledger: who approved it, public")]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseOptions(ScreenOptions):
    """What the command line says of every release."""

    ledger: LedgerOption = None
    name: NameOption = None
    anchor: AnchorOption = None
    partial: PartialOption = False
    analyst: AnalystOption = None
    purpose: PurposeOption = None
    approver: ApproverOption = None
    show_values: ShowValuesOption = False


def check_ledger(options: ReleaseOptions) -> None:
    """Refuse a ledger without a name, what belongs to a ledger without one, and outputs that are the ledger, before any work.

    Raises :class:`InvalidArgument`.
    """
    if (options.ledger is None) != (options.name is None):
        raise InvalidArgument("--ledger and --name go together: a release is charged under a name; give both, or neither")
    belonging: dict[str, object] = {
        "key": getattr(options, "key", None), "anchor": options.anchor, "partial": options.partial or None, **note_of(options)
    }  # fmt: skip
    for word, given in belonging.items():
        if given is not None and options.ledger is None:
            raise InvalidArgument(f"--{word} was given, but it belongs to a ledger; add --ledger and --name, or leave it out")
    for path in list_outputs(options):
        check_not_input(path, options.ledger, "ledger")
        check_not_input(path, options.anchor, "anchor")


def note_of(options: ReleaseOptions) -> dict[str, object]:
    """Return who asked for a release, as ``Ledger.stamp`` takes it."""
    return {"analyst": options.analyst, "purpose": options.purpose, "approver": options.approver}


@contextlib.contextmanager
def open_ledger(options: ReleaseOptions) -> Iterator[Ledger | None]:
    """Open the ledger of the options for a block; None where there is none.

    Raises as ``Ledger.open`` does, :class:`InvalidArgument` for outputs that are the data or a file of the ledger.
    """
    if options.ledger is None:
        yield None
        return
    from accountant.ledger import Ledger
    from accountant.ledger.report import tell_room
    from accountant.ledger.writing import check_outputs

    with Ledger.open(options.ledger, anchor=options.anchor, partial=options.partial, note=note_of(options)) as ledger:
        check_outputs(ledger, *list_outputs(options))
        before = tell_room(ledger)
        yield ledger
        ledger.journal.catch_up()
        for when, told in (("before", before), ("after", tell_room(ledger))) if not options.json else ():
            print_line(f"ledger {when:15}{told}")


def make_analysis(ledger: Ledger | None, options: ReleaseOptions, **units: Any) -> Analysis | None:
    """Return the analysis that the options stand for: ``units`` are those of ``Ledger.analysis``. None without a ledger."""
    return None if ledger is None else ledger.analysis(str(options.name), **units)


def require_one_key(ledger: Ledger | None, column: str) -> None:
    """Refuse a ledger whose units have several columns, where one ``column`` tells users apart. Raises :class:`InvalidArgument`."""
    if ledger is not None and len(ledger.settings.key) > 1:
        raise InvalidArgument(
            f"the units of this ledger are identified by {', '.join(ledger.settings.key)}, but the users here by {column[:40]!r} "
            f"alone, so that "
            "a unit is a part of a user; charge a ledger whose units are users"
        )


def refuse_alone(options: Any, ledger: Ledger | None) -> None:
    """Refuse a report or a certificate of one release by itself beside a ledger, which promises more. Raises :class:`InvalidArgument`."""
    if ledger is not None and (options.report is not None or (options.certificate is not None and ledger.settings.records != 1)):
        raise InvalidArgument(
            "a report or certificate is about one row and this release alone, but a ledger promises a unit with all of its rows, for all "
            "releases together; leave it out (or, for a certificate, open the ledger with --records 1), and see pdp ledger report"
        )
