"""The derived strong convexity constant μ_x for people and programs: the formula, and a certified number for all records."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy

from profiles.errors import InvalidExpression
from profiles.numbers import decimal_text
from profiles.profile import Profile
from profiles.symbolic import from_sympy
from profiles.terms import to_text
from proofs_check.conditions.assumption_11 import StrongConvexity
from proofs_check.prover.algebra import tidy
from proofs_check.prover.minimum import minimum_enclosure


def strong_convexity_json(profile: Profile, convexity: StrongConvexity | None) -> dict[str, Any]:
    """Return the formula (exact, or of a lower bound), LaTeX, and a certified lower bound over all records where it is numeric."""
    if convexity is None:
        return {"formula": None, "exact": False, "lower_bound": None, "checked_by_kernel": False}
    symbolic = _with_names(profile, convexity)
    lower = smallest_floor(profile, convexity)
    return {
        "formula": to_text(from_sympy(symbolic)),
        "latex": sympy.latex(symbolic),
        "exact": convexity.exact,
        "lower_bound": None if lower is None else decimal_text(lower, 12, round_up=False),
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
    first = sympy.diff(epsilon, weight)
    curvature = (sympy.diff(first, weight) + first**2).subs(weight, 1)
    try:
        named = tidy(curvature) * sympy.exp(epsilon.subs(weight, 1))
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
