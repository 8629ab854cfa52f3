"""Explanations of refuted conditions: the witness, and what is seen there."""

from __future__ import annotations

from fractions import Fraction

import sympy

from profiles.errors import InvalidExpression
from profiles.numbers import to_exact
from profiles.symbolic import from_sympy, to_rational
from profiles.terms import Term, number, symbol
from profiles.variables import WEIGHT, Variable
from proofs_check.conditions.context import Context
from proofs_check.explain.document import EPSILON, EPSILON_AT_ONE, MU, SLOPE, SLOPE_AT_ONE, TARGET, Formula, Prose, Step
from proofs_check.explain.kernel_rules import explain_tree
from proofs_check.explain.rounding import compare
from proofs_check.explain.setting import ZERO, at_point, claim, definition, fix, neat, read_point, step
from proofs_check.explain.statements import (
    AT_ONE,
    CURVATURE,
    LINE,
    ONE,
    SHRINKING,
    STRICT,
    Case,
    E,
    W,
    derivatives_step,
    gap,
    setting_over,
)
from proofs_check.prover.algebra import derivative, put_in
from proofs_check.prover.smooth import resolve_near

#: The side that is too large at a witness, and the side that is too small, in the names of the theory.
_SIDES: dict[str, tuple[Term, Term]] = {
    "assumption-8": (EPSILON_AT_ONE, TARGET),
    "assumption-11": (ZERO, CURVATURE),
    "proposition-16": (SLOPE_AT_ONE, SHRINKING),
    "proposition-17": (EPSILON, ("mul", W, SLOPE)),
}


def explain_witness(case: Case) -> tuple[Step, ...]:
    """A condition that is one inequality fails at a point: both sides in numbers, or their difference where they are equal."""
    context, name, proof = case.context, case.name, case.proof
    point = {**read_point(proof), **({WEIGHT: Fraction(1)} if name in AT_ONE else {})}
    epsilon = _expression_near(context, name, point)
    lead: Prose = ("The condition fails ", *at_point(point), ": ")
    where = "Near w = 1" if name == "proposition-16" and context.near_one[1] else "Around the point below"
    before = () if name == "assumption-8" else (derivatives_step(context, epsilon, second=name == "assumption-11", where=where),)
    larger, smaller = (from_sympy(fix(side, point)) for side in _sides(context, name, epsilon))
    numbers = _numbers(name, larger, smaller)
    if numbers is not None:
        return (*before, Step((*lead, *numbers, ".")))
    shown = Formula((("add", larger, ("neg", smaller)), ">" if name not in STRICT else ">=", ZERO), ())
    negated = setting_over(context, (), -fix(gap(context, name, epsilon), point), strict=name not in STRICT)
    tree = proof["curvature" if "curvature" in proof else "bound"]
    difference = Formula((("add", _SIDES[name][0], ("neg", _SIDES[name][1])),))
    return (*before, step((*lead, "the difference of the sides, ", difference, ", is "), negated, tree, explain_tree, shown=shown))


def _expression_near(context: Context, condition: str, point: dict[str, Fraction]) -> sympy.Expr:
    """Return ε as it is around the point, with its branches decided."""
    if condition == "assumption-8":
        return context.declared
    if condition == "proposition-16" and context.near_one[1]:
        return context.near_one[0]
    if context.smooth:
        return context.epsilon
    near = resolve_near(context.epsilon, point, context.weight)
    if near is None:
        raise InvalidExpression("a border between two branches of epsilon runs through the point")
    return near


def _sides(context: Context, condition: str, epsilon: sympy.Expr) -> tuple[sympy.Expr, sympy.Expr]:
    """Return the side that is too large at a witness, and the other side."""
    first = derivative(epsilon, context.weight)
    made = {
        "assumption-8": lambda: (epsilon, context.target_rational),
        "assumption-11": lambda: (sympy.S.Zero, context.curvature_of(epsilon)),
        "proposition-16": lambda: (first, 1 - sympy.exp(-epsilon)),
        "proposition-17": lambda: (epsilon, context.weight * first),
    }
    return made[condition]()


