"""Values and first two derivatives in w of profile texts, by mpmath: written without the kernel, to judge it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from typing import Any

from mpmath import mp, mpf

Number = Any  # mpf
Jet = tuple[Number, Number, Number]
HUGE = mpf(10) ** 7


class Undefined(Exception):
    """The expression is undefined at this point."""


class Undecided(Exception):
    """The point is a tie of two branches, or too far out, or the text is not an expression: no judgement."""


def constant(q: Fraction | str) -> Jet:
    """Return the jet of a number."""
    q = Fraction(q)
    return mpf(q.numerator) / q.denominator, mpf(0), mpf(0)


def add(a: Jet, b: Jet) -> Jet:
    """Return a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def mul(a: Jet, b: Jet) -> Jet:
    """Return a b."""
    return a[0] * b[0], a[1] * b[0] + a[0] * b[1], a[2] * b[0] + 2 * a[1] * b[1] + a[0] * b[2]


def _chain(a: Jet, f: Number, df: Number, ddf: Number) -> Jet:
    return f, df * a[1], ddf * a[1] ** 2 + df * a[2]


def exp(a: Jet) -> Jet:
    """Return exp(a)."""
    if a[0] > HUGE:
        raise Undecided
    f = mp.exp(max(a[0], -HUGE))
    return _chain(a, f, f, f)


def _is_rounding(x: Number) -> bool:
    # it may be zero or positive but for rounding
    return bool(-(mpf(10) ** (-mp.dps // 3)) < x < 0)


def log(a: Jet) -> Jet:
    """Return log(a)."""
    if a[0] <= 0:
        raise Undecided if _is_rounding(a[0]) else Undefined
    return _chain(a, mp.log(a[0]), 1 / a[0], -1 / a[0] ** 2)


def power(a: Jet, b: Jet) -> Jet:
    """Return a**b."""
    if b[1] or b[2]:
        return exp(mul(b, log(a)))
    c = b[0]
    whole = c == mp.floor(c)
    if (a[0] == 0 and c < 0) or (a[0] < 0 and not whole):
        raise Undecided if _is_rounding(a[0]) else Undefined
    if a[0] == 0:
        if not whole and (a[1] or a[2]):
            raise Undecided
        f, df, ddf = (mpf(1) if c == k else mpf(0) for k in (0, 1, 2))
        return _chain(a, f, df, 2 * ddf)
    if abs(c) * (abs(mp.log(abs(a[0]))) + 1) > HUGE:
        raise Undecided
    return _chain(a, a[0] ** c, c * a[0] ** (c - 1), c * (c - 1) * a[0] ** (c - 2))


def sin(a: Jet) -> Jet:
    """Return sin(a)."""
    s, c = mp.sin(a[0]), mp.cos(a[0])
    return _chain(a, s, c, -s)


def cos(a: Jet) -> Jet:
    """Return cos(a)."""
    s, c = mp.sin(a[0]), mp.cos(a[0])
    return _chain(a, c, -s, -c)


def _is_below(a: Jet, b: Jet) -> bool:
    if abs(a[0] - b[0]) <= mpf(10) ** (10 - mp.dps) * (abs(a[0]) + abs(b[0])):
        raise Undecided
    return bool(a[0] < b[0])


def maximum(a: Jet, b: Jet) -> Jet:
    """Return max(a, b)."""
    if a == b:
        return a
    return b if _is_below(a, b) else a


def _negate(a: Jet) -> Jet:
    return mul(constant("-1"), a)


_FUNCTIONS: dict[str, Callable[[Jet], Jet]] = {
    "exp": exp, "log": log, "sin": sin, "cos": cos, "sqrt": lambda a: power(a, constant("1/2")),
    "tan": lambda a: mul(sin(a), power(cos(a), constant("-1"))), "Abs": lambda a: maximum(a, _negate(a)),
}  # fmt: skip
_OPERATORS: dict[type, Callable[[Jet, Jet], Jet]] = {
    ast.Add: add,
    ast.Sub: lambda a, b: add(a, _negate(b)),
    ast.Mult: mul,
    ast.Div: lambda a, b: mul(a, power(b, constant("-1"))),
    ast.Pow: power,
}


@cache
def _parsed(source: str) -> ast.expr:
    try:
        return ast.parse(source.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as problem:
        raise Undecided from problem


def evaluate(source: str, values: Mapping[str, Jet]) -> Jet:
    """Return the jet of an expression at a point."""
    return _walk(_parsed(source), source.strip(), {**values, "pi": (+mp.pi, mpf(0), mpf(0))})


def _walk(node: ast.expr, source: str, values: Mapping[str, Jet]) -> Jet:
    match node:
        case ast.Constant(value=int() | float()):
            return constant(source[node.col_offset : node.end_col_offset])
        case ast.Name(id=name) if name in values:
            return values[name]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_walk(left, source, values), _walk(right, source, values))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _negate(_walk(operand, source, values))
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _walk(operand, source, values)
        case ast.Call(func=ast.Name(id="Piecewise"), args=pairs):
            return _piecewise(pairs, source, values)
        case ast.Call(func=ast.Name(id="Max" | "Min" as name), args=[*args]):
            sign = constant("1" if name == "Max" else "-1")
            result, *others = (mul(sign, _walk(a, source, values)) for a in args)
            for other in others:
                result = maximum(result, other)
            return mul(sign, result)
        case ast.Call(func=ast.Name(id=name), args=[argument]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](_walk(argument, source, values))
    raise Undecided


def _piecewise(pairs: list[ast.expr], source: str, values: Mapping[str, Jet]) -> Jet:
    found: Jet | None = None
    for pair in pairs:
        value, condition = pair.elts if isinstance(pair, ast.Tuple) else (pair, pair)
        jet, holds = _walk(value, source, values), True  # every value must be defined, selected or not
        if isinstance(condition, ast.Compare):
            left, right = _walk(condition.left, source, values), _walk(condition.comparators[0], source, values)
            holds = _is_below(left, right) == isinstance(condition.ops[0], ast.Lt | ast.LtE)
        found = jet if holds and found is None else found
    if found is None:
        raise Undecided
    return found
