"""The common course of a decision: look for a violating point, else search for a proof, and let the kernel check what was found."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from proofs_check.certificates import point_json, report_on
from proofs_check.conditions.context import Context
from proofs_check.kernel import Report
from proofs_check.prover.explore import Outcome, candidates, explore, telling_points, violates
from proofs_check.prover.goals import Goal
from proofs_check.prover.pointwise import UndefinedAtPoint, as_ball, value_at
from proofs_check.prover.search import proofs, prove
from proofs_check.prover.trees import describe
from proofs_check.results import Decision, Tree, Verdict

MOST_TOUCHING = 40
#: Points that are looked at for a violation, and violations that are put to the kernel.
MOST_POINTS, MOST_OTHERS = 400, 12

#: How a number is shown to be positive, and how many other ways are tried.
AT_ONCE, MOST_TREES = {"rule": "boxes", "budget": 1, "precision": 256}, 6


def decide_for_all(context: Context, condition: str, goal: Goal, *, field: str) -> Decision:
    """Decide a condition that is one goal: refuted by one point, proved by one tree.

    The point is confirmed in ball arithmetic; tree and point are then put to the kernel, which derives the goal by itself.
    """
    exploration = explore(goal)
    if exploration.outcome is Outcome.VIOLATED and exploration.witness is not None:
        return refute_around(context, condition, goal, exploration.witness, field=field)
    touching = touching_point(goal)
    if touching is not None:
        return refute_at(context, condition, goal, touching, field=field)
    claim = settle(context, condition, {}, {field: goal})
    if claim is not None:
        return Decision(condition, Verdict.PROVED, describe(claim["proof"]), claim=claim, checked=True)
    return unknown(condition, exploration.outcome)


def touching_point(goal: Goal) -> dict[str, Fraction] | None:
    """Return a point at which a strict goal fails with equality: the expression is zero there, which balls cannot see."""
    if not goal.strict:
        return None
    for point in telling_points(goal.expression, goal.box, 8)[:MOST_TOUCHING]:
        try:
            value = value_at(goal.term, point, 256)
        except UndefinedAtPoint:
            continue
        if not as_ball(value).contains(0):
            continue
        if prove(Goal(-substituted(goal, point), ()), 1) is not None:
            return point
    return None


def settle(context: Context, condition: str, fixed: Tree, goals: Mapping[str, Goal], *, verdict: str = "proved") -> Tree | None:
    """Return the claim with a tree in each field of ``goals`` that the kernel accepts as a whole, None if there is none.

    The kernel derives the goals of a claim by itself; where it rejects one field's tree, the next tree for that field is tried.
    """
    supplies = {field: proofs(goal) for field, goal in goals.items()}
    chosen = {field: next(supply, None) for field, supply in supplies.items()}
    while all(tree is not None for tree in chosen.values()):
        claim = context.claim(condition, verdict, {**fixed, **chosen})
        report = ask_kernel(context, claim)
        if report.accepted:
            return claim
        root = ".proof" if context.place is None else f".proof{context.place.step}"
        failed = next((field for field in goals if f"{root}.{field}" in (report.step or "")), None)
        if failed is None:
            return None
        chosen[failed] = next(supplies[failed], None)
    return None


def ask_kernel(context: Context, claim: Tree) -> Report:
    """Return what the kernel says of a claim about the records of a context.

    Where these are some records only, the claim's proof is put into its place in the proof about all of them, and counts as accepted once
    the kernel has gone past that place: whether it accepts the whole is to be asked when the whole is there.
    """
    place = context.place
    if place is None:
        return report_on(context.profile, [claim], target=context.target)
    whole: Tree = {**claim, "claim": place.condition, "proof": place.put(claim["proof"])}
    report = report_on(place.whole, [whole], target=context.target)
    here, failed = f"claims[1].proof{place.step}", (report.step or "").removeprefix("certificate.")
    passed = not failed.startswith(here) and not here.startswith(failed)
    return Report(accepted=True) if report.accepted or passed else report


def unknown(condition: str, outcome: Outcome) -> Decision:
    """Return an unknown verdict that says how far the search came."""
    reasons = {
        Outcome.HOLDS: "ball arithmetic finds it true on the whole domain, but no rule of the kernel proves it",
        Outcome.HOLDS_BEFORE_TAIL: "ball arithmetic finds it true before very large or very small values, but no rule proves it there",
        Outcome.UNDECIDED: "neither a proof nor a witness was found within the search budget (it may hold with equality somewhere)",
        Outcome.VIOLATED: "ball arithmetic finds a violation that the kernel does not confirm",
    }
    return Decision(condition, Verdict.UNKNOWN, "none", reason=reasons[outcome])


def refute_around(context: Context, condition: str, goal: Goal, point: Mapping[str, Fraction], *, field: str) -> Decision:
    """Return the refutation by a point, or by another one if the kernel does not accept that one (it may not be smooth there)."""
    decision = refute_at(context, condition, goal, point, field=field)
    others = (other for other in candidates(goal.box, MOST_POINTS) if violates(goal.term, other, strict=goal.strict))
    for other in itertools.islice(others, MOST_OTHERS):
        if decision.checked:
            break
        decision = refute_at(context, condition, goal, other, field=field)
    return decision


def refute_at(context: Context, condition: str, goal: Goal, point: Mapping[str, Fraction], *, field: str) -> Decision:
    """Return the refutation by a point at which the goal certainly fails."""
    negated = Goal(-substituted(goal, point), (), not goal.strict)
    for tree in (AT_ONCE, *itertools.islice(proofs(negated, 1), MOST_TREES)):
        proof = {"at": point_json(point), field: tree}
        decision = accept(context, condition, Verdict.REFUTED, proof, method="witness", witness=point)
        if decision.checked:
            break
    return decision


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
    claim = context.claim(condition, verdict.value, proof)
    return Decision(
        condition,
        verdict,
        method,
        witness=witness,
        claim=claim,
        checked=ask_kernel(context, claim).accepted,
        details=details or {},
    )
