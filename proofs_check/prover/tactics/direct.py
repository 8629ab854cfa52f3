"""Trees without subgoals: identity, manifest sign, interval subdivision."""

from __future__ import annotations

from collections.abc import Iterator

import sympy

from profiles.symbolic import TableFunction
from proofs_check.prover import trees
from proofs_check.prover.attempt import MAX_DEPTH, Attempt
from proofs_check.prover.explore import GoalStatus, explore
from proofs_check.results import Tree

SMALL_BUDGET = 400
LARGE_BUDGET = 6000
FEW = 4

_BRANCHING = (sympy.Abs, sympy.Max, sympy.Min, sympy.Piecewise)


def identity(attempt: Attempt) -> Iterator[Tree]:
    """The expression is 0."""
    if not attempt.goal.strict:
        yield trees.ZERO


def manifest(_attempt: Attempt) -> Iterator[Tree]:
    """The sign can be read off a normal form."""
    yield trees.MANIFEST


def subdivide(attempt: Attempt) -> Iterator[Tree]:
    """Subdivision, where ball arithmetic has found the goal true (before the tail, at least)."""
    exploration = attempt.exploration
    if exploration.status is GoalStatus.HOLDS:
        yield trees.boxes(4 * exploration.boxes + 50)
    elif exploration.status is GoalStatus.HOLDS_BEFORE_TAIL:
        yield trees.boxes(min(4 * exploration.boxes + 50, LARGE_BUDGET))
    elif attempt.plausible and attempt.goal.expression.has(TableFunction, sympy.floor, sympy.ceiling):
        yield trees.boxes(SMALL_BUDGET)  # the kernel's intervals end at 0 where a ball around [0, x] reaches below
    elif attempt.plausible and not attempt.goal.strict and all(variable.hi is not None for variable in attempt.used):
        yield trees.boxes(FEW)  # so where it is 0 at a corner, and nowhere less on the whole


def subdivide_more(attempt: Attempt) -> Iterator[Tree]:
    """Subdivision with mean-value forms, and with a large budget for the goal that the search started from."""
    if not attempt.plausible or not attempt.used or attempt.depth == 0:
        return
    if all(variable.hi is not None for variable in attempt.used):
        if not attempt.goal.expression.has(*_BRANCHING) or attempt.depth >= MAX_DEPTH:  # those have no derivative until they are resolved
            yield trees.boxes(SMALL_BUDGET, centred=True)
        if attempt.depth >= MAX_DEPTH and explore(attempt.goal, budget=LARGE_BUDGET).status is GoalStatus.HOLDS:
            yield trees.boxes(4 * LARGE_BUDGET)
    elif attempt.depth >= MAX_DEPTH:
        yield trees.boxes(SMALL_BUDGET)
