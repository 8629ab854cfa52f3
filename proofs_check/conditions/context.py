"""The profile under examination, with everything the conditions derive from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import sympy

from profiles.errors import InvalidTarget
from profiles.profile import Profile
from profiles.symbolic import to_rational
from profiles.terms import Term
from profiles.variables import WEIGHT, Variable
from proofs_check.admission import ProfileForms
from proofs_check.conditions.restating import Restatement, restate
from proofs_check.prover.algebra import derivative, expand, put_in
from proofs_check.prover.effort import apart, until_failure
from proofs_check.prover.goals import Goal
from proofs_check.prover.minimize import exact_points
from proofs_check.prover.search import prove
from proofs_check.prover.smooth import resolve, resolve_at
from proofs_check.results import Tree

#: Work for deciding branches, in nominal seconds.
SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Place:
    """Where a proof about some of the records stands in the proof of ``condition`` about all records of the profile ``whole``.

    ``step`` is what the kernel calls the place, such as ``.sides.above``; ``put`` makes the proof about all records from the one there.
    """

    whole: ProfileForms
    condition: str
    step: str
    put: Callable[[Tree], Tree]


@dataclass(frozen=True)
class Context:
    """A profile in all ``forms`` with its target ε* (None where no condition needs one) and its derivatives in w as SymPy expressions.

    ``epsilon`` has numbers in place of numeric parameters, and Abs, Min, Max, Piecewise of w replaced where one branch is proved to be
    taken on the whole domain; ``smooth`` is False where that was not possible, and then no derivative exists for us.

    ``box``: the records, where they are not all that the profile declares; ``place``: where what is proved about them belongs.
    """

    forms: ProfileForms
    target: Fraction | None = None
    box: tuple[Variable, ...] | None = None
    place: Place | None = None

    def about(self, profile: Profile, **changes: Any) -> Context:
        """Return the context of another profile for the same target: of some of the records, say."""
        return replace(self, forms=ProfileForms(profile), **changes)

    @property
    def profile(self) -> Profile:
        return self.forms.profile

    @property
    def term(self) -> Term:
        """ε as it was written, with numbers in place of numeric parameters."""
        return self.forms.term

    @property
    def declared(self) -> sympy.Expr:
        """ε as it was written, for SymPy, with numbers in place of numeric parameters."""
        return self.forms.expression

    @cached_property
    def weight(self) -> sympy.Symbol:
        return self.profile.symbols()[WEIGHT]

    @cached_property
    def records(self) -> tuple[Variable, ...]:
        """The box of statistics and of parameters without a number."""
        return self.profile.record_variables() if self.box is None else self.box

    @property
    def bounded(self) -> bool:
        """Whether all ranges of the records end."""
        return all(variable.hi is not None for variable in self.records)

    @cached_property
    def domain(self) -> tuple[Variable, ...]:
        """The box of records and weights."""
        return (*self.records, Variable(WEIGHT, Fraction(1), None))

    @property
    def names(self) -> frozenset[str]:
        """All names that mean something: the weight, the statistics, the parameters."""
        return frozenset({variable.name for variable in self.domain} | {parameter.name for parameter in self.profile.parameters})

    @cached_property
    def restatement(self) -> Restatement | None:
        """ε in another way, where that has fewer branches or roots of squares."""
        return apart(SECONDS, lambda: restate(self.profile, self.declared))

    @property
    def expression(self) -> sympy.Expr:
        """ε with all its branches."""
        return self.declared if self.restatement is None else self.restatement.expression

    def claim(self, condition: str, verdict: str, proof: Tree) -> Tree:
        """Return a claim for the kernel, which is told the other way of writing ε if there is one."""
        told = {} if self.restatement is None else {"restated": self.restatement.field()}
        return {"claim": condition, "verdict": verdict, "proof": {**proof, **told}}

    @cached_property
    def least_records(self) -> tuple[dict[str, sympy.Expr], ...]:
        """Exact records near the place where ε(1, x) is least, by a local search; none without variables."""
        if not self.records:
            return ()
        return apart(SECONDS, lambda: tuple(until_failure(exact_points(self.at_one(self.declared), self.records)))) or ()

    @cached_property
    def _resolved(self) -> tuple[sympy.Expr, bool]:
        return self._decided(self.domain)

    @cached_property
    def near_one(self) -> tuple[sympy.Expr, bool]:
        """ε with branches decided for w in [1, 1 + 2^-10], or just above 1, and whether none is left: what has the derivative at w = 1."""
        nearby = (*self.records, Variable(WEIGHT, Fraction(1), Fraction(1025, 1024)))
        near, decided = self._decided(nearby)
        if decided:
            return near, True
        return apart(SECONDS, lambda: resolve_at(self.expression, self.records, self.weight, 1)) or (near, False)

    def _decided(self, box: tuple[Variable, ...]) -> tuple[sympy.Expr, bool]:
        """Put decided branches in: by a search apart, because all conditions share what it finds, whichever of them asks first."""
        expression = self.expression
        return apart(SECONDS, lambda: resolve(expression, box, self.weight)) or (expression, False)

    @property
    def epsilon(self) -> sympy.Expr:
        return self._resolved[0]

    @property
    def smooth(self) -> bool:
        """Whether ε is built from operations that are differentiable in w."""
        return self._resolved[1]

    @cached_property
    def smooth_from_one(self) -> bool:
        """Whether ε is ``smooth``, and so at w = 1 too: no power with a fraction as its exponent has a base that may be 0 there.

        Where it is not, ε as (w − 1)^(3/2) may be differentiable on [1, ∞), and arbitrarily often on (1, ∞).
        """
        if not self.smooth:
            return False
        bases = {
            self.at_one(power.base)
            for power in self.epsilon.atoms(sympy.Pow)
            if power.exp.is_Rational and not power.exp.is_Integer and self.weight in power.base.free_symbols
        }
        return all(base.is_positive or prove(self.for_records(base, strict=True), 1) is not None for base in bases)

    @cached_property
    def first(self) -> sympy.Expr:
        """ε′(w, x) = ∂ε/∂w."""
        return derivative(self.epsilon, self.weight)

    @cached_property
    def second(self) -> sympy.Expr:
        """ε″(w, x)."""
        return derivative(self.first, self.weight)

    @cached_property
    def curvature(self) -> sympy.Expr:
        """K = ε″ + ε′², so that the second derivative of exp∘ε is K·exp(ε)."""
        return self.curvature_of(self.epsilon)

    @cached_property
    def bent(self) -> sympy.Expr:
        """(e^ε)″ = K·e^ε; without ε's logarithms where it has them outside, e^(log a + b) = a·e^b."""
        if self.bent_is_simpler:
            return expand(derivative(derivative(sympy.exp(self.epsilon), self.weight), self.weight))
        return self.curvature * sympy.exp(self.epsilon)

    @property
    def bent_is_simpler(self) -> bool:
        """Whether e^ε has fewer logarithms of w than ε."""
        count = [
            sum(self.weight in node.free_symbols for node in form.atoms(sympy.log)) for form in (sympy.exp(self.epsilon), self.epsilon)
        ]
        return count[0] < count[1]

    def curvature_of(self, epsilon: sympy.Expr) -> sympy.Expr:
        """K of another expression for ε, such as one branch of it."""
        first = derivative(epsilon, self.weight)
        return derivative(first, self.weight) + first**2

    def at_one(self, expression: sympy.Expr) -> sympy.Expr:
        """Return an expression with w = 1 put in: what a record without a weight loses."""
        return put_in(expression, {self.weight: 1})

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
