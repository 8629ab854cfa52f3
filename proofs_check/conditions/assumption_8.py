"""Assumption 8 (Fay et al. 2024): for all records x, ε* ≥ ε(1, x)."""

from __future__ import annotations

from proofs_check.conditions.context import Context
from proofs_check.conditions.decide import decide_for_all
from proofs_check.results import Decision

ID = "assumption-8"
MEANING = "some feasible weight exists"
STATEMENT = "for all records x: epsilon(1, x) <= target"


def decide(context: Context) -> Decision:
    """Decide ε* − ε(1, x) ≥ 0 on the records."""
    gap = context.target_rational - context.at_one(context.epsilon)
    return decide_for_all(context, ID, context.for_records(gap), field="bound")
