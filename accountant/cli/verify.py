"""``pdp verify``: a verdict for each condition, the derived μ, and what follows."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from accountant.cli.completion import complete_condition
from accountant.cli.files import check_files, print_told, print_written
from accountant.cli.options import CertificateOption, JsonOption, ProfileArgument
from accountant.cli.output import console, print_as_it_is, print_json, print_line, print_table
from accountant.cli.pictures import draw_to, plot_option, refuse_plot
from accountant.cli.streams import load_quietly
from accountant.files import write_whole
from accountant.progress import show_progress
from profiles.errors import InvalidArgument
from profiles.notions import ProfileNotion

if TYPE_CHECKING:
    from profiles.profile import Profile
    from proofs_check.explain import Explanation
    from proofs_check.verify import Verification

HELP = (
    "Decide the conditions of the theory for a profile: proved, refuted with a witness, or unknown with the reason. The exit code "
    "answers the question: Theorem 10 by default, or the named conditions and consequences; for a profile in another notion, the "
    "conditions of that notion, which need no target."
)
EXAMPLE = """\b
Examples:
  pdp verify profiles.mechanisms.lloyd:default --target-epsilon 10
  pdp verify examples/lloyd.toml -e 20 --certificate lloyd.json
  pdp verify examples/lloyd.toml -e 20 -c assumption-11 --explain
  pdp verify examples/lloyd.toml -e 20 --consequence proposition-12
