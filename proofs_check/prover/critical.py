"""Where to look for narrow violations: around the zeros and extrema of the polynomials inside an expression."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import sympy

from profiles.profile import Variable
from proofs_check.prover.algebra import critical_centres, is_modest

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
    for inner in _inner_expressions(expression, symbol):
        for root in critical_centres(inner, symbol, MAX_DEGREE):
            if variable.contains(root) and root != variable.lo:
                centres[root] = None
    values: dict[Fraction, None] = {}
    for offset in (Fraction(0), *(scale * share for scale in SCALES for share in SHARES)):
        for centre in list(centres)[:MOST_CENTRES]:
            for value in (centre + offset, centre - offset):
                if variable.contains(value):
                    values[value] = None
    return list(values)


def _inner_expressions(expression: sympy.Expr, symbol: sympy.Symbol) -> Iterator[sympy.Expr]:
    seen: set[sympy.Expr] = set()
    for node in (None, *sympy.preorder_traversal(expression)):
        inner = expression if node is None else node.args[0] if isinstance(node, (sympy.Pow, sympy.Function)) and node.args else None
        if isinstance(inner, sympy.Expr) and inner not in seen and inner.free_symbols == {symbol}:
            seen.add(inner)
            yield inner
