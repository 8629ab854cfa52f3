"""Explanations as a LaTeX fragment for a document that loads amsmath."""

from __future__ import annotations

import re

from profiles.presenting.latex import RELATIONS, term_latex
from proofs_check.explain.cutting import cut_formula
from proofs_check.explain.document import Explanation, Formula, Prose
from proofs_check.explain.text import written_steps

_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "_": r"\_", "%": r"\%", "#": r"\#", "&": r"\&", "$": r"\$",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"$<$", ">": r"$>$",
}  # fmt: skip
_WORDS = {">=": r"$\geq$", "<=": r"$\leq$", "epsilon": r"$\varepsilon$", "w": "$w$", "x": "$x$", "n": "$n$"}
_WORD = re.compile(r">=|<=|\b(?:epsilon|[wxn])\b|[" + re.escape("".join(_SPECIAL)) + "]")


def escape(text: str) -> str:
    r"""Return words with what LaTeX treats specially escaped, and with relation signs and names of the theory in its signs.

    >>> print(escape("w >= 1 & a_b"))
    $w$ $\geq$ 1 \& a\_b
    """
    return _WORD.sub(lambda match: _WORDS.get(match[0]) or _SPECIAL[match[0]], text)


def formula_latex(formula: Formula) -> str:
    """Return an inline formula, cut if it is long."""
    parts, note = cut_formula(formula)
    return f"${' '.join(RELATIONS[part] if isinstance(part, str) else term_latex(part) for part in parts)}${note}"


def prose_latex(prose: Prose) -> str:
    """Return a sentence with its formulas."""
    return "".join(escape(piece) if isinstance(piece, str) else formula_latex(piece) for piece in prose)


def to_latex_lines(explanation: Explanation) -> list[str]:
    """Return one paragraph for the statement and one for each step, numbered as the text is."""
    meaning = f"{escape(explanation.meaning)}, that is, " if explanation.meaning else ""
    name = rf"\paragraph{{{escape(explanation.condition)} ({escape(explanation.verdict)})}}"
    head = f"{name} {meaning}{prose_latex(explanation.statement)}"
    return [head, *(_line(label, said) for label, said in written_steps(explanation.steps, prose_latex))]


def _line(label: str, said: str) -> str:
    indent = rf"\hspace*{{{depth}em}}" if (depth := label.count(".")) else ""
    return rf"\noindent{indent}\textbf{{{label}.}} {said}"


def to_latex(explanation: Explanation) -> str:
    """Return the explanation as a fragment that compiles in a document with amsmath."""
    return "\n\n".join(to_latex_lines(explanation)) + "\n"
