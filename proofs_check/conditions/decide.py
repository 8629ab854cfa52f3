"""The common course of a decision: look for a violating point, else search for a proof, and let the kernel check what was found."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import sympy

from profiles.errors import InvalidExpression
from profiles.numbers import exact_text
from profiles.symbolic import from_sympy, to_rational
from profiles.terms import to_text
from proofs_check.conditions.context import Context
from proofs_check.kernel import Report
from proofs_check.prover.algebra import expand, put_in
from proofs_check.prover.effort import until_failure
from proofs_check.prover.explore import GoalStatus, explore, violates
from proofs_check.prover.goals import Goal
from proofs_check.prover.minimize import exact_points, rational_point
from proofs_check.prover.points import candidates, telling_points
from proofs_check.prover.pointwise import UndefinedAtPoint, as_ball, value_at
from proofs_check.prover.search import proofs, prove
from proofs_check.prover.trees import describe
from proofs_check.results import Decision, Tree, Verdict

MOST_TOUCHING = 40
#: Points that are looked at for a violation, and violations that are put to the kernel.
MOST_POINTS, MOST_OTHERS = 400, 12

#: How a number is shown to be positive, and how many other ways are tried.
AT_ONCE, FINELY, MOST_TREES = {"rule": "boxes", "budget": 1, "precision": 256}, {"rule": "boxes", "budget": 1, "precision": 1024}, 6
#: Points that are looked at with more bits, for a violation that is tiny beside its parts.
MOST_FINE, FINE_BITS = 12, 1000


def decide_for_all(context: Context, condition: str, goal: Goal, *, field: str) -> Decision:
    """Decide a condition that is one goal: refuted by one point, proved by one tree.

    The point is confirmed in ball arithmetic; tree and point are then put to the kernel, which derives the goal by itself.
    """
    refutation = refute_by_point(context, condition, goal, field=field)
    if refutation is not None:
        return refutation
    claim = settle(context, condition, {}, {field: goal})
    if claim is not None:
        return Decision(condition, Verdict.PROVED, describe(claim["proof"]), claim=claim, checked=True)
    return unknown(condition, explore(goal).status)


def refute_by_point(context: Context, condition: str, goal: Goal, *, field: str) -> Decision | None:
    """Return the refutation by a simple point, by one at which a strict goal holds with equality, or by one that branch and bound finds."""
    exploration = explore(goal, budget=1)
    if exploration.status is not GoalStatus.VIOLATED:
        touching = touching_point(goal, context.least_records)
        if touching is not None:
            decision = refute_at(context, condition, goal, touching, field=field)
            if decision.checked:
                return decision
        terms = list(dict.fromkeys(from_sympy(form) for form in (goal.expression, expand(goal.expression))))
        points = candidates(goal.box, MOST_FINE)
        seen = (p for t in terms for p in points if violates(t, p, strict=goal.strict, precision=FINE_BITS))
        fine = next(until_failure(seen), None)
        if fine is not None:
            return refute_at(context, condition, goal, fine, field=field)
        exploration = explore(goal)
    if exploration.status is GoalStatus.VIOLATED and exploration.witness is not None:
        return refute_around(context, condition, goal, exploration.witness, field=field)
    return None


#: An exact point: fractions, or closed terms such as sqrt(2), which the kernel substitutes as they are.
Place = Mapping[str, Fraction] | Mapping[str, sympy.Expr]


def touching_point(goal: Goal, records: Sequence[Mapping[str, sympy.Expr]] = ()) -> Place | None:
    """Return a point at which a strict goal fails with equality: the expression is zero there, which balls cannot see.

    ``records`` are looked at first, at the lower ends of the other variables.
    """
    if not goal.strict:
        return None
    for record in records:
        exact = {variable.name: record.get(variable.name, to_rational(variable.lo)) for variable in goal.box}
        if _is_zero_at(goal, exact):
            return rational_point(exact) or exact
    for point in telling_points(goal.expression, goal.box, 8)[:MOST_TOUCHING]:
        try:
            value = value_at(goal.term, point, 256)
        except UndefinedAtPoint:
            continue
        if as_ball(value).contains(0) and _is_zero_at(goal, point):
            return point
    for exact in until_failure(exact_points(goal.expression, goal.box)):
        if _is_zero_at(goal, exact):
            return rational_point(exact) or exact
    return None


def _is_zero_at(goal: Goal, point: Place) -> bool:
    """Tell whether a goal that is not violated at a point is proved to be at most 0 there."""
    try:
        return prove(Goal(-substituted(goal, point), ()), 1) is not None
    except InvalidExpression:
        return False


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
        return context.forms.admit().report([claim], target=context.target)
    whole: Tree = {**claim, "claim": place.condition, "proof": place.put(claim["proof"])}
    report = place.whole.admit().report([whole], target=context.target)
    here, failed = f"claims[1].proof{place.step}", (report.step or "").removeprefix("certificate.")
    passed = not failed.startswith(here) and not here.startswith(failed)
    return Report(accepted=True) if report.accepted or passed else report


def unknown(condition: str, status: GoalStatus) -> Decision:
    """Return an unknown verdict that says how far the search came."""
    reasons = {
        GoalStatus.HOLDS: "ball arithmetic finds it true on the whole domain, but no rule of the kernel proves it",
        GoalStatus.HOLDS_BEFORE_TAIL: "ball arithmetic finds it true before very large or very small values, but no rule proves it there",
        GoalStatus.UNDECIDED: "neither a proof nor a witness was found within the search budget (it may hold with equality somewhere)",
        GoalStatus.VIOLATED: "ball arithmetic finds a violation that the kernel does not confirm",
    }
    return Decision(condition, Verdict.UNKNOWN, "none", reason=reasons[status])


def refute_around(context: Context, condition: str, goal: Goal, point: Mapping[str, Fraction], *, field: str) -> Decision:
    """Return the refutation by a point, or by another one if the kernel does not accept that one (it may not be smooth there)."""
    decision = refute_at(context, condition, goal, point, field=field)
    others = (other for other in candidates(goal.box, MOST_POINTS) if violates(goal.term, other, strict=goal.strict))
    for other in itertools.islice(others, MOST_OTHERS):
        if decision.checked:
            break
        decision = refute_at(context, condition, goal, other, field=field)
    return decision


def refute_at(context: Context, condition: str, goal: Goal, point: Place, *, field: str) -> Decision:
    """Return the refutation by a point at which the goal certainly fails."""
    for tree in itertools.chain((AT_ONCE, FINELY), _trees_at(goal, point)):
        proof = {"at": place_json(point), field: tree}
        decision = accept_refutation(context, condition, proof, method="witness", witness=point)
        if decision.checked:
            break
    return decision


def _trees_at(goal: Goal, point: Place) -> Iterator[Tree]:
    try:
        negated = Goal(-substituted(goal, point), (), not goal.strict)
        yield from itertools.islice(proofs(negated, 1), MOST_TREES)
    except InvalidExpression:  # a number has too many digits to be written down
        return


def place_json(point: Place) -> dict[str, str]:
    """Return an exact point as the certificate format writes it."""
    return {name: exact_text(v) if isinstance(v, Fraction) else to_text(from_sympy(v)) for name, v in point.items()}


def substituted(goal: Goal, point: Place) -> Any:
    """Return the goal's expression at a point. Raises :class:`InvalidExpression` where numbers become too long."""
    values = {name: to_rational(value) if isinstance(value, Fraction) else value for name, value in point.items()}
    return put_in(goal.expression, {symbol: values[symbol.name] for symbol in goal.expression.free_symbols if symbol.name in values})


