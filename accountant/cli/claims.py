"""``pdp claims``: the papers' statements with verdicts, witnesses and corrections."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from accountant.cli.completion import complete_claim, complete_paper
from accountant.cli.options import JsonOption
from accountant.cli.output import print_json, print_line, print_table
from accountant.progress import show_progress
from profiles.errors import InvalidArgument

if TYPE_CHECKING:
    from proofs_check.papers import Judgement

HELP = "List what the papers state, line by line, with verdicts, witnesses and corrections. A refuted statement is a result, not a failure."
EXAMPLE = """\b
Examples:
  pdp claims --explain fay-2024-equation-4
  pdp claims --run ghazi-2024-theorem-g.1-rounds
  pdp claims --refuted
"""

_SHORT = {"damaged in extraction": "damaged"}


@dataclass(frozen=True, slots=True)
class Options:
    paper: Annotated[
        str | None, typer.Option("--paper", metavar="KEY", help="one paper only, such as fay-2024", autocompletion=complete_paper)
    ] = None
    refuted: Annotated[bool, typer.Option("--refuted", help="refuted statements only")] = False
    explain: Annotated[
        str | None, typer.Option("--explain", metavar="ID", help="everything about one claim", autocompletion=complete_claim)
    ] = None
    again: Annotated[
        str | None,
        typer.Option(
            "--run",
            metavar="ID",
            help="run a refuted statement on its instance: the algorithm as printed, in exact numbers, or both sides of the relation",
            autocompletion=complete_claim,
        ),
    ] = None
    json: JsonOption = False


def run(options: Options) -> int:
    from proofs_check.papers import Status, all_claims, find_claim, judge

    if options.again is not None:
        return _run_again(options)
    if options.explain is not None and (options.refuted or options.paper is not None):
        raise InvalidArgument("--explain shows one statement, but --refuted or --paper was given too; leave out one of them")
    claims = (find_claim(options.explain),) if options.explain is not None else all_claims(options.paper)
    judgements: list[Judgement] = []
    with show_progress("judging", "statements") as report:
        for claim in claims:
            report(len(judgements), len(claims))
            judgements.append(judge(claim.id))
    if options.refuted:
        judgements = [judgement for judgement in judgements if judgement.status is Status.REFUTED]
    if options.json:
        print_json([judgement.to_json() for judgement in judgements])
    elif options.explain is not None:
        _explain(*judgements)
    else:
        _list(judgements, short=not options.refuted)
    return 0


def _run_again(options: Options) -> int:
    from proofs_check.papers import find_claim
    from proofs_check.printed import run_again

    if options.refuted or options.paper is not None or options.explain is not None:
        raise InvalidArgument("--run runs one statement, but --refuted, --paper or --explain was given too; leave it out")
    rerun = run_again(str(options.again))
    if options.json:
        print_json(rerun.to_json())
        return 0
    lines = [("run", rerun.algorithm), ("instance", rerun.instance), ("claimed", rerun.claimed)]
    lines.extend(("found", f"{item.what} = {item.describe()}") for item in rerun.found)
    lines.append(("correction", find_claim(rerun.claim).correction))
    for name, text in lines:
        print_line(f"{name + ':':<14}{text}")
    return 0


def _list(judgements: list[Judgement], *, short: bool) -> None:
    from proofs_check.papers import PAPERS

    for paper in PAPERS:
        mine = [judgement for judgement in judgements if judgement.claim.paper == paper.key]
        if mine and short:
            rows = [(_SHORT.get(judgement.status.value, judgement.status.value), _headline(judgement)) for judgement in mine]
            print_table(f"{paper.citation}: {paper.title}", ("verdict", "statement"), rows)
        elif mine:
            rows = [(judgement.claim.consequence.value if judgement.claim.consequence else "", _detail(judgement)) for judgement in mine]
            print_table(f"{paper.citation}: refuted", ("consequence", "statement, witness and correction"), rows)
    counts: dict[str, int] = {}
    for judgement in judgements:
        counts[judgement.status.value] = counts.get(judgement.status.value, 0) + 1
    print_line(", ".join(f"{number} {name}" for name, number in counts.items()) or "no claims")
    print_line("one of them in full: pdp claims --explain ID")


def _headline(judgement: Judgement) -> str:
    return f"{judgement.claim.id}\n{judgement.claim.statement}"


def _detail(judgement: Judgement) -> str:
    return f"{_headline(judgement)}\nwitness: {_witness(judgement)}\ncorrection: {judgement.claim.correction}"


def _witness(judgement: Judgement) -> str:
    from profiles.numbers import exact_text

    return ", ".join(f"{name} = {exact_text(value)}" for name, value in (judgement.witness or {}).items())


def _explain(*judgements: Judgement) -> None:
    from proofs_check.papers import all_claims

    for judgement in judgements:
        claim = judgement.claim
        lines = [
            ("id", claim.id),
            ("place", claim.source),
            ("statement", claim.statement),
            ("reduction", claim.reduction),
            ("verdict", judgement.status.value),
            ("method", judgement.method),
            ("witness", _witness(judgement)),
        ]
        for finding in judgement.findings:
            rules = f" (kernel: {', '.join(finding.rules)})" if finding.rules else ""
            lines.append(("goal", f"{finding.relation} for {finding.box or 'numbers'}: {finding.status.value}{rules}"))
        lines.append(("consequence", f"{claim.consequence.value}: {claim.effect}" if claim.consequence else ""))
        lines.append(("correction", claim.correction))
        lines.extend(("corrected by", other.id) for other in all_claims() if claim.id in other.corrects)
        lines.extend(("corrects", other) for other in claim.corrects)
        for name, text in lines:
            if text:
                print_line(f"{name + ':':<14}{text}")
