"""Explanations of proofs as HTML: numbered steps of words and MathML."""

from __future__ import annotations

import re
from collections.abc import Sequence

from accountant.report.mathml import formula_math
from profiles.presenting.elements import Child, Element, make
from proofs_check.explain import Explanation, Step
from proofs_check.explain.document import Prose

_SIGNS = {">=": "≥", "<=": "≤"}


def say(prose: Prose) -> list[Child]:
    """Return a sentence with its formulas."""
    return [_words(piece) if isinstance(piece, str) else formula_math(piece) for piece in prose]


def _words(text: str) -> str:
    """Return words with relation signs, and with the letter for epsilon where it stands alone."""
    return re.sub(r"\bepsilon\b", "ε", re.sub(">=|<=", lambda found: _SIGNS[found[0]], text))


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


def _list(found: Sequence[Step]) -> Element:
    return make(
        "ol", [make("li", make("p", _said(step)), _list(step.children) if step.children else None) for step in found], class_="steps"
    )


def _said(step: Step) -> Child:
    try:
        return say(step.said)
    except Exception as error:  # an explanation is no part of the proof, so it must not stop the report
        return f"This step could not be written out ({type(error).__name__}); pdp check checks it."
