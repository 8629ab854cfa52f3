"""Assumption 9 (Fay et al. 2024): for each record x there is v ≥ 1 with ε(w, x) > log(1 + w(e^ε* − 1)) for all w ≥ v.

With F(w) = ε − log(1 + E w), E = e^ε* − 1, the proof is the slope lemma: F(v) > 0 and w·ε′ ≥ 1 for all w ≥ v give
F′ ≥ 1/w − E/(1 + E w) > 0, so F > 0 from v on. It is refuted at a record where F ≤ 0 from some w on.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial

import sympy

from profiles.numbers import exact_text
from profiles.symbolic import from_sympy, to_rational
from profiles.terms import Term, fresh_name, number, substitute, to_text
from profiles.variables import WEIGHT, Variable
from proofs_check.conditions.context import Context
from proofs_check.conditions.decide import Place, accept_proof, accept_refutation, place_json, settle, substituted
from proofs_check.conditions.growth import offset_name, prove_growth
from proofs_check.conditions.slow_growth import prove_slow_growth
from proofs_check.prover import trees
from proofs_check.prover.algebra import derivative, expand, put_in
from proofs_check.prover.attempt import looks_true
from proofs_check.prover.effort import one_way, remembered, within
from proofs_check.prover.goals import Goal
from proofs_check.prover.minimize import find_least, rational_point
from proofs_check.prover.points import candidates, telling_points
from proofs_check.prover.pointwise import as_ball, value_at
from proofs_check.prover.search import prove
from proofs_check.prover.smooth import resolve
from proofs_check.results import Decision, Tree, Verdict

ID = "assumption-9"
MEANING = "weights are bounded"
STATEMENT = "for all records x there is v >= 1 such that epsilon(w, x) > log(1 + w*(exp(target) - 1)) for all w >= v"

LARGEST_THRESHOLD_BITS = 4096
TAIL_STARTS = (1, 2, 10, 1000)
#: Exponents of ten that are looked at for a weight from which on it fails.
TAIL_EXPONENTS = (3, 6, 10, 20, 50, 100, 200, 450, 1000)

#: Work (nominal seconds) for the search with thresholds that are numbers.
SLICE = 1.0
#: Work for the growth of a power whose threshold is short, before that of slower ones is looked at.
QUICK_SLICE = 0.4
#: For powers of w below it, whose proof may need several steps.
SLOW_SLICE = 1.6

#: Work (nominal seconds) for the search for one proof that it fails from a weight on: little for each, then more.
TAIL_SLICES = (0.15, 0.8)

#: Records at which a refutation is tried, and proofs at each that are put to the kernel.
MOST_RECORDS, MOST_TAILS = 60, 3


def decide(context: Context) -> Decision:
    """Prove it with one threshold for all records, else refute it at a record, else say unknown."""
    return (
        one_way(SLICE, lambda: _prove_at_once(context))
        or _refute(context, [rational_point(record) or record for record in context.least_records])
        or one_way(SLICE, lambda: _prove_directly(context, ["exp"]) if context.bent_is_simpler else None)
        or one_way(SLICE, lambda: _prove_uniformly(context))
        or one_way(QUICK_SLICE, lambda: _prove_by_bound(context, QUADRATICALLY))
        or one_way(SLOW_SLICE, lambda: _prove_by_bound(context, SLOWLY))
        or _refute(context, telling_points(context.epsilon, context.records, 24)[:MOST_RECORDS])
        or one_way(math.inf, lambda: _prove_by_bound(context, QUADRATICALLY))
        or one_way(math.inf, lambda: _prove_directly(context))
        or Decision(
            ID, Verdict.UNKNOWN, "none", reason="no threshold v could be proved for all records, and no record was found where none exists"
        )
    )


def prove_growth_somehow(context: Context) -> Decision | None:
    """Prove it for the records of a context, some of which may come as close as one likes to records without any loss."""
    return (
        one_way(math.inf, lambda: _prove_by_bound(context, QUADRATICALLY))
        or one_way(SLICE, lambda: _prove_uniformly(context))
        or _prove_directly(context)
    )


def _excess(context: Context) -> sympy.Expr:
    return context.epsilon - sympy.log(1 + context.growth * context.weight)


def _prove_uniformly(context: Context) -> Decision | None:
    if not context.bounded:
        return None
    for threshold in _thresholds(context):
        claim = _claim_from(context, threshold)
        if claim is not None:
            details = {"threshold": exact_text(threshold)}
            return Decision(ID, Verdict.PROVED, "slope lemma from an explicit threshold", claim=claim, checked=True, details=details)
    return None


def _thresholds(context: Context) -> Iterator[Fraction]:
    """Yield powers of two at which ε exceeds log(1 + E v) at all sampled records: the first that does, and ever more generous ones."""
    points = candidates(context.records, 200)
    term = from_sympy(_excess(context))
    yielded, least = 0, 0
    for exponent in (*range(17), *range(20, 128, 4), *range(128, LARGEST_THRESHOLD_BITS, 128)):
        threshold = Fraction(2**exponent)
        if exponent >= least and remembered(
            "thresholds", (term, context.records, threshold), partial(_is_above, term, threshold, context.records, points)
        ):
            yield threshold
            yielded, least = yielded + 1, exponent + 1 + 2 * yielded
            if yielded == 5:
                return


def _is_above(excess: Term, weight: Fraction, records: tuple[Variable, ...], points: Sequence[Mapping[str, Fraction]]) -> bool:
    """Tell whether the excess of ε at a weight seems to be positive at all records: at some points, and where it is least."""
    if not all(as_ball(value_at(excess, {**point, WEIGHT: weight}, 128)) > 0 for point in points):
        return False
    lowest = find_least(substitute(excess, {WEIGHT: number(weight)}), records)
    return lowest is not None and bool(lowest.value > 0)


def _claim_from(context: Context, threshold: Fraction) -> Tree | None:
    at_threshold = put_in(_excess(context), {context.weight: to_rational(threshold)})
    offset = sympy.Symbol(offset_name(context), nonnegative=True)
    beyond = (*context.records, Variable(offset.name, Fraction(0), None))
    weight = to_rational(threshold) + offset
    epsilon, smooth = resolve(put_in(context.epsilon, {context.weight: weight}), beyond, offset)
    if not smooth:
        return None
    goals = {
        "start": context.for_records(at_threshold, strict=True),
        "slope": Goal(weight * derivative(epsilon, offset) - 1, beyond),
    }
    return settle(context, ID, {"threshold": exact_text(threshold), "threshold-proof": trees.MANIFEST}, goals)


def _prove_at_once(context: Context) -> Decision | None:
    """Prove ε > log(1 + E w) where the logarithm is a summand of ε, so that a simpler difference is left."""
    gap = expand(_excess(context))
    if gap.has(sympy.log) or not context.bounded:
        return None
    offset = sympy.Symbol(offset_name(context), nonnegative=True)
    beyond = (*context.records, Variable(offset.name, Fraction(0), None))
    for threshold in itertools.islice(_thresholds(context), 2):
        goal = Goal(put_in(gap, {context.weight: to_rational(threshold) + offset}), beyond, strict=True)
        fixed: Tree = {"threshold": exact_text(threshold), "threshold-proof": trees.MANIFEST, "form": "log"}
        claim = settle(context, ID, fixed, {"direct": goal})
        if claim is not None:
            return _above_line(claim, threshold)
    return None


def _above_line(claim: Tree, threshold: Fraction) -> Decision:
    method = "comparison of epsilon with log(1 + E w) from an explicit threshold"
    return Decision(ID, Verdict.PROVED, method, claim=claim, checked=True, details={"threshold": exact_text(threshold)})


def _prove_directly(context: Context, forms: Sequence[str] = ("exp", "log")) -> Decision | None:
    """Prove ε > log(1 + E w) for all w from a threshold on as one goal; reaches logarithmic growth and oscillating profiles."""
    attempts = [("exp", Fraction(start)) for start in TAIL_STARTS]
    attempts += [("log", threshold) for threshold in _thresholds(context)] if context.bounded and "log" in forms else []
    offset = offset_name(context)
    for form, threshold in (attempt for attempt in attempts if attempt[0] in forms):
        line = 1 + context.growth * context.weight
        gap = context.epsilon - sympy.log(line) if form == "log" else sympy.exp(context.epsilon) - line
        fixed: Tree = {"threshold": exact_text(threshold), "threshold-proof": trees.MANIFEST, "form": form}
        goal = Goal(gap, (*context.records, Variable(WEIGHT, threshold, None)), strict=True)
        tree = prove(goal, 3) if looks_true(goal) else None
        claim = None if tree is None else _shifted(context, goal, offset, threshold, tree, fixed)
        if claim is not None:
            return _above_line(claim, threshold)
    return None


def _shifted(context: Context, goal: Goal, offset: str, threshold: Fraction, tree: Tree, fixed: Tree) -> Tree | None:
    """Return the claim whose goal is that one at w = threshold + s, if the kernel accepts it."""
    name = fresh_name("v", context.names)
    general, proof = (trees.renamed(item, WEIGHT, name) for item in (to_text(goal.term), tree))
    direct = trees.generalise(name, f"{exact_text(threshold)} + {offset}", trees.ProvedRange((threshold, trees.MANIFEST)), general, proof)
    claim = context.claim(ID, "proved", {**fixed, "direct": direct})
    return claim if context.forms.admit().proves([claim], target=context.target) else None


def _refute(context: Context, records: Iterable[Place]) -> Decision | None:
    for record in records:
        for tail in itertools.islice(_tails(context, record), MOST_TAILS):
            proof: Tree = {"at": place_json(record), **tail}
            decision = accept_refutation(context, ID, proof, method="tail comparison at one record", witness=record)
            if decision.checked:
                told = tail_reason(tail)
                return replace(decision, reason=told if decision.reason is None else f"{decision.reason}: {told}")
    return None


def tail_reason(tail: Tree) -> str:
    """Say what is seen at a record at which it fails."""
    return f"at this record epsilon stays at or below log(1 + w*(exp(target) - 1)) for all w >= {tail['threshold']}"


def find_tail(context: Context, record: Place) -> Tree | None:
    """Return the fields of a proof that ε stays at or below log(1 + E w) at a record from some weight on."""
    return next(_tails(context, record), None)


def _tails(context: Context, record: Place) -> Iterator[Tree]:
    """Yield such fields: more than one, because the kernel writes the goal in its own way."""
    epsilon = substituted(Goal(context.epsilon, context.domain), record)
    gap = sympy.log(1 + context.growth * context.weight) - epsilon
    far = _far_start(gap)
    if far is None:
        return
    forms = [("log", gap), ("exp", 1 + context.growth * context.weight - sympy.exp(epsilon))]
    starts = (*TAIL_STARTS, far) if far == TAIL_STARTS[-1] else (far,)
    ways = [(*form, start) for form in (reversed(forms) if context.bent_is_simpler else forms) for start in starts]
    for seconds, (form, expression, start) in itertools.product(TAIL_SLICES, ways):
        tree = within(seconds, partial(prove, Goal(expression, (Variable("w", Fraction(start), None),)), 3))
        if tree is not None:
            yield {"threshold": str(start), "form": form, "tail": tree}


def _far_start(gap: sympy.Expr) -> int | None:
    """Return a power of ten from which on a function of the weight is not negative at any of some weights, None if there is none."""
    term, start = from_sympy(gap), None
    for exponent in reversed(TAIL_EXPONENTS):
        if not as_ball(value_at(term, {"w": Fraction(10) ** exponent}, 128)) >= 0:
            break
        start = 10**exponent
    return start


#: Bounds below ε with a threshold that is a term in the records and parameters, and in words why they suffice.
QUADRATICALLY = (prove_growth, "quadratic growth of exp(epsilon) from an explicit threshold")
SLOWLY = (prove_slow_growth, "a power of w, or of log(w), below epsilon")


def _prove_by_bound(context: Context, kind: tuple[Callable[[Context], Iterator[tuple[str, Tree]]], str]) -> Decision | None:
    """Prove it from the first bound of a kind below ε that the kernel accepts."""
    bounds, method = kind
    for threshold, proof in bounds(context):
        decision = accept_proof(context, ID, proof, method=method, details={"threshold": threshold})
        if decision.checked:
            return decision
    return None
