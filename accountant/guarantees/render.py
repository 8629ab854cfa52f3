"""Printing guarantees: plain text for people, hypotheses under four heads, JSON, and what one shows of itself in a notebook.

No number stands without the hypotheses that it needs.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

from accountant.compositions.json_format import composition_object
from accountant.guarantees.measures import CurveBound, Losses, ProfileBound, describe_notion
from accountant.guarantees.theorem import Derivation, Guarantee, Statement
from profiles import decimal_text
from profiles.hypotheses import REGISTRY, Head, Hypothesis, count_assumptions
from profiles.presenting import cards
from profiles.presenting.elements import Child, make
from profiles.terms import to_text
from profiles.views import show_html, show_text
from proofs_check.suprema.bound import EpsilonBound
from proofs_check.suprema.feasibility import show_record

WIDTH = 80
#: Where the assumptions of a first screen stand: right of the heads.
_COLUMN = 16
#: Above the open hypotheses of a number, in the field's words; below them stand those that something settled, with what did.
OPEN = "Valid only under these unverified assumptions:"
CLOSED = "without unverified assumptions"
SETTLED = "assumptions that are settled, and by what:"


#: What is printed of a guarantee; also of one that a file states.
Stated = Guarantee | Statement


def render(
    guarantee: Stated,
    *,
    everything: bool = True,
    explain: bool = False,
    beside: Iterable[str] = (),
    screen: Iterable[str] | None = None,
    checked: bool | None = None,
) -> str:
    """Return a guarantee as plain text of at most 80 columns: bound, open hypotheses under four heads, derivation tree.

    Without ``everything`` it is a first screen: the bound with its side, whom it protects, whether the kernel checked it, and short forms
    of the open hypotheses (:func:`render_assumptions`); the derivation is then shown only with ``explain``. ``beside``: lines below the
    bound, replaced by ``screen`` on a first screen; ``checked``: whether the kernel checked it, if the caller knows.
    """
    lines = [*_wrap(guarantee.subject, ""), *_wrap(describe_bound(guarantee), "  ")]
    short = beside if screen is None else screen
    told = [*list_details(guarantee), *beside] if everything else [*head_lines(guarantee, checked=checked), *short]
    lines += [line for text in told for line in _wrap(text, "  ")]
    return "\n".join([*lines, "", *render_basis(guarantee, everything=everything, explain=explain)]) + "\n"


def render_basis(guarantee: Stated, *, everything: bool = True, explain: bool = False) -> list[str]:
    """Return the hypotheses of a guarantee as lines, and with ``everything`` or ``explain`` its derivation."""
    lines = render_assumptions(guarantee, everything=everything)
    if everything or explain:
        lines += ["", "derivation:", *_tree(guarantee, guarantee.derivation, "  ", "  ")]
    return lines


def head_lines(guarantee: Stated, *, checked: bool | None = None) -> Iterator[str]:
    """Yield what stands below the bound on a first screen: whom it protects, and whether the kernel checked it."""
    bound = guarantee.bound
    if not isinstance(bound, Losses):
        yield f"notion: {describe_notion(bound, guarantee.protection)}"
    yield f"protects: {guarantee.unit.value}; {guarantee.protection.describe()}"
    if isinstance(bound, Losses) and not bound.is_symmetric and guarantee.protection.neighbors.is_directed:
        yield _describe_directions(guarantee, bound)
    proofs = bound.proofs if isinstance(bound, Losses) else ()
    if checked is None and proofs:
        checked = all(proof.checked_by_kernel for proof in proofs)
    if checked is None:
        yield "checked by kernel: no; it follows by the rules of its derivation (--explain)"
    else:
        yield f"checked by kernel: {'yes' if checked else 'no'}{_why_not(proofs)}"


def _why_not(proofs: Iterable[EpsilonBound]) -> str:
    reasons = dict.fromkeys(proof.kernel_reason for proof in proofs if not proof.checked_by_kernel)
    return f" ({'; '.join(reasons)})" if reasons else ""


def render_assumptions(guarantee: Stated, *, everything: bool = True) -> list[str]:
    """Return all hypotheses of a guarantee as lines: the open ones under their heads, and the closed ones, or their number.

    Without ``everything`` each open one has its short form, and the standard ones are counted, as are closed ones.
    """
    count = len(guarantee.discharged)
    if not everything:
        told = f"{count_assumptions(count, 'settled')} (--all shows {'it' if count == 1 else 'them'}, and every sentence in full)"
        return [*render_hypotheses(guarantee.hypotheses, everything=False), *([told] if count else [])]
    lines = render_hypotheses(guarantee.hypotheses)
    if count:
        lines += ["", SETTLED]
        lines += [line for item in guarantee.discharged for line in _wrap(f"{item.hypothesis} [{item.evidence}]", "  - ", "    ")]
    return lines


def render_hypotheses(hypotheses: Iterable[Hypothesis], *, everything: bool = True) -> list[str]:
    """Return open hypotheses as lines of at most 80 columns, each under its head, with the sentence that says what they are.

    Without ``everything`` each has its short form, right of its head, and the standard ones are counted below.
    """
    lines: list[str] = []
    if not everything:
        listed = list(dict.fromkeys(hypotheses))
        shown, count = [item for item in listed if not item.ordinary], sum(item.ordinary for item in listed)
        for head, below in under_heads(_in_order(shown)):
            left = f"  {head.value}"
            for line in dict.fromkeys(item.line for item in below):  # two that differ in their sentences alone are one line here
                lines += _wrap(line, f"{left:<{_COLUMN}}- ", " " * (_COLUMN + 2))
                left = ""
        if count:
            which = "standard one" if count == 1 else "standard ones"
            lines.append(f"  {'and ' if shown else ''}{count} {which} about the sampler, the machine and its random bits: --all")
        return [OPEN, *lines] if lines else [CLOSED]
    for head, below in under_heads(_in_order(hypotheses)):
        lines += [f"  {head.value}", *(line for item in below for line in _wrap(item.sentence, "    - ", "      "))]
    return [OPEN, *lines] if lines else [CLOSED]


def under_heads(hypotheses: Iterable[Hypothesis]) -> list[tuple[Head, list[Hypothesis]]]:
    """Return each head that has hypotheses, with these in their order."""
    listed = list(hypotheses)
    return [(head, below) for head in Head if (below := [item for item in listed if item.head is head])]


def _in_order(hypotheses: Iterable[Hypothesis]) -> list[Hypothesis]:
    places = {name: place for place, name in enumerate(REGISTRY)}
    return sorted(hypotheses, key=lambda item: places[item.id])


def hypotheses_json(hypotheses: Iterable[Hypothesis]) -> list[dict[str, str]]:
    """Return hypotheses as objects with id, head and sentence."""
    return [{"id": item.id, "head": item.head.value, "sentence": item.sentence} for item in hypotheses]


def to_json(guarantee: Guarantee) -> dict[str, Any]:
    """Return a guarantee as an object of JSON types; numbers are outward-rounded decimal strings."""
    bound = guarantee.bound
    epsilon: dict[str, Any]
    if isinstance(bound, Losses) and bound.lower is not None:
        epsilon = {"lower": _down(bound.lower), "upper": _end(bound.epsilon)}
    elif isinstance(bound, Losses):
        epsilon = {"upper": _end(bound.epsilon), "remove": _end(bound.remove), "add": _end(bound.add), "delta": _end(bound.delta)}
    elif isinstance(bound, ProfileBound):
        epsilon = {"profile": bound.profile.text}
    elif isinstance(bound, CurveBound):
        epsilon = {"events": composition_object(bound.composition)["events"]}
    else:
        epsilon = {"profile": bound.profile.text, "q": None if bound.rule.q is None else to_text(bound.rule.q)}
    return {
        "subject": guarantee.subject,
        "notion": guarantee.notion.name.lower().replace("_", "-"),
        **guarantee.protection.to_object(),
        "epsilon": epsilon,
        "conditional": bool(guarantee.hypotheses),
        "hypotheses": [item.sentence for item in guarantee.hypotheses],
        "premises": hypotheses_json(guarantee.hypotheses),
        "discharged": [
            {"id": item.hypothesis.id, "hypothesis": item.hypothesis.sentence, "evidence": item.evidence, "subject": item.subject}
            for item in guarantee.discharged
        ],
        "derivation": _derivation_json(guarantee, guarantee.derivation),
    }


def mark_step(guarantee: Stated, derivation: Derivation) -> str:
    """Return how a step of a guarantee's derivation is proved, in words."""
    return derivation.mark(guarantee.hypotheses, guarantee.discharged)


