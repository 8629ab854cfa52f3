"""Proposition 16 (Fay et al. 2024), its condition: ε′(1, x) < 1 − exp(−ε(1, x)), pointwise in x.

Where it holds, some Poisson importance sampler improves the privacy of x.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import sympy

from proofs_check.conditions.branches import refute_beside_kinks
from proofs_check.conditions.context import Context
from proofs_check.conditions.decide import decide_for_all
from proofs_check.conditions.region import find_region
from proofs_check.prover.algebra import derivative
from proofs_check.results import Decision, Verdict

ID = "proposition-16"
STATEMENT = "for all records x: d/dw epsilon(1, x) < 1 - exp(-epsilon(1, x))"


def decide(context: Context) -> Decision:
    """Decide 1 − exp(−ε(1, x)) − ε′(1, x) > 0 on the records, and find the region of records where it holds."""
    epsilon, smooth = context.near_one

    def gap(epsilon: sympy.Expr) -> sympy.Expr:
        return 1 - sympy.exp(-context.at_one(epsilon)) - context.at_one(derivative(epsilon, context.weight))

    if not smooth:
        return refute_beside_kinks(context, ID, gap, strict=True, field="bound", weight=Fraction(1)) or Decision(
            ID, Verdict.UNKNOWN, "none", reason="epsilon has branches in w near w = 1 that no rule resolves"
        )
    if gap(epsilon).has(sympy.zoo, sympy.oo, sympy.nan):
        return Decision(ID, Verdict.UNKNOWN, "none", reason="the slope of epsilon at w = 1 is not finite")
    goal = context.for_records(gap(epsilon), strict=True)
    decision = decide_for_all(context, ID, goal, field="bound")
    return replace(decision, details={**decision.details, "region": find_region(goal, decision.verdict)})
