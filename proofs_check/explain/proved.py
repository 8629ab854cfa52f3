"""Explanations of proved claims, one function for each way of proving them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy

from profiles.grammar import parse_expression
from profiles.symbolic import from_sympy, to_sympy
from profiles.terms import Term, symbol
from profiles.variables import WEIGHT, Variable
from proofs_check.conditions.branches import Pieces, find_pieces
from proofs_check.conditions.context import Context
from proofs_check.conditions.growth import offset_name
from proofs_check.explain.document import EPSILON, MU, SLOPE, THRESHOLD, Formula, Prose, Step
from proofs_check.explain.kernel_rules import explain_default, explain_tree
from proofs_check.explain.setting import ZERO, Setting, claim, definition, for_all, listed, neat, range_formula, step
from proofs_check.explain.statements import (
    AT_ONE,
    CURVATURE,
    LEFT,
    LINE,
    ONE,
    STRICT,
    Case,
    E,
    W,
    derivatives_step,
    gap,
    goal_formula,
    setting_over,
)
from proofs_check.prover.algebra import derivative as slope_of
from proofs_check.prover.algebra import put_in
from proofs_check.prover.definedness import Need, Obligation, obligations
from proofs_check.prover.pointwise import as_ball, value_at
from proofs_check.prover.smooth import resolve
from proofs_check.results import Tree


def explain_well_defined(case: Case) -> tuple[Step, ...]:
    """ε is defined, operation by operation, and not negative."""
    context, proof = case.context, case.proof
    own = [(parse_expression(text), tree) for text, tree in proof.get("obligations", {}).items()]
    needs = [_need(context, need, own) for need in obligations(context.term) if need.term[0] != "num"]
    defined = "Every operation of epsilon is defined, because:" if needs else "Every operation of epsilon is defined."
    whole = setting_over(context, context.domain, context.declared)
    shown = claim(whole.goal, name=EPSILON)
    return Step((defined,), tuple(needs)), step(
        ("To be shown: ",), whole, proof["nonnegative"], explain_tree, shown=shown, behind=for_all(context.domain)
    )


def _need(context: Context, need: Obligation, own: Sequence[tuple[Term, Tree]]) -> Step:
    """One operation's need; the certificate's own proof of it, or the one that the kernel finds by default."""
    strict, term = need.need is not Need.NONNEGATIVE, need.term
    corner = {variable.name: variable.lo + int(variable.open_below) for variable in context.domain}
    if need.need is Need.NONZERO and as_ball(value_at(term, corner)) < 0:
        term = ("neg", term)
    goal = setting_over(context, context.domain, to_sympy(term, context.profile.values()), strict=strict)
    tree = next((tree for given, tree in own if given == term), None)
    shown = Formula((term, ">" if strict else ">=", ZERO), context.domain)
    reason = explain_default(goal) if tree is None else explain_tree(goal, tree)
    return Step((shown, ". ", *reason.said), reason.children)


def explain_inequality(case: Case) -> tuple[Step, ...]:
    """A condition that is one inequality, proved by one tree (``proposition-17`` also by one tree a piece)."""
    context, name, proof = case.context, case.name, case.proof
    if "cuts" in proof:
        return _in_pieces(context, name, proof["bound"])
    epsilon = context.near_one[0] if name == "proposition-16" else context.epsilon
    goal = setting_over(context, context.records if name in AT_ONE else context.domain, gap(context, name, epsilon), strict=name in STRICT)
    near = "Near w = 1" if name == "proposition-16" else ""
    derivatives = () if name == "assumption-8" else (derivatives_step(context, epsilon, second=False, where=near),)
    shown = goal_formula(context, name, epsilon, goal.goal)
    return *derivatives, step(("To be shown: ",), goal, proof["bound"], explain_tree, shown=shown, behind=for_all(goal.goal.box))


def _in_pieces(
    context: Context, condition: str, trees: Sequence[Tree], floor: sympy.Expr = sympy.S.Zero, form: str = "log"
) -> tuple[Step, ...]:
    """One tree for each smooth piece of ε: the left side of the condition (times e^ε in the form ``exp``) minus a floor."""
    pieces = find_pieces(context)
    if pieces is None:
        return (Step(("The pieces of epsilon could not be recomputed here; pdp check checks them.",)),)
    left = LEFT[condition] if form == "log" else ("mul", LEFT[condition], ("exp", EPSILON))
    name = left if floor == 0 else ("add", left, ("neg", MU))
    steps = [_meeting(context, pieces)]
    for piece, tree in zip(pieces.pieces, trees, strict=True):
        raw = gap(context, condition, piece.epsilon)
        whole = piece.goal((raw if form == "log" else raw * sympy.exp(piece.epsilon)) - floor, context.weight)
        goal = setting_over(context, whole.box, whole.expression)
        reach = () if piece.hi is None else (" to ", Formula((from_sympy(piece.hi),)))
        start: Prose = ("From ", Formula((W, "=", from_sympy(piece.lo))), *reach, " on, " if piece.hi is None else ", ")
        lead: Prose = (*start, definition(EPSILON, piece.epsilon), "; the weight is written ", Formula((from_sympy(piece.way),)),
                       " with a new w, and ", range_formula(piece.box[-1]), ". To be shown: ")  # fmt: skip
        steps.append(step(lead, goal, tree, explain_tree, shown=claim(goal.goal, name=name)))
    return tuple(steps)


def _meeting(context: Context, pieces: Pieces) -> Step:
    """Say that neighboring pieces have the same value and the same derivative at each cut."""
    said: list[Prose] = []
    for cut, *neighbors in zip(pieces.cuts, pieces.pieces, pieces.pieces[1:], strict=False):
        smooth = [piece.epsilon for piece in neighbors]
        sides = [[put_in(part, {context.weight: cut}) for part in (e, slope_of(e, context.weight))] for e in smooth]
        same = []
        for name, a, b in zip((EPSILON, SLOPE), *sides, strict=True):
            terms = dict.fromkeys(from_sympy(neat(side)) for side in (a, b))
            same.append(Formula(tuple(part for term in (name, *terms) for part in ("=", term))[1:], context.records))
        said.append(("at ", Formula((W, "=", from_sympy(cut))), ", ", same[0], " and ", same[1]))
    whole = "epsilon is one smooth expression on each piece, and the pieces meet with equal values and derivatives: "
    return Step((whole, *listed(said), " from both sides. So epsilon is continuously differentiable."))


def explain_threshold(case: Case) -> tuple[Step, ...]:
    """Assumption 9: a threshold, and the slope lemma or a direct comparison from there on."""
    context, proof = case.context, case.proof
    base = setting_over(context, context.records)
    threshold = base.read(str(proof["threshold"]))
    offset = offset_name(context)
    wide = base.with_variable(Variable(offset, ZERO[1], None))
    weight = threshold + wide.symbols[offset]
    epsilon = put_in(context.epsilon, {context.weight: weight})
    chosen = definition(THRESHOLD, threshold)
    steps = [Step(("Choose the same threshold ", chosen, " for all records."))]
    if not threshold.is_Rational:
        above = base.about(threshold - 1)
        steps = [step(("Choose the threshold ", chosen, ". It is at least 1: "), above, proof["threshold-proof"], explain_tree)]
    beyond: Prose = ("for ", Formula((W, "=", ("add", from_sympy(threshold), symbol(offset)))), " with ", range_formula(wide.goal.box[-1]))
    if "direct" in proof:
        return (*steps, _direct(context, wide, epsilon, weight, proof, beyond))
    return (*steps, *_slope_lemma(context, wide, threshold, weight, proof, beyond))


def explain_vanishing(case: Case) -> tuple[Step, ...]:
    """What Theorem 10 needs of Assumption 9, where ε is zero for all weights: -ε ≥ 0, and ε ≥ 0 by the claim well-defined."""
    context = case.context
    goal = setting_over(context, context.domain, -context.epsilon)
    shown = claim(goal.goal, name=("neg", EPSILON))
    end = Step(("As epsilon is not negative either (the claim well-defined), it is 0 for all weights, and these records lose nothing.",))
    return step(("To be shown: ",), goal, case.proof["vanishing"], explain_tree, shown=shown, behind=for_all(context.domain)), end


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
    at = put_in(context.epsilon, {context.weight: threshold}) - sympy.log(1 + context.growth * threshold)
    start = setting.about(at, strict=True, box=context.records)
    offset = setting.goal.box[-1].name
    symbol_ = setting.symbols[offset]
    epsilon, _ = resolve(put_in(context.epsilon, {context.weight: weight}), setting.goal.box, symbol_)
    slope = setting.about(weight * slope_of(epsilon, symbol_) - 1)
    branch: Prose = () if context.smooth else (", where ", definition(EPSILON, epsilon))
    fraction = ("div", E, ("add", ONE, ("mul", E, W)))
    name, rise = ("add", EPSILON, ("neg", LINE)), ("add", ("mul", W, SLOPE), ("neg", ONE))
    derivative = Formula((("add", SLOPE, ("neg", fraction)), ">=", ("add", ("div", ONE, W), ("neg", fraction)), ">", ZERO))
    at_threshold = Formula((W, "=", from_sympy(threshold)))
    end = ", so that it rises. It is positive at the threshold and stays positive."
    return (
        step(("At ", at_threshold, ": "), start, proof["start"], explain_tree, shown=claim(start.goal, name=name)),
        step(("From there on, ", *beyond, *branch, ": "), slope, proof["slope"], explain_tree, shown=claim(slope.goal, name=rise)),
        Step(("Hence ", Formula((name,)), " has the derivative ", derivative, end)),
    )


def explain_floor(case: Case) -> tuple[Step, ...]:
    """Assumption 11 and the strong convexity constant: a floor of K or of K·e^ε that is free of w."""
    context, proof = case.context, case.proof
    base = setting_over(context, context.records)
    floor = base.read(str(proof["floor"]))
    positive = base.about(floor, strict=True)
    log = proof["form"] == "log"
    bent = CURVATURE if log else _SECOND
    lead = Step(("The second derivative of ", Formula((("exp", EPSILON),)), " in w is ", Formula((_SECOND,)), "."))
    constant = Formula((MU, "=", from_sympy(floor), ">", ZERO), context.records)
    named = step(("The constant: ",), positive, proof["positive"], explain_tree, shown=constant, behind=for_all(context.records))
    if floor.is_Rational:
        named = Step(("The same constant for all records: ", constant, "."))
    if "cuts" in proof:
        return (lead, named, *_in_pieces(context, "assumption-11", proof["curvature"], floor, proof["form"]), *_last(proof, log=log))
    goal = setting_over(context, context.domain, (context.curvature if log else context.curvature * sympy.exp(context.epsilon)) - floor)
    shown = claim(goal.goal, name=("add", bent, ("neg", MU)))
    body = step(("To be shown: ",), goal, proof["curvature"], explain_tree, shown=shown, behind=for_all(context.domain))
    return (derivatives_step(context, context.epsilon, second=True), lead, named, body, *_last(proof, log=log))


#: (e^ε)″
_SECOND: Term = ("mul", CURVATURE, ("exp", EPSILON))


def _last(proof: Tree, *, log: bool) -> tuple[Step, ...]:
    """Say what the floor means for the constant."""
    if log:
        reached, positive = Formula((_SECOND, ">=", CURVATURE, ">=", MU)), Formula((EPSILON, ">=", ZERO))
        return (Step(("As ", positive, " (the claim well-defined), ", reached, ": this is a lower bound of the best constant.")),)
    if _is_attained(proof["curvature"]):
        at = Formula((W, "=", ONE))
        return (Step(("The second derivative equals ", Formula((MU,)), " at ", at, ": no larger constant is possible.")),)
    return (Step((Formula((MU,)), " is a lower bound of the best constant.")),)


def _is_attained(tree: Any) -> bool:
    """Tell whether a floor was proved by rising from equality at w = 1."""
    rises = isinstance(tree, dict) and tree.get("rule") == "monotone" and tree.get("variable") == WEIGHT
    return rises and tree["direction"] == "increasing" and tree["end"] == {"rule": "zero"}
