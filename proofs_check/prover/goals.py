"""Goals of the prover: *for all points of a box, t ≥ 0* (or t > 0), the one shape that every condition is reduced to."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import sympy

from profiles.symbolic import from_sympy
from profiles.terms import Term
from profiles.variables import Variable
from proofs_check.prover.algebra import derivative, put_in


@dataclass(frozen=True, slots=True)
class Goal:
    """For all points of ``box``: ``expression`` ≥ 0, or > 0 if ``strict``. ``symbols`` maps names to the SymPy symbols used."""

    expression: sympy.Expr
    box: tuple[Variable, ...]
    strict: bool = False

    @property
    def term(self) -> Term:
        """The expression as a term. Raises :class:`profiles.InvalidExpression` outside the grammar."""
        return from_sympy(self.expression)

    def at(self, name: str, value: Fraction) -> Goal:
        """Return the goal with one variable fixed at a number."""
        rational = sympy.Rational(value.numerator, value.denominator)
        fixed = put_in(self.expression, {self.symbol(name): rational})
        return Goal(fixed, tuple(variable for variable in self.box if variable.name != name), self.strict)

    def symbol(self, name: str) -> sympy.Symbol:
        """Return the SymPy symbol of a variable of this expression (a fresh one if it does not occur)."""
        named = [symbol for symbol in self.expression.free_symbols if symbol.name == name]
        return min(named, key=sympy.default_sort_key, default=sympy.Symbol(name))

    def slope(self, name: str, *, increasing: bool) -> Goal:
        """Return the goal that the expression is non-decreasing (non-increasing) in a variable."""
        rate = derivative(self.expression, self.symbol(name))
        return Goal(rate if increasing else -rate, self.box)
