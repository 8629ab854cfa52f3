"""Growth as w → ∞, for every value of the other variables separately.

Statement: let f = Σ c_i w^{p_i} with distinct rational exponents (coefficients free of w), and let c be the coefficient of the
largest exponent p > 0. Where c > 0, f eventually exceeds every multiple of a logarithm, in particular log(1 + E w).
The sign of c for all values of its variables is read off manifestly (SymPy's assumptions: sums and products of positive symbols).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import sympy

from profiles.profile import Variable
from proofs_check.prover.algebra import expand, tidy


def eventually_exceeds(expression: sympy.Expr, weight: sympy.Symbol, growth: sympy.Expr, box: Sequence[Variable]) -> bool:
    """Tell whether ``expression`` − log(1 + growth·w) is manifestly positive from some w on, for every point of ``box``.

    False says nothing. ``growth`` is E > 0; any positive power outgrows it, so it does not enter the test.
    """
    del growth
    leading = leading_coefficient(expression, weight)
    if leading is None or leading[1] <= 0:
        return False
    return _is_positive(leading[0], box)


def leading_coefficient(expression: sympy.Expr, weight: sympy.Symbol) -> tuple[sympy.Expr, Fraction] | None:
    """Return the coefficient and exponent of the leading power of a generalised polynomial in ``weight``, None for anything else."""
    collected: dict[Fraction, sympy.Expr] = {}
    for part in sympy.Add.make_args(expand(expression)):
        coefficient, power = part.as_independent(weight, as_Add=False)
        exponent = _exponent(power, weight)
        if exponent is None:
            return None
        collected[exponent] = collected.get(exponent, sympy.S.Zero) + coefficient
    nonzero = {exponent: value for exponent, value in collected.items() if value != 0}
    if not nonzero:
        return None
    top = max(nonzero)
    return tidy(nonzero[top]), top


def _exponent(power: sympy.Expr, weight: sympy.Symbol) -> Fraction | None:
    if power == 1:
        return Fraction(0)
    base, exponent = power.as_base_exp()
    if base != weight or not exponent.is_Rational:
        return None
    return Fraction(int(exponent.p), int(exponent.q))


def _is_positive(coefficient: sympy.Expr, box: Sequence[Variable]) -> bool:
    known = {variable.name for variable in box}
    if {symbol.name for symbol in coefficient.free_symbols} - known:
        return False
    return bool(coefficient.is_positive)
