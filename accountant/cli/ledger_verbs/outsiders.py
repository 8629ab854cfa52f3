"""``pdp ledger export``, ``root`` and ``statement``: what outsiders and persons check without the secret."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from accountant.cli.ledger_verbs.options import FileArgument, NoteOptions, OpenedOptions, open_ledger, split_unit
from accountant.cli.options import Verb
from accountant.cli.output import print_result
from accountant.files import check_distinct, check_writable, replace_file, write_whole
from profiles.errors import InvalidArgument
from profiles.private import EYES_ONLY

if TYPE_CHECKING:
    from accountant.ledger.public import PublicEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class _Export(OpenedOptions):
    file: FileArgument
    out: Annotated[Path, typer.Option("--out", metavar="O", help="the file to write")]
    public: Annotated[bool, typer.Option("--public", help="only what may be published, which is the only form")] = False
    no_root: Annotated[bool, typer.Option("--no-root", help="write the log as it is, without a root of accounts for this month")] = False


def _export(options: _Export) -> int:
    from accountant.ledger.public import read_public, write_public
    from accountant.ledger.writing import check_outputs

    if not options.public:
        raise InvalidArgument("a ledger is exported in its public form only; add --public (pdp ledger backup keeps all of it)")
    check_writable(options.out)
    with open_ledger(options) as ledger:
        check_outputs(ledger, options.out)
        text = write_public(ledger, root=not options.no_root)
    public = read_public(text)
    write_whole(options.out, text)
    return print_result(
        {"entries": len(public.entries), "hash": public.head, "key": public.key, "out": str(options.out), **_tell_root(public.root)},
        f"the log up to entry {len(public.entries) - 1}, {public.head}, was written to {options.out}; it may be published",
        *([] if public.root is None else [f"newest root of all accounts: entry {public.root.sequence}, {public.root.body['root']}"]),
        f"signed with the key {public.key}: publish it, too, where it cannot be replaced",
        f"anybody can check it, without the secret, with: pdp check {options.out} --since EARLIER",
        as_json=options.json,
    )


def _tell_root(root: PublicEntry | None) -> dict[str, object]:
    return {"root": None if root is None else {"sequence": root.sequence, "root": root.body["root"]}}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Root(NoteOptions):
    file: FileArgument


@dataclass(frozen=True, slots=True, kw_only=True)
class _Statement(OpenedOptions):
    file: FileArgument
    unit: Annotated[str, typer.Option("--unit", metavar="U", help="whose statement: an id, or several with commas")]
    out: Annotated[Path | None, typer.Option("--out", metavar="O", help="write it with its proof (JSON, mode 0600), for pdp check")] = None
    html: Annotated[Path | None, typer.Option("--html", metavar="PAGE", help="write it as a page for the person (mode 0600)")] = None


def _root(options: _Root) -> int:
    from accountant.ledger.roots import append_root

    with open_ledger(options) as ledger:
        entry = append_root(ledger)
    return print_result(
        {"sequence": entry.sequence, "hash": entry.hash.hex(), "root": entry.body["root"]},
        f"root of all accounts: entry {entry.sequence}, {entry.body['root']}; it may be published, and is in the log for everybody",
        as_json=options.json,
    )


def _statement(options: _Statement) -> int:
    from accountant.ledger.pages import statement_page
    from accountant.ledger.report import say_promise
    from accountant.ledger.settings import tell_time
    from accountant.ledger.statements import make_statement, write_statement
    from accountant.ledger.writing import check_outputs

    for path in (options.out, options.html):
        if path is not None:
            check_writable(path)
    check_distinct(options.out, options.html)
    with open_ledger(options) as ledger:
        check_outputs(ledger, options.out, options.html)
        told, promise = make_statement(ledger, split_unit(options.unit, ledger)), say_promise(ledger)
    if options.out is not None:
        _write_private(options.out, write_statement(told))
    if options.html is not None:
        _write_private(options.html, statement_page(told, promise, tell_time()[:10]))
    written = [f"{EYES_ONLY}    written to {path} (mode 0600)" for path in (options.out, options.html) if path is not None]
    proof = told["proof"]
    proved = (
        "none: no root has this account yet; the next one will (pdp ledger root)" if proof is None else f"root of entry {proof['entry']}"
    )
    lines = [
        f"{EYES_ONLY}    {_sum_up(told)}",
        f"promise       {promise}",
        *(f"entry {item['sequence']:<8}{_describe(item, told['notion'])}" for item in told["entries"]),
        f"proof         {proved}",
    ]
    return print_result({"private": told}, *lines, *written, as_json=options.json)


def _sum_up(told: dict[str, Any]) -> str:
    from accountant.ledger.amounts import say_amounts

    spent, budget, left = (say_amounts(told[name], told["notion"]) for name in ("spent", "budget", "left"))
    return f"spent {spent} of {budget}, left {left}"


def _describe(item: dict[str, Any], notion: str) -> str:
    from accountant.ledger.amounts import say_amounts

    purpose = f" ({item['purpose']})" if item.get("purpose") else ""
    cost, left = (say_amounts(item[name], notion) for name in ("cost", "left"))
    return f"{item['time'][:10]}  {item['name'] or item['kind']}{purpose}: {cost}, left {left}"


def _write_private(path: Path, text: str) -> None:
    with replace_file(path, private=True) as stream:
        stream.write(text.encode())


VERBS = {
    "root": Verb(
        "Append a Merkle root of all accounts to the log. The root is public and reveals nothing about them. An export appends one each "
        "month by itself.",
        _Root,
        _root,
        "pdp ledger root people.ledger",
    ),
    "statement": Verb(
        "Write the statement of one unit: what each release cost and what is left, with a proof. For your eyes only.",
        _Statement,
        _statement,
        "pdp ledger statement people.ledger --unit ada --out ada.json --html ada.html",
    ),
    "export": Verb(
        "Write the log for everybody, signed: pdp check verifies it without the secret. The first export of a month appends a root of all "
        "accounts before, where they changed.",
        _Export,
        _export,
        "pdp ledger export people.ledger --public --out people.public",
    ),
}
