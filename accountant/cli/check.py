"""``pdp check``: run the kernel on a certificate."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from accountant.cli.options import JsonOption
from accountant.cli.output import print_json, print_line
from accountant.progress import show_progress
from profiles.errors import InvalidArgument

if TYPE_CHECKING:
    from proofs_check.documents.entries import CheckedDocument

HELP = (
    "Check any file that pdp wrote: certificates with the proof checker (the kernel; standard library only), also those inside of a "
    "report, and guarantees by making their calls again. Exit 0 accepted, 1 rejected with the step's name, 2 nothing to check."
)
EXAMPLE = """\b
Examples:
  pdp verify examples/lloyd.toml -e 20 -c assumption-8 --certificate c.json
  pdp check c.json
  pdp check c.json --axioms
  pdp check c.json --with coq
  pdp check c.json --verified
  pdp check --export checker.pyz
"""


@dataclass(frozen=True, slots=True)
class Options:
    file: Annotated[Path | None, typer.Argument(metavar="[FILE]", help="a certificate, a guarantee, a report, ...")] = None
    export: Annotated[
        Path | None,
        typer.Option(
            "--export", metavar="FILE.pyz", help="write the checker as one file, which runs with any Python 3.11+ and nothing else"
        ),
    ] = None
    axioms: Annotated[
        bool, typer.Option("--axioms", help="print the axiom behind each rule that was used, and whether it is proved formally or on paper")
    ] = False
    second: Annotated[
        str | None, typer.Option("--with", metavar="coq", help="let Coq confirm each goal of an accepted certificate, as a second opinion")
    ] = None
    verified: Annotated[
        bool,
        typer.Option("--verified", help="check each goal of an accepted certificate once more by the checker that is proved right in Coq"),
    ] = False
    seconds: Annotated[int, typer.Option("--seconds", metavar="S", help="with --with or --verified: the time limit for one goal")] = 10
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="FILE.v", help="with --with or --verified: write the confirmed goals and their proofs as a file of Coq"
        ),
    ] = None
    since: Annotated[
        Path | None, typer.Option("--since", metavar="EARLIER", help="an earlier log of the same ledger, which this one must continue")
    ] = None
    log: Annotated[
        Path | None,
        typer.Option("--log", metavar="LOG", help="for the statement of a unit: the log for everybody, which must contain its root"),
    ] = None
    timestamp: Annotated[
        Path | None, typer.Option("--timestamp", metavar="REPLY", help="the reply of a time-stamping authority (RFC 3161) about this file")
    ] = None
    authority: Annotated[
        Path | None, typer.Option("--authority", metavar="CERT", help="with --timestamp: the certificate (PEM) that must have signed it")
    ] = None
    everything: Annotated[
        bool, typer.Option("--all", help="print all: what the file is about, every assumption in full, each claim with its rules")
    ] = False
    json: JsonOption = False


#: So many lines about a file are printed without --all.
_LINES = 6


def _export(options: Options, out: Path) -> int:
    from accountant.files import check_writable, replace_file
    from proofs_check.archive import checker_digest, make_checker

    if options.file is not None:
        raise InvalidArgument("a certificate and --export were given, but the checker is written without checking; give one of the two")
    check_writable(out)
    with replace_file(out) as file:
        file.write(make_checker())
    if options.json:
        print_json({"out": str(out), "bytes": len(make_checker()), "checker_sha256": checker_digest()})
    else:
        print_line(f"checker written to {out} ({len(make_checker())} bytes): python -I {out.name} CERTIFICATE")
        print_line(f"SHA-256 {checker_digest()}")
    return 0


@contextmanager
def _ended_at_once() -> Iterator[None]:
    """Let Ctrl-C and a request to end stop the process themselves, also within one long operation: checking leaves nothing behind."""
    main = threading.current_thread() is threading.main_thread()
    heard = [number for number in (signal.SIGINT, signal.SIGTERM) if main and callable(signal.getsignal(number))]
    handlers = [signal.signal(number, signal.SIG_DFL) for number in heard]
    try:
        yield
    finally:
        for number, handler in zip(heard, handlers, strict=True):
            signal.signal(number, handler)


def _compare_logs(checked: CheckedDocument, text: str, earlier: Path) -> CheckedDocument:
    """Return what the check of a public log found, and whether it goes on from an earlier one. Raises :class:`InvalidArgument`."""
    from dataclasses import replace

    from accountant.checking import read_file
    from accountant.ledger.public import read_public
    from profiles.errors import LedgerRejected
    from proofs_check.kernel import Report

    if checked.document.name != "pdp-ledger-public":
        raise InvalidArgument(f"--since is for the log of a ledger, but {checked.document.meaning} was found; leave it out")
    if not checked.outcome.report.accepted:
        return checked
    before = read_public(read_file(earlier))
    try:
        read_public(text).require_growth(before)
    except LedgerRejected as error:
        return replace(checked, outcome=replace(checked.outcome, report=Report(accepted=False, step="since", reason=str(error))))
    about = {**(checked.outcome.about or {}), "since": {"entries": len(before.entries), "head": before.head}}
    lines = (*checked.outcome.lines, f"it goes on from {earlier}: up to entry {len(before.entries) - 1} both are the same")
    return replace(checked, outcome=replace(checked.outcome, about=about, lines=lines))


def _look_up(checked: CheckedDocument, text: str, log: Path) -> CheckedDocument:
    """Return what the check of a statement found, and whether a public log has its root. Raises :class:`InvalidArgument`."""
    from dataclasses import replace

    from accountant.checking import read_file
    from accountant.ledger.public import read_public
    from accountant.ledger.statements import read_statement, require_root
    from profiles.errors import LedgerRejected
    from proofs_check.kernel import Report

    if checked.document.name != "pdp-ledger-statement":
        raise InvalidArgument(f"--log is for the statement of a unit, but {checked.document.meaning} was found; leave it out")
    if not checked.outcome.report.accepted:
        return checked
    try:
        statement, public = read_statement(text), read_public(read_file(log))
        require_root(statement, public)
    except LedgerRejected as error:
        return replace(checked, outcome=replace(checked.outcome, report=Report(accepted=False, step="log", reason=str(error))))
    lines = (*checked.outcome.lines, f"{log} has this root, and the same entries")
    if public.root is not None and public.root.sequence > statement["proof"]["entry"]:
        lines += (f"{log} has a newer root, of entry {public.root.sequence}: a new statement is proved under that",)
    return replace(checked, outcome=replace(checked.outcome, lines=lines))


def _compare_time(checked: CheckedDocument, file: Path, reply: Path, authority: Path | None) -> CheckedDocument:
    """Return what the check of a file found, and whether a time-stamping authority saw it. Raises :class:`UnreadableFile`."""
    from dataclasses import replace

    from accountant.ledger.timestamps import read_reply
    from profiles.errors import LedgerRejected, UnreadableFile
    from proofs_check.kernel import Report

    if not checked.outcome.report.accepted:
        return checked
    try:
        data, told, signed = file.read_bytes(), reply.read_bytes(), None if authority is None else authority.read_bytes()
    except OSError as error:
        raise UnreadableFile(f"{error.filename} cannot be read ({error.strerror}); check the path and its rights") from None
    stamp = read_reply(told)
    try:
        stamp.require_file(data)
        signer = None if signed is None else stamp.require_signed(signed)
    except LedgerRejected as error:
        return replace(checked, outcome=replace(checked.outcome, report=Report(accepted=False, step="timestamp", reason=str(error))))
    by = (
        "its signature was not checked: name the certificate of the authority with --authority" if signer is None else f"signed by {signer}"
    )
    when = stamp.time.strftime("%Y-%m-%dT%H:%M:%SZ")
    about = {**(checked.outcome.about or {}), "timestamp": {"time": when, "signer": signer}}
    return replace(checked, outcome=replace(checked.outcome, about=about, lines=(*checked.outcome.lines, f"timestamp of {when}; {by}")))


def run(options: Options) -> int:
    from accountant.checking import check_document, read_file
    from accountant.files import check_not_input

    if options.export is not None:
        if options.second is not None or options.verified:
            given = "--with" if options.second is not None else "--verified"
            raise InvalidArgument(f"--export and {given} were given, but the checker is written without checking; give one of the two")
        return _export(options, options.export)
    if options.file is None:
        raise InvalidArgument("a certificate file was expected, but none was named; name one, or --export FILE.pyz")
    if options.second not in (None, "coq"):
        raise InvalidArgument(f"a second opinion of {options.second[:40]!r} was asked for, but only coq gives one; write --with coq")
    if options.verified and options.second is not None:
        raise InvalidArgument("--with and --verified were given, but a certificate is put to one of the two at a time; give one of them")
    asks = options.second is not None or options.verified
    if options.out is not None and not asks:
        raise InvalidArgument("--out is for the goals that Coq confirms, but neither --with coq nor --verified was given; give one of them")
    if options.out is not None:
        check_not_input(options.out, options.file, "certificate")
    text = read_file(options.file)
    with show_progress("checking"), _ended_at_once():
        checked = check_document(text, options.file)
    if options.since is not None:
        checked = _compare_logs(checked, text, options.since)
    if options.log is not None:
        checked = _look_up(checked, text, options.log)
    if options.authority is not None and options.timestamp is None:
        raise InvalidArgument("--authority was given, but it belongs to a timestamp; add --timestamp, or leave it out")
    if options.timestamp is not None:
        checked = _compare_time(checked, Path(options.file), options.timestamp, options.authority)
    report, opinion = checked.outcome.report, None
    if asks and report.accepted:
        from accountant.cli.second_opinion import ask_coq

        opinion = ask_coq(text, seconds=options.seconds, out=options.out, verified=options.verified)
    if options.json:
        from proofs_check.archive import checker_digest

        told = {} if opinion is None else {"verified" if options.verified else "second_opinion": opinion.to_json()}
        print_json({**_to_json(checked), "checker_sha256": checker_digest(), **told})
    elif report.accepted:
        print_line(f"accepted: {options.file}")
        for line in _describe(checked) if options.everything else _summarize(checked):
            print_line(f"    {line}" if line else "")
        if not options.everything:
            _print_assumptions(checked)
        if options.axioms:
            _print_axioms(checked)
        if opinion is not None:
            for line in opinion.describe():
                print_line(f"    {line}")
    else:
        print_line(f"rejected at {report.step}: {report.reason}")
    if opinion is not None:
        return opinion.exit_code
    return 0 if report.accepted else 1


def _to_json(checked: CheckedDocument) -> dict[str, Any]:
    from proofs_check.explain.trust import axioms_behind, mark_rule

    report, axioms = checked.outcome.report, axioms_behind(checked.claims)
    return {
        "format": checked.document.name,
        "checked": checked.document.told if report.accepted else None,
        "accepted": report.accepted,
        "upgraded": report.upgraded,
        "about": checked.outcome.about,
        "claims": [
            {
                "claim": claim.claim,
                "verdict": claim.verdict,
                "bound": claim.bound,
                "rules": list(claim.rules),
                "side_conditions": list(claim.side_conditions),
            }
            for claim in report.claims
        ],
        "axioms": axioms,
        "proofs": {name: mark_rule(name) for name in axioms},
        "step": report.step,
        "reason": report.reason,
        "inside": {name: _to_json(part) for name, part in checked.inside},
    }


def _describe(checked: CheckedDocument) -> Iterator[str]:
    """Yield what an accepted file is, what was checked, what it is about and what was not checked; then the same of what is inside."""
    from proofs_check.kernel.untrusted.upgrade import UPGRADED

    yield f"{checked.document.meaning}: {checked.document.told}"
    if checked.outcome.report.upgraded:
        yield UPGRADED
    yield from checked.outcome.lines
    yield from _list_claims(checked)
    for name, part in checked.inside:
        yield f"inside: {name}"
        lines = _describe(part) if checked.document.check is None else _list_claims(part)  # a file with a check has said what it is about
        yield from (f"    {line}" for line in lines)


def _summarize(checked: CheckedDocument) -> Iterator[str]:
    """Yield the same for a first screen, without what is not checked: what the file is about is cut, and claims have no rules."""
    from proofs_check.documents.describing import leave_out_open, shorten
    from proofs_check.kernel.untrusted.upgrade import UPGRADED

    yield f"{checked.document.meaning}: {checked.document.told}"
    if checked.outcome.report.upgraded:
        yield UPGRADED
    lines = leave_out_open(checked.outcome.about, checked.outcome.lines)
    shown = [line for line in lines if not line.startswith(" " * 6)]
    cut = shown if len(shown) <= _LINES else shown[: _LINES - 1]
    yield from cut
    if len(lines) > len(cut):
        more = len(lines) - len(cut)
        yield f"    and {more} more line{'' if more == 1 else 's'} about it: --all"
    told = (
        (claim.claim, "" if claim.bound is None else f" {shorten(claim.bound)}", claim.verdict) for claim in checked.outcome.report.claims
    )
    claims = list(dict.fromkeys(f"{name}{bound}: {verdict}" for name, bound, verdict in told))
    if len(claims) > _LINES:
        claims = [*claims[: _LINES - 1], f"and {len(claims) - _LINES + 1} more claims: --all"]
    if claims:
        yield "; ".join(claims)
    for name, part in checked.inside if checked.document.check is None else ():  # a file with a check has said what it is about
        many = len(part.claims)
        yield f"inside: {name}: {part.document.meaning}, {many} claim{'' if many == 1 else 's'} accepted: --all"


def _print_assumptions(checked: CheckedDocument) -> None:
    """Print what an accepted file rests on, shortly."""
    from accountant.cli.output import print_as_it_is
    from accountant.guarantees import render_hypotheses
    from profiles.hypotheses import recall

    stated = (checked.outcome.about or {}).get("premises")
    if stated:
        hypotheses = [recall(item["id"], item["sentence"], item["head"]) for item in stated]
        print_as_it_is("\n".join(render_hypotheses(hypotheses, everything=False)))


def _list_claims(checked: CheckedDocument) -> Iterator[str]:
    from proofs_check.documents.describing import shorten

    for claim in checked.outcome.report.claims:
        bound = "" if claim.bound is None else f" {shorten(claim.bound)}"
        beside = [f"rules: {', '.join(claim.rules)}"] if claim.rules else []
        beside += [f"side conditions: {', '.join(claim.side_conditions)}"] if claim.side_conditions else []
        told = f"{claim.claim}{bound}: {claim.verdict}" if claim.said is None else f"{claim.claim}: {claim.verdict}, {shorten(claim.said)}"
        yield told + (f" ({'; '.join(beside)})" if beside else "")


def _print_axioms(checked: CheckedDocument) -> None:
    from proofs_check.archive import checker_digest
    from proofs_check.explain.trust import MARK_OF_COMPOSITIONS, axioms_behind, mark_rule

    for name, axiom in axioms_behind(checked.claims).items():
        print_line(f"    {name}: {axiom} [{mark_rule(name)}]")
    if "composition" in (checked.outcome.about or {}):
        print_line(f"    computed from the events: {MARK_OF_COMPOSITIONS}")
    print_line(f"    checked by the kernel whose checker.pyz has the SHA-256 {checker_digest()}")