def _numbers(condition: str, larger: Term, smaller: Term) -> Prose | None:
    """Return both sides with certified numbers that are apart, or as equal where that refutes; None where neither is seen."""
    above, below = _SIDES[condition]
    if condition in STRICT and larger == smaller:
        if above == ZERO:
            return (Formula((below, "=", ZERO), ()), ", which is not positive")
        return (
            Formula((above, "=", larger), ()),
            " and ",
            Formula((below, "=", smaller), ()),
            " are equal, so the strict inequality fails",
        )
    compared = compare(larger, smaller)
    if compared is None:
        return None
    (high_sign, high), (low_sign, low) = compared
    right = Formula((below, "=", smaller) if smaller == low else (below, "=", smaller, low_sign, low), ())
    if above == ZERO:
        return (right, ", which is not positive")
    left = Formula((above, "=", larger) if larger == high else (above, "=", larger, high_sign, high), ())
    return (left, ", but ", right, ", and ", Formula((high, ">", low), ()))


def explain_kink(case: Case) -> tuple[Step, ...]:
    """ε has no derivative at a weight: the expressions on its two sides, and their values or derivatives there."""
    context, record = case.context, read_point(case.proof)
    lo, hi = (to_exact(end) for end in case.proof["kink"])
    epsilon = _on_range(fix(context.epsilon, record), context, lo, hi)
    left, right = (resolve_near(epsilon, {WEIGHT: end}, context.weight) for end in (lo, hi))
    if left is None or right is None:
        raise InvalidExpression("epsilon could not be resolved beside the kink")
    middle = (lo + hi) / 2
    at = middle if resolve_near(epsilon, {WEIGHT: middle}, context.weight) is None else None
    place: Prose = ("at ", definition(W, at)) if at is not None else ("at one w with ", Formula((number(lo), "<", W, "<", number(hi))))
    here: Prose = (" for the record ", *at_point(record)[1:]) if record else ()
    below, above = definition(EPSILON, left), definition(EPSILON, right)
    missing = "So epsilon is not differentiable in w for all w >= 1."
    if case.name == "proposition-17":
        missing = "There the inequality has no right side, so the condition does not hold for all w >= 1."
    return (
        Step(("epsilon has no derivative in w ", *place, *here, ": below it, ", below, ", and above it, ", above, ".")),
        _one_sided(context, left, right, at, () if at is not None else (Variable(WEIGHT, lo, hi),)),
        Step((missing,)),
    )


def _on_range(epsilon: sympy.Expr, context: Context, lo: Fraction, hi: Fraction) -> sympy.Expr:
    """Return ε with each floor and ceiling as a choice between the two whole numbers that it is on a range of weights."""
    steps = {}
    for node in epsilon.atoms(sympy.floor, sympy.ceiling):
        ends = sorted(put_in(node, {context.weight: to_rational(end)}) for end in (lo, hi))
        if not all(end.is_Integer for end in ends):
            continue
        border = node.args[0] <= ends[0] if isinstance(node, sympy.ceiling) else node.args[0] < ends[1]
        steps[node] = ends[0] if ends[0] == ends[1] else sympy.Piecewise((ends[0], border), (ends[1], True))
    return epsilon.xreplace(steps)


def _one_sided(context: Context, left: sympy.Expr, right: sympy.Expr, at: Fraction | None, box: tuple[Variable, ...]) -> Step:
    """Say how the values or the derivatives of the two expressions differ: at a weight, or on the whole box that contains it."""
    for name, what, sides in (
        (EPSILON, "values", (left, right)),
        (SLOPE, "derivatives", tuple(derivative(side, context.weight) for side in (left, right))),
    ):
        before, after = (from_sympy(side if at is None else put_in(side, {context.weight: to_rational(at)})) for side in sides)
        for high, low in ((before, after), (after, before)):
            apart = compare(high, low, box)
            if apart is not None:
                (high_sign, above), (low_sign, below) = apart
                first = (above,) if high == above else (high, high_sign, above)
                last = (below,) if low == below else (below, {"=": "=", "<=": ">="}[low_sign], low)
                ends: Prose = (Formula((name, "=", before)), " from below and ", Formula((name, "=", after)), " from above")
                return Step((f"The one-sided {what} there differ: ", *ends, ", and ", Formula((*first, ">", *last), box), "."))
    return Step(("The expressions on its two sides have different values or derivatives there; pdp check checks that.",))


