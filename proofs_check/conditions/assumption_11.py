"""Assumption 11 (Fay et al. 2024): ε is differentiable in w and exp∘ε is μ_x-strongly convex in w, with some μ_x > 0, for every record x.

For a twice differentiable ε this is inf over w ≥ 1 of (e^ε)″ = K·e^ε being positive, K = ε″ + ε′². The best constant is that infimum. Where
K·e^ε is non-decreasing in w it is attained at w = 1, which gives the formula μ_x = K(1, x)·exp ε(1, x).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import sympy

from profiles.numbers import exact_text
from profiles.profile import WEIGHT, Variable
from profiles.symbolic import from_sympy, to_rational
from profiles.terms import Term, to_text
from proofs_check.certificates import checks, point_json
from proofs_check.conditions.branches import find_pieces, refute_beside_kinks, refute_by_kink, undecided
from proofs_check.conditions.context import Context
from proofs_check.conditions.decide import accept, refute_by_point, unknown
from proofs_check.enclosures import upper_fraction
from proofs_check.prover import trees
from proofs_check.prover.algebra import expand, tidy
from proofs_check.prover.attempt import looks_true
from proofs_check.prover.effort import within
from proofs_check.prover.explore import candidates, explore, telling_points
from proofs_check.prover.goals import Goal
from proofs_check.prover.heuristics import until_failure
from proofs_check.prover.least import fraction_below, least_of
from proofs_check.prover.pointwise import UndefinedAtPoint, as_ball, value_at
from proofs_check.prover.search import prove
from proofs_check.results import Decision, Tree, Verdict

ID = "assumption-11"
STATEMENT = (
    "epsilon is differentiable in w, and for all records x there is mu > 0 such that exp(epsilon(., x)) is mu-strongly convex on [1, oo)"
)


#: Weights w(n) ≥ 1 along which the second derivative of exp(ε) may fall below 1/n.
LIMIT_WEIGHTS: tuple[Callable[[sympy.Symbol], sympy.Expr], ...] = (
    *(lambda n, power=power: n**power for power in (1, 2, 4, 10)),
    *(lambda n, power=power: 1000 * n**power for power in (1, 4)),
    *(lambda n, rate=rate: sympy.exp(rate * (n + 9)) for rate in (1, 10, 100)),
)


#: Seconds for each kind of floor that is tried.
SLICE = 2.5

#: Records at which a refutation in the limit is tried.
MOST_RECORDS = 60


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
        return _floor_in_pieces(context)
    for floor, proof, exact in until_failure(_floors(context)):
        claim: Tree = {"claim": "strong-convexity", "verdict": "proved", "proof": proof}
        if checks(context.profile, [claim], target=context.target):
            return StrongConvexity(floor, proof, exact, checked=True)
    return None


#: What a floor is and why: the floor, the proof for the claim, and whether it is the best constant.
Floor = tuple[sympy.Expr, Tree, bool]


def _floors(context: Context) -> Iterator[Floor]:
    """Yield floors: the formula at w = 1, the curvature alone at w = 1, then numbers below the sampled infimum."""
    bent = context.curvature * sympy.exp(context.epsilon)
    formula = tidy(context.at_one(context.curvature)) * sympy.exp(context.at_one(context.epsilon))
    attempts: list[Callable[[], Floor | None]] = [
        lambda: _from_one(context, bent, formula, "exp"),
        lambda: _from_one(context, context.curvature, tidy(context.at_one(context.curvature)), "log"),
        lambda: _from_convexity(context),
    ]
    attempts += [partial(_from_term, context, context.curvature, floor, "log") for floor in _terms_below(context)]
    for form, expression in (("log", context.curvature), ("exp", bent)):
        numbers = _numbers_below(expression, context.domain)
        attempts += [partial(_from_term, context, expression, to_rational(number), form) for number in numbers]
    for attempt in attempts:
        found = within(SLICE, attempt)
        if found is not None:
            yield found


def _terms_below(context: Context) -> Iterator[sympy.Expr]:
    """Yield shares of what K tends to as w grows, and of its value at w = 1, as terms in records and parameters."""
    constant, _ = expand(context.curvature).as_independent(context.weight, as_Add=True)
    at_one = tidy(context.at_one(context.curvature))
    whole = [tidy(constant)] if constant != 0 else []
    for share in (1, sympy.Rational(1, 2), sympy.Rational(1, 4), sympy.Rational(1, 10)):
        yield from (share * floor for floor in (*whole, at_one) if share != 1 or floor is not at_one)


def _from_convexity(context: Context) -> Floor | None:
    """Return ε′(1)² for a convex ε with ε′(1) > 0: K = ε″ + ε′² ≥ ε′², and ε′ rises."""
    start = tidy(context.at_one(context.first))
    positive = prove(context.for_records(start**2, strict=True))
    convex = None if positive is None else prove(context.for_all(context.second))
    if positive is None or convex is None:
        return None
    slope = prove(context.for_all(2 * context.first * context.second))
    if slope is None:
        return None
    floor = to_text(from_sympy(start**2))
    parts = [to_text(from_sympy(part)) for part in (context.first**2 - start**2, context.second)]
    rising = trees.monotone(WEIGHT, slope, trees.ZERO, increasing=True)
    curvature: Tree = {"rule": "sum", "parts": parts, "proofs": [rising, convex]}
    return start**2, {"floor": floor, "positive": positive, "form": "log", "curvature": curvature}, False


def _from_one(context: Context, expression: sympy.Expr, floor: sympy.Expr, form: str) -> Floor | None:
    positive = prove(context.for_records(floor, strict=True))
    if positive is None:
        return None
    slope = _slope_of_bent(context) if form == "exp" else prove(context.for_all(sympy.diff(expression, context.weight)))
    curvature = None if slope is None else trees.monotone("w", slope, trees.ZERO, increasing=True)
    curvature = curvature or prove(context.for_all(expression - floor))
    if curvature is None:
        return None
    return floor, {"floor": to_text(from_sympy(floor)), "positive": positive, "form": form, "curvature": curvature}, form == "exp"


def _from_term(context: Context, expression: sympy.Expr, floor: sympy.Expr, form: str) -> Floor | None:
    positive = prove(context.for_records(floor, strict=True))
    curvature = None if positive is None else prove(context.for_all(expression - floor))
    if curvature is None:
        return None
    return floor, {"floor": to_text(from_sympy(floor)), "positive": positive, "form": form, "curvature": curvature}, False


def _slope_of_bent(context: Context) -> Tree | None:
    """Prove that K·e^ε is non-decreasing in w: its derivative is (K′ + K·ε′)·e^ε."""
    product = prove(context.for_all(expand(sympy.diff(context.curvature, context.weight) + context.curvature * context.first)))
    if product is None:
        return None
    factor = to_text(from_sympy(sympy.exp(-context.epsilon)))
    return {"rule": "scale", "factor": factor, "positive": trees.MANIFEST, "product": product}


def _floor_in_pieces(context: Context) -> StrongConvexity | None:
    """Return a number below K or K·e^ε on all pieces of an ε whose pieces meet smoothly."""
    found = find_pieces(context)
    if found is None:
        return None
    for form in ("log", "exp"):
        sides = []
        for epsilon, box in found.pieces:
            curvature = context.curvature_of(epsilon)
            sides.append((curvature if form == "log" else curvature * sympy.exp(epsilon), box))
        choices = [list(_numbers_below(expression, box)) for expression, box in sides]
        for numbers in zip(*choices, strict=False):
            floor = to_rational(min(numbers))
            curvature_proofs = [prove(Goal(expression - floor, box)) for expression, box in sides]
            if None in curvature_proofs:
                continue
            proof: Tree = {"floor": exact_text(min(numbers)), "positive": trees.MANIFEST, "form": form, "curvature": curvature_proofs}
            proof |= found.fields()
            claim: Tree = {"claim": "strong-convexity", "verdict": "proved", "proof": proof}
            if checks(context.profile, [claim], target=context.target):
                return StrongConvexity(floor, proof, exact=False, checked=True)
    return None


def _numbers_below(expression: sympy.Expr, box: Sequence[Variable]) -> Iterator[Fraction]:
    """Yield short numbers below the smallest sampled value of an expression, if that is positive."""
    if any(variable.hi is None and variable.name != WEIGHT for variable in box):
        return
    least = least_of(expression, box)
    smallest = None if least is None else fraction_below(least.value)
    if smallest is None or smallest <= 0:
        return
    for share in (Fraction(9, 10), Fraction(1, 2), Fraction(1, 100)):
        yield smallest * share


def smallest_value(term: Term, box: Sequence[Variable]) -> Fraction | None:
    """Return a number just above the smallest of the values of a term at some points of a box: not below the infimum."""
    values = []
    for point in candidates(box, 600):
        with suppress(UndefinedAtPoint):
            values.append(as_ball(value_at(term, point, 128)))
    smallest = min((value for value in values if value.is_finite()), key=lambda value: float(value.upper()), default=None)
    return None if smallest is None else upper_fraction(smallest)


def decide(context: Context) -> Decision:
    """Decide it: refuted at a kink or at a point with K ≤ 0, proved by a positive floor of K or K·e^ε."""
    return decide_with_constant(context)[0]


def decide_with_constant(context: Context) -> tuple[Decision, StrongConvexity | None]:
    """Return the decision and, where it is proved, the lower bound of μ_x that proves it."""
    refutation = _refute_early(context)
    if refutation is not None:
        return refutation, None
    if context.smooth and _fades(context):
        limit = within(2 * SLICE, lambda: _refute_in_the_limit(context))
        if limit is not None:
            return limit, None
    found = derive_strong_convexity(context)
    if found is not None:
        method = "second derivative of exp(epsilon) at w = 1 and " if found.exact else "positive floor of the curvature and "
        return accept(context, ID, Verdict.PROVED, found.proof, method=method + trees.describe(found.proof["curvature"])), found
    if not context.smooth:
        return undecided(ID), None
    goal = context.for_all(context.curvature, strict=True)
    return _refute_in_the_limit(context) or unknown(ID, explore(goal).outcome), None


def _refute_early(context: Context) -> Decision | None:
    """Refute it at a kink or at a point, which is quick."""
    if not context.smooth:
        return refute_by_kink(context, ID) or refute_beside_kinks(context, ID, context.curvature_of, strict=True, field="curvature")
    goal = context.for_all(context.curvature, strict=True)
    return refute_by_point(context, ID, goal, field="curvature")


def _fades(context: Context) -> bool:
    """Tell whether K·e^ε seems to go to 0 as w grows, at some record."""
    term = from_sympy(context.curvature * sympy.exp(context.epsilon))
    for record in telling_points(context.epsilon, context.records, 24)[:MOST_RECORDS]:
        try:
            near, far = (as_ball(value_at(term, {**record, WEIGHT: Fraction(10) ** power}, 128)) for power in (3, 12))
        except UndefinedAtPoint:
            continue
        if near > 0 and far < near / 1000:
            return True
    return False


def _refute_in_the_limit(context: Context) -> Decision | None:
    """Refute it at a record where K·e^ε comes as close to 0 as one likes as w grows: K·e^ε ≤ 1/n at some w(n), for all n ≥ 1."""
    bent = context.curvature * sympy.exp(context.epsilon)
    count = sympy.Symbol("n", positive=True)
    for record in telling_points(context.epsilon, context.records, 24)[:MOST_RECORDS]:
        values = {symbol: to_rational(record[symbol.name]) for symbol in bent.free_symbols if symbol.name in record}
        at_record = bent.subs(values)
        for weight in LIMIT_WEIGHTS:
            along = sympy.sympify(weight(count))
            flat = Goal(1 - count * at_record.subs(context.weight, along), (Variable("n", Fraction(1), None),))
            short = Goal(sympy.powsimp(flat.expression), flat.box)
            tree = prove(short, 3) if looks_true(flat) else None
            at_least_one = None if tree is None else prove(Goal(along - 1, flat.box), 1)
            if tree is None or at_least_one is None:
                continue
            shown = {"weight": to_text(from_sympy(along)), "weight-proof": at_least_one, "flat": trees.restated(short, tree)}
            proof: Tree = {"at": point_json(record), **shown}
            reason = "at this record the second derivative of exp(epsilon) comes as close to 0 as one likes as w grows"
            decision = accept(context, ID, Verdict.REFUTED, proof, method="limit at one record", witness=record)
            if decision.checked:
                return replace(decision, reason=reason)
    return None
