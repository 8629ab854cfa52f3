"""Does a point violate the statement? Every proposed counterexample that an exact model does not vouch for is put to 50 digits."""

from __future__ import annotations

from collections.abc import Mapping

import sympy

from benchmarks.deciders.statements import Question

MARGIN = sympy.Float("1e-30", 40)


def violates(question: Question, point: Mapping[sympy.Symbol, sympy.Expr]) -> bool:
    """Tell whether some conjunction of the question certainly holds at a rational point."""
    for symbol, (lo, hi, excluded) in question.box.items():
        value = point[symbol]
        if value < lo or (excluded and value == lo) or (hi is not None and value > hi):
            return False
    return any(all(holds(op, expression.subs(point)) for op, expression in clause) for clause in question.broken)


def holds(comparison: str, value: sympy.Expr) -> bool:
    """Tell whether a comparison of a number with 0 certainly holds."""
    if value == 0:
        return comparison in ("<=", ">=", "=")
    digits = value.evalf(50)
    if not digits.is_real or abs(digits) < MARGIN:
        return False
    return comparison == "!=" or (comparison in ("<", "<=") and digits < 0) or (comparison in (">", ">=") and digits > 0)