"""

#: Width of the few words below the name of a condition: as wide as the longest name.
_MEANING = 21
EXIT = {"proved": 0, "refuted": 1, "unknown": 3}


@dataclass(frozen=True, slots=True)
class Options:
    profile: ProfileArgument
    target_epsilon: Annotated[
        str | None,
        typer.Option("--target-epsilon", "-e", metavar="E", help="target epsilon* in nats, such as 3 or 0.1; needed by pure profiles only"),
    ] = None
    condition: Annotated[
        list[str] | None,
        typer.Option("--condition", "-c", metavar="NAME", help="decide only this one (repeatable)", autocompletion=complete_condition),
    ] = None
    consequence: Annotated[
        list[str] | None,
        typer.Option("--consequence", metavar="NAME", help="ask for theorem-10 (the default) or proposition-12 (repeatable)"),
    ] = None
    certificate: CertificateOption = None
    explain: Annotated[bool, typer.Option("--explain", help="print each proof as a person would read it")] = False
    latex: Annotated[bool, typer.Option("--latex", help="with --explain: print it as a LaTeX fragment (amsmath)")] = False
    plot: Annotated[Path | None, plot_option("the loss of records against the weight, the target and the witnesses")] = None
    json: JsonOption = False


def run(options: Options) -> int:
    """Run the command; the exit code is 0 (all that was asked is proved), 1 (something of it is refuted) or 3 (unknown)."""
    if options.latex and not options.explain:
        raise InvalidArgument("--latex was given without --explain, which it is the form of; add --explain")
    from accountant.guarantees import render_hypotheses
    from profiles.presenting.pictures import require_numbers
    from proofs_check.certificates import to_file_text
    from proofs_check.explain import explain_all, to_latex, to_latex_lines, to_lines, to_paragraphs
    from proofs_check.verify import verify

    check_files(options, {"profile": options.profile})
    declared = load_quietly(options.profile).profile
    if declared.notion is not ProfileNotion.PURE:
        refuse_plot(options.plot, "a verification in another notion than the pure one")
        return _run_notion(declared, options)
    if options.target_epsilon is None:
        raise InvalidArgument(
            f"the conditions on {declared.name[:60]!r} need --target-epsilon, but it was not given; add it, for example --target-epsilon 3"
        )
    if options.plot is not None:
        require_numbers(declared)
    with show_progress("deciding", "conditions") as tell:
        verification = verify(
            declared,
            options.target_epsilon,
            options.condition,
            consequences=options.consequence,
            progress=lambda done, total, _: tell(done, total),
        )
    if options.certificate is not None:
        write_whole(options.certificate, to_file_text(verification.certificate()))
    draw_to(verification.plot, options.plot)
    report = verification.to_json()
    if options.json:
        if options.explain:
            _add_explanations(report, verification, to_latex_lines if options.latex else to_lines)
        print_json(report)
    elif options.latex:
        print_as_it_is("\n".join(to_latex(explanation) for explanation in explain_all(verification).values()).rstrip())
    else:
        lines = render_hypotheses(dict.fromkeys(item for consequence in verification.consequences for item in consequence.open_hypotheses))
        _print(report, _say_what_was_asked(verification), lines)
        for explanation in explain_all(verification).values() if options.explain else ():
            print_as_it_is("\n" + to_paragraphs(explanation, min(console().width, 120)))
        print_written(certificate=options.certificate, picture=options.plot)
    return EXIT[verification.verdict.value]


def _run_notion(declared: Profile, options: Options) -> int:
    """Decide the conditions of another notion."""
    from proofs_check.certificates import to_file_text
    from proofs_check.verify_notion import verify_notion

    name = f'the notion "{declared.notion.value}"'
    if options.explain:
        raise InvalidArgument(f"--explain was given, but explanations are written for pure profiles, not for {name}; leave it out")
    if options.consequence:
        raise InvalidArgument(f"--consequence was given, but consequences are those of pure profiles, not of {name}; leave it out")
    verification = verify_notion(declared, options.condition)
    if options.certificate is not None:
        write_whole(options.certificate, to_file_text(verification.certificate()))
    report = verification.to_json()

    def say() -> None:
        _print_conditions(report, f"{report['profile']}, {name}")
        print_line(f"answer for {', '.join(report['asked'])}: {report['verdict']}")

    print_told(report, options, say)
    return EXIT[report["verdict"]]


def _add_explanations(report: dict[str, Any], verification: Verification, to_text: Callable[[Explanation], list[str]]) -> None:
    from proofs_check.explain import explain_all

    for name, explanation in explain_all(verification).items():
        place = report["conditions"][name] if name in report["conditions"] else report.setdefault(name.replace("-", "_"), {})
        place["explanation"] = to_text(explanation)


def _say_what_was_asked(verification: Verification) -> str:
    """Return one line: the answer, and which verdicts it does not depend on."""
    asked = ", ".join(verification.asked)
    aside = [name for name in verification.decisions if name not in verification.needed]
    informs = f"; for information only: {', '.join(aside)}" if aside else ""
    needed = [(name, decision) for name, decision in verification.decisions.items() if name in verification.needed]
    refuted = [name for name, decision in needed if decision.verdict.value == "refuted"]
    consequences = {consequence.statement for consequence in verification.consequences}
    only = refuted and consequences.issuperset(verification.asked)  # a theorem is not refuted by a profile that it is not about
    answer = f"not applicable, because of {', '.join(refuted)} (refuted)" if only else verification.verdict.value
    return f"answer for {asked}: {answer}{informs}"


def _print_conditions(report: dict[str, Any], title: str) -> None:
    rows = []
    for name, decision in report["conditions"].items():
        why = decision["reason"] or decision["method"]
        if decision["witness"]:
            shown = _witness(decision)
            why = f"{why}: {shown}" if why.startswith("witness") else f"{why}; witness: {shown}"
        meaning = textwrap.wrap(decision["meaning"], _MEANING, initial_indent="  ", subsequent_indent="  ")
        rows.append(("\n".join((name, *meaning)), decision["verdict"], "yes" if decision["checked_by_kernel"] else "no", why))
    print_table(title, ("condition", "verdict", "checked by\nkernel", "method, witness or reason"), rows)


def _print(report: dict[str, Any], answer: str, lines: list[str]) -> None:
    _print_conditions(report, f"{report['profile']}, target epsilon {report['target_epsilon']}")
    print_line(answer)
    _print_region(report["conditions"].get("proposition-16"))
    _print_convexity(report["strong_convexity"])
    for name, consequence in report["consequences"].items():
        print_line(f"{name}: {consequence['verdict']} - {consequence['statement']}")
        for label, said in (("discharged", "proved"), ("not_discharged", "not proved")):
            for item in consequence[label]:
                print_line(f"    {said}: {item}")
    print_as_it_is("\n".join(lines))


def _witness(decision: dict[str, Any]) -> str:
    """Return a witness as it is, with decimals beside its fractions, and the declared statistics where it has shares of their ranges."""
    near = decision["witness_decimal"]
    parts = [f"{key} = {value}" + ("" if near[key] == value else f" (about {near[key]})") for key, value in decision["witness"].items()]
    return ", ".join(parts + [f"so that {key} = {value}" for key, value in decision.get("declared_statistics", {}).items()])


def _print_region(decision: dict[str, Any] | None) -> None:
    if decision is None or "region" not in decision:
        return
    region = decision["region"]
    print_line(f"proposition-16 holds exactly where {region['inequality']}")
    for kind in ("holds", "fails"):
        boxes = region.get(kind, [])
        for box in boxes[:6]:
            print_line(f"    {kind} on " + ", ".join(f"{name} in [{lo}, {hi}]" for name, (lo, hi) in box.items()))
        if len(boxes) > 6:
            print_line(f"    {kind} on {len(boxes) - 6} more boxes (see --json)")


def _print_convexity(convexity: dict[str, Any]) -> None:
    if convexity["formula"] is None:
        print_line("strong convexity constant: none proved")
        return
    relation = "=" if convexity["exact"] else ">="
    print_line(f"strong convexity constant: mu_x {relation} {convexity['formula']}")
    if convexity["lower_bound"] is not None:
        print_line(f"    for all records: mu_x >= {convexity['lower_bound']} (rounded down)")
    if convexity["upper_bound"] is not None:
        print_line(f"    for some record no constant above {convexity['upper_bound']} (rounded up) is valid")
