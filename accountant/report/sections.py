"""The sections of a report about the profile, the result and its derivation."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Sequence

from accountant.guarantees import Derivation, Guarantee
from accountant.guarantees.bounds import PROVED
from accountant.guarantees.render import mark_step, under_heads
from accountant.report.evidence import BOUNDS, CONDITIONS, EmbeddedCertificate, Evidence
from accountant.report.prose import equation
from accountant.report.wording import badge, down, exactly, factor, facts, fold, point, section, table, up
from accountant.rules import describe_rules
from profiles.hypotheses import CONDITION, FEASIBLE_WEIGHTS, Hypothesis, count_assumptions
from profiles.presenting.describing import as_declared, describe_shares
from profiles.presenting.elements import Child, Element, make
from profiles.presenting.mathml import term_math
from profiles.terms import Term, free_symbols, number, symbol, to_text
from profiles.variables import Parameter
from proofs_check.archive import checker_digest
from proofs_check.audit.report import bound_texts, confidence_text
from proofs_check.explain.trust import axioms_behind
from proofs_check.papers.registry import find_claim
from proofs_check.results import Verdict

_MOST_SHOWN = 60_000
_PSI: Term = symbol("psi(x)")
_Q: Term = symbol("q(x)")
_ONE: Term = number(1)
_FEASIBLE = "by the definition of the rule: q(x) = 1/w*(x), and w*(x) satisfies ψ ≤ ε*; docs/rounding.md for the weights that are computed"
_PROOFS: dict[Hypothesis, str] = {
    CONDITION.about(name="feasibility"): _FEASIBLE,
    FEASIBLE_WEIGHTS: _FEASIBLE,
    CONDITION.about(name="assumption-8"): "the proof of assumption-8 among the conditions below",
    CONDITION.about(name="assumption-9"): "the proof of assumption-9 among the conditions below",
    CONDITION.about(name="assumption-9-nonzero"): "the proof of assumption-9-nonzero among the conditions below",
}


def result(evidence: Evidence) -> Element:
    """Return what the report says at a glance."""
    derived = evidence.derived
    if derived is None:
        said: list[Child] = [
            make("p", "No ε is certified by this report.", class_="headline"),
            _glance(evidence),
            make("p", f"Why: {evidence.obstacle}."),
        ]
    else:
        bound, hypotheses = derived.bound, derived.guarantee.hypotheses
        side = "rounded up, if assumption-8 holds" if evidence.rests_on_undecided else "rounded up"
        at_most = factor(bound.upper)
        which: Child = [", which is at most ", at_most, "."] if at_most is not None else "."
        said = [
            make(
                "p", make("math", make("mi", "ε"), make("mo", "≤"), make("mn", up(bound.upper))), " nats",
                " ", make("span", side, class_="side"), class_="headline",
            ),
            _glance(evidence),
            make(
                "p", f"Notion: {derived.guarantee.notion.value}. Adding or removing any one record of the declared ranges changes the "
                "probability of every event of the output by a factor of at most ",
                make("math", make("msup", make("mi", "e"), make("mi", "ε"))), which,
            ),
            _open_at_a_glance(hypotheses),
            facts(_bound_facts(evidence)),
        ]  # fmt: skip
    return section("result", "Result", said)


def _glance(evidence: Evidence) -> Element:
    """Return the verdicts of the whole report, a line for each: what an auditor asks first."""
    derived, verdicts = evidence.derived, list(evidence.verification.decisions.items())
    told: list[tuple[Child, Child]] = []
    if derived is None:
        told.append(("Bound on ε", [badge("refuted" if evidence.refuted else "unknown"), " none can be certified" if evidence.refuted else
                     " none was found; that says nothing against the mechanism"]))  # fmt: skip
    else:
        count = len(derived.guarantee.hypotheses)
        open_: list[Child] = [badge("open"), " ", make("a", count_assumptions(count), href="#hypotheses")]
        told.append(("Rests on", open_ if count else "no unverified assumption"))
        met = derived.bound.upper <= evidence.target
        verdict = "unknown" if evidence.rests_on_undecided else "met" if met else "not met"
        why = {"unknown": "; assumption-8 could not be decided", "met": "", "not met": "; the bound is larger"}[verdict]
        told.append(("Target", [badge(verdict), f" ε* = {exactly(evidence.target)} nats{why}"]))
        told.append(("Bound checked", _checked_by_kernel(evidence)))
    for informs, label in ((False, "Conditions of Theorem 10"), (True, "For information")):
        counted: list[Child] = []
        for kind in (Verdict.PROVED, Verdict.REFUTED, Verdict.UNKNOWN):
            names = [name for name, decision in verdicts if decision.verdict is kind and evidence.informs(name) is informs]
            if names:
                links = [[", " if k else " ", make("a", name, href=f"#{name}")] for k, name in enumerate(names)]
                counted.append(make("div", badge(kind.value, informs=informs), links))
        if counted:
            told.append((label, counted))
    if evidence.audit is not None:
        result = evidence.audit.result
        bound = f" ε ≥ {bound_texts(result)[0]} for one pair, at {confidence_text(result)} confidence: "
        told.append(("Audit", [badge(result.finding.value), bound, make("a", "evidence", href="#audit")]))
    rejected = [item.name for item in evidence.certificates if not item.report.accepted]
    if rejected:
        told.append(("Certificates", [badge("rejected"), " by the kernel: ", make("a", ", ".join(rejected), href="#certificates")]))
    return facts(told, class_="glance")


def _open_at_a_glance(hypotheses: Sequence[Hypothesis]) -> Element:
    if not hypotheses:
        return make("p", "There are no unverified assumptions.")
    under = f" {count_assumptions(len(hypotheses))}, which are part of the result ("
    return make(
        "div",
        make("p", "Valid ", make("strong", "only under"), under, make("a", "what each one means", href="#hypotheses"), "):"),
        [[make("h3", head.value), make("ul", [make("li", item.sentence) for item in items])] for head, items in under_heads(hypotheses)],
        class_="warning",
    )


def _checked_by_kernel(evidence: Evidence) -> Child:
    derived = evidence.derived
    if derived is None:
        return None
    bound = derived.bound.evidence
    if bound.checked_by_kernel and evidence.accepts(BOUNDS):
        return [badge("accepted"), " by the kernel: ", make("a", "certificate", href="#certificates")]
    if bound.checked_by_kernel:
        return [badge("rejected"), " by the kernel when this report was made: ", make("a", "certificate", href="#certificates")]
    also: Child = (
        "; the kernel checked the proved and the refuted conditions"
        if derived.conditions is not None and evidence.accepts(CONDITIONS)
        else None
    )
    return [badge("unchecked"), f": {bound.kernel_reason}", also]


def _bound_facts(evidence: Evidence) -> list[tuple[Child, Child]]:
    derived = evidence.derived
    if derived is None:
        return []
    bound = derived.bound
    facts: list[tuple[Child, Child]] = []
    if bound.evidence.lower > 0:
        facts.append(
            (
                "The worst loss after sampling is at least (rounded down)",
                [f"{down(bound.evidence.lower)} nats, reached at ", point(bound.evidence.at)],
            )
        )
    else:
        facts.append(("Lower bound", "none was derived: the true loss may be smaller"))
    facts += [("Gap", words) for words in derived.tell_gap()]
    without, bounds, which = derived.tell_unsampled()
    facts.append((without.capitalize(), [bounds, *(make("p", words) for words in which)]))
    facts.append(("How it was found", bound.evidence.method))
    return facts


def hypotheses(evidence: Evidence) -> Element:
    """Return the open hypotheses in plain words, and those that were discharged."""
    derived = evidence.derived
    if derived is None:
        names = dict.fromkeys(item for consequence in evidence.verification.consequences for item in consequence.open_hypotheses)
        lead = "No ε is certified. What follows from the proved conditions would still rest on these assumptions:"
        return section("hypotheses", "Unverified assumptions", make("p", lead), _cards(names))
    return list_hypotheses(derived.guarantee)


def list_hypotheses(guarantee: Guarantee) -> Element:
    """Return the open hypotheses of a guarantee in plain words, and those that were discharged."""
    lead = "None of these is verified. If one of them is false, the bound is void." if guarantee.hypotheses else "None."
    closed = [
        make(
            "li",
            make("bdi", item.hypothesis.sentence),
            make("p", "Settled by: ", _explain_discharge(item.hypothesis, item.evidence), class_="note"),
        )
        for item in guarantee.discharged
    ]
    return section(
        "hypotheses",
        "Unverified assumptions",
        make("p", lead),
        _cards(guarantee.hypotheses),
        [make("h3", "Assumptions that are settled"), make("ul", closed, class_="cards")] if closed else None,
    )


def _explain_discharge(hypothesis: Hypothesis, evidence: str) -> str:
    """Return what a hypothesis was discharged by, in words that say more than that it was proved."""
    return _PROOFS.get(hypothesis, evidence) if evidence == PROVED else evidence


def _cards(hypotheses: Iterable[Hypothesis]) -> list[Child]:
    """Return what hypotheses mean, under their heads."""
    return [
        [make("h3", head.value.capitalize()), make("ul", [_hypothesis(item) for item in items], class_="cards")]
        for head, items in under_heads(hypotheses)
    ]


def _hypothesis(item: Hypothesis) -> Element:
    return make("li", make("strong", item.sentence), make("p", item.meaning) if item.meaning else None)


def promise(evidence: Evidence) -> Element:
    """Return the profile: formula, statistics, parameters, where it is proved."""
    profile = evidence.profile.require_pure()
    epsilon, ranges = as_declared(profile)
    statistics = [(make("code", name), _end(lo), _end(hi), "yes" if name in free_symbols(epsilon) else "no") for name, lo, hi in ranges]
    parameters = [(make("code", item.name), _parameter(item)) for item in profile.parameters]
    return section(
        "profile",
        "The mechanism's promise",
        make("p", "For all data sets, adding or removing one record x with weight w changes the probability of every event of the output "
             "by a factor of at most ", term_math(("pow", symbol("e"), symbol("epsilon(w, x)"))), ", with"),
        make("p", equation(symbol("epsilon(w, x)"), "=", epsilon), class_="display"),
        facts(
            [
                ("In the profile grammar", make("code", f"epsilon = {to_text(epsilon)}")),
                ("Its source, as declared", profile.source or "none is named"),
            ]
        ),
        make("h3", "Record statistics"),
        table("Statistics through which a record enters, with their closed ranges", ("statistic", "from", "to", "in ε"), statistics)
        if statistics
        else make("p", "None: the loss is the same for every record."),
        [make("p", sentence) for sentence in describe_shares(profile)],
        make("h3", "Parameters"),
        table("Constants of the mechanism", ("parameter", "value"), parameters) if parameters else make("p", "None."),
        _source(evidence),
    )  # fmt: skip


def _end(end: Term) -> Child:
    return exactly(end[1]) if end[0] == "num" else make("code", to_text(end))


def _parameter(parameter: Parameter) -> str:
    if parameter.bounds is not None:
        return f"any number from {exactly(parameter.bounds[0])} to {exactly(parameter.bounds[1])}"
    return "any positive number" if parameter.value is None else exactly(parameter.value)


def _source(evidence: Evidence) -> Child:
    if evidence.source_text is None:
        return None
    return fold(
        "The profile file, as it was read",
        download(evidence.source_text, f"{slug(evidence.source_name)}.toml", "text/plain"),
        _listing(evidence.source_text, "profile file"),
    )


def sampling(evidence: Evidence) -> Element:
    """Return the sampling rule and the loss after sampling."""
    derived = evidence.derived
    if derived is None:
        return section("sampling", "Sampling rule", make("p", "No bound after sampling was derived, so no rule is shown."))
    rule = derived.rule
    loss: Term = ("log", ("add", _ONE, ("mul", _Q, ("add", ("pow", symbol("e"), symbol("epsilon(1/q(x), x)")), ("neg", _ONE)))))
    if rule.q is None:
        feasible = equation(_PSI, "<=", symbol("epsilon*"))
        drawn: Child = [term_math(_Q), " = 1/w*(x), where w*(x) is the largest weight of the record with ", feasible]
    else:
        both = () if evidence.written is None or evidence.written == rule.q else (evidence.written, "=")
        drawn = equation(_Q, "=", *both, rule.q)
    constants = [(make("code", name), exactly(value)) for name, value in rule.constants]
    formulas = {name: formula for name, formula, _ in describe_rules()}
    named = f"{rule.name}: q(x) = {formulas[rule.name]}" if rule.name in formulas else "given as an expression"
    return section(
        "sampling",
        "Sampling rule",
        make("p", "Each record is selected independently of the others, and a selected record gets the weight 1/q(x). Its probability is"),
        make("p", drawn, class_="display"),
        make("p", "The loss of a record after sampling is then (Theorem 6 of Fay et al. 2024)"),
        make("p", equation(_PSI, "=", loss), class_="display"),
        facts([("Rule", named), *([("Source", rule.source)] if rule.source != named else [])]),
        table("Public constants of the rule", ("constant", "value"), constants) if constants else None,
    )


def derivation(evidence: Evidence) -> Element:
    """Return the derivation tree of the guarantee."""
    if evidence.derived is None:
        return section("derivation", "Derivation", make("p", "There is none, because no ε is certified."))
    return draw_derivation(evidence.derived.guarantee)


def draw_derivation(guarantee: Guarantee) -> Element:
    """Return the derivation tree of a guarantee."""
    return section(
        "derivation",
        "Derivation",
        make("p", "The guarantee is about: ", make("bdi", guarantee.subject), ". Each step rests on the steps below it."),
        make("ul", _node(guarantee, guarantee.derivation), class_="tree"),
    )


def _node(guarantee: Guarantee, derivation: Derivation) -> Element:
    basis = derivation.basis
    facts_: list[tuple[Child, Child]] = [("Concludes", make("code", derivation.conclusion)), ("By", derivation.statement)]
    if derivation.claims:
        facts_.append(("Claims of the certificate, or method", ", ".join(derivation.claims)))
    if basis.claims:
        facts_.append(("Proved statements", make("ul", [_claim(claim) for claim in basis.claims])))
    if basis.besides:
        facts_.append(("Besides", basis.besides))
    facts_.append(("Proof of the rule", mark_step(guarantee, derivation)))
    below = make("ul", [_node(guarantee, child) for child in derivation.children]) if derivation.children else None
    return make("li", make("div", make("strong", derivation.rule), facts(facts_), class_="node"), below)


def _claim(claim_id: str) -> Element:
    claim = find_claim(claim_id)
    return make("li", make("code", claim_id), f" ({claim.source}): {claim.statement}")


def certificates(evidence: Evidence) -> Element:
    """Return the embedded certificates with the kernel's verdicts on these very texts."""
    return section(
        "certificates",
        "Certificates",
        make("p", "The independent kernel (Python's standard library only) read each certificate again while this report was written. To "
             "check one yourself, download it and run ", make("code", "pdp check FILE"), " or ",
             make("code", "python -m proofs_check.kernel FILE"), ". What you have to believe then is on the page docs/trust.md "
             "of the package. The same kernel is one file, which needs Python and nothing else: ",
             make("code", "pdp check --export checker.pyz"),
             " writes it, with the SHA-256 ", make("code", checker_digest()), "."),
        [_certificate(evidence, certificate) for certificate in evidence.certificates],
    )  # fmt: skip


