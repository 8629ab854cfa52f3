"""Symbolic steps that must stay cheap on any input: factoring, expanding and rational roots, each skipped where SymPy might not end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache

import sympy

MAX_OPERATIONS = 300
MAX_DEGREE = 24


def tidy(expression: sympy.Expr) -> sympy.Expr:
    """Return a factored form of a small rational function, if that is not longer (a sum of squares would be lost); else as it is."""
    if not _is_small(expression) or expression.has(sympy.Function) or not expression.is_rational_function(*expression.free_symbols):
        return expression
    product = sympy.factor(expression)
    return product if product.count_ops() <= expression.count_ops() else expression


def expand(expression: sympy.Expr) -> sympy.Expr:
    """Return the expression multiplied out, or as it is where that might explode."""
    return sympy.expand(expression) if _is_small(expression) else expression


@lru_cache(maxsize=4096)
def factored(expression: sympy.Expr) -> sympy.Expr | None:
    """Return a small rational function of symbols and atoms as a product of several factors or of powers, None where it is not one."""
    if not is_modest(expression):
        return None
    back, rational = {}, sympy.expand_power_exp(sympy.powsimp(expression))
    for atom in transcendental_atoms(rational):
        fresh = sympy.Dummy(positive=True)
        rational, back[fresh] = with_atom_replaced(rational, atom, fresh), atom
    if not _is_small(rational) or rational.has(sympy.Function) or not rational.is_rational_function(*rational.free_symbols):
        return None
    product = sympy.factor(rational).xreplace(back)
    return product if product.is_Mul or product.is_Pow else None


def transcendental_atoms(expression: sympy.Expr) -> list[sympy.Expr]:
    """Return powers, roots, exponentials and logarithms, with primitive exponents: x**p for x**(3*p), exp(m) for exp(2*m)."""
    found: dict[sympy.Expr, None] = {}
    for node in sorted(expression.atoms(sympy.Pow, sympy.exp, sympy.log), key=sympy.default_sort_key):
        if isinstance(node, sympy.log):
            found[node] = None
        elif not node.free_symbols:
            continue
        elif isinstance(node, sympy.exp):
            found[sympy.exp(_primitive(node.args[0]))] = None
        elif node.exp.free_symbols:
            found[node.base ** _primitive(node.exp)] = None
        elif node.exp.is_Rational and node.exp.q > 1 and node.free_symbols:
            found[node.base ** sympy.Rational(1, node.exp.q)] = None
    return list(found)


def _primitive(exponent: sympy.Expr) -> sympy.Expr:
    return exponent.as_coeff_Mul()[1]


def with_atom_replaced(expression: sympy.Expr, atom: sympy.Expr, fresh: sympy.Symbol) -> sympy.Expr:
    """Return the expression with whole powers of an atom replaced by powers of a symbol."""

    def power_of(node: sympy.Expr) -> sympy.Expr | None:
        if isinstance(node, sympy.log) or isinstance(atom, sympy.log):
            return sympy.S.One if node == atom else None
        if isinstance(node, sympy.exp) and isinstance(atom, sympy.exp):
            ratio = node.args[0] / atom.args[0]
        elif node.is_Pow and not isinstance(atom, sympy.exp) and node.base == atom.base:
            ratio = node.exp / atom.exp
        else:
            return None
        return ratio if ratio.is_Integer else None

    mapping = {}
    for node in expression.atoms(sympy.Pow, sympy.exp, sympy.log):
        power = power_of(node)
        if power is not None:
            mapping[node] = fresh**power
    return expression.xreplace(mapping)


def quadratics(expression: sympy.Expr) -> Iterator[tuple[sympy.Expr, tuple[sympy.Expr, sympy.Expr, sympy.Expr]]]:
    """Yield (y, (a, b, c)) with the small expression = a y² + b y + c, y a variable or an atom that occurs to the powers 1 and 2 only."""
    if not _is_small(expression):
        return
    summands = sympy.Add.make_args(expand(expression))
    for atom in sorted({base for summand in summands for base, _ in _factors(summand)}, key=sympy.default_sort_key):
        parts: dict[int, sympy.Expr] = {0: sympy.S.Zero, 1: sympy.S.Zero, 2: sympy.S.Zero}
        for summand in summands:
            power = sum((exponent for base, exponent in _factors(summand) if base == atom), sympy.S.Zero)
            rest = summand / atom**power
            if power not in parts or any(symbol in rest.free_symbols for symbol in atom.free_symbols & atom.atoms(sympy.Symbol)):
                break
            parts[int(power)] += rest
        else:
            if parts[2] != 0 and parts[1] != 0:
                yield atom, (parts[2], parts[1], parts[0])


def _factors(summand: sympy.Expr) -> Iterator[tuple[sympy.Expr, sympy.Expr]]:
    return (part.as_base_exp() for part in sympy.Mul.make_args(summand) if part.free_symbols)


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
    """Tell whether functions of constants, waves of functions, or large numbers occur: SymPy may evaluate sin(exp(10**9)) at any cost."""
    nested = [node for node in expression.atoms(sympy.Function) if node.args[0].has(sympy.Function)]
    risky = any(not inner.free_symbols for node in nested for inner in node.args[0].atoms(sympy.Function))
    waves = any(node.has(sympy.sin, sympy.cos, sympy.tan) for node in nested)
    return risky or waves or any(number.is_Rational and abs(number) > 10**7 for number in expression.atoms(sympy.Number))


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


def is_algebraic(expression: sympy.Expr, symbol: sympy.Symbol) -> bool:
    """Tell whether a small expression is built from the symbol by arithmetic and rational powers only."""
    if not _is_small(expression):
        return False
    for node in sympy.preorder_traversal(expression):
        if symbol not in node.free_symbols:
            continue
        if not (node.is_Add or node.is_Mul or node == symbol or (node.is_Pow and node.exp.is_Rational)):
            return False
    return True


def is_modest(expression: sympy.Expr) -> bool:
    """Tell whether an expression is small enough for symbolic steps, and free of towers of functions."""
    return _is_small(expression) and not _towers(expression)