def accept_proof(context: Context, condition: str, proof: Tree, *, method: str, details: Mapping[str, Any] | None = None) -> Decision:
    """Return a decision that a condition is true, whose claim was put to the kernel; ``checked`` tells what the kernel said."""
    claim = context.claim(condition, Verdict.PROVED.value, proof)
    checked = ask_kernel(context, claim).accepted
    return Decision(condition, Verdict.PROVED, method, claim=claim, checked=checked, details=details or {})


def accept_refutation(context: Context, condition: str, proof: Tree, *, method: str, witness: Place | None = None) -> Decision:
    """Return a decision that a condition is false, whose claim was put to the kernel; ``checked`` tells what the kernel said.

    A witness with a coordinate that is not a fraction is named in the reason.
    """
    claim = context.claim(condition, Verdict.REFUTED.value, proof)
    witness = None if witness is None else rational_point(witness) or witness
    fractions = {name: value for name, value in (witness or {}).items() if isinstance(value, Fraction)}
    rational = None if witness is None or len(fractions) < len(witness) else fractions
    where = "" if witness is None or rational is not None else ", ".join(f"{name} = {value}" for name, value in place_json(witness).items())
    return Decision(
        condition,
        Verdict.REFUTED,
        method,
        witness=rational,
        reason=f"it fails at {where}" if where else None,
        claim=claim,
        checked=ask_kernel(context, claim).accepted,
    )
