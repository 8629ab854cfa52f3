"""Assumption 9 (Fay et al. 2024): for each record x there is v ≥ 1 with ε(w, x) > log(1 + w(e^ε* − 1)) for all w ≥ v.

With F(w) = ε − log(1 + E w), E = e^ε* − 1, the proof is the slope lemma: F(v) > 0 and w·ε′ ≥ 1 for all w ≥ v give
F′ ≥ 1/w − E/(1 + E w) > 0, so F > 0 from v on. It is refuted at a record where F ≤ 0 from some w on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial

import sympy

from profiles.numbers import exact_text
from profiles.profile import Variable
from profiles.symbolic import from_sympy, to_rational
from proofs_check.conditions.context import Context
from proofs_check.conditions.decide import Place, accept, place_json, settle, substituted
from proofs_check.conditions.growth import offset_name, prove_growth
from proofs_check.prover import trees
from proofs_check.prover.effort import within
from proofs_check.prover.explore import candidates, telling_points
from proofs_check.prover.goals import Goal
from proofs_check.prover.least import least_of, rational_point
from proofs_check.prover.pointwise import as_ball, value_at
from proofs_check.prover.search import prove
from proofs_check.prover.smooth import resolve
from proofs_check.results import Decision, Tree, Verdict

ID = "assumption-9"
STATEMENT = "for all records x there is v >= 1 such that epsilon(w, x) > log(1 + w*(exp(target) - 1)) for all w >= v"

LARGEST_THRESHOLD_BITS = 4096
TAIL_STARTS = (1, 2, 10, 1000)
#: Exponents of ten that are looked at for a weight from which on it fails.
TAIL_EXPONENTS = (3, 6, 10, 20, 50, 100, 200, 450, 1000)

#: Seconds for the search with thresholds that are numbers.
SLICE = 2.0

#: Seconds for the search for one proof that it fails from a weight on.
TAIL_SLICE = 0.8

#: Records at which a refutation is tried.
MOST_RECORDS = 60


def decide(context: Context) -> Decision:
    """Prove it with one threshold for all records, else refute it at a record, else say unknown."""
    return (
        _refute(context, [rational_point(record) or record for record in context.least_records])
        or within(SLICE, lambda: _prove_uniformly(context))
        or _refute(context, telling_points(context.epsilon, context.records, 24)[:MOST_RECORDS])
        or _prove_by_growth(context)
        or _prove_directly(context)
        or Decision(
            ID, Verdict.UNKNOWN, "none", reason="no threshold v could be proved for all records, and no record was found where none exists"
        )
    )


def _excess(context: Context) -> sympy.Expr:
    return context.epsilon - sympy.log(1 + context.growth * context.weight)


def _prove_uniformly(context: Context) -> Decision | None:
    if any(variable.hi is None for variable in context.records):
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
    found, least = 0, 0
    for exponent in (*range(17), *range(20, 128, 4), *range(128, LARGEST_THRESHOLD_BITS, 128)):
        threshold = Fraction(2**exponent)
        if exponent < least or not all(as_ball(value_at(term, {**point, "w": threshold}, 128)) > 0 for point in points):
            continue
        lowest = least_of(_excess(context).subs(context.weight, to_rational(threshold)), context.records)
        if lowest is not None and lowest.value > 0:
            yield threshold
            found, least = found + 1, exponent + 1 + 2 * found
            if found == 5:
                return


def _claim_from(context: Context, threshold: Fraction) -> Tree | None:
    at_threshold = _excess(context).subs(context.weight, to_rational(threshold))
    offset = sympy.Symbol(offset_name(context), nonnegative=True)
    beyond = (*context.records, Variable(offset.name, Fraction(0), None))
    weight = to_rational(threshold) + offset
    epsilon, smooth = resolve(context.epsilon.subs(context.weight, weight), beyond, offset)
    if not smooth:
        return None
    goals = {
        "start": context.for_records(at_threshold, strict=True),
        "slope": Goal(weight * sympy.diff(epsilon, offset) - 1, beyond),
    }
    return settle(context, ID, {"threshold": exact_text(threshold), "threshold-proof": trees.MANIFEST}, goals)


def _prove_directly(context: Context) -> Decision | None:
    """Prove ε > log(1 + E w) for all w from a threshold on as one goal; reaches logarithmic growth and oscillating profiles."""
    numeric = all(variable.hi is not None for variable in context.records)
    attempts = [("exp", Fraction(start)) for start in TAIL_STARTS]
    attempts += [("log", threshold) for threshold in _thresholds(context)] if numeric else []
    offset = sympy.Symbol(offset_name(context), nonnegative=True)
    beyond = (*context.records, Variable(offset.name, Fraction(0), None))
    for form, threshold in attempts:
        weight = to_rational(threshold) + offset
        line = 1 + context.growth * weight
        epsilon = context.epsilon.subs(context.weight, weight)
        gap = epsilon - sympy.log(line) if form == "log" else sympy.exp(epsilon) - line
        fixed: Tree = {"threshold": exact_text(threshold), "threshold-proof": trees.MANIFEST, "form": form}
        claim = settle(context, ID, fixed, {"direct": Goal(gap, beyond, strict=True)})
        if claim is not None:
            details = {"threshold": exact_text(threshold)}
            method = "comparison of epsilon with log(1 + E w) from an explicit threshold"
            return Decision(ID, Verdict.PROVED, method, claim=claim, checked=True, details=details)
    return None


def _refute(context: Context, records: Iterable[Place]) -> Decision | None:
    for record in records:
        epsilon = substituted(Goal(context.epsilon, context.domain), record)
        gap = sympy.log(1 + context.growth * context.weight) - epsilon
        far = _far_start(gap)
        if far is None:
            continue
        for form, expression in (
            ("log", gap),
            ("exp", 1 + context.growth * context.weight - sympy.exp(epsilon)),
        ):
            for start in (*TAIL_STARTS, far) if far == TAIL_STARTS[-1] else (far,):
                goal = Goal(expression, (Variable("w", Fraction(start), None),))
                tail = within(TAIL_SLICE, partial(prove, goal, 3))
                if tail is not None:
                    proof: Tree = {"at": place_json(record), "threshold": str(start), "form": form, "tail": tail}
                    reason = f"at this record epsilon stays at or below log(1 + w*(exp(target) - 1)) for all w >= {start}"
                    decision = accept(context, ID, Verdict.REFUTED, proof, method="tail comparison at one record", witness=record)
                    if decision.checked:
                        return replace(decision, reason=reason if decision.reason is None else f"{decision.reason}: {reason}")
    return None


def _far_start(gap: sympy.Expr) -> int | None:
    """Return a power of ten from which on a function of the weight is not negative at any of some weights, None if there is none."""
    term, found = from_sympy(gap), None
    for exponent in reversed(TAIL_EXPONENTS):
        if not as_ball(value_at(term, {"w": Fraction(10) ** exponent}, 128)) >= 0:
            break
        found = 10**exponent
    return found


def _prove_by_growth(context: Context) -> Decision | None:
    """Prove it with a threshold that is a term in the records and parameters."""
    for threshold, proof in prove_growth(context):
        method = "quadratic growth of exp(epsilon) from an explicit threshold"
        decision = accept(context, ID, Verdict.PROVED, proof, method=method, details={"threshold": threshold})
        if decision.checked:
            return decision
    return None
