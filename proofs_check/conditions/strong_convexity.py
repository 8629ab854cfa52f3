"""The derived strong convexity constant μ_x for people and programs: the formula, and a certified number for all records."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy

from profiles.errors import InvalidExpression
from profiles.numbers import decimal_text
from profiles.profile import Profile
from profiles.symbolic import from_sympy
from profiles.terms import to_short_text, to_text
from proofs_check.branch_and_bound import minimum_enclosure
from proofs_check.conditions.assumption_11 import StrongConvexity
from proofs_check.conditions.context import Context
from proofs_check.conditions.tight_floor import enclose_infimum
from proofs_check.prover.algebra import derivative, put_in, tidy
from proofs_check.prover.minimize import smallest_value

#: Work (nominal seconds) for a number below μ_x that is better than the floor.
SECONDS = 4.0

#: Certified numbers below and above the infimum of μ_x over all records; None where there is none, as for parameters without numbers.
Bounds = tuple[Fraction | None, Fraction | None]


def bound_constant(context: Context, convexity: StrongConvexity, seconds: float = SECONDS) -> Bounds:
    """Enclose the infimum over all records of the best μ_x, which is that of (e^ε)″ over all records and weights.

    Where the formula is exact, by branch and bound on it. Elsewhere the upper number is a value of (e^ε)″, rounded up, and the lower one
    a number just below that the kernel accepts as a strong convexity constant (:mod:`proofs_check.conditions.tight_floor`), or the floor.
    ``seconds``: the work, in nominal ones, for that number.
    """
    if not context.bounded:
        return None, None
    if convexity.exact:
        enclosure = minimum_enclosure(from_sympy(convexity.floor), context.records)
        lower, upper = enclosure or (None, None)
        return lower if lower is not None and lower > 0 else None, upper
    number = Fraction(int(convexity.floor.p), int(convexity.floor.q)) if convexity.floor.is_Rational else None
    infimum = enclose_infimum(context, seconds, None if number is None else (number, convexity.proof))
    floor = smallest_floor(context.profile, convexity)
    if infimum is not None:
        return max(infimum.lower, floor or infimum.lower), infimum.upper
    upper = smallest_value(from_sympy(context.curvature * sympy.exp(context.epsilon)), context.domain) if context.smooth else None
    return floor, upper


def strong_convexity_json(profile: Profile, convexity: StrongConvexity | None, bounds: Bounds = (None, None)) -> dict[str, Any]:
    """Return the formula (exact, or of a lower bound), LaTeX, and certified bounds over all records where it is numeric."""
    if convexity is None:
        return {"formula": None, "exact": False, "lower_bound": None, "upper_bound": None, "checked_by_kernel": False}
    symbolic = _with_names(profile, convexity)
    lower, upper = bounds
    return {
        "formula": to_short_text(from_sympy(symbolic)),
        "latex": sympy.latex(symbolic),
        "exact": convexity.exact,
        "lower_bound": None if lower is None else decimal_text(lower, 12, round_up=False),
        "upper_bound": None if upper is None else decimal_text(upper, 12, round_up=True),
        "checked_by_kernel": convexity.checked,
    }


def _with_names(profile: Profile, convexity: StrongConvexity) -> sympy.Expr:
    """Return the exact formula with the parameters' names instead of their numbers; any other floor as it was proved."""
    if not convexity.exact:
        return convexity.floor
    try:
        epsilon = profile.expression(numeric=False)
    except InvalidExpression:
        return convexity.floor
    weight = profile.symbols()["w"]
    first = derivative(epsilon, weight)
    curvature = put_in(derivative(first, weight) + first**2, {weight: 1})
    try:
        named = tidy(curvature) * sympy.exp(put_in(epsilon, {weight: 1}))
        to_text(from_sympy(named))
    except InvalidExpression:
        return convexity.floor
    return named


def smallest_floor(profile: Profile, convexity: StrongConvexity) -> Fraction | None:
    """Return a certified lower bound of the floor over all records, None where parameters have no numbers."""
    box = profile.record_variables()
    if any(variable.hi is None for variable in box):
        return None
    enclosure = minimum_enclosure(from_sympy(convexity.floor), box)
    lower = None if enclosure is None else enclosure[0]
    return lower if lower is not None and lower > 0 else None
