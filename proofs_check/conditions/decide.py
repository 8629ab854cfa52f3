"""The common course of a decision: look for a violating point, else search for a proof, and let the kernel check what was found."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from profiles.numbers import exact_text
from proofs_check.certificates import checks, point_json
from proofs_check.conditions.context import Context
from proofs_check.prover.explore import Outcome, explore
from proofs_check.prover.goals import Goal
from proofs_check.prover.search import prove
from proofs_check.prover.smooth import kink_points
from proofs_check.prover.trees import describe
from proofs_check.results import Decision, Tree, Verdict


def decide_for_all(context: Context, condition: str, goal: Goal, *, field: str) -> Decision:
    """Decide a condition that is one goal: refuted by one point, proved by one tree.

    The point is confirmed in ball arithmetic; tree and point are then put to the kernel, which derives the goal by itself.
    """
    exploration = explore(goal)
    if exploration.outcome is Outcome.VIOLATED and exploration.witness is not None:
        return refute_at(context, condition, goal, exploration.witness, field=field)
    tree = prove(goal)
    if tree is not None:
        return accept(context, condition, Verdict.PROVED, {field: tree}, method=describe(tree))
    return unknown(condition, exploration.outcome)


def unknown(condition: str, outcome: Outcome) -> Decision:
    """Return an unknown verdict that says how far the search came."""
    reasons = {
        Outcome.HOLDS: "ball arithmetic finds it true on the whole domain, but no rule of the kernel proves it",
        Outcome.HOLDS_BEFORE_TAIL: "ball arithmetic finds it true before very large or very small values, but no rule proves it there",
        Outcome.UNDECIDED: "neither a proof nor a witness was found within the search budget (it may hold with equality somewhere)",
        Outcome.VIOLATED: "ball arithmetic finds a violation that the kernel does not confirm",
    }
    return Decision(condition, Verdict.UNKNOWN, "none", reason=reasons[outcome])


def refute_at(context: Context, condition: str, goal: Goal, point: Mapping[str, Fraction], *, field: str) -> Decision:
    """Return the refutation by a point at which the goal certainly fails."""
    negated = Goal(-substituted(goal, point), (), not goal.strict)
    tree = prove(negated) or {"rule": "boxes", "budget": 1, "precision": 256}
    proof = {"at": point_json(point), field: tree}
    return accept(context, condition, Verdict.REFUTED, proof, method="witness", witness=point)


def substituted(goal: Goal, point: Mapping[str, Fraction]) -> Any:
    """Return the goal's expression at a point."""
    fixed = goal
    for name, value in point.items():
        fixed = fixed.at(name, value)
    return fixed.expression


def accept(
    context: Context,
    condition: str,
    verdict: Verdict,
    proof: Tree,
    *,
    method: str,
    witness: Mapping[str, Fraction] | None = None,
    details: Mapping[str, Any] | None = None,
) -> Decision:
    """Return a decision whose claim was put to the kernel; ``checked`` tells what the kernel said."""
    claim: Tree = {"claim": condition, "verdict": verdict.value, "proof": proof}
    return Decision(
        condition,
        verdict,
        method,
        witness=witness,
        claim=claim,
        checked=checks(context.profile, [claim], target=context.target),
        details=details or {},
    )


def decide_kinked(context: Context, condition: str) -> Decision:
    """Decide a condition that needs ε′ for a profile with branches in w: refuted at a kink that the kernel confirms, else unknown."""
    for point in kink_points(context.epsilon, context.records, context.weight):
        claim: Tree = {"claim": condition, "verdict": "refuted", "proof": {"at": point_json(point), "kink": True}}
        if checks(context.profile, [claim], target=context.target):
            reason = f"epsilon is not differentiable in w at w = {exact_text(point[context.weight.name])}"
            return Decision(condition, Verdict.REFUTED, "kink", witness=point, reason=reason, claim=claim, checked=True)
    return Decision(condition, Verdict.UNKNOWN, "none", reason="epsilon has branches in w that no rule resolves, and no kink was confirmed")
