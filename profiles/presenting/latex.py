"""Terms in LaTeX's mathematics: what :mod:`profiles.presenting.mathml` lays out, element by element."""

from __future__ import annotations

from collections.abc import Iterable

from profiles.presenting.elements import Element
from profiles.presenting.mathml import GREEK, SLANTED, THIN, lay_out
from profiles.terms import Term

RELATIONS = {">=": r"\geq", "<=": r"\leq", ">": ">", "<": "<", "=": "="}
_FUNCTIONS = {"exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "min", "max"}
_NAMES = {letter: name for name, letter in GREEK.items()}
_LETTERS = {letter: f"\\{name}" for letter, name in _NAMES.items()} | {"π": r"\pi", "μ": r"\mu", "ψ": r"\psi", "ε": r"\varepsilon"}
_LETTERS |= {SLANTED["ε"] + mark: _LETTERS["ε"] + primes for mark, primes in (("′", "'"), ("″", "''"))}
_SIGNS = {"−": "-", "≥": r"\geq", "≤": r"\leq", "·": r"\cdot", "⋯": r"\cdots", ",": ", "}
_FENCES = {"⌊": r"\left\lfloor ", "⌋": r" \right\rfloor", "⌈": r"\left\lceil ", "⌉": r" \right\rceil", "{": ""}


def term_latex(term: Term) -> str:
    """Return a term in LaTeX's mathematics."""
    return _join(lay_out(term)[0])


def _join(parts: Iterable[Element]) -> str:
    return "".join(map(_write, parts))


def _write(part: Element) -> str:
    text = part.text or ""
    match part.tag:
        case "mi":
            return _name(text)
        case "mo":
            return _sign(text, part)
        case "mspace":
            return r"\," if part.get("width") == THIN else r"\ "
        case "mtext":
            return rf"\text{{{text}}}"
        case "msub":  # the parts of a name
            return _name("_".join(_NAMES.get(piece.text or "", piece.text or "") for piece in part))
        case "msup":
            return rf"{{{_write(part[0])}}}^{{{_write(part[1])}}}"
        case "mfrac":
            return rf"\frac{{{_write(part[0])}}}{{{_write(part[1])}}}"
        case "msqrt":
            return rf"\sqrt{{{_join(part)}}}"
        case "mtable":
            rows = r" \\ ".join(" & ".join(_join(cell) for cell in row) for row in part)
            return rf"\begin{{cases}} {rows} \end{{cases}}"
        case "mrow":
            return _join(part)
        case _:
            return text


def _sign(text: str, part: Element) -> str:
    if part.get("fence"):  # the brace without a partner is that of the cases behind it
        return _FENCES[text] if text in _FENCES else rf"\left{text}" if part.get("form") == "prefix" else rf"\right{text}"
    sign = _SIGNS.get(text, text)
    return f" {sign} " if part.get("form") == "infix" else sign


def _name(name: str) -> str:
    if name in _LETTERS:
        return _LETTERS[name]
    if name in _FUNCTIONS:
        return f"\\{name}"
    return name if len(name) == 1 and name != "_" else rf"\mathit{{{name.replace('_', chr(92) + '_')}}}"
