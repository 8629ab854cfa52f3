"""What verdicts and audits show of themselves in a notebook. Nothing that came from a data set is shown (docs/command-line.md)."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import nan

from profiles.balls import ball, upper_fraction, working_precision
from profiles.numbers import decimal_text, exact_text
from profiles.presenting import cards
from profiles.presenting.describing import describe_shares, equation
from profiles.presenting.elements import Child, make
from profiles.presenting.pictures import COLOURS, DASHES, FAINT, Picture, name_record, new_figure, require_numbers, spread_records
from profiles.private import EYES_ONLY
from profiles.terms import Term, number, symbol
from profiles.variables import WEIGHT
from profiles.views import show_html, show_picture, show_text
from proofs_check.audit.plots import picture_bound
from proofs_check.audit.report import Circumstances, bound_texts, confidence_text, outputs_text, remarks
from proofs_check.audit.results import AuditResult
from proofs_check.enclosures import Enclosure
from proofs_check.results import Decision, Verdict
from proofs_check.suprema.terms import sampled_term
from proofs_check.verify import Verification

show_picture.register(AuditResult)(picture_bound)

#: Points of a curve, the bits of their enclosures, and how far weights are drawn: at least to the first, at most to the second.
_POINTS, _BITS = 120, 128
_NEAREST, _FARTHEST = Fraction(4), Fraction(2) ** 20
#: How far above the target curves are followed, and from which weight on the axis is logarithmic.
_ABOVE, _LOGARITHMIC = Fraction(5, 4), 64
#: Losses above this are not drawn.
_HIGHEST = Fraction(10) ** 300
_MARKS = "XsDP^v"
#: A picture names the verdicts in lines of so many characters.
_LINE = 110


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


@show_picture.register(Verification)
def plot_verification(verification: Verification) -> Picture:
    """Return ε(w, x) of a few records against the weight, and beside it ψ(x) where the record is selected with q = 1/w.

    The records are the lower ends, the middle and the upper ends of the ranges, and one at which a condition is refuted; witnesses are
    marked. Points are the upper ends of enclosures; the picture proves nothing, the verdicts in its title do. Raises
    :class:`profiles.InvalidProfile` (parameters without a number), :class:`profiles.MissingExtra` without Matplotlib.
    """
    profile = verification.profile
    require_numbers(profile)
    witnesses = _witnesses(verification)
    records = spread_records(profile)
    records += [{name: at[name] for name in records[0]} for at in witnesses.values() if at[WEIGHT] <= _FARTHEST]
    records = [dict(record) for record in dict.fromkeys(tuple(record.items()) for record in records)][: len(COLOURS)]
    loss, sampled = profile.numeric_epsilon(), sampled_term(profile, ("div", number(1), symbol(WEIGHT)))
    top = _last_weight(sampled, records, verification.target * _ABOVE, witnesses)
    weights = _spread_weights(top)
    figure, (left, right) = new_figure(2)
    for index, record in enumerate(records):
        style = {"color": COLOURS[index], "linestyle": DASHES[index], "linewidth": 1.8, "label": name_record(record)}
        for axes, term in ((left, loss), (right, sampled)):
            axes.plot([float(w) for w in weights], _upper_ends(term, [{**record, WEIGHT: w} for w in weights]), **style)
    places = dict.fromkeys(tuple(at.items()) for at in witnesses.values() if at[WEIGHT] <= top)
    for mark, place in zip(_MARKS, places, strict=False):
        refuted = ", ".join(name for name, at in witnesses.items() if tuple(at.items()) == place)
        left.plot([float(dict(place)[WEIGHT])], _upper_ends(loss, [dict(place)]), mark, color="black", label=f"refuted here: {refuted}")
    right.axhline(float(verification.target), color=FAINT, linewidth=1)
    end = (1, float(verification.target))
    right.annotate("target ε*", end, (-2, 3), ("axes fraction", "data"), "offset points", ha="right", color=FAINT)
    left.set(xlabel="weight w of the record", ylabel="privacy loss ε(w, x) in nats")
    right.set(xlabel="weight w, the record selected with q = 1/w", ylabel="privacy loss ψ(x) in nats")
    right.set_ylim(0, 2 * float(verification.target))
    for axes in (left, right):
        if top > _LOGARITHMIC:
            axes.set_xscale("log")
    left.set_ylim(bottom=0)
    left.legend(frameon=False, fontsize=9)
    verdicts = _sort_verdicts(verification)
    figure.suptitle("\n".join((f"{profile.name[:60]}, target ε* = {_short(verification.target)}", *_wrap(verdicts))), fontsize=9)
    return Picture(figure, f"The loss of {profile.name} against the weight, without and with sampling. " + "; ".join(verdicts))


def _witnesses(verification: Verification) -> dict[str, dict[str, Fraction]]:
    """Return a record and a weight for each refuted condition whose witness has all statistics; the weight is 1 where it has none."""
    names = [item.name for item in verification.profile.record]
    told: dict[str, dict[str, Fraction]] = {}
    for condition, decision in verification.decisions.items():
        at = decision.witness
        if decision.verdict is Verdict.REFUTED and at is not None and all(name in at for name in names):
            told[condition] = {**{name: at[name] for name in names}, WEIGHT: at.get(WEIGHT, Fraction(1))}
    return told


def _last_weight(
    sampled: Term, records: Sequence[Mapping[str, Fraction]], level: Fraction, witnesses: Mapping[str, Mapping[str, Fraction]]
) -> Fraction:
    """Return a power of 2 up to which all losses after sampling reach a level, and behind all witnesses, as far as that is near."""
    top = _NEAREST
    near = [at[WEIGHT] for at in witnesses.values() if at[WEIGHT] <= _FARTHEST]
    while top < _FARTHEST:
        ends = _upper_ends(sampled, [{**record, WEIGHT: top} for record in records])
        if not any(end < level for end in ends) and all(weight <= top for weight in near):
            break
        top *= 2
    return top


def _spread_weights(top: Fraction) -> list[Fraction]:
    """Return weights from 1 to the last one, by equal steps or by equal factors."""
    if top <= _LOGARITHMIC:
        return [1 + (top - 1) * k / _POINTS for k in range(_POINTS + 1)]
    return [max(Fraction(1), min(top, Fraction(float(top) ** (k / _POINTS)))) for k in range(_POINTS + 1)]


def _upper_ends(term: Term, points: Sequence[Mapping[str, Fraction]]) -> list[float]:
    """Return the upper ends of a term's enclosures at points; no number where there is none, or none that is drawn."""
    enclosure = Enclosure(term)
    with working_precision(_BITS):
        ends = [upper_fraction(enclosure.evaluate({name: ball(value) for name, value in point.items()})) for point in points]
    return [nan if end is None or end > _HIGHEST else float(end) for end in ends]


def _sort_verdicts(verification: Verification) -> list[str]:
    """Return the names of the conditions by their verdict."""
    sorted_names = {verdict: [n for n, decision in verification.decisions.items() if decision.verdict is verdict] for verdict in Verdict}
    return [f"{verdict.value}: {', '.join(names)}" for verdict, names in sorted_names.items() if names]


def _wrap(texts: Sequence[str]) -> list[str]:
    return [line for text in texts for line in textwrap.wrap(text, _LINE)]


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
        cards.line(make("small", f'Events and scores reveal something about the data sets: result.to_json()["private"], {EYES_ONLY}.')),
    )


def _sides(result: AuditResult) -> str:
    claim = result.claim
    slack = f", δ = {decimal_text(claim.delta, 6, round_up=True)}" if claim.delta else ""
    return slack + (", for adding the record only" if claim.one_sided else "")
