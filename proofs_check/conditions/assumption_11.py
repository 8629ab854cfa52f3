"""Assumption 11 (Fay et al. 2024): ε is differentiable in w and exp∘ε is μ_x-strongly convex in w, with some μ_x > 0, for every record x.

For a twice differentiable ε this is inf over w ≥ 1 of (e^ε)″ = K·e^ε being positive, K = ε″ + ε′². The best constant is that infimum. Where
K·e^ε is non-decreasing in w it is attained at w = 1, which gives the formula μ_x = K(1, x)·exp ε(1, x).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import sympy

from profiles.numbers import exact_text
from profiles.symbolic import from_sympy, to_rational
from profiles.terms import to_text
from proofs_check.certificates import checks
from proofs_check.conditions.context import Context
from proofs_check.conditions.decide import accept, decide_kinked, refute_at, touching_point, unknown
from proofs_check.prover import trees
from proofs_check.prover.algebra import tidy
from proofs_check.prover.explore import Outcome, candidates, explore
from proofs_check.prover.pointwise import as_ball, value_at
from proofs_check.prover.search import prove
from proofs_check.results import Decision, Tree, Verdict

ID = "assumption-11"
STATEMENT = (
    "epsilon is differentiable in w, and for all records x there is mu > 0 such that exp(epsilon(., x)) is mu-strongly convex on [1, oo)"
)


@dataclass(frozen=True, slots=True)
class StrongConvexity:
    """A proved lower bound of the strong convexity constant: μ_x ≥ ``floor`` for every record x; equality if ``exact``."""

    floor: sympy.Expr
    proof: Tree
    exact: bool
    checked: bool


def derive_strong_convexity(context: Context) -> StrongConvexity | None:
    """Return a proved lower bound of μ_x, positive for every record; the exact formula where the infimum is at w = 1; else None."""
    if not context.smooth:
        return None
    for floor, proof, exact in _floors(context):
        claim: Tree = {"claim": "strong-convexity", "verdict": "proved", "proof": proof}
        if checks(context.profile, [claim], target=context.target):
            return StrongConvexity(floor, proof, exact, checked=True)
    return None


def _floors(context: Context) -> Iterator[tuple[sympy.Expr, Tree, bool]]:
    """Yield (floor, proof, exact): the formula at w = 1, the curvature alone at w = 1, then numbers below the sampled infimum."""
    bent = context.curvature * sympy.exp(context.epsilon)
    formula = tidy(context.at_one(context.curvature)) * sympy.exp(context.at_one(context.epsilon))
    yield from _from_one(context, bent, formula, "exp", exact=True)
    yield from _from_one(context, context.curvature, tidy(context.at_one(context.curvature)), "log", exact=False)
    for form, expression in (("log", context.curvature), ("exp", bent)):
        for number in _numbers_below(context, expression):
            floor = to_rational(number)
            curvature = prove(context.for_all(expression - floor))
            if curvature is not None:
                proof = {"floor": exact_text(number), "positive": trees.MANIFEST, "form": form, "curvature": curvature}
                yield floor, proof, False


def _from_one(
    context: Context, expression: sympy.Expr, floor: sympy.Expr, form: str, *, exact: bool
) -> Iterator[tuple[sympy.Expr, Tree, bool]]:
    positive = prove(context.for_records(floor, strict=True))
    if positive is None:
        return
    curvature = prove(context.for_all(expression - floor))
    if curvature is None:
        slope = prove(context.for_all(sympy.diff(expression, context.weight)))
        curvature = None if slope is None else trees.monotone("w", slope, trees.ZERO, increasing=True)
    if curvature is not None:
        yield floor, {"floor": to_text(from_sympy(floor)), "positive": positive, "form": form, "curvature": curvature}, exact


def _numbers_below(context: Context, expression: sympy.Expr) -> Iterator[Fraction]:
    """Yield short numbers below the smallest sampled value of an expression, if that is positive."""
    if any(variable.hi is None and variable.name != "w" for variable in context.domain):
        return
    term = from_sympy(expression)
    values = [as_ball(value_at(term, point, 128)) for point in candidates(context.domain, 600)]
    finite = [float(value.mid()) for value in values if value.is_finite()]
    smallest = min(finite, default=0.0)
    if not 1e-300 < smallest < 1e300:
        return
    for share in (Fraction(9, 10), Fraction(1, 2), Fraction(1, 100)):
        exact = Fraction(smallest) * share
        yield Fraction(f"{float(exact):.2e}")


def decide(context: Context) -> Decision:
    """Decide it: refuted at a kink or at a point with K ≤ 0, proved by a positive floor of K or K·e^ε."""
    return decide_with_constant(context)[0]


def decide_with_constant(context: Context) -> tuple[Decision, StrongConvexity | None]:
    """Return the decision and, where it is proved, the lower bound of μ_x that proves it."""
    if not context.smooth:
        return decide_kinked(context, ID), None
    goal = context.for_all(context.curvature, strict=True)
    exploration = explore(goal)
    if exploration.outcome is Outcome.VIOLATED and exploration.witness is not None:
        return refute_at(context, ID, goal, exploration.witness, field="curvature"), None
    found = derive_strong_convexity(context)
    if found is None:
        touching = touching_point(goal)
        if touching is not None:
            return refute_at(context, ID, goal, touching, field="curvature"), None
        return unknown(ID, exploration.outcome), None
    method = "second derivative of exp(epsilon) at w = 1 and " if found.exact else "positive floor of the curvature and "
    return accept(context, ID, Verdict.PROVED, found.proof, method=method + trees.describe(found.proof["curvature"])), found
