"""Symbolic steps that must stay cheap on any input: factoring, expanding and rational roots, each skipped where SymPy might not end."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import sympy

MAX_OPERATIONS = 300
MAX_DEGREE = 24


def tidy(expression: sympy.Expr) -> sympy.Expr:
    """Return a factored form of a small rational function; anything else as it is."""
    if not _is_small(expression) or expression.has(sympy.Function) or not expression.is_rational_function(*expression.free_symbols):
        return expression
    return sympy.factor(expression)


def expand(expression: sympy.Expr) -> sympy.Expr:
    """Return the expression multiplied out, or as it is where that might explode."""
    return sympy.expand(expression) if _is_small(expression) else expression


def rational_roots(expression: sympy.Expr, symbol: sympy.Symbol) -> list[Fraction]:
    """Return the rational zeros of the numerator of a small rational function of one symbol; nothing for other expressions."""
    if expression.free_symbols != {symbol} or not _is_small(expression) or expression.has(sympy.Function):
        return []
    if not expression.is_rational_function(symbol):
        return []
    numerator = sympy.Poly(sympy.fraction(sympy.together(expression))[0], symbol)
    if numerator.is_zero or not all(coefficient.is_Rational for coefficient in numerator.all_coeffs()):
        return []
    return [Fraction(int(root.p), int(root.q)) for root in numerator.ground_roots()]


def clearing_factor(expression: sympy.Expr, positive: Sequence[sympy.Symbol]) -> sympy.Expr | None:
    """Return exp(−g)·Π x^k ≠ 1 with g the exponent of the first exponential of a small expression, −k the least power of x; else None."""
    if not _is_small(expression) or not expression.free_symbols or _towers(expression):
        return None
    exponentials = sorted((node for node in expression.atoms(sympy.exp) if node.free_symbols), key=sympy.default_sort_key)
    factor = sympy.exp(-exponentials[0].args[0]) if exponentials else sympy.S.One
    cleared = sympy.powsimp(expand(expression * factor))
    for symbol in positive:
        least = min((_power_of(symbol, summand) for summand in sympy.Add.make_args(cleared)), default=sympy.S.Zero)
        if least < 0:
            factor *= symbol**-least
    return None if factor == 1 else factor


def _towers(expression: sympy.Expr) -> bool:
    """Tell whether functions are nested, or numbers large: then SymPy may evaluate constants such as sin(exp(10**9)) at any cost."""
    nested = any(node.args[0].has(sympy.Function) for node in expression.atoms(sympy.Function))
    return nested or any(number.is_Rational and abs(number) > 10**7 for number in expression.atoms(sympy.Number))


def _power_of(symbol: sympy.Symbol, summand: sympy.Expr) -> sympy.Rational:
    powers = (part.as_base_exp() for part in sympy.Mul.make_args(summand))
    return sum((exponent for base, exponent in powers if base == symbol and exponent.is_Rational), sympy.S.Zero)


def _is_small(expression: sympy.Expr) -> bool:
    if expression.count_ops() > MAX_OPERATIONS or any(
        number.is_Rational and abs(number) > 10**30 for number in expression.atoms(sympy.Number)
    ):
        return False
    powers = (abs(power.exp) for power in expression.atoms(sympy.Pow) if power.exp.is_Rational)
    return all(exponent <= MAX_DEGREE for exponent in powers)
