"""Terms to SymPy expressions and back.

SymPy is where users declare profiles and where formulas are simplified and printed; definedness is never decided on a SymPy
expression, because SymPy simplifies on construction.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import reduce
from typing import Any

import sympy
from sympy.core.relational import Relational

from profiles.errors import InvalidExpression
from profiles.terms import Term, number, symbol

_TO_SYMPY: dict[str, Any] = {
    "exp": sympy.exp, "log": sympy.log, "sqrt": sympy.sqrt, "sin": sympy.sin, "cos": sympy.cos, "tan": sympy.tan,
    "abs": sympy.Abs, "min": sympy.Min, "max": sympy.Max,
}  # fmt: skip
_FROM_SYMPY: dict[Any, str] = {
    sympy.exp: "exp", sympy.log: "log", sympy.sin: "sin", sympy.cos: "cos", sympy.tan: "tan",
    sympy.Abs: "abs", sympy.Min: "min", sympy.Max: "max",
}  # fmt: skip
_RELATIONS: dict[str, Any] = {"<": sympy.Lt, "<=": sympy.Le, ">": sympy.Gt, ">=": sympy.Ge}


def to_rational(value: Fraction) -> sympy.Rational:
    """Return an exact fraction as a SymPy rational."""
    return sympy.Rational(value.numerator, value.denominator)


def to_sympy(term: Term, symbols: Mapping[str, sympy.Expr]) -> sympy.Expr:
    """Return ``term`` as a SymPy expression over ``symbols`` (name → symbol or value), simplified as SymPy does on construction.

    Raises :class:`InvalidExpression` where SymPy meets an undefined constant (such as ``1/0`` or ``log(0)``).
    """
    result = _convert(term, symbols)
    if result.has(sympy.zoo, sympy.nan, sympy.oo, -sympy.oo, sympy.I):
        raise InvalidExpression("the expression is undefined or not real where its constants are put together; check it")
    return result


def _convert(term: Term, symbols: Mapping[str, sympy.Expr]) -> sympy.Expr:
    head = term[0]
    if head == "num":
        return to_rational(term[1])
    if head == "sym":
        return symbols[term[1]]
    if head == "pi":
        return sympy.pi
    if head == "piecewise":
        return sympy.Piecewise(*((_convert(value, symbols), _condition(condition, symbols)) for value, condition in term[1:]))
    arguments = [_convert(part, symbols) for part in term[1:]]
    if head == "add":
        return sympy.Add(*arguments)
    if head == "mul":
        return sympy.Mul(*arguments)
    if head == "neg":
        return -arguments[0]
    if head == "div":
        return arguments[0] / arguments[1]
    if head == "pow":
        return arguments[0] ** arguments[1]
    return _TO_SYMPY[head](*arguments)


def _condition(condition: Term, symbols: Mapping[str, sympy.Expr]) -> Any:
    if condition[0] == "true":
        return sympy.true
    return _RELATIONS[condition[0]](_convert(condition[1], symbols), _convert(condition[2], symbols))


def from_sympy(expression: object) -> Term:
    """Return a SymPy expression (or a number) as a term; SymPy floats stand for their exact binary value.

    Raises :class:`InvalidExpression` for functions outside the grammar.
    """
    try:
        return _term(sympy.sympify(expression, strict=True))
    except (sympy.SympifyError, TypeError, AttributeError):
        raise InvalidExpression(
            f"a SymPy expression was expected, but an object of type {type(expression).__name__} was found; declare ε with sympy symbols"
        ) from None


def _term(node: Any) -> Term:
    if node.is_Rational:
        return number(Fraction(int(node.p), int(node.q)))
    if node.is_Float:
        exact = sympy.Rational(node)
        return number(Fraction(int(exact.p), int(exact.q)))
    if node is sympy.pi:
        return ("pi",)
    if node is sympy.E:
        return ("exp", number(1))
    if node.is_Symbol:
        return symbol(node.name)
    if node.is_Add or node.is_Mul:
        return _fold("add" if node.is_Add else "mul", [_term(part) for part in node.as_ordered_terms()] if node.is_Add else _factors(node))
    if node.is_Pow:
        return _power(node)
    if isinstance(node, sympy.Piecewise):
        return _piecewise(node)
    head = _FROM_SYMPY.get(node.func)
    if head is None:
        raise InvalidExpression(
            f"the expression contains {str(node)[:60]!r}, which is outside the profile grammar; use + - * / **, exp, log, sqrt, "
            "Abs, Min, Max, Piecewise and trigonometric functions"
        )
    return (head, *(_term(part) for part in node.args))


def _factors(node: Any) -> list[Term]:
    return [_term(part) for part in node.as_ordered_factors()]


def _fold(head: str, parts: list[Term]) -> Term:
    if head == "mul" and parts[0] == number(-1) and len(parts) > 1:
        return ("neg", _fold("mul", parts[1:]))
    return reduce(lambda left, right: (head, left, right), parts)


def _power(node: Any) -> Term:
    base, exponent = node.base, node.exp
    if base is sympy.E:
        return ("exp", _term(exponent))
    if exponent == sympy.Rational(1, 2):
        return ("sqrt", _term(base))
    if exponent.is_Rational and exponent < 0:
        return ("div", number(1), _term(base) if exponent == -1 else _power_of(base, -exponent))
    return _power_of(base, exponent)


def _power_of(base: Any, exponent: Any) -> Term:
    if exponent == sympy.Rational(1, 2):
        return ("sqrt", _term(base))
    return ("pow", _term(base), _term(exponent))


def _piecewise(node: Any) -> Term:
    branches: list[tuple[Term, Term]] = []
    for value, condition in node.args:
        if condition == sympy.true:
            branches.append((_term(value), ("true",)))
        elif isinstance(condition, Relational) and condition.rel_op in _RELATIONS:
            branches.append((_term(value), (condition.rel_op, _term(condition.lhs), _term(condition.rhs))))
        else:
            raise InvalidExpression(
                f"a Piecewise condition {str(condition)[:60]!r} was found; use single comparisons < <= > >= and a last True"
            )
    if branches[-1][1] != ("true",):
        raise InvalidExpression("a Piecewise without a last condition True was found; add (value, True) so that ε is defined everywhere")
    return ("piecewise", *branches)
