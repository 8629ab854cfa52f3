"""Explanations as plain text."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence

from profiles.terms import to_text
from proofs_check.explain.cutting import cut_formula
from proofs_check.explain.document import Explanation, Formula, Prose, Step

WIDTH = 120


def formula_text(formula: Formula) -> str:
    """Return a formula in the profile grammar, cut if it is long."""
    parts, note = cut_formula(formula)
    return " ".join(part if isinstance(part, str) else to_text(part) for part in parts) + note


def prose_text(prose: Prose) -> str:
    """Return a sentence with its formulas."""
    return "".join(piece if isinstance(piece, str) else formula_text(piece) for piece in prose)


def written_steps(steps: Sequence[Step], write: Callable[[Prose], str], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield (number, sentence) of all steps in reading order: 1, 1.1, 1.2, 2, ... A sentence that cannot be written says so."""
    for index, step in enumerate(steps, 1):
        label = f"{prefix}{index}"
        try:
            said = write(step.said)
        except Exception as error:  # an explanation is no part of the proof, so it must not stop the command
            said = unwritten(error)
        yield label, said
        yield from written_steps(step.children, write, f"{label}.")


def unwritten(error: Exception) -> str:
    """Return what is said in place of a sentence that cannot be written."""
    return f"This step could not be written out ({type(error).__name__}); pdp check checks it."


def to_lines(explanation: Explanation) -> list[str]:
    """Return one line for the statement and one for each step."""
    head = f"{explanation.head.replace('ε', 'epsilon')} {prose_text(explanation.statement)}"
    return [head, *(f"{label}. {said}" for label, said in written_steps(explanation.steps, prose_text))]


def to_paragraphs(explanation: Explanation, width: int = WIDTH) -> str:
    """Return the lines indented by their depth and folded at ``width``; a formula without spaces is never broken."""
    folded = []
    for line in to_lines(explanation):
        label = line.split(" ", 1)[0]
        indent = "  " * label.count(".") if label[0].isdigit() else ""
        folded.append(
            textwrap.fill(
                line, width, initial_indent=indent, subsequent_indent=indent + "  ", break_long_words=False, break_on_hyphens=False
            )
        )
    return "\n".join(folded)
