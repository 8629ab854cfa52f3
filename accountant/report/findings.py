"""The sections of a report about the conditions, the constant μ, and the audit."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from accountant.report.charts import Chart, ChartLine, draw
from accountant.report.evidence import CONDITIONS as CERTIFICATE
from accountant.report.evidence import AuditEvidence, Evidence
from accountant.report.prose import capitalised, equation, statement, steps
from accountant.report.wording import badge, down, facts, fold, point, section, table
from profiles import InvalidExpression, decimal_text, exact_text, parse_expression
from profiles.presenting.elements import Child, Element, make
from profiles.terms import symbol
from proofs_check.audit.report import bound_texts, confidence_text, outputs_text, remarks
from proofs_check.audit.results import Finding
from proofs_check.conditions.strong_convexity import strong_convexity_json
from proofs_check.results import Decision
from proofs_check.verify import CONDITIONS

_WELL_DEFINED = "well-defined"
#: In place of ε(w, x) of the record in which two given data sets differ: the record can be computed from it.
_PROMISED = (
    "the claim is what the profile promises for the record in which D and D′ differ, which is not shown because it reveals the record"
)
_MOST_BOXES = 6
_NOT_CONCLUDED = {
    "not applicable": "Not concluded, because a condition of it is refuted: ",
    "unknown": "Not concluded, because a condition of it is unknown: ",
}

#: What the verdicts are needed for, told beside each of them.
_USES: dict[str, str] = {
    "assumption-8": "Needed for privacy-constrained sampling: without it some record breaks the target even with weight 1.",
    "assumption-9": "Informative, as published: it has no exception for records at which ε is 0. What is needed is the next one.",
    "assumption-9-nonzero": "Needed for a largest feasible weight at every record that loses anything: without it some such record has "
    "feasible weights as large as you like. A record at which ε is 0 for all weights is never selected, and loses nothing.",
    "assumption-11": "Needed for the fast search of optimal weights (Algorithm 1 of the paper) and for its running time.",
    "proposition-16": "Informative: where it holds, sampling with a slightly larger weight than 1 lowers the loss of the record.",
    "proposition-17": "Informative: where it holds, the loss of a record after sampling is at least what it is without sampling: sampling "
    "reduces computation, not the loss.",
}


def conditions(evidence: Evidence) -> Element:
    """Return the verdict on each condition with witness or proof, the constant μ, and the theorems that follow."""
    decisions = evidence.verification.decisions
    rows = [
        (
            make("a", name, href=f"#{name}"),
            CONDITIONS[name].meaning,
            badge(decision.verdict.value, informs=evidence.informs(name)),
            _checked(evidence, decision),
        )
        for name, decision in decisions.items()
    ]
    rows.insert(0, (make("a", _WELL_DEFINED, href=f"#{_WELL_DEFINED}"), "ε is a loss at all", badge("proved"), _checked(evidence, None)))
    return section(
        "conditions",
        "Conditions",
        make("p", "Each is about all records of the declared ranges, all weights w ≥ 1 where it says so, and all values of parameters "
             "without a number. Refuted means: not for all of them; the witness is one exception. Unknown means neither."),
        table("Verdicts", ("condition", "what it means", "verdict", "checked by kernel"), rows),
        _article(evidence, _WELL_DEFINED, "What everything else assumes", None),
        [_article(evidence, name, CONDITIONS[name].source, decision) for name, decision in decisions.items()],
        _convexity(evidence),
        _consequences(evidence),
    )  # fmt: skip


def _article(evidence: Evidence, name: str, source: str, decision: Decision | None) -> Element:
    explanation = evidence.explanations[name]
    verdict = "proved" if decision is None else decision.verdict.value
    told: list[tuple[Child, Child]] = []
    if decision is not None:
        if decision.witness is not None:
            told.append(("Witness", point(decision.witness)))
        if decision.reason:
            told.append(("Reason", decision.reason))
        told += [
            ("Method", decision.method),
            ("Checked by the kernel", _checked(evidence, decision)),
            *_region(decision.details.get("region")),
        ]
    head = {"proved": "The proof", "refuted": "The refutation"}.get(verdict, "What is open")
    return make(
        "article",
        make("h3", name, " ", badge(verdict, informs=evidence.informs(name)), id=name),
        make("p", source, class_="note"),
        make("p", "In a few words: ", CONDITIONS[name].meaning, ".", class_="note") if name in CONDITIONS else None,
        statement(explanation),
        make("p", _USES[name], class_="note") if name in _USES else None,
        facts(told) if told else None,
        fold(f"{head} in words: {name}", steps(explanation)),
        class_="condition",
    )


def _checked(evidence: Evidence, decision: Decision | None) -> str:
    """Tell whether the kernel accepted a verdict, or the claim that epsilon is well-defined, when this report was made."""
    if decision is not None and not decision.checked:
        return "no"
    return "yes" if evidence.accepts(CERTIFICATE) else "no: it rejected the certificate"


def _region(region: Any) -> list[tuple[Child, Child]]:
    if not isinstance(region, dict):
        return []
    facts: list[tuple[Child, Child]] = [("Holds exactly where", make("code", str(region["inequality"])))]
    for kind, label in (("holds", "Holds on"), ("fails", "Fails on")):
        boxes = region.get(kind) or []
        if boxes:
            shown = [", ".join(f"{name} in [{lo}, {hi}]" for name, (lo, hi) in box.items()) for box in boxes[:_MOST_BOXES]]
            more = [f"{len(boxes) - _MOST_BOXES} more boxes (pdp verify --json lists them)"] if len(boxes) > _MOST_BOXES else []
            facts.append((label, make("ul", [make("li", make("code", text)) for text in shown], [make("li", text) for text in more])))
    return facts


def _convexity(evidence: Evidence) -> Element:
    constant = strong_convexity_json(evidence.profile, evidence.verification.convexity, evidence.verification.constant)
    if constant["formula"] is None:
        return make("article", make("h3", "The strong convexity constant μ"), make("p", "None was proved."))
    try:
        shown: Child = equation(symbol("mu(x)"), "=" if constant["exact"] else ">=", parse_expression(constant["formula"]))
    except InvalidExpression:
        shown = make("code", f"mu_x {'=' if constant['exact'] else '>='} {constant['formula']}")
    told: list[tuple[Child, Child]] = [("In the profile grammar", make("code", constant["formula"]))]
    if constant["lower_bound"] is not None:
        told.append(("For all records, μ is at least (rounded down)", constant["lower_bound"]))
    if constant["upper_bound"] is not None:
        told.append(("For some record no larger constant is valid (rounded up)", constant["upper_bound"]))
    told.append(("Checked by the kernel", "yes" if constant["checked_by_kernel"] else "no"))
    return make("article", make("h3", "The strong convexity constant μ"), make("p", shown, class_="display"), facts(told))


def _consequences(evidence: Evidence) -> list[Child]:
    made: list[Child] = [make("h3", "What follows")]
    derived = evidence.derived
    if derived is not None and derived.rule.q is None:
        said = "The bound of this report needs less than these theorems: only that every weight in use satisfies the constraint ψ ≤ ε*. "
        said += "Weight 1 does at every record under assumption-8. The theorems are about the largest weights and how to find them."
        made.append(make("p", said))
    for consequence in evidence.verification.consequences:
        informs = consequence.statement not in evidence.verification.asked
        told: list[tuple[Child, Child]] = [(name, badge(verdict, informs=informs)) for name, verdict in consequence.conditions]
        if consequence.verdict != "not applicable":
            told.append(("Rests on", make("ul", [make("li", item.sentence) for item in consequence.open_hypotheses])))
        made.append(
            make(
                "article",
                make("h4", consequence.statement, " ", badge(consequence.verdict, informs=informs)),
                make(
                    "p",
                    None if consequence.verdict == "proved" else _NOT_CONCLUDED[consequence.verdict],
                    capitalised(consequence.text),
                    ".",
                ),
                facts(told),
            )
        )
    return made


def audit(evidence: Evidence) -> Element | None:
    """Return the evidence of the audit, None where there was none."""
    audited = evidence.audit
    if audited is None:
        return None
    result = audited.result
    bound, claimed = bound_texts(result)
    promised = _PROMISED if audited.hides_claim else f"at most {claimed} was claimed"
    violated = result.finding is Finding.VIOLATED
    after = "" if result.refuted_after is None else f"refuted after {result.refuted_after} outputs; "
    compared = f"{after}ε(D, D′) is at least {bound} nats with {confidence_text(result)} confidence; {promised}."
    ending = " The claim is refuted for this pair." if violated else (
        " This run does not refute the claim. That does not mean that the claim is true: a leak in a rarer event or on another pair "
        "looks the same."
    )  # fmt: skip
    return section(
        "audit",
        "Audit of the implementation",
        make("p", badge(result.finding.value), " ", compared, ending),
        facts(_audit_facts(audited)),
        _events(audited),
        _trace(audited),
        make("h3", "Taken for granted by the audit"),
        make("ul", [make("li", item[:1].upper() + item[1:]) for item in audited.assumptions]),
    )


def _audit_facts(audit: AuditEvidence) -> list[tuple[Child, Child]]:
    result = audit.result
    told: list[tuple[Child, Child]] = [
        ("Implementation", make("code", audit.mechanism)),
        ("Pair", audit.pair),
        ("Claim", _PROMISED if audit.hides_claim else _claim(audit)),
        ("Neighbors", result.neighboring.text()),
        ("Outputs", outputs_text(result)),
        ("Seed", str(result.seed)),
    ]  # fmt: skip
    if result.fixed is not None:
        told.append(("Bound of the fixed sample (rounded down)", down(Fraction(result.fixed), 4)))
    if result.sequential is not None:
        told.append(("Bound of the sequential test (rounded down)", down(Fraction(result.sequential), 4)))
    if result.refuted_after is not None:
        told.append(("Refuted after", f"{result.refuted_after} outputs"))
    return [*told, *(("Note", note) for note in remarks(result))]


def _claim(audit: AuditEvidence) -> str:
    claim, exact = audit.result.claim, exact_text(audit.result.claim.epsilon)
    shown = f"ε ≤ {exact if len(exact) <= 24 else bound_texts(audit.result)[1]}" + (f"; {claim.source}" if claim.source else "")
    return shown + (f": {claim.private}" if claim.private else "")


def _events(audit: AuditEvidence) -> Element | None:
    if audit.private:
        return make("p", "The events and the record in which D and D′ differ depend on the data, and are not shown.")
    rows = []
    for name, event in zip("AB", audit.result.events, strict=False):
        for label, interval, seen, of in (
            ("D", event.interval_first, event.seen_first, event.of_first),
            ("D′", event.interval_second, event.seen_second, event.of_second),
        ):
            low, high = down(Fraction(interval[0]), 3), decimal_text(Fraction(min(1.0, interval[1])), 3, round_up=True)
            rows.append((f"{name} on {label}", event.words, f"{seen} of {of}", f"from {low} to {high}"))
    if not rows:
        return None
    caption = "Events that tell D and D′ apart, among fresh outputs; each interval holds with the audit's confidence by itself"
    return table(caption, ("event", "in words", "seen", "its probability (rounded outward)"), rows)


def _trace(audit: AuditEvidence) -> Element | None:
    result = audit.result
    lines = []
    if len(result.trace) > 1:
        lines.append(
            ChartLine("sequential test (valid at any time)", tuple((float(p.outputs), p.bound) for p in result.trace), stepped=True)
        )
    if result.fixed is not None:
        lines.append(ChartLine("fixed sample (valid at the end)", ((float(result.outputs), result.fixed),)))
    if not lines:
        return None
    hidden = audit.hides_claim
    claims = () if hidden else (("claimed", float(min(result.claim.epsilon, Fraction(10**100)))),)
    ending = "" if hidden else f"; {bound_texts(result)[1]} was claimed"
    chart = Chart(
        "audit-chart",
        "The audit's lower bound as outputs came in",
        f"The bound on epsilon against the number of outputs. It ends at {bound_texts(result)[0]}{ending}.",
        "outputs on both data sets together",
        "lower bound on ε (nats)",
        tuple(lines),
        claims,
        log_x=True,
        from_zero=True,
    )
    return make("figure", make("figcaption", chart.title), draw(chart), class_="plot")
