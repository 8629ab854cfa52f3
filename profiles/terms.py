"""Terms: expressions as they were written, before any simplification.

A term is a nested tuple whose first entry names the operation, so that it is immutable, hashable and printable:

=============================  ==========================================
``("num", Fraction)``          exact number
``("sym", name)``              symbol
``("pi",)``                    the constant π
``("add", a, b, ...)``         sum; likewise ``mul``
``("neg", a)``                 −a
``("div", a, b)``              a / b
``("pow", a, b)``              a ** b
``(f, a)``                     f in exp, log, sqrt, sin, cos, tan, abs, floor, ceiling, tanh, sinh, cosh
``("min", a, b, ...)``         likewise ``max``
``("table", t, a)``            the table t (:mod:`profiles.tables`) at a
``("piecewise", (v, c), ...)`` values with conditions ``(op, a, b)``, the last condition ``("true",)``
=============================  ==========================================

SymPy simplifies ``0*(1/(w - 2))`` to 0 on sight; a term keeps it, which is what definedness has to be checked on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from profiles.errors import InvalidExpression
from profiles.numbers import exact_text
from profiles.tables import Table, spell_out_table

Term = tuple[Any, ...]

FUNCTIONS = {
    "exp": "exp", "log": "log", "sqrt": "sqrt", "sin": "sin", "cos": "cos", "tan": "tan", "Abs": "abs", "abs": "abs",
    "floor": "floor", "ceiling": "ceiling", "ceil": "ceiling", "tanh": "tanh", "sinh": "sinh", "cosh": "cosh",
}  # fmt: skip
VARIADIC = {"Min": "min", "min": "min", "Max": "max", "max": "max"}
RESERVED = frozenset({"w", "pi", "Piecewise", "True", "False", "None", *FUNCTIONS, *VARIADIC})
COMPARISONS = ("<", "<=", ">", ">=")


MAX_EXPONENT = 1_000
MAX_BITS = 20_000


def number(value: int | Fraction) -> Term:
    """Return the term of an exact number."""
    return ("num", Fraction(value))


def symbol(name: str) -> Term:
    """Return the term of w, of a statistic or of a parameter with this name."""
    return ("sym", name)


def children(term: Term) -> Iterator[Term]:
    """Yield the direct subterms of ``term``, those inside conditions included."""
    head = term[0]
    if head in ("num", "sym", "pi"):
        return
    if head == "piecewise":
        for value, condition in term[1:]:
            yield value
            yield from condition[1:]
    elif head == "table":
        yield term[2]
    else:
        yield from term[1:]


def subterms(term: Term) -> Iterator[Term]:
    """Yield the term and everything below it, inner terms first."""
    for part in children(term):
        yield from subterms(part)
    yield term


def free_symbols(term: Term) -> frozenset[str]:
    """Return the names of the symbols that occur in ``term``."""
    names: set[str] = set()
    stack = [term]
    while stack:
        current = stack.pop()
        if current[0] == "sym":
            names.add(current[1])
        else:
            stack.extend(children(current))
    return frozenset(names)


def applications(term: Term) -> Iterator[tuple[Table, Term]]:
    """Yield each table that occurs in a term, with its argument, once."""
    seen: set[Term] = set()
    stack = [term]
    while stack:
        current = stack.pop()
        if current not in seen:
            seen.add(current)
            if current[0] == "table":
                yield current[1], current[2]
            stack.extend(children(current))


def rebuild(term: Term, change: Callable[[Term], Term]) -> Term:
    """Return ``term`` with ``change`` applied to each direct subterm."""
    head = term[0]
    if head in ("num", "sym", "pi"):
        return term
    if head == "piecewise":
        branches = ((change(value), (condition[0], *map(change, condition[1:]))) for value, condition in term[1:])
        return ("piecewise", *branches)
    if head == "table":
        return (head, term[1], change(term[2]))
    return (head, *map(change, term[1:]))


def substitute(term: Term, values: Mapping[str, Term]) -> Term:
    """Return ``term`` with symbols replaced by terms, at the same time, without simplification."""
    if term[0] == "sym":
        return values.get(term[1], term)
    return rebuild(term, lambda part: substitute(part, values))


_ADD, _MUL, _POW, _ATOM = range(4)


def to_text(term: Term) -> str:
    """Return ``term`` in the profile grammar; parsing it again gives a term of the same value and definedness."""
    return _print(term)[0]


def to_short_text(term: Term) -> str:
    """Return ``term`` for people: tables as calls such as ``f(z)``, which no parser reads without the table."""
    return to_text(_with_calls(term))


def _with_calls(term: Term) -> Term:
    return symbol(f"{term[1].name}({to_short_text(term[2])})") if term[0] == "table" else rebuild(term, _with_calls)


def _print(term: Term) -> tuple[str, int]:
    head = term[0]
    if head == "num":
        return _print_number(term[1])
    if head == "sym":
        return term[1], _ATOM
    if head == "pi":
        return "pi", _ATOM
    if head == "add":
        return _print_sum(term[1:]), _ADD
    if head == "mul":
        return "*".join((_wrap(term[1], _MUL), *(_wrap(part, _POW) for part in term[2:]))), _MUL
    if head == "neg":
        return "-" + _wrap(term[1], _POW), _ADD
    if head == "div":
        return f"{_wrap(term[1], _MUL)}/{_wrap(term[2], _POW)}", _MUL
    if head == "pow":
        return f"{_wrap(term[1], _ATOM)}**{_wrap(term[2], _ATOM)}", _POW
    if head == "table":
        return _print(spell_out_table(term))
    if head == "piecewise":
        return f"Piecewise({', '.join(map(_print_branch, term[1:]))})", _ATOM
    name = {"abs": "Abs", "min": "Min", "max": "Max"}.get(head, head)
    return f"{name}({', '.join(to_text(part) for part in term[1:])})", _ATOM


def _print_sum(parts: tuple[Term, ...]) -> str:
    text = _print(parts[0])[0]
    for part in parts[1:]:
        text += f" - {_wrap(part[1], _MUL)}" if part[0] == "neg" else f" + {_wrap(part, _MUL)}"
    return text


def _print_branch(branch: tuple[Term, Term]) -> str:
    value, condition = branch
    shown = "True" if condition[0] == "true" else f"{to_text(condition[1])} {condition[0]} {to_text(condition[2])}"
    return f"({to_text(value)}, {shown})"


def _print_number(value: Fraction) -> tuple[str, int]:
    text = exact_text(value)
    if "/" in text:
        return text, _MUL if value >= 0 else _ADD
    return text, _ATOM if value >= 0 else _ADD


def _wrap(term: Term, level: int) -> str:
    text, own = _print(term)
    return text if own >= level else f"({text})"


def fresh_name(wanted: str, taken: Iterable[str]) -> str:
    """Return the wanted name, with as many underscores behind it as it takes to be none of those that are taken.

    >>> fresh_name("y", ["y", "y_", "z"])
    'y__'
    """
    known, name = frozenset(taken), wanted
    while name in known:
        name += "_"
    return name


def count_nodes(term: Term, limit: int) -> int:
    """Return the number of nodes of ``term``; raise :class:`InvalidExpression` above ``limit``."""
    total, stack = 0, [term]
    while stack:
        current = stack.pop()
        total += 1
        if total > limit:
            raise InvalidExpression(f"an expression of at most {limit} operations was expected, but a larger one was found")
        stack.extend(children(current))
    return total


def spell_out(term: Term) -> Term:
    """Return an application of tanh, sinh or cosh as the exponentials that it is; any other term as it is.

    tanh a = 2/(1 + exp(-2a)) − 1, which contains a once, sinh a = (exp(a) − exp(−a))/2, cosh a = (exp(a) + exp(−a))/2.
    """
    if term[0] == "tanh":
        return ("add", ("div", number(2), ("add", number(1), ("exp", ("mul", number(-2), term[1])))), number(-1))
    if term[0] in ("sinh", "cosh"):
        other: Term = ("exp", ("neg", term[1]))
        return ("div", ("add", ("exp", term[1]), other if term[0] == "cosh" else ("neg", other)), number(2))
    return term


def is_long_power(base: Fraction, exponent: Fraction) -> bool:
    """Tell whether ``base ** exponent`` would have more digits than anything here computes, as towers of powers soon do."""
    bits = max(base.numerator.bit_length(), base.denominator.bit_length()) if base not in (-1, 0, 1) else 0
    return abs(exponent) * bits > MAX_BITS