def _derivation_json(guarantee: Stated, derivation: Derivation) -> dict[str, Any]:
    return {
        "rule": derivation.rule,
        "statement": derivation.statement,
        "conclusion": derivation.conclusion,
        "claims": list(derivation.claims),
        "rests_on": list(derivation.basis.claims),
        "proof_of_rule": mark_step(guarantee, derivation),
        "premises": [_derivation_json(guarantee, child) for child in derivation.children],
    }


def describe_bound(guarantee: Stated) -> str:
    """Return the bound with its side, or the formula of a profile."""
    bound = guarantee.bound
    if isinstance(bound, Losses):
        shown = f"epsilon <= {_end(bound.remove if bound.epsilon is None else bound.epsilon)}"
        return shown if not bound.delta else f"{shown}, delta <= {_end(bound.delta)}"
    if isinstance(bound, ProfileBound):
        return f"epsilon(w, x) = {bound.profile.text}"
    if isinstance(bound, CurveBound):
        return f"delta(epsilon) of {'; '.join(event.describe() for event in bound.composition.events)}"
    return "psi(x) = log(1 + q(x)*(exp(epsilon(1/q(x), x)) - 1))"


def list_details(guarantee: Stated) -> Iterator[str]:
    """Yield what a bound is a bound of: notion, unit, directions, how tight it is and what checked it."""
    bound = guarantee.bound
    yield f"notion: {describe_notion(bound, guarantee.protection)}"
    yield f"protects: {guarantee.unit.value}; {guarantee.protection.describe()}"
    if not isinstance(bound, Losses):
        return
    if bound.lower is None and guarantee.protection.neighbors.is_directed:
        yield _describe_directions(guarantee, bound)
    if bound.lower is not None and len(bound.proofs) == 1:
        if bound.lower > 0:
            at = show_record(bound.evidence.at)
            yield f"the sampled profile is at least {_down(bound.lower)} at {at}, so this derivation cannot give less"
        yield f"checked by kernel: {'yes' if bound.evidence.checked_by_kernel else 'no (' + bound.evidence.kernel_reason + ')'}"


