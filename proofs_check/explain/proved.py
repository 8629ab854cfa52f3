"""Explanations of proved conditions, claim by claim."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy

from profiles.numbers import to_exact
from profiles.profile import WEIGHT, Variable
from profiles.symbolic import from_sympy, to_rational
from profiles.terms import number, symbol
from proofs_check.conditions.branches import Pieces, find_pieces
from proofs_check.conditions.context import Context
from proofs_check.conditions.growth import offset_name
from proofs_check.explain.document import Formula, Prose, Step
from proofs_check.explain.notation import EPSILON, MU, SLOPE, THRESHOLD
from proofs_check.explain.reasons import step
from proofs_check.explain.rules import explain_tree
from proofs_check.explain.setting import ZERO, Setting, claim, for_all, listed, neat, range_formula
from proofs_check.explain.statements import AT_ONE, CURVATURE, LEFT, LINE, ONE, E, W, derivatives_step, gap, goal_formula
from proofs_check.prover.goals import Goal
from proofs_check.prover.smooth import resolve
from proofs_check.results import Decision, Tree


def make_setting(context: Context, goal: Goal) -> Setting:
    """Return a goal with the names that the certificate of this profile may use."""
    return Setting(goal, context.profile.values())


def explain_inequality(context: Context, decision: Decision, proof: Tree) -> tuple[Step, ...]:
    """A condition that is one inequality, proved by one tree (``proposition-17`` also by one tree a piece)."""
    name = decision.condition
    if "cuts" in proof:
        return _in_pieces(context, name, proof["bound"])
    epsilon = context.near_one[0] if name == "proposition-16" else context.epsilon
    goal = Goal(gap(context, name, epsilon), context.records if name in AT_ONE else context.domain, name == "proposition-16")
    derivatives = () if name == "assumption-8" else (derivatives_step(context, epsilon, second=False),)
    shown = goal_formula(context, name, epsilon, goal)
    return (
        *derivatives,
        step(("To be shown: ",), make_setting(context, goal), proof["bound"], explain_tree, shown=shown, behind=for_all(goal.box)),
    )


def _in_pieces(
    context: Context, condition: str, trees: Sequence[Tree], floor: sympy.Expr = sympy.S.Zero, form: str = "log"
) -> tuple[Step, ...]:
    """One tree for each smooth piece of ε: the left side of the condition (times e^ε in the form ``exp``) minus a floor."""
    found = find_pieces(context)
    if found is None:
        return (Step(("The pieces of epsilon could not be recomputed here; pdp check checks them.",)),)
    left = LEFT[condition] if form == "log" else ("mul", LEFT[condition], ("exp", EPSILON))
    name = left if floor == 0 else ("add", left, ("neg", MU))
    steps = [_meeting(context, found)]
    for (epsilon, box), tree in zip(found.pieces, trees, strict=True):
        raw = gap(context, condition, epsilon)
        goal = Goal((raw if form == "log" else raw * sympy.exp(epsilon)) - floor, box)
        lead: Prose = ("On ", range_formula(box[-1]), ", ", Formula((EPSILON, "=", from_sympy(epsilon))), ". To be shown: ")
        steps.append(step(lead, make_setting(context, goal), tree, explain_tree, shown=claim(goal, name=name)))
    return tuple(steps)


def _meeting(context: Context, found: Pieces) -> Step:
    """Say that neighbouring pieces have the same value and the same derivative at each cut."""
    said: list[Prose] = []
    for cut, (before, _), (after, _) in zip(found.cuts, found.pieces, found.pieces[1:], strict=False):
        sides = [[part.subs(context.weight, to_rational(cut)) for part in (e, sympy.diff(e, context.weight))] for e in (before, after)]
        (value, slope), (value_after, slope_after) = ([from_sympy(neat(part)) for part in side] for side in sides)
        same = [
            Formula((name, "=", a, "=", b), context.records) for name, a, b in ((EPSILON, value, value_after), (SLOPE, slope, slope_after))
        ]
        said.append(("at ", Formula((W, "=", number(cut))), ", ", same[0], " and ", same[1]))
    return Step(
        (
            "epsilon is one smooth expression on each piece, and the pieces meet with equal values and derivatives: ", *listed(said),
            ", from below and from above. So epsilon is continuously differentiable.",
        )
    )  # fmt: skip


def explain_threshold(context: Context, _decision: Decision, proof: Tree) -> tuple[Step, ...]:
    """Assumption 9: a threshold, and the slope lemma or a direct comparison from there on."""
    base = make_setting(context, Goal(sympy.S.Zero, context.records))
    threshold = base.read(str(proof["threshold"]))
    offset = offset_name(context)
    wide = base.with_variable(Variable(offset, to_exact("0"), None))
    weight = threshold + wide.symbols[offset]
    epsilon = context.epsilon.subs(context.weight, weight)
    chosen = Formula((THRESHOLD, "=", from_sympy(threshold)))
    above = base.about(threshold - 1)
    steps = [step(("Choose the threshold ", chosen, ". It is at least 1: "), above, proof["threshold-proof"], explain_tree)]
    if not threshold.free_symbols and threshold.is_Rational:
        steps = [Step(("Choose the same threshold ", chosen, " for all records."))]
    beyond: Prose = ("for ", Formula((W, "=", ("add", from_sympy(threshold), symbol(offset)))), " with ", range_formula(wide.goal.box[-1]))
    if "direct" in proof:
        return (*steps, _direct(context, wide, epsilon, weight, proof, beyond))
    return (*steps, *_slope_lemma(context, wide, threshold, weight, proof, beyond))


def _direct(context: Context, setting: Setting, epsilon: sympy.Expr, weight: sympy.Expr, proof: Tree, beyond: Prose) -> Step:
    line = 1 + context.growth * weight
    log = proof["form"] == "log"
    goal = setting.about(epsilon - sympy.log(line) if log else sympy.exp(epsilon) - line, strict=True)
    left = ("add", EPSILON, ("neg", LINE)) if log else ("add", ("exp", EPSILON), ("neg", ("add", ONE, ("mul", E, W))))
    how: Prose = ("Compare directly, ", *beyond, ": ") if log else ("Compare the exponentials of both sides, ", *beyond, ": ")
    return step(how, goal, proof["direct"], explain_tree, shown=claim(goal.goal, name=left))


def _slope_lemma(
    context: Context, setting: Setting, threshold: sympy.Expr, weight: sympy.Expr, proof: Tree, beyond: Prose
) -> tuple[Step, ...]:
    at = context.epsilon.subs(context.weight, threshold) - sympy.log(1 + context.growth * threshold)
    start = Setting(Goal(at, context.records, strict=True), setting.symbols)
    offset = setting.goal.box[-1].name
    symbol_ = setting.symbols[offset]
    epsilon, _ = resolve(context.epsilon.subs(context.weight, weight), setting.goal.box, symbol_)
    slope = setting.about(weight * sympy.diff(epsilon, symbol_) - 1)
    fraction = ("div", E, ("add", ONE, ("mul", E, W)))
    derivative = Formula((("add", SLOPE, ("neg", fraction)), ">=", ("add", ("div", ONE, W), ("neg", fraction)), ">", ZERO))
    name = ("add", EPSILON, ("neg", LINE))
    at_threshold, rise = Formula((W, "=", from_sympy(threshold))), ("add", ("mul", W, SLOPE), ("neg", ONE))
    return (
        step(("At ", at_threshold, ": "), start, proof["start"], explain_tree, shown=claim(start.goal, name=name)),
        step(("From there on, ", *beyond, ": "), slope, proof["slope"], explain_tree, shown=claim(slope.goal, name=rise)),
        Step(("Hence the derivative of ", Formula((name,)), " is ", derivative, ": positive at the threshold, it stays positive.")),
    )  # fmt: skip


def explain_floor(context: Context, _decision: Decision, proof: Tree) -> tuple[Step, ...]:
    """Assumption 11: a floor of K or of K·e^ε that is free of w."""
    base = make_setting(context, Goal(sympy.S.Zero, context.records))
    floor = base.read(str(proof["floor"]))
    positive = base.about(floor, strict=True)
    log = proof["form"] == "log"
    bent = CURVATURE if log else ("mul", ("add", *CURVATURE[1:]), ("exp", EPSILON))
    second = Formula((("mul", CURVATURE, ("exp", EPSILON)),))
    lead = Step(("The second derivative of ", Formula((("exp", EPSILON),)), " in w is ", second, "."))
    constant = Formula((MU, "=", from_sympy(floor), ">", ZERO), context.records)
    named = step(("The constant: ",), positive, proof["positive"], explain_tree, shown=constant, behind=for_all(context.records))
    if "cuts" in proof:
        return (lead, named, *_in_pieces(context, "assumption-11", proof["curvature"], floor, proof["form"]), *_last(proof, log=log))
    raw = context.curvature if log else context.curvature * sympy.exp(context.epsilon)
    goal = make_setting(context, Goal(raw - floor, context.domain))
    shown = claim(goal.goal, name=("add", bent, ("neg", MU)))
    body = step(("To be shown: ",), goal, proof["curvature"], explain_tree, shown=shown, behind=for_all(context.domain))
    return (derivatives_step(context, context.epsilon, second=True), lead, named, body, *_last(proof, log=log))


def _last(proof: Tree, *, log: bool) -> tuple[Step, ...]:
    """Say what the floor means for the constant."""
    if log:
        reached = Formula((("mul", CURVATURE, ("exp", EPSILON)), ">=", CURVATURE, ">=", MU))
        return (
            Step(
                (
                    "As ",
                    Formula((EPSILON, ">=", ZERO)),
                    " (proved when the profile is admitted), ",
                    reached,
                    ": this is a lower bound of the best constant.",
                )
            ),
        )
    if _is_attained(proof["curvature"]):
        return (
            Step(("The second derivative equals ", Formula((MU,)), " at ", Formula((W, "=", ONE)), ": no larger constant is possible.")),
        )
    return ()


def _is_attained(tree: Any) -> bool:
    """Tell whether a floor was proved by rising from equality at w = 1."""
    return isinstance(tree, dict) and tree.get("rule") == "monotone" and tree.get("variable") == WEIGHT and tree["end"] == {"rule": "zero"}
