"""The derived strong convexity constant μ_x for people and programs: the formula, and a certified number for all records."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import sympy

from profiles.errors import InvalidExpression
from profiles.numbers import decimal_text, exact_text
from profiles.profile import WEIGHT, Profile, Variable
from profiles.symbolic import from_sympy, to_rational
from profiles.terms import to_text
from proofs_check.certificates import checks
from proofs_check.conditions.assumption_11 import StrongConvexity, smallest_value
from proofs_check.conditions.context import Context
from proofs_check.prover import trees
from proofs_check.prover.algebra import derivative, expand, put_in, tidy
from proofs_check.prover.effort import within
from proofs_check.prover.goals import Goal
from proofs_check.prover.minimum import minimum_enclosure
from proofs_check.prover.search import prove
from proofs_check.results import Tree

#: Search effort for a number below μ_x that is better than the floor.
SECONDS = 4.0
#: Weights from which on (e^ε)″ may rise.
CUTS = (Fraction(2), Fraction(4), Fraction(16))
#: How far below the sampled infimum such a number may lie.
SHARES = (Fraction(999, 1000), Fraction(99, 100), Fraction(9, 10), Fraction(1, 2))

#: Certified numbers below and above the infimum of μ_x over all records; None where there is none, as for parameters without numbers.
Bounds = tuple[Fraction | None, Fraction | None]


def bound_constant(context: Context, convexity: StrongConvexity) -> Bounds:
    """Enclose the infimum over all records of the best μ_x, which is that of (e^ε)″ over all records and weights.

    Where the formula is exact, by branch and bound on it. Elsewhere the upper number is a value of (e^ε)″, rounded up, and the lower one
    the largest of some shares of it that the kernel accepts as a strong convexity constant, or the floor.
    """
    if any(variable.hi is None for variable in context.records):
        return None, None
    if convexity.exact or not context.smooth:
        enclosure = minimum_enclosure(from_sympy(convexity.floor), context.records)
        lower, upper = enclosure or (None, None)
        return lower if lower is not None and lower > 0 else None, upper if convexity.exact else None
    upper = smallest_value(from_sympy(context.curvature * sympy.exp(context.epsilon)), context.domain)
    better = within(SECONDS, partial(_better_number, context, upper)) if upper is not None and 1e-300 < upper < 1e300 else None
    return better or smallest_floor(context.profile, convexity), upper


def _better_number(context: Context, upper: Fraction) -> Fraction | None:
    """Return the largest share of a number that is proved to be below (e^ε)″: up to some weight as it stands, beyond because it rises."""
    bent = context.curvature * sympy.exp(context.epsilon)
    rate = expand(derivative(context.curvature, context.weight) + context.curvature * context.first)
    for cut in CUTS:
        before, beyond = ((*context.records, Variable(WEIGHT, *ends)) for ends in ((Fraction(1), cut), (cut, None)))
        rising = within(SECONDS / 4, partial(prove, Goal(rate, beyond)))
        for share in SHARES if rising is not None else ():
            number = Fraction(f"{float(upper * share):.6e}")
            below = within(SECONDS / 4, partial(prove, Goal(bent - to_rational(number), before)))
            end = (
                None
                if below is None
                else prove(context.for_records(put_in(bent, {context.weight: to_rational(cut)}) - to_rational(number)))
            )
            if below is None or end is None or rising is None:
                continue
            slope: Tree = {"rule": "scale", "factor": to_text(from_sympy(sympy.exp(-context.epsilon))), "positive": trees.MANIFEST}
            above = trees.monotone(WEIGHT, {**slope, "product": rising}, end, increasing=True)
            proof: Tree = {"floor": exact_text(number), "positive": trees.MANIFEST, "form": "exp"}
            proof["curvature"] = trees.split(WEIGHT, cut, below, above)
            if checks(context.profile, [context.claim("strong-convexity", "proved", proof)]):
                return number
    return None


def strong_convexity_json(profile: Profile, convexity: StrongConvexity | None, bounds: Bounds = (None, None)) -> dict[str, Any]:
    """Return the formula (exact, or of a lower bound), LaTeX, and certified bounds over all records where it is numeric."""
    if convexity is None:
        return {"formula": None, "exact": False, "lower_bound": None, "upper_bound": None, "checked_by_kernel": False}
    symbolic = _with_names(profile, convexity)
    lower, upper = bounds
    return {
        "formula": to_text(from_sympy(symbolic)),
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
