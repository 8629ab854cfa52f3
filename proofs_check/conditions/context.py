"""The profile under examination, with everything the conditions derive from it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import sympy

from profiles.errors import InvalidTarget
from profiles.numbers import exact_text, to_exact
from profiles.profile import WEIGHT, Profile, Variable
from profiles.symbolic import to_rational
from proofs_check.prover.goals import Goal
from proofs_check.prover.heuristics import until_failure
from proofs_check.prover.least import exact_points
from proofs_check.prover.smooth import resolve

MAX_TARGET = Fraction(10**6)
MIN_TARGET = Fraction(1, 10**300)


def to_target(value: object) -> Fraction:
    """Return a target ε* > 0 as an exact number. Raises :class:`InvalidTarget` outside [1e-300, 1e6]."""
    target = to_exact(value, "the target epsilon")
    if target <= 0:
        raise InvalidTarget(f"the target epsilon must be positive, but {exact_text(target)} was found; give a number above 0 (in nats)")
    if not MIN_TARGET <= target <= MAX_TARGET:
        raise InvalidTarget("the target epsilon must lie between 1e-300 and 1e6 nats; no mechanism is usefully described outside")
    return target


@dataclass(frozen=True)
class Context:
    """A profile with its target ε* (None where no condition needs one) and its derivatives in w as SymPy expressions.

    ``epsilon`` has numbers in place of numeric parameters, and Abs, Min, Max, Piecewise of w replaced where one branch is proved to be
    taken on the whole domain; ``smooth`` is False where that was not possible, and then no derivative exists for us.
    """

    profile: Profile
    target: Fraction | None = None

    @cached_property
    def weight(self) -> sympy.Symbol:
        """The symbol of w."""
        return self.profile.symbols()[WEIGHT]

    @cached_property
    def records(self) -> tuple[Variable, ...]:
        """The box of statistics and of parameters without a number."""
        return self.profile.record_variables()

    @cached_property
    def domain(self) -> tuple[Variable, ...]:
        """The box of records and weights."""
        return self.profile.variables()

    @cached_property
    def least_records(self) -> tuple[dict[str, sympy.Expr], ...]:
        """Exact records near the place where ε(1, x) is least, by a local search; none without variables."""
        if not self.records:
            return ()
        return tuple(until_failure(exact_points(self.at_one(self.profile.expression()), self.records)))

    @cached_property
    def _resolved(self) -> tuple[sympy.Expr, bool]:
        return resolve(self.profile.expression(), self.domain, self.weight)

    @cached_property
    def near_one(self) -> tuple[sympy.Expr, bool]:
        """ε with branches decided for w in [1, 1 + 2^-10], and whether none is left: what the derivative at w = 1 is taken of."""
        nearby = (*self.records, Variable(WEIGHT, Fraction(1), Fraction(1025, 1024)))
        return resolve(self.profile.expression(), nearby, self.weight)

    @property
    def epsilon(self) -> sympy.Expr:
        """ε(w, x)."""
        return self._resolved[0]

    @property
    def smooth(self) -> bool:
        """Whether ε is built from operations that are differentiable in w."""
        return self._resolved[1]

    @cached_property
    def first(self) -> sympy.Expr:
        """ε′(w, x) = ∂ε/∂w."""
        return sympy.diff(self.epsilon, self.weight)

    @cached_property
    def second(self) -> sympy.Expr:
        """ε″(w, x)."""
        return sympy.diff(self.first, self.weight)

    @cached_property
    def curvature(self) -> sympy.Expr:
        """K = ε″ + ε′², so that the second derivative of exp∘ε is K·exp(ε)."""
        return self.curvature_of(self.epsilon)

    def curvature_of(self, epsilon: sympy.Expr) -> sympy.Expr:
        """K of another expression for ε, such as one branch of it."""
        first = sympy.diff(epsilon, self.weight)
        return sympy.diff(first, self.weight) + first**2

    def at_one(self, expression: sympy.Expr) -> sympy.Expr:
        """Return an expression at w = 1."""
        return expression.subs(self.weight, 1)

    @property
    def target_rational(self) -> sympy.Rational:
        """ε* as a SymPy rational. Raises :class:`InvalidTarget` if none was given."""
        if self.target is None:
            raise InvalidTarget("this condition needs a target epsilon, but none was given; pass one")
        return to_rational(self.target)

    @property
    def growth(self) -> sympy.Expr:
        """E = exp(ε*) − 1."""
        return sympy.exp(self.target_rational) - 1

    def for_records(self, expression: sympy.Expr, *, strict: bool = False) -> Goal:
        """The goal that an expression without w is ≥ 0 (> 0) for all records."""
        return Goal(expression, self.records, strict)

    def for_all(self, expression: sympy.Expr, *, strict: bool = False) -> Goal:
        """The goal that an expression is ≥ 0 (> 0) for all records and all w ≥ 1."""
        return Goal(expression, self.domain, strict)
