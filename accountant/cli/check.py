"""``pdp check``: run the kernel on a certificate."""

from __future__ import annotations

import json as json_text
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from accountant.cli.options import JsonOption
from accountant.cli.output import print_json, print_line
from accountant.progress import show_progress
from profiles.errors import InvalidArgument

HELP = (
    "Check a certificate (or that of a sample or of a table of weights) with the proof checker (the kernel; standard library only): "
    "exit 0 accepted, 1 rejected with the step's name."
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
_LONG = 2_000  # of an expression that is printed


def _find_statement(text: str, whole: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an accepted certificate is about: profile, sampling and target ε*; for a bound also what is not checked.

    ``whole``: the certificate, with numbers as they are written.
    """
    if "composition" in whole:
        return _find_composition(json_text.loads(text))
    from accountant.checking import COVER, KMEANS, SAMPLE, STATISTICS, TABLE

    if whole.get("format") == STATISTICS:
        return _find_within(json_text.loads(text))
    proof = whole.get("proof", whole)
    about = {name: proof.get(name) for name in ("profile", "sampling", "target_epsilon")}
    if whole.get("format") == COVER:
        from accountant.weights.gaussian.covers import describe_cover

        return about | {"weights": list(describe_cover(whole))}
    if whole.get("format") == KMEANS:
        return _find_fit(whole)
    about |= {name: whole[name] for name in ("epsilon", "rule") if name in whole}
    if proof.get("format") == TABLE:
        from accountant.weights.gaussian.stored import describe_table

        about["weights"] = list(describe_table(proof))
    if SAMPLE not in text and "epsilon-upper" not in text:
        return about
    from accountant.guarantees import premises_json
    from accountant.interop.releases import list_unchecked

    found = list_unchecked(text)
    return about | {"hypotheses": [item.sentence for item in found], "premises": premises_json(found)} if found else about


def _find_fit(whole: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an accepted certificate of a private fit is about: each release with its cost, ε, and what is not checked."""
    named = ("arguments", "releases", "budget", "epsilon", "profile", "hypotheses", "premises")
    return {name: whole[name] for name in named} | {"sample": whole.get("sample"), "sampling": None, "target_epsilon": None}


def _find_within(whole: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an accepted certificate of statistics and a sample is about: what was released, the rule, ε, and what is not checked."""
    named = ("arguments", "released", "releases", "epsilon", "clipped", "hypotheses", "premises")
    return {
        **{name: whole[name] for name in named},
        "profile": whole["sample"]["profile"],
        "rule": whole["sample"]["rule"],
        "sampling": None,
        "target_epsilon": None,
    }


def _describe_within(about: Mapping[str, Any]) -> Iterator[str]:
    rule = about["rule"]
    name, bound = about["profile"]["name"], about["epsilon"]["upper"]
    yield f"about: statistics, and one analysis by {name}, epsilon <= {bound}, for one row more or less"
    for release in about["releases"]:
        adds, noise = (_say(release[name]) for name in ("reach", "scale"))
        yield f"      {release['what']}: cost {_say(release['cost'])}, a record adds at most {adds}, noise of scale {noise}"
    yield f"    rule: {rule['name']}" + ("" if rule["q"] is None else f", q = {_shorten(rule['q'])}")
    if about["clipped"]:
        yield "    each row is moved into the declared range before anything else"


def _describe_fit(about: Mapping[str, Any]) -> Iterator[str]:
    arguments, bound = about["arguments"], about["epsilon"]
    delta = "" if bound["delta"] is None else f", delta <= {bound['delta']}"
    yield f"about: {about['profile']['name']}, epsilon <= {bound['upper']}{delta}, for one row more or less"
    yield f"    released, for {'epsilon' if bound['delta'] is None else 'mu^2'} = {_shorten(about['budget'])} in all:"
    for release in about["releases"]:
        adds, noise = (_say(release[name]) for name in ("reach", "scale"))
        yield f"      {release['what']}: cost {_shorten(release['cost'])}, a record adds at most {adds}, noise of scale {noise}"
    if about["sample"] is not None:
        yield f"      {_describe_sample(about['sample'], arguments['sample']['rule'])}"
    if arguments["public"]:
        yield f"    taken as they are, because they are said to be public: {', '.join(arguments['public'])}"


def _describe_sample(sample: Mapping[str, Any], rule: str) -> str:
    size, cost, counts, sums = (_say(sample[name]) for name in ("expected_size", "budget", "counts", "sums"))
    return (
        f"one {rule} sample of about {size} records, {len(sample['releases'])} releases: cost {cost}, proved by itself of {counts} for "
        f"counts and {sums} for sums per unit of weight"
    )


def _say(number: str) -> str:
    from profiles import decimal_text, to_exact

    return decimal_text(to_exact(number), 6, round_up=False)


def _find_composition(whole: Mapping[str, Any]) -> dict[str, Any]:
    """Return the events and the bounds of an accepted certificate of a composition, and what is not checked."""
    from accountant.curves.stored import composition_from_object
    from accountant.guarantees import declare_events, premises_json

    found = declare_events(composition_from_object(whole["composition"])).hypotheses
    bounds = [{name: claim[name] for name in ("claim", "direction", "epsilon", "bound")} for claim in whole["claims"]]
    return {
        "composition": whole["composition"],
        "bounds": bounds,
        "hypotheses": [item.sentence for item in found],
        "premises": premises_json(found),
    }


def _shorten(text: str) -> str:
    """Return an expression as it is, or the beginning of one that is very long, such as one with a table spelled out."""
    return text if len(text) <= _LONG else f"{text[:_LONG]} ... ({len(text)} characters, see the file)"


def _describe(about: Mapping[str, Any]) -> Iterator[str]:
    from profiles.hypotheses import Head

    if "composition" in about:
        yield from _describe_composition(about)
    elif "clipped" in about:
        yield from _describe_within(about)
    elif "releases" in about:
        yield from _describe_fit(about)
    else:
        yield from _describe_profile(about)
    if "premises" not in about:
        yield f"    not checked here: that your mechanism {_say_promise(about)}"
        return
    yield "    not checked here, and needed for every use of this epsilon:"
    for head in sorted({item["head"] for item in about["premises"]}, key=[item.value for item in Head].index):
        yield f"      {head}"
        yield from (f"        - {item['sentence']}" for item in about["premises"] if item["head"] == head)


def _describe_composition(about: Mapping[str, Any]) -> Iterator[str]:
    from accountant.curves.stored import composition_from_object

    yield f"about: {about['composition']['name']}"
    yield from (f"    {event.describe()}" for event in composition_from_object(about["composition"]).events)
    for bound in about["bounds"]:
        if bound["claim"] == "delta-positive":
            yield f"    {bound['direction']}: delta(e) > 0 for every e < {bound['epsilon']}"
            continue
        sign = "<=" if bound["claim"] == "delta-upper" else ">="
        yield f"    {bound['direction']}: delta({bound['epsilon']}) {sign} {bound['bound']}"


def _say_promise(about: Mapping[str, Any]) -> str:
    from profiles.notions import ProfileNotion, to_notion

    if "composition" in about:
        return "does what these events say"
    return f"has this {to_notion(about['profile'].get('notion', ProfileNotion.PURE)).number}(w, x)"


def _describe_profile(about: Mapping[str, Any]) -> Iterator[str]:
    from profiles.notions import ProfileNotion, to_notion

    profile = about["profile"]
    notion = to_notion(profile.get("notion", ProfileNotion.PURE))
    named = "" if notion is ProfileNotion.PURE else f'   (notion "{notion.value}": this is no epsilon)'
    yield f"about: {notion.number}(w, x) = {_shorten(profile[notion.number])}{named}"
    ranges = [f"{name} in [{lo}, {hi}]" for name, (lo, hi) in profile["record"].items()]
    yield f"    for all {', '.join([*ranges, 'w >= 1'])}"
    for name, value in profile["parameters"].items():
        yield f"    {name} > 0" if value == "positive" else f"    {name} {'=' if isinstance(value, str) else 'in'} {_show(value)}"
    if about["target_epsilon"] is not None:
        yield f"    target epsilon = {about['target_epsilon']}"
    if about["sampling"] is not None:
        yield f"    q(x) = {about['sampling']['q']}"
    yield from (f"    {line}" for line in about.get("weights", ()))
    if "epsilon" in about:
        delta = f", delta <= {about['epsilon']['delta']}" if "delta" in about["epsilon"] else ""
        yield f"    one analysis of the sample: epsilon <= {about['epsilon']['upper']}{delta}"


def _show(value: object) -> str:
    return f"[{', '.join(map(str, value))}]" if isinstance(value, list) else str(value)


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line says."""

    file: Annotated[Path | None, typer.Argument(metavar="[FILE]", help="a certificate file")] = None
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
        str | None, typer.Option("--with", metavar="coq", help="put each goal of an accepted certificate to Coq, too, for a second opinion")
    ] = None
    verified: Annotated[
        bool,
        typer.Option("--verified", help="judge each goal of an accepted certificate once more by the checker that is proved right in Coq"),
    ] = False
    seconds: Annotated[int, typer.Option("--seconds", metavar="S", help="with --with or --verified: what one goal may take")] = 10
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="FILE.v", help="with --with or --verified: write the confirmed goals and their proofs as a file of Coq"
        ),
    ] = None
    json: JsonOption = False


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