def _describe_directions(guarantee: Stated, bound: Losses) -> str:
    return (
        f"if a {guarantee.unit.word} is removed, the loss is at most {_end(bound.remove)}; if one is added, "
        f"{_end(bound.add) or 'unbounded'}"
    )


def _end(value: Fraction | None) -> str | None:
    return None if value is None else decimal_text(value, 12, round_up=True)


def _down(value: Fraction) -> str:
    return decimal_text(value, 12, round_up=False)


def _tree(guarantee: Stated, derivation: Derivation, first: str, rest: str) -> Iterator[str]:
    yield from _wrap(derivation.rule, first, rest)
    texts = [derivation.conclusion, f"by {derivation.statement}"]
    texts += [f"proof: {', '.join(derivation.claims)}"] if derivation.claims else []
    texts += [f"pdp claims: {', '.join(derivation.basis.claims)}"] if derivation.basis.claims else []
    texts += [mark_step(guarantee, derivation)]
    bar = "|  " if derivation.children else "   "
    for text in texts:
        yield from _wrap(text, rest + bar + " ", rest + bar + "   ")
    for index, child in enumerate(derivation.children):
        last = index == len(derivation.children) - 1
        yield from _tree(guarantee, child, rest + "+- ", rest + ("   " if last else "|  "))


def _wrap(text: str, first: str, rest: str | None = None) -> list[str]:
    later = first if rest is None else rest
    return textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=later, break_on_hyphens=False) or [first]


def guarantee_text(guarantee: Stated) -> str:
    """Return a guarantee on one line: subject, bound, and the ids of all open hypotheses."""
    bound = f"{guarantee.subject!r}: {describe_bound(guarantee)}"
    names = ", ".join(item.id for item in guarantee.hypotheses)
    return f"{bound}, under {count_assumptions(len(guarantee.hypotheses))}: {names}" if names else f"{bound}, {CLOSED}"


@show_text.register(Guarantee)
def _guarantee_text(guarantee: Guarantee) -> str:
    return f"Guarantee({guarantee_text(guarantee)})"


@show_html.register(Guarantee)
def guarantee_html(guarantee: Stated) -> str:
    """Return a guarantee as a card: the bound, then every open hypothesis in full; what is discharged and the derivation are folded."""
    return cards.card(
        cards.line(cards.name(guarantee.subject)),
        cards.headline(describe_bound(guarantee)),
        [cards.line(text) for text in list_details(guarantee)],
        _open_html(guarantee),
        _discharged_html(guarantee),
        cards.fold("How it was derived", _derivation_html(guarantee, guarantee.derivation)),
    )


def _open_html(guarantee: Stated) -> list[Child]:
    made: list[Child] = []
    for head, below in under_heads(_in_order(guarantee.hypotheses)):
        made += [cards.line(head.value), cards.listed([item.sentence for item in below])]
    return [cards.line(make("strong", OPEN)), *made] if made else [cards.line(CLOSED)]


def _discharged_html(guarantee: Stated) -> Child:
    if not guarantee.discharged:
        return None
    items = [f"{item.hypothesis} [{item.evidence}]" for item in guarantee.discharged]
    return cards.fold(count_assumptions(len(items), "settled"), cards.listed(items))


def _derivation_html(guarantee: Stated, derivation: Derivation) -> Child:
    marked = mark_step(guarantee, derivation)
    said: list[Child] = [cards.name(derivation.rule), f": {derivation.conclusion}, by {derivation.statement}; {marked}"]
    below = [_derivation_html(guarantee, child) for child in derivation.children]
    return make("ul", make("li", said, below))
