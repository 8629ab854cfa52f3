"""Explanations as a LaTeX fragment for a document that loads amsmath."""

from __future__ import annotations

import re
from fractions import Fraction

from profiles.numbers import exact_text
from profiles.terms import Term
from proofs_check.explain.cutting import cut, weigh
from proofs_check.explain.document import LATEX, Explanation, Formula, Prose
from proofs_check.explain.text import written_steps

_RELATIONS = {">=": r"\geq", "<=": r"\leq", ">": ">", "<": "<", "=": "="}
_GREEK = {
    "alpha", "beta", "gamma", "delta", "zeta", "eta", "theta", "kappa", "lambda", "nu", "xi", "rho", "sigma", "tau", "phi", "chi", "omega",
}  # fmt: skip
_NAMED = {"exp": r"\exp", "log": r"\log", "sin": r"\sin", "cos": r"\cos", "tan": r"\tan", "min": r"\min", "max": r"\max"}
_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "_": r"\_", "%": r"\%", "#": r"\#", "&": r"\&", "$": r"\$",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"$<$", ">": r"$>$",
}  # fmt: skip
_WORDS = {">=": r"$\geq$", "<=": r"$\leq$", "epsilon": r"$\varepsilon$", "w": "$w$", "x": "$x$", "n": "$n$"}
_WORD = re.compile(r">=|<=|\b(?:epsilon|[wxn])\b|[" + re.escape("".join(_SPECIAL)) + "]")
_ADD, _MUL, _POW, _ATOM = range(4)


def escape(text: str) -> str:
    r"""Return words with what LaTeX treats specially escaped, and with relation signs and names of the theory in its signs.

    >>> print(escape("w >= 1 & a_b"))
    $w$ $\geq$ 1 \& a\_b
    """
    return _WORD.sub(lambda found: _WORDS.get(found[0]) or _SPECIAL[found[0]], text)


def term_latex(term: Term) -> str:
    """Return a term in LaTeX's mathematics."""
    return _print(term)[0]


def _print(term: Term) -> tuple[str, int]:
    head = term[0]
    if head == "num":
        return _number(term[1])
    if head == "sym":
        return _name(term[1]), _ATOM
    if head == "pi":
        return r"\pi", _ATOM
    if head == "add":
        return _sum(term[1:]), _ADD
    if head == "mul":
        return _product(_wrap(term[1], _MUL), *(_wrap(part, _POW) for part in term[2:])), _MUL
    if head == "neg":
        return "-" + _wrap(term[1], _MUL), _ADD
    if head == "div":
        return rf"\frac{{{term_latex(term[1])}}}{{{term_latex(term[2])}}}", _POW
    if head == "pow":
        return f"{{{_wrap(term[1], _ATOM)}}}^{{{term_latex(term[2])}}}", _POW
    return _function(term), _ATOM


def _function(term: Term) -> str:
    head = term[0]
    if head == "piecewise":
        rows = r" \\ ".join(f"{term_latex(value)} & {_condition(condition)}" for value, condition in term[1:])
        return rf"\begin{{cases}} {rows} \end{{cases}}"
    inside = ", ".join(term_latex(part) for part in term[1:])
    if head == "sqrt":
        return rf"\sqrt{{{inside}}}"
    if head == "abs":
        return rf"\left|{inside}\right|"
    return rf"{_NAMED[head]}\left({inside}\right)"


def _condition(condition: Term) -> str:
    if condition[0] == "true":
        return r"\text{otherwise}"
    return rf"\text{{if }} {term_latex(condition[1])} {_RELATIONS[condition[0]]} {term_latex(condition[2])}"


def _sum(parts: tuple[Term, ...]) -> str:
    text = _print(parts[0])[0]
    for part in parts[1:]:
        text += f" - {_wrap(part[1], _MUL)}" if part[0] == "neg" else f" + {_wrap(part, _MUL)}"
    return text


def _product(*factors: str) -> str:
    """Return factors side by side, with a dot where a number would otherwise seem to go on."""
    text = factors[0]
    for factor in factors[1:]:
        dotted = factor[0].isdigit() or factor.startswith(r"\frac")
        text += (r" \cdot " if dotted else r"\,") + factor
    return text


def _wrap(term: Term, level: int) -> str:
    text, own = _print(term)
    return text if own >= level else rf"\left({text}\right)"


def _number(value: Fraction) -> tuple[str, int]:
    text = exact_text(value)
    if "e" in text:
        mantissa, exponent = text.split("e", 1)
        return rf"{mantissa} \cdot 10^{{{exponent}}}", _ADD if value < 0 else _MUL
    if "/" in text:
        above, below = text.lstrip("-").split("/")
        return ("-" if value < 0 else "") + rf"\frac{{{above}}}{{{below}}}", _ADD if value < 0 else _POW
    return text, _ADD if value < 0 else _ATOM


def _name(name: str) -> str:
    if name in LATEX:
        return LATEX[name]
    if len(name) == 1 and name != "_":
        return name
    return f"\\{name}" if name in _GREEK else rf"\mathit{{{name.replace('_', chr(92) + '_')}}}"


def formula_latex(formula: Formula) -> str:
    """Return an inline formula, cut if it is long."""
    shown, whole = [], 0
    for part in formula.parts:
        if isinstance(part, str):
            shown.append(_RELATIONS[part])
            continue
        short = cut(part)
        whole += weigh(part) if short is not part else 0
        shown.append(term_latex(short))
    return f"${' '.join(shown)}$" + (f" [cut: about {whole} characters in full]" if whole else "")


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
