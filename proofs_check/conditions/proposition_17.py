"""Proposition 17 (Fay et al. 2024), its condition: ε(w, x) ≤ w·ε′(w, x) for all records and all w ≥ 1.

Where it holds at a record, no Poisson importance sampler improves the privacy of that record.
"""

from __future__ import annotations

import sympy

from proofs_check.conditions.branches import LeftSide, find_pieces, refute_beside_kinks, refute_by_kink, undecided
from proofs_check.conditions.context import Context
from proofs_check.conditions.decide import accept_proof, decide_for_all
from proofs_check.prover.algebra import derivative
from proofs_check.prover.search import prove
from proofs_check.prover.trees import describe
from proofs_check.results import Decision, Verdict

ID = "proposition-17"
MEANING = "sampling more rarely helps at no record"
STATEMENT = "for all records x and all w >= 1: epsilon(w, x) <= w * d/dw epsilon(w, x)"


def decide(context: Context) -> Decision:
    """Decide w·ε′ − ε ≥ 0 on records × [1, ∞)."""

    def gap(epsilon: sympy.Expr) -> sympy.Expr:
        return context.weight * derivative(epsilon, context.weight) - epsilon

    if context.smooth:
        decision = decide_for_all(context, ID, context.for_all(gap(context.epsilon)), field="bound")
        if context.smooth_from_one or decision.verdict is not Verdict.UNKNOWN:
            return decision
        return _prove_in_pieces(context, gap) or decision
    return (
        refute_by_kink(context, ID)
        or refute_beside_kinks(context, ID, gap, strict=False, field="bound")
        or _prove_in_pieces(context, gap)
        or undecided(ID)
    )


def _prove_in_pieces(context: Context, gap: LeftSide) -> Decision | None:
    pieces = find_pieces(context)
    if pieces is None:
        return None
    proofs = [prove(piece.goal(gap(piece.epsilon), context.weight)) for piece in pieces.pieces]
    if None in proofs:
        return None
    decision = accept_proof(context, ID, {**pieces.fields(), "bound": proofs}, method=f"smooth pieces: {describe(proofs)}")
    return decision if decision.checked else None