def _certificate(evidence: Evidence, certificate: EmbeddedCertificate) -> Element:
    report = certificate.report
    rows = [
        (
            make("code", claim.claim),
            badge(claim.verdict, informs=evidence.informs(claim.claim)),
            claim.bound or "–",
            ", ".join(claim.rules) or "–",
            ", ".join(claim.side_conditions) or "–",
        )
        for claim in report.claims
    ]
    verdict: list[Child] = [badge("accepted" if report.accepted else "rejected")]
    if not report.accepted:
        verdict.append(f" at {report.step}: {report.reason}")
    axioms = axioms_behind(report.claims)
    name = f"{slug(evidence.profile.name)}-{certificate.name}.json"
    return make(
        "article",
        make("h3", f"Certificate of the {certificate.name}"),
        make("p", f"It is about {certificate.about}.", class_="note"),
        facts(
            [
                ("Kernel's verdict", verdict),
                ("SHA-256", make("code", certificate.digest)),
                ("File", download(certificate.text, name, "application/json")),
            ]
        ),
        table(f"Claims of the certificate {name}", ("claim", "verdict", "bound", "rules used", "side conditions"), rows) if rows else None,
        fold(
            "The axioms behind these rules", make("dl", [[make("dt", make("code", key)), make("dd", text)] for key, text in axioms.items()])
        )
        if axioms
        else None,
        fold("The text of the certificate", _listing(certificate.text, f"text of {name}"), class_="screen-only"),
    )


def _listing(text: str, label: str) -> Element:
    shown = text.replace("\r\n", "\n")
    if len(shown) > _MOST_SHOWN:
        return make("p", f"It has {len(shown)} characters, which is too much to show here; download it.")
    return make("pre", "\n" + shown, tabindex="0", role="group", aria_label=label)


def download(text: str, name: str, kind: str) -> Element:
    """Return a link whose address is the file itself (``data:``), with its name and size."""
    data = base64.b64encode(text.encode("utf-8", "surrogatepass")).decode("ascii")
    return make(
        "a", f"download {name}", f" ({len(text.encode('utf-8', 'surrogatepass'))} bytes)", href=f"data:{kind};base64,{data}", download=name
    )


def slug(name: str) -> str:
    """Return a name that is safe as a file name."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60] or "profile"
