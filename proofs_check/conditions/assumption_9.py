"""Assumption 9 (Fay et al. 2024): for each record x there is v ≥ 1 with ε(w, x) > log(1 + w(e^ε* − 1)) for all w ≥ v.

With F(w) = ε − log(1 + E w), E = e^ε* − 1, the proof is the slope lemma: F(v) > 0 and w·ε′ ≥ 1 for all w ≥ v give F′ ≥ 1/w − E/(1 + E w) > 0, so
F > 0 from v on. It is refuted at a record where F ≤ 0 from some w on.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import sympy

from profiles.numbers import exact_text
from profiles.profile import Variable
from profiles.symbolic import from_sympy, to_rational
from profiles.terms import to_text
from proofs_check.certificates import point_json
from proofs_check.conditions.context import Context
from proofs_check.conditions.decide import accept
from proofs_check.prover import trees
from proofs_check.prover.asymptotics import eventually_exceeds
from proofs_check.prover.explore import candidates
from proofs_check.prover.goals import Goal
from proofs_check.prover.pointwise import as_ball, value_at
from proofs_check.prover.search import prove
from proofs_check.prover.smooth import resolve
from proofs_check.results import Decision, Tree, Verdict

ID = "assumption-9"
STATEMENT = "for all records x there is v >= 1 such that epsilon(w, x) > log(1 + w*(exp(target) - 1)) for all w >= v"

LARGEST_THRESHOLD_BITS = 4096
TAIL_STARTS = (1, 2, 10, 1000)


def decide(context: Context) -> Decision:
    """Prove it with one threshold for all records, else refute it at a record, else say unknown."""
    return (
        _prove_uniformly(context)
        or _refute(context)
        or _prove_by_growth(context)
        or Decision(ID, Verdict.UNKNOWN, "none", reason="no threshold v could be proved for all records, and no record was found where none exists")
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
            decision = accept(context, ID, Verdict.PROVED, claim, method="slope lemma from an explicit threshold", details=details)
            if decision.checked:
                return decision
    return None


def _thresholds(context: Context) -> Iterator[Fraction]:
    """Yield powers of two at which ε exceeds log(1 + E v) at all sampled records: the first that do, and a generous one."""
    points = candidates(context.records, 200)
    term = from_sympy(_excess(context))
    found = 0
    for exponent in (*range(17), *range(20, 128, 4), *range(128, LARGEST_THRESHOLD_BITS, 128)):
        threshold = Fraction(2**exponent)
        if all(as_ball(value_at(term, {**point, "w": threshold}, 128)) > 0 for point in points):
            yield threshold
            found += 1
            if found == 3:
                return


def _claim_from(context: Context, threshold: Fraction) -> Tree | None:
    at_threshold = _excess(context).subs(context.weight, to_rational(threshold))
    start = prove(context.for_records(at_threshold, strict=True))
    if start is None:
        return None
    beyond = (*context.records, Variable("w", threshold, None))
    epsilon, smooth = resolve(context.epsilon, beyond, context.weight)
    if not smooth:
        return None
    slope = prove(Goal(context.weight * sympy.diff(epsilon, context.weight) - 1, beyond))
    if slope is None:
        return None
    return {"threshold": exact_text(threshold), "threshold-proof": trees.MANIFEST, "start": start, "slope": slope}


def _refute(context: Context) -> Decision | None:
    for record in candidates(context.records, 24):
        values = {symbol: to_rational(record[symbol.name]) for symbol in context.epsilon.free_symbols if symbol.name in record}
        epsilon = context.epsilon.subs(values)
        for form, expression in (
            ("exp", 1 + context.growth * context.weight - sympy.exp(epsilon)),
            ("log", sympy.log(1 + context.growth * context.weight) - epsilon),
        ):
            for start in TAIL_STARTS:
                goal = Goal(expression, (Variable("w", Fraction(start), None),))
                tail = prove(goal, 3)
                if tail is not None:
                    proof: Tree = {"at": point_json(record), "threshold": str(start), "form": form, "tail": tail}
                    reason = f"at this record epsilon stays at or below log(1 + w*(exp(target) - 1)) for all w >= {start}"
                    decision = accept(context, ID, Verdict.REFUTED, proof, method="tail comparison at one record", witness=record)
                    if decision.checked:
                        return Decision(ID, Verdict.REFUTED, decision.method, record, reason, decision.claim, checked=True)
    return None


def _prove_by_growth(context: Context) -> Decision | None:
    """Fall back on the leading term of ε as w → ∞, record by record; the kernel has no rule for it yet."""
    if not eventually_exceeds(context.epsilon, context.weight, context.growth, context.records):
        return None
    details = {"threshold": None, "leading_term": to_text(from_sympy(context.epsilon))}
    return Decision(ID, Verdict.PROVED, "leading term as w grows (positive power with positive coefficient)", details=details)
