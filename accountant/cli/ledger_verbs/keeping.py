"""``pdp ledger verify`` and ``backup``: what keeps a ledger whole."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from accountant.cli.ledger_verbs.options import (
    FileArgument,
    OpenedOptions,
    open_ledger,
)
from accountant.cli.options import (
    Verb,
)
from accountant.cli.output import print_result
from accountant.files import check_writable


@dataclass(frozen=True, slots=True, kw_only=True)
class _Verify(OpenedOptions):
    file: FileArgument
    repair: Annotated[bool, typer.Option("--repair", help="rewrite the accounts that do not follow from the log")] = False
    witness: Annotated[
        list[Path] | None,
        typer.Option("--witness", metavar="W", help="what was kept elsewhere: a log for everybody, or a copy of the anchor (repeatable)"),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Backup(OpenedOptions):
    file: FileArgument
    log: Annotated[Path, typer.Option("--log", metavar="L", help="the file to write")]


def _verify(options: _Verify) -> int:
    from accountant.ledger.witnesses import require_witness

    with open_ledger(options) as ledger:
        seen = [require_witness(ledger, path) for path in options.witness or []]
        repaired = ledger.verify(repair=options.repair)
        head = ledger.journal.entries[-1]
    told = {"verdict": "accepted", "sequence": head.sequence, "hash": head.hash.hex(), "repaired": repaired > 0, "witnesses": seen}
    return print_result(
        told,
        f"accepted: log, seals, anchor and accounts agree up to entry {head.sequence}, {head.hash.hex()}",
        *seen,
        *(["accounts that did not follow from the log were rewritten"] if repaired else []),
        as_json=options.json,
    )


def _backup(options: _Backup) -> int:
    from accountant.ledger.backup import back_up
    from accountant.ledger.writing import check_outputs

    check_writable(options.log)
    with open_ledger(options) as ledger:
        check_outputs(ledger, options.log)
        entries = back_up(ledger, options.log)
        head = ledger.journal.entries[-1].hash.hex()
    return print_result(
        {"entries": entries, "hash": head, "log": str(options.log)},
        f"the log up to entry {entries - 1}, {head}, was written to {options.log}; it is as private as the ledger, and needs its secret "
        "and its anchor",
        as_json=options.json,
    )


VERBS = {
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
}
