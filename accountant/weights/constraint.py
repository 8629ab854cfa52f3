"""The constraint of one record as an equation in the weight: F(w) = ε(w) − log(1 + E w) ≤ 0 ⟺ ψ ≤ ε*, with E = e^ε* − 1.

Proof of the equivalence: ψ = log(1 + (e^ε − 1)/w) ≤ ε* ⟺ e^ε − 1 ≤ E w ⟺ ε ≤ log(1 + E w), for w > 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import mpmath
import sympy
from flint import arb

from profiles.balls import ball, interval, working_precision
from profiles.structure import may_jump
from profiles.symbolic import from_sympy
from profiles.terms import Term
from proofs_check.conditions.context import Context
from proofs_check.enclosures import Enclosure
from proofs_check.prover.algebra import put_in, vanishes
from proofs_check.prover.pointwise import as_ball, value_at

MAX_BITS = 200_000


@dataclass(frozen=True)
class Constraint:
    """F and F′ of one record (all parameters and statistics are numbers)."""

    context: Context

    @cached_property
    def expression(self) -> sympy.Expr:
        return self.context.epsilon - sympy.log(1 + self.context.growth * self.context.weight)

    @cached_property
    def may_jump(self) -> bool:
        """Whether F has operations that are not continuous."""
        return may_jump(self._term)

    @cached_property
    def _term(self) -> Term:
        return from_sympy(self.expression)

    @cached_property
    def _value(self) -> Enclosure:
        return Enclosure(self._term)

    def enclose(self, lo: Fraction, hi: Fraction) -> arb:
        """Return a ball around F over [lo, hi], at the working precision."""
        return self._value.evaluate({"w": interval(lo, hi)})

    def enclose_slope(self, lo: Fraction, hi: Fraction) -> arb:
        """Return a ball around F′ (all difference quotients of F, where it has kinks) over [lo, hi], at the working precision."""
        return self._value.evaluate_with_slope({"w": interval(lo, hi)}, "w")[1]

    def sign(self, weight: Fraction, bits: int = 128) -> int | None:
        """Return the certain sign of F at a weight: −1, 0 (exactly), 1; None if it is not decided at any reasonable precision."""
        limit = max(bits * 16, 4096)
        while bits <= min(limit, MAX_BITS):
            with working_precision(bits):
                value = self._value.evaluate({"w": ball(weight)})
            if value > 0:
                return 1
            if value < 0:
                return -1
            bits *= 2
        if self.may_jump:  # exact numbers meet no jump by rounding
            exact = as_ball(value_at(self._term, {"w": weight}, limit))
            if exact > 0 or exact < 0:
                return 1 if exact > 0 else -1
        return 0 if self._vanishes(weight) else None

    def _vanishes(self, weight: Fraction) -> bool:
        """Tell whether F is exactly zero at a weight: ε(w) and log(1 + E w) are the same number symbolically."""
        rational = sympy.Rational(weight.numerator, weight.denominator)
        epsilon = put_in(self.context.epsilon, {self.context.weight: rational})
        if rational == 1:
            return vanishes(epsilon - self.context.target_rational)
        return vanishes(sympy.exp(epsilon) - 1 - self.context.growth * rational)

    def in_mpmath(self) -> Callable[[Any], Any]:
        """Return F as a function of an mpmath number, evaluated at mpmath's working precision."""
        function: Callable[[Any], Any] = sympy.lambdify(self.context.weight, self.expression, modules=["mpmath"])
        return function


def to_mpf(value: Fraction) -> Any:
    """Return a fraction as an mpmath number at the working precision."""
    return mpmath.mpf(value.numerator) / value.denominator
