"""Where to look for narrow violations: around the zeros and extrema of the polynomials inside an expression."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import mpmath
import sympy

from profiles.profile import Variable
from proofs_check.prover.algebra import is_modest

MAX_DEGREE = 6
MOST_CENTRES = 8
SCALES = tuple(Fraction(1, 10**power) for power in range(8))
SHARES = (Fraction(1), Fraction(1, 2), Fraction(1, 5))


def critical_values(expression: sympy.Expr, variable: Variable) -> list[Fraction]:
    """Return short numbers in the range of a variable at and around which a narrow bump or dip of an expression may lie.

    Centres are zeros and extrema of polynomials in that variable alone that are arguments of functions, bases of powers, denominators, or
    the whole. First come the centres, then points around each at all scales down to 1e-7.
    """
    symbol = next((symbol for symbol in expression.free_symbols if symbol.name == variable.name), None)
    if symbol is None or not is_modest(expression):
        return []
    centres: dict[Fraction, None] = {}
    for inner in _inner_polynomials(expression, symbol):
        for polynomial in (inner, inner.diff()):
            for root in _real_roots(polynomial):
                if variable.contains(root) and root != variable.lo:
                    centres[root] = None
    values: dict[Fraction, None] = {}
    for offset in (Fraction(0), *(scale * share for scale in SCALES for share in SHARES)):
        for centre in list(centres)[:MOST_CENTRES]:
            for value in (centre + offset, centre - offset):
                if variable.contains(value):
                    values[value] = None
    return list(values)


def _inner_polynomials(expression: sympy.Expr, symbol: sympy.Symbol) -> Iterator[sympy.Poly]:
    seen: set[sympy.Expr] = set()
    for node in (None, *sympy.preorder_traversal(expression)):
        inner = expression if node is None else node.args[0] if isinstance(node, (sympy.Pow, sympy.Function)) and node.args else None
        if not isinstance(inner, sympy.Expr) or inner in seen or inner.free_symbols != {symbol} or not inner.is_polynomial(symbol):
            continue
        seen.add(inner)
        polynomial = sympy.Poly(inner, symbol)
        if 1 <= polynomial.degree() <= MAX_DEGREE and all(coefficient.is_Rational for coefficient in polynomial.all_coeffs()):
            yield polynomial


def _real_roots(polynomial: sympy.Poly) -> list[Fraction]:
    if polynomial.degree() < 1:
        return []
    exact = [Fraction(int(root.p), int(root.q)) for root in polynomial.ground_roots()]
    if exact:
        return exact
    try:
        roots = polynomial.nroots(n=15, maxsteps=30)
    except (sympy.polys.polyerrors.PolynomialError, mpmath.libmp.NoConvergence):
        return []
    return [Fraction(f"{float(root):.12g}") for root in roots if root.is_real]
