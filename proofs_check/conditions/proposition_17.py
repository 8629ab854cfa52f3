"""Proposition 17 (Fay et al. 2024), its condition: ε(w, x) ≤ w·ε′(w, x) for all records and all w ≥ 1.

Where it holds at a record, no Poisson importance sampler improves the privacy of that record.
"""

from __future__ import annotations

from proofs_check.conditions.context import Context
from proofs_check.conditions.decide import decide_for_all, decide_kinked
from proofs_check.results import Decision

ID = "proposition-17"
STATEMENT = "for all records x and all w >= 1: epsilon(w, x) <= w * d/dw epsilon(w, x)"


def decide(context: Context) -> Decision:
    """Decide w·ε′ − ε ≥ 0 on records × [1, ∞)."""
    if not context.smooth:
        return decide_kinked(context, ID)
    gap = context.weight * context.first - context.epsilon
    return decide_for_all(context, ID, context.for_all(gap), field="bound")
