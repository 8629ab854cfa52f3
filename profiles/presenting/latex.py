"""Terms in LaTeX's mathematics, as they were written."""

from __future__ import annotations

from fractions import Fraction

from profiles.numbers import exact_text
from profiles.terms import Term

RELATIONS = {">=": r"\geq", "<=": r"\leq", ">": ">", "<": "<", "=": "="}
_GREEK = {
    "alpha", "beta", "gamma", "delta", "zeta", "eta", "theta", "kappa", "lambda", "nu", "xi", "rho", "sigma", "tau", "phi", "chi", "omega",
}  # fmt: skip
_NAMED = {"exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "min", "max"}
_ADD, _MUL, _POW, _ATOM = range(4)

#: The text of a name → its LaTeX.
LATEX = {
    "epsilon(w, x)": r"\varepsilon(w, x)",
    "epsilon(1, x)": r"\varepsilon(1, x)",
    "epsilon'(w, x)": r"\varepsilon'(w, x)",
    "epsilon'(1, x)": r"\varepsilon'(1, x)",
    "epsilon''(w, x)": r"\varepsilon''(w, x)",
    "epsilon*": r"\varepsilon^{*}",
    "mu(x)": r"\mu(x)",
    "v(x)": r"v(x)",
    "e(x)": r"e(x)",
    "epsilon(1/q(x), x)": r"\varepsilon(1/q(x), x)",
    "q(x)": r"q(x)",
    "psi(x)": r"\psi(x)",
    "...": r"\cdots",
}


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
    if head == "table":
        return rf"{_name(term[1].name)}\left({term_latex(term[2])}\right)"
    inside = ", ".join(term_latex(part) for part in term[1:])
    if head == "sqrt":
        return rf"\sqrt{{{inside}}}"
    if head == "abs":
        return rf"\left|{inside}\right|"
    if head in ("floor", "ceiling"):
        sign = "floor" if head == "floor" else "ceil"
        return rf"\left\l{sign} {inside} \right\r{sign}"
    name = rf"\{head}" if head in _NAMED else rf"\operatorname{{{head}}}"
    return rf"{name}\left({inside}\right)"


def _condition(condition: Term) -> str:
    if condition[0] == "true":
        return r"\text{otherwise}"
    return rf"\text{{if }} {term_latex(condition[1])} {RELATIONS[condition[0]]} {term_latex(condition[2])}"


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