def explain_tail(case: Case) -> tuple[Step, ...]:
    """Assumption 9 fails at a record: ε stays at or below the logarithm from some w on."""
    context, proof = case.context, case.proof
    record, start = read_point(proof), to_exact(proof["threshold"])
    epsilon = fix(context.epsilon, record)
    line = 1 + context.growth * context.weight
    log = proof["form"] == "log"
    goal = setting_over(context, (Variable(WEIGHT, start, None),), sympy.log(line) - epsilon if log else line - sympy.exp(epsilon))
    left = ("add", LINE, ("neg", EPSILON)) if log else ("add", ("add", ONE, ("mul", E, W)), ("neg", ("exp", EPSILON)))
    after: Prose = (" for all ", Formula((W, ">=", number(start))))
    return (
        _at_record(record, epsilon),
        step(("To be shown: ",), goal, proof["tail"], explain_tree, shown=claim(goal.goal, name=left), behind=after),
        Step(("So from there on no weight has ", Formula((EPSILON, ">", LINE)), ", and there is no threshold.")),
    )


def explain_loss_and_tail(case: Case) -> tuple[Step, ...]:
    """What Theorem 10 needs of Assumption 9 fails at a record that loses something: there ε stays at or below the logarithm."""
    record, weight = read_point(case.proof), to_exact(case.proof["weight"])
    value = fix(case.context.declared, {**record, WEIGHT: weight})
    positive = Formula((EPSILON, "=", from_sympy(neat(value)), ">", ZERO), ())
    lost = Step(("At ", definition(W, weight), " this record loses something: ", positive, "."))
    first, *rest = explain_tail(case)
    return (first, lost, *rest)


def _at_record(record: dict[str, Fraction], epsilon: sympy.Expr) -> Step:
    """Say which record is looked at, and what ε is there."""
    shown = definition(EPSILON, neat(epsilon))
    return Step(("Consider the record ", *at_point(record)[1:], ", where ", shown, ".") if record else ("Here ", shown, "."))


def explain_limit(case: Case) -> tuple[Step, ...]:
    """Assumption 11 fails in the limit: K·e^ε ≤ 1/n at weights w(n) ≥ 1, for all n ≥ 1."""
    context, proof = case.context, case.proof
    record = read_point(proof)
    epsilon = fix(context.epsilon, record)
    base = setting_over(context, ()).with_variable(Variable("n", Fraction(1), None))
    weight = base.read(str(proof["weight"]))
    bent = put_in(context.curvature_of(epsilon) * sympy.exp(epsilon), {context.weight: weight})
    above, flat = base.about(weight - 1), base.about(1 - base.symbols["n"] * bent)
    second = ("mul", CURVATURE, ("exp", EPSILON))
    small = claim(flat.goal, name=("add", ONE, ("neg", ("mul", symbol("n"), second))))
    along, bowl = definition(W, weight), Formula((("exp", EPSILON),))
    return (
        _at_record(record, epsilon),
        derivatives_step(context, epsilon, second=True),
        step(("Take the weights ", along, " for n = 1, 2, and so on. They are admissible: "), above, proof["weight-proof"], explain_tree),
        step(("There the second derivative of ", bowl, " is at most 1/n: "), flat, proof["flat"], explain_tree, shown=small),
        Step(("So the second derivative comes below every positive constant, and no ", Formula((MU, ">", ZERO)), " can do.")),
    )
