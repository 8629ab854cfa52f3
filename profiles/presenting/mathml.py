"""Terms as MathML (the part that browsers render by themselves), as they were written."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from profiles.numbers import exact_text
from profiles.presenting.elements import Element, make
from profiles.terms import Term

SUM, PRODUCT, POWER, ATOM = range(4)
#: The space between factors.
THIN = "0.17em"

RELATIONS = {">=": "≥", "<=": "≤", ">": ">", "<": "<", "=": "="}
GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "zeta": "ζ", "eta": "η", "theta": "θ", "kappa": "κ", "lambda": "λ", "nu": "ν",
    "xi": "ξ", "rho": "ρ", "sigma": "σ", "tau": "τ", "phi": "φ", "chi": "χ", "omega": "ω",
}  # fmt: skip
#: Names of the theory: letter, primes or star, arguments as they are written.
THEORY = {
    "epsilon(w, x)": ("ε", "", "w,x"), "epsilon(1, x)": ("ε", "", "1,x"), "epsilon'(w, x)": ("ε", "′", "w,x"),
    "epsilon'(1, x)": ("ε", "′", "1,x"), "epsilon''(w, x)": ("ε", "″", "w,x"), "epsilon*": ("ε", "*", ""), "mu(x)": ("μ", "", "x"),
    "v(x)": ("v", "", "x"), "e(x)": ("e", "", "x"), "epsilon(1/q(x), x)": ("ε", "", "1/q(x),x"), "q(x)": ("q", "", "x"),
    "psi(x)": ("ψ", "", "x"), "...": ("⋯", "", ""),
}  # fmt: skip
#: One letter in an ``mi`` is slanted by the browser, two are not: a letter with primes has to be slanted itself.
SLANTED = {"ε": "\N{MATHEMATICAL ITALIC SMALL EPSILON}"}


def term_math(term: Term) -> Element:
    """Return a term in one ``math`` element.

    >>> from profiles.presenting.elements import serialise
    >>> serialise(term_math(("div", ("sym", "w"), ("sym", "beta_sum"))))
    '<math><mfrac><mi>w</mi><msub><mi>β</mi><mtext>sum</mtext></msub></mfrac></math>'
    """
    return make("math", lay_out(term)[0])


def lay_out(term: Term) -> tuple[list[Element], int]:
    """Return the elements of a term, and how tightly they hold together: a sum (0), a product, a power, an atom (3)."""
    head = term[0]
    if head == "num":
        return _number(term[1])
    if head == "sym":
        return [_name(term[1])], ATOM
    if head == "pi":
        return [make("mi", "π")], ATOM
    if head == "add":
        return _sum(term[1:]), SUM
    if head == "mul":
        return _product(term[1:]), PRODUCT
    if head == "neg":
        return [make("mo", "−", form="prefix"), *wrap(term[1], PRODUCT)], SUM
    if head == "div":
        return [make("mfrac", _row(lay_out(term[1])[0]), _row(lay_out(term[2])[0]))], POWER
    if head == "pow":
        return [make("msup", _row(wrap(term[1], ATOM)), _row(lay_out(term[2])[0]))], POWER
    if head == "piecewise":
        rows = [make("mtr", make("mtd", lay_out(value)[0]), make("mtd", _condition(condition))) for value, condition in term[1:]]
        return [make("mrow", _fence("{", "prefix"), make("mtable", rows))], ATOM
    if head == "sqrt":
        return [make("msqrt", lay_out(term[1])[0])], ATOM
    if head == "table":
        return [make("mrow", _name(term[1].name), _parenthesised(lay_out(term[2])[0]))], ATOM
    inside = _listed([lay_out(part)[0] for part in term[1:]])
    if head == "abs":
        return [make("mrow", _fence("|", "prefix"), inside, _fence("|", "postfix"))], ATOM
    if head in ("floor", "ceiling"):
        left, right = ("⌊", "⌋") if head == "floor" else ("⌈", "⌉")
        return [make("mrow", _fence(left, "prefix"), inside, _fence(right, "postfix"))], ATOM
    return [make("mrow", make("mi", head), _parenthesised(inside))], ATOM


def _sum(parts: Sequence[Term]) -> list[Element]:
    shown = list(lay_out(parts[0])[0])
    for part in parts[1:]:
        negative = part[0] == "neg"
        shown += [operator("−" if negative else "+"), *wrap(part[1] if negative else part, PRODUCT)]
    return shown


def _product(factors: Sequence[Term]) -> list[Element]:
    """Return factors side by side, with a dot where a number would otherwise seem to go on."""
    shown = wrap(factors[0], PRODUCT)
    for factor in factors[1:]:
        printed = wrap(factor, POWER)
        dotted = printed[0].tag in ("mn", "mfrac") or (printed[0].tag == "msup" and printed[0][0].tag == "mn")
        shown += [operator("·") if dotted else make("mspace", width=THIN), *printed]
    return shown


def _condition(condition: Term) -> list[Element]:
    if condition[0] == "true":
        return [make("mtext", "otherwise")]
    left, right = lay_out(condition[1])[0], lay_out(condition[2])[0]
    return [make("mtext", "if"), make("mspace", width="0.4em"), *left, operator(RELATIONS[condition[0]]), *right]


def wrap(term: Term, level: int) -> list[Element]:
    """Return the elements of a term, in parentheses where it holds together less tightly than ``level``."""
    shown, own = lay_out(term)
    return shown if own >= level else [_parenthesised(shown)]


def _number(value: Fraction) -> tuple[list[Element], int]:
    text = exact_text(abs(value))
    level = ATOM
    if "/" in text:
        above, below = text.split("/")
        shown, level = [make("mfrac", make("mn", above), make("mn", below))], POWER
    elif "e" in text:
        mantissa, exponent = text.split("e")
        shown, level = (
            [make("mn", mantissa), operator("·"), make("msup", make("mn", "10"), make("mn", exponent.replace("-", "−")))],
            PRODUCT,
        )
    else:
        shown = [make("mn", text)]
    return ([make("mo", "−", form="prefix"), *shown], SUM) if value < 0 else (shown, level)


def _name(name: str) -> Element:
    if name == "...":
        return make("mo", "⋯")
    if name in THEORY:
        letter, mark, arguments = THEORY[name]
        shown = (
            make("msup", make("mi", letter), make("mo", mark))
            if mark == "*"
            else make("mi", SLANTED.get(letter, letter) + mark if mark else letter)
        )
        return make("mrow", shown, [_token(sign) for sign in f"({arguments})"]) if arguments else shown
    head, _, tail = name.partition("_")
    if head and tail:
        return make("msub", _letter(head), make("mtext", tail))
    return _letter(name)


def _token(sign: str) -> Element:
    if sign == ",":
        return make("mo", sign, separator="true")
    return make("mi" if sign.isalpha() else "mn" if sign.isdigit() else "mo", sign)


def _letter(name: str) -> Element:
    return make("mi", GREEK.get(name, name))


def operator(sign: str) -> Element:
    """Return a sign between two terms as a MathML operator in infix form."""
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
