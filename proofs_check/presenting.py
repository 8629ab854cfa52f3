"""What verdicts and audits show of themselves in a notebook. Nothing that came from a data set is shown (docs/command-line.md)."""

from __future__ import annotations

from fractions import Fraction

from profiles.numbers import decimal_text, exact_text
from profiles.presenting import cards
from profiles.presenting.describing import describe_shares, equation
from profiles.presenting.elements import Child, make
from profiles.private import EYES_ONLY
from profiles.views import show_html, show_picture, show_text
from proofs_check.audit.plots import picture_bound
from proofs_check.audit.report import Circumstances, bound_texts, confidence_text, outputs_text, remarks
from proofs_check.audit.results import AuditResult
from proofs_check.results import Decision
from proofs_check.verify import Verification

show_picture.register(AuditResult)(picture_bound)


@show_html.register(Decision)
def decision_html(decision: Decision) -> str:
    """Return a verdict on one condition as a card."""
    told = decision.to_json()
    checked = "The proof was accepted by the proof checker (kernel)." if decision.checked else "Not checked by the proof checker (kernel)."
    return cards.card(
        cards.line(cards.name(decision.condition), " ", cards.badge(decision.verdict.value)),
        cards.line(_why(told)),
        cards.line(make("small", checked)),
    )


def _why(told: dict[str, object]) -> list[Child]:
    made: list[Child] = [str(told["reason"] or told["method"])]
    witness = told["witness"]
    if isinstance(witness, dict) and witness:
        shown = ", ".join(f"{name} = {value}" for name, value in witness.items())
        made = ["witness: " if made[0] == "witness" else f"{made[0]}; witness: ", make("code", shown)]
    declared = told.get("declared_statistics")
    if isinstance(declared, dict) and declared:
        made += [", that is ", make("code", ", ".join(f"{name} = {value}" for name, value in declared.items()))]
    return made


@show_text.register(Verification)
def verification_text(verification: Verification) -> str:
    """Return a verification on one line: the profile's name, ε* and the verdicts."""
    verdicts = ", ".join(f"{name} {decision.verdict.value}" for name, decision in verification.decisions.items())
    return f"Verification({verification.profile.name!r}, target epsilon {_short(verification.target)}: {verdicts})"


def _short(value: Fraction) -> str:
    text = exact_text(value)
    return text if len(text) <= 40 else f"about {float(value):.6g}"


@show_html.register(Verification)
def verification_html(verification: Verification) -> str:
    """Return the verdicts, the constant μ and what follows as a card; each theorem with its unverified assumptions."""
    told = verification.to_json()
    rows = [
        (name, cards.badge(decision.verdict.value), "yes" if decision.checked else "no", _why(told["conditions"][name]))
        for name, decision in verification.decisions.items()
    ]
    return cards.card(
        cards.line(cards.name(verification.profile.name), f" – verdicts for the target ε* = {_short(verification.target)} nats"),
        make("div", make("p", equation(verification.profile)), class_="pdp-scroll", tabindex="0", role="group", aria_label="formula"),
        [cards.line(sentence) for sentence in describe_shares(verification.profile)],
        cards.table(("condition", "verdict", "checked by kernel", "method, witness or reason"), rows),
        _convexity(told["strong_convexity"]),
        [_consequence(name, item) for name, item in told["consequences"].items()],
        cards.line(make("small", "Each verdict is about all records of the declared ranges and all w ≥ 1. Unknown never means false.")),
    )


def _convexity(convexity: dict[str, object]) -> Child:
    if convexity["formula"] is None:
        return None
    made: list[Child] = ["strong convexity: ", make("code", f"mu_x {'=' if convexity['exact'] else '>='} {convexity['formula']}")]
    if convexity["lower_bound"] is not None:
        made.append(f"; for all records at least {convexity['lower_bound']} (rounded down)")
    return cards.line(made)


def _consequence(name: str, told: dict[str, object]) -> Child:
    said: list[Child] = [cards.name(name), " ", cards.badge(str(told["verdict"])), f" {told['statement']}"]
    assumptions = told["open_hypotheses"]
    if told["verdict"] == "not applicable" or not isinstance(assumptions, list) or not assumptions:
        return cards.line(said)
    return [cards.line(said), cards.fold(f"Its {len(assumptions)} unverified assumptions", cards.listed(assumptions))]


@show_text.register(AuditResult)
def audit_text(result: AuditResult) -> str:
    """Return an audit on one line: finding, bound with its side and confidence, and claim; nothing that reveals the data sets."""
    bound, claimed = bound_texts(result)
    return (
        f"AuditResult({result.finding.value}: epsilon >= {bound} with {confidence_text(result)} confidence, claimed <= {claimed}, "
        f"{result.outputs} outputs)"
    )


@show_html.register(AuditResult)
def audit_html(result: AuditResult) -> str:
    """Return an audit as a card: the bound and the claim, what consistent does not mean, and all that is taken for granted."""
    bound, claimed = bound_texts(result)
    violated = result.finding.value == "violated"
    meaning = (
        "The claim is refuted for this pair of data sets."
        if violated
        else "This run does not refute the claim. Consistent does not mean that the claim is true."
    )
    return cards.card(
        cards.headline(cards.badge(result.finding.value), f" ε(D, D′) ≥ {bound} nats (rounded down)"),
        cards.line(f"with {confidence_text(result)} confidence; at most {claimed} was claimed", _sides(result), f". {meaning}"),
        [cards.line(remark) for remark in remarks(result)],
        cards.line(f"Outputs: {outputs_text(result)}. Seed: {'none' if result.seed is None else result.seed}."),
        cards.line("Taken for granted:"),
        cards.listed(Circumstances("the mechanism").assumptions(result)),
        cards.line(make("small", f'Events and scores reveal something of the data sets: result.to_json()["private"], {EYES_ONLY}.')),
    )


def _sides(result: AuditResult) -> str:
    claim = result.claim
    slack = f", δ = {decimal_text(claim.delta, 6, round_up=True)}" if claim.delta else ""
    return slack + (", for adding the record only" if claim.one_sided else "")
