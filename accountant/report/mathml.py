"""Terms and formulas as MathML (the part that browsers render by themselves).

A formula is laid out as a row of short ``math`` elements, broken at relation signs and at the plus signs of outermost sums, so that a
page may wrap there. A piece too wide for a phone scrolls by itself; one too wide for a printed page is shown as text in the profile
grammar.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from accountant.report.elements import Child, Element, make
from profiles.numbers import exact_text
from profiles.terms import Term, to_text
from proofs_check.explain import Formula
from proofs_check.explain.cutting import cut, weigh

_ADD, _MUL, _POW, _ATOM = range(4)
#: Widths in characters: what fits on a phone, and on a printed page.
_PHONE, _PAGE = 30, 90

_RELATIONS = {">=": "≥", "<=": "≤", ">": ">", "<": "<", "=": "="}
_GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "zeta": "ζ", "eta": "η", "theta": "θ", "kappa": "κ", "lambda": "λ", "nu": "ν",
    "xi": "ξ", "rho": "ρ", "sigma": "σ", "tau": "τ", "phi": "φ", "chi": "χ", "omega": "ω",
}  # fmt: skip
#: Names of the theory: letter, primes or star, arguments as they are written.
_THEORY = {
    "epsilon(w, x)": ("ε", "", "w,x"), "epsilon(1, x)": ("ε", "", "1,x"), "epsilon'(w, x)": ("ε", "′", "w,x"),
    "epsilon'(1, x)": ("ε", "′", "1,x"), "epsilon''(w, x)": ("ε", "″", "w,x"), "epsilon*": ("ε", "*", ""), "mu(x)": ("μ", "", "x"),
    "v(x)": ("v", "", "x"), "e(x)": ("e", "", "x"), "epsilon(1/q(x), x)": ("ε", "", "1/q(x),x"), "q(x)": ("q", "", "x"),
    "psi(x)": ("ψ", "", "x"),
}  # fmt: skip
#: One letter in an ``mi`` is slanted by the browser, two are not: a letter with primes has to be slanted itself.
_SLANTED = {"ε": "\N{MATHEMATICAL ITALIC SMALL EPSILON}"}


def term_math(term: Term) -> Element:
    """Return a term in one ``math`` element.

    >>> from accountant.report.elements import serialise
    >>> serialise(term_math(("div", ("sym", "w"), ("sym", "beta_sum"))))
    '<math><mfrac><mi>w</mi><msub><mi>β</mi><mtext>sum</mtext></msub></mfrac></math>'
    """
    return make("math", _print(term)[0])


def formula_math(formula: Formula) -> list[Child]:
    """Return a formula: in one piece if it is short, else as a row of pieces. A long one is cut, and says so."""
    shown: list[Term | str] = []
    cut_away = 0
    for part in formula.parts:
        if isinstance(part, str):
            shown.append(part)
            continue
        short = cut(part)
        cut_away += weigh(part) if short is not part else 0
        shown.append(short)
    whole = sum(3 if isinstance(part, str) else _width(part) for part in shown)
    pieces: list[Child] = [_in_one(shown)] if whole <= _PHONE else list(_in_pieces(shown))
    return [*pieces, f" [cut: about {cut_away} characters in full]"] if cut_away else pieces


def _in_one(parts: Sequence[Term | str]) -> Element:
    return make("math", [_operator(_RELATIONS[part]) if isinstance(part, str) else _print(part)[0] for part in parts])


def _in_pieces(parts: Sequence[Term | str]) -> Iterator[Child]:
    sign, first = "", True
    for part in parts:
        if isinstance(part, str):
            sign = part
            continue
        for operator, summand in _summands(part):
            if not first:
                yield " "
            yield _piece(_RELATIONS[sign] if sign else operator, summand, sign or operator)
            sign, first = "", False


def equation(*parts: Term | str) -> list[Child]:
    """Return terms with relation signs between them as a row of pieces."""
    return formula_math(Formula(parts))


def _piece(sign: str, term: Term, text_sign: str) -> Element:
    width = _width(term)
    if width > _PAGE:
        text = f"({to_text(term)})" if sign in ("+", "−") and term[0] in ("add", "neg") else to_text(term)
        return make("code", f"{text_sign} {text}".strip(), class_="formula")
    inner = _print(term)[0] if not sign else [_operator(sign), *_wrap(term, _MUL if sign in ("+", "−") else _ADD)]
    found = make("math", inner)
    return found if width <= _PHONE else make("span", found, class_="wide", tabindex="0", role="group", aria_label="wide formula")


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


def _print(term: Term) -> tuple[list[Element], int]:
    head = term[0]
    if head == "num":
        return _number(term[1])
    if head == "sym":
        return [_name(term[1])], _ATOM
    if head == "pi":
        return [make("mi", "π")], _ATOM
    if head == "add":
        return _sum(term[1:]), _ADD
    if head == "mul":
        return _product(term[1:]), _MUL
    if head == "neg":
        return [make("mo", "−", form="prefix"), *_wrap(term[1], _MUL)], _ADD
    if head == "div":
        return [make("mfrac", _row(_print(term[1])[0]), _row(_print(term[2])[0]))], _POW
    if head == "pow":
        return [make("msup", _row(_wrap(term[1], _ATOM)), _row(_print(term[2])[0]))], _POW
    if head == "piecewise":
        rows = [make("mtr", make("mtd", _print(value)[0]), make("mtd", _condition(condition))) for value, condition in term[1:]]
        return [make("mrow", _fence("{", "prefix"), make("mtable", rows))], _ATOM
    if head == "sqrt":
        return [make("msqrt", _print(term[1])[0])], _ATOM
    if head == "table":
        return [make("mrow", _name(term[1].name), _parenthesised(_print(term[2])[0]))], _ATOM
    inside = _listed([_print(part)[0] for part in term[1:]])
    if head == "abs":
        return [make("mrow", _fence("|", "prefix"), inside, _fence("|", "postfix"))], _ATOM
    if head in ("floor", "ceiling"):
        left, right = ("⌊", "⌋") if head == "floor" else ("⌈", "⌉")
        return [make("mrow", _fence(left, "prefix"), inside, _fence(right, "postfix"))], _ATOM
    return [make("mrow", make("mi", head), _parenthesised(inside))], _ATOM


def _sum(parts: Sequence[Term]) -> list[Element]:
    shown = list(_print(parts[0])[0])
    for part in parts[1:]:
        negative = part[0] == "neg"
        shown += [_operator("−" if negative else "+"), *_wrap(part[1] if negative else part, _MUL)]
    return shown


def _product(factors: Sequence[Term]) -> list[Element]:
    """Return factors side by side, with a dot where a number would otherwise seem to go on."""
    shown = _wrap(factors[0], _MUL)
    for factor in factors[1:]:
        printed = _wrap(factor, _POW)
        dotted = printed[0].tag in ("mn", "mfrac") or (printed[0].tag == "msup" and printed[0][0].tag == "mn")
        shown += [_operator("·") if dotted else make("mspace", width="0.17em"), *printed]
    return shown


def _condition(condition: Term) -> list[Element]:
    if condition[0] == "true":
        return [make("mtext", "otherwise")]
    left, right = _print(condition[1])[0], _print(condition[2])[0]
    return [make("mtext", "if"), make("mspace", width="0.4em"), *left, _operator(_RELATIONS[condition[0]]), *right]


def _wrap(term: Term, level: int) -> list[Element]:
    shown, own = _print(term)
    return shown if own >= level else [_parenthesised(shown)]


def _number(value: Fraction) -> tuple[list[Element], int]:
    text = exact_text(abs(value))
    level = _ATOM
    if "/" in text:
        above, below = text.split("/")
        shown, level = [make("mfrac", make("mn", above), make("mn", below))], _POW
    elif "e" in text:
        mantissa, exponent = text.split("e")
        shown, level = [make("mn", mantissa), _operator("·"), make("msup", make("mn", "10"), make("mn", exponent.replace("-", "−")))], _MUL
    else:
        shown = [make("mn", text)]
    return ([make("mo", "−", form="prefix"), *shown], _ADD) if value < 0 else (shown, level)


def _name(name: str) -> Element:
    if name == "...":
        return make("mo", "⋯")
    if name in _THEORY:
        letter, mark, arguments = _THEORY[name]
        shown = (
            make("msup", make("mi", letter), make("mo", mark))
            if mark == "*"
            else make("mi", _SLANTED.get(letter, letter) + mark if mark else letter)
        )
        return make("mrow", shown, _parenthesised([_token(sign) for sign in arguments])) if arguments else shown
    head, _, tail = name.partition("_")
    if head and tail:
        return make("msub", _letter(head), make("mtext", tail))
    return _letter(name)


def _token(sign: str) -> Element:
    if sign == ",":
        return make("mo", sign, separator="true")
    return make("mi" if sign.isalpha() else "mn" if sign.isdigit() else "mo", sign)


def _letter(name: str) -> Element:
    return make("mi", _GREEK.get(name, name))


def _operator(sign: str) -> Element:
    return make("mo", sign, form="infix")


def _fence(sign: str, form: str) -> Element:
    return make("mo", sign, form=form, fence="true", stretchy="true")


def _parenthesised(inside: Sequence[Element]) -> Element:
    return make("mrow", _fence("(", "prefix"), inside, _fence(")", "postfix"))


def _listed(items: Sequence[Sequence[Element]]) -> list[Element]:
    shown: list[Element] = []
    for index, item in enumerate(items):
        shown += [make("mo", ",", separator="true"), *item] if index else list(item)
    return shown


def _row(items: Sequence[Element]) -> Element:
    return items[0] if len(items) == 1 else make("mrow", items)
