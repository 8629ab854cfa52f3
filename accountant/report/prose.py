"""Explanations of proofs as HTML: numbered steps of words, and formulas in MathML, of which a page may be as narrow as a phone.

A formula is laid out as a row of short ``math`` elements, broken at relation signs and at the plus signs of outermost sums, so that a
page may wrap there. A piece too wide for a phone scrolls by itself; one too wide for a printed page is shown as text in the profile
grammar.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from profiles.numbers import exact_text
from profiles.presenting.elements import Child, Element, make
from profiles.presenting.mathml import PRODUCT, RELATIONS, SUM, lay_out, operator, wrap
from profiles.terms import Term, to_text
from proofs_check.explain import Explanation, Formula, Step
from proofs_check.explain.cutting import cut_formula
from proofs_check.explain.document import Prose
from proofs_check.explain.text import unwritten

#: Widths in characters: what fits on a phone, and on a printed page.
_PHONE, _PAGE = 30, 90
_SIGNS = {">=": "≥", "<=": "≤"}


def say(prose: Prose) -> list[Child]:
    """Return a sentence with its formulas."""
    return [_words(piece) if isinstance(piece, str) else formula_math(piece) for piece in prose]


def _words(text: str) -> str:
    """Return words with relation signs, and with the letter for epsilon where it stands alone."""
    return re.sub(r"\bepsilon\b", "ε", re.sub(">=|<=", lambda match: _SIGNS[match[0]], text))


def statement(explanation: Explanation) -> Element:
    """Return what a condition says, as a paragraph."""
    sentence = say(explanation.statement)
    if sentence and isinstance(sentence[0], str):
        sentence[0] = capitalised(sentence[0])
    return make("p", sentence, class_="statement")


def capitalised(text: str) -> str:
    """Return a sentence with a capital first letter, unless it starts with a letter that stands for something."""
    return text[:1].upper() + text[1:] if text[:1].isascii() else text


def steps(explanation: Explanation) -> Element:
    """Return the argument as nested numbered lists."""
    return _list(explanation.steps)


def _list(steps: Sequence[Step]) -> Element:
    return make(
        "ol", [make("li", make("p", _said(step)), _list(step.children) if step.children else None) for step in steps], class_="steps"
    )


def _said(step: Step) -> Child:
    try:
        return say(step.said)
    except Exception as error:  # an explanation is no part of the proof, so it must not stop the report
        return unwritten(error)


def formula_math(formula: Formula) -> list[Child]:
    """Return a formula: in one piece if it is short, else as a row of pieces. A long one is cut, and says so."""
    shown, note = cut_formula(formula)
    whole = sum(3 if isinstance(part, str) else _width(part) for part in shown)
    pieces: list[Child] = [_in_one(shown)] if whole <= _PHONE else list(_in_pieces(shown))
    return [*pieces, note] if note else pieces


def _in_one(parts: Sequence[Term | str]) -> Element:
    return make("math", [operator(RELATIONS[part]) if isinstance(part, str) else lay_out(part)[0] for part in parts])


def _in_pieces(parts: Sequence[Term | str]) -> Iterator[Child]:
    sign, first = "", True
    for part in parts:
        if isinstance(part, str):
            sign = part
            continue
        for between, summand in _summands(part):
            if not first:
                yield " "
            yield _piece(RELATIONS[sign] if sign else between, summand, sign or between)
            sign, first = "", False


def equation(*parts: Term | str) -> list[Child]:
    """Return terms with relation signs between them as a row of pieces."""
    return formula_math(Formula(parts))


def _piece(sign: str, term: Term, text_sign: str) -> Element:
    width = _width(term)
    if width > _PAGE:
        text = f"({to_text(term)})" if sign in ("+", "−") and term[0] in ("add", "neg") else to_text(term)
        return make("code", f"{text_sign} {text}".strip(), class_="formula")
    inner = lay_out(term)[0] if not sign else [operator(sign), *wrap(term, PRODUCT if sign in ("+", "−") else SUM)]
    piece = make("math", inner)
    return piece if width <= _PHONE else make("span", piece, class_="wide", tabindex="0", role="group", aria_label="wide formula")


def _summands(term: Term) -> Iterator[tuple[str, Term]]:
    """Yield the summands of an outermost sum with the sign before them; a short sum is left whole."""
    if term[0] != "add" or _width(term) <= _PHONE:
        yield "", term
        return
    flat: list[Term] = []
    stack = [term]
    while stack:
        current = stack.pop()
        if current[0] == "add":
            stack.extend(reversed(current[1:]))
        else:
            flat.append(current)
    yield "", flat[0]
    for part in flat[1:]:
        yield ("−", part[1]) if part[0] == "neg" else ("+", part)


def _width(term: Term) -> int:
    """Return about how many characters wide a term is once it is laid out."""
    head = term[0]
    if head == "num":
        return max(map(len, exact_text(term[1]).split("/")))
    if head == "sym":
        return len(term[1]) + 1
    if head == "pi":
        return 1
    if head == "piecewise":
        return 4 + max(_width(value) + 4 + sum(_width(part) + 2 for part in condition[1:]) for value, condition in term[1:])
    if head == "table":
        return len(term[1].name) + 2 + _width(term[2])
    widths = [_width(part) for part in term[1:]]
    if head == "div":
        return 1 + max(widths)
    if head == "pow":
        return widths[0] + (2 * widths[1] + 2) // 3
    extra = {"add": 3 * len(widths), "mul": 2 * len(widths), "neg": 1}.get(head, 5)
    return sum(widths) + extra
