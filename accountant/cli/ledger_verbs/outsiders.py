"""``pdp ledger export``: what outsiders check without the secret."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from accountant.cli.ledger_verbs.options import FileArgument, OpenedOptions, open_ledger
from accountant.cli.options import Verb
from accountant.cli.output import print_result
from accountant.files import check_writable, write_whole
from profiles.errors import InvalidArgument


@dataclass(frozen=True, slots=True, kw_only=True)
class _Export(OpenedOptions):
    file: FileArgument
    out: Annotated[Path, typer.Option("--out", metavar="O", help="the file to write")]
    public: Annotated[bool, typer.Option("--public", help="what may be published, and nothing else: the one form there is")] = False


def _export(options: _Export) -> int:
    from accountant.ledger.public import read_public, write_public
    from accountant.ledger.writing import check_outputs

    if not options.public:
        raise InvalidArgument("a ledger is exported in its public form alone; add --public (pdp ledger backup keeps all of it)")
    check_writable(options.out)
    with open_ledger(options) as ledger:
        check_outputs(ledger, options.out)
        text = write_public(ledger)
    found = read_public(text)
    write_whole(options.out, text)
    return print_result(
        {"entries": len(found.entries), "hash": found.head, "key": found.key, "out": str(options.out)},
        f"{len(found.entries)} entries written to {options.out}, up to {found.head}; it may be published",
        f"signed with the key {found.key}: publish it, too, where it cannot be exchanged",
        f"anybody checks it, without the secret, with: pdp check {options.out} --since EARLIER",
        as_json=options.json,
    )


VERBS = {
    "export": Verb(
        "Write the log for everybody, signed: pdp check verifies it without the secret.",
        _Export,
        _export,
        "pdp ledger export people.ledger --public --out people.public",
    ),
}
