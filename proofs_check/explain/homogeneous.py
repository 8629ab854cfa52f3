"""Explanations of the claim that ε is proportional to the weight (``homogeneous``)."""

from __future__ import annotations

from fractions import Fraction

from profiles.errors import InvalidExpression
from profiles.symbolic import from_sympy
from profiles.terms import Term, substitute
from profiles.variables import WEIGHT
from proofs_check.explain.document import EPSILON, EPSILON_AT_ONE, Formula, Step
from proofs_check.explain.rounding import compare
from proofs_check.explain.setting import at_point, fix, for_all, read_point
from proofs_check.explain.statements import ONE, Case, W

_SCALED: Term = ("mul", W, EPSILON_AT_ONE)


def explain_homogeneous(case: Case) -> tuple[Step, ...]:
    """Both sides are the same, in normal form."""
    epsilon = case.context.term
    scaled = ("mul", W, substitute(epsilon, {WEIGHT: ONE}))
    shown = Formula((epsilon, "=", scaled), case.context.domain)
    return (Step(("To be shown: ", shown, *for_all(case.context.domain), ". Both sides have the same normal form.")),)


def explain_not_homogeneous(case: Case) -> tuple[Step, ...]:
    """The two sides differ at a point."""
    context, point = case.context, read_point(case.proof)
    expression, one = context.declared, {**point, WEIGHT: Fraction(1)}
    left, right = from_sympy(fix(expression, point)), from_sympy(fix(context.weight * context.at_one(expression), {**one, **point}))
    for sides in (((EPSILON, left), (_SCALED, right)), ((_SCALED, right), (EPSILON, left))):
        (larger, a), (smaller, b) = sides
        compared = compare(a, b)
        if compared is not None:
            (high_sign, high), (low_sign, low) = compared
            above = Formula((larger, "=", a) if a == high else (larger, "=", a, high_sign, high), ())
            below = Formula((smaller, "=", b) if b == low else (smaller, "=", b, low_sign, low), ())
            return (Step(("It fails ", *at_point(point), ": ", above, ", but ", below, ", and ", Formula((high, ">", low), ()), ".")),)
    raise InvalidExpression("the two sides are too close for the digits that are shown")