def run(options: Options) -> int:
    """Run the command."""
    from accountant.checking import LARGEST, check_text
    from accountant.files import check_not_input
    from profiles.files import read_text
    from proofs_check.archive import checker_digest
    from proofs_check.explain.trust import MARK_OF_COMPOSITIONS, axioms_behind, mark_rule

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
    text = read_text(options.file, LARGEST)
    with show_progress("checking"):
        report = check_text(text)
    opinion, whole = None, json_text.loads(text, parse_int=str, parse_float=str) if report.accepted else {}
    if asks and report.accepted:
        from accountant.cli.second_opinion import ask_coq

        opinion = ask_coq(text, whole, seconds=options.seconds, out=options.out, verified=options.verified)
    if options.json:
        print_json(
            {
                "accepted": report.accepted,
                "about": _find_statement(text, whole) if report.accepted else None,
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
                "axioms": axioms_behind(report.claims),
                "proofs": {name: mark_rule(name) for name in axioms_behind(report.claims)},
                "checker_sha256": checker_digest(),
                "step": report.step,
                "reason": report.reason,
                **({} if opinion is None else {"verified" if options.verified else "second_opinion": opinion.to_json()}),
            }
        )
    elif report.accepted:
        print_line(f"accepted: {options.file}")
        for line in _describe(_find_statement(text, whole)):
            print_line(f"    {line}")
        for claim in report.claims:
            bound = "" if claim.bound is None else f" {_shorten(claim.bound)}"
            beside = "" if not claim.side_conditions else f"; side conditions: {', '.join(claim.side_conditions)}"
            print_line(f"    {claim.claim}{bound}: {claim.verdict} (rules: {', '.join(claim.rules)}{beside})")
        if options.axioms:
            for name, axiom in axioms_behind(report.claims).items():
                print_line(f"    {name}: {axiom} [{mark_rule(name)}]")
            if "composition" in whole:
                print_line(f"    computed from the events: {MARK_OF_COMPOSITIONS}")
            print_line(f"    checked by the kernel whose checker.pyz has the SHA-256 {checker_digest()}")
        if opinion is not None:
            for line in opinion.describe():
                print_line(f"    {line}")
    else:
        print_line(f"rejected at {report.step}: {report.reason}")
    if opinion is not None:
        return opinion.exit_code
    return 0 if report.accepted else 1
