"""Explanations of refuted conditions: the witness, and what is seen there."""

from __future__ import annotations

from fractions import Fraction

import sympy

from profiles.errors import InvalidExpression
from profiles.numbers import to_exact
from profiles.profile import WEIGHT, Variable
from profiles.symbolic import from_sympy, to_rational
from profiles.terms import Term, number, symbol
from proofs_check.conditions.context import Context
from proofs_check.explain.document import Formula, Prose, Step
from proofs_check.explain.notation import EPSILON, EPSILON_AT_ONE, SLOPE, SLOPE_AT_ONE, TARGET
from proofs_check.explain.proved import make_setting
from proofs_check.explain.reasons import step
from proofs_check.explain.rounding import compare, enclose
from proofs_check.explain.rules import explain_tree
from proofs_check.explain.setting import ZERO, at_point, claim, fix, neat
from proofs_check.explain.statements import AT_ONE, CURVATURE, LINE, ONE, SHRINKING, STRICT, E, W, derivatives_step, gap
from proofs_check.prover.goals import Goal
from proofs_check.prover.smooth import resolve_near
from proofs_check.results import Decision, Tree

#: The side that is too large at a witness, and the side that is too small, in the names of the theory.
_SIDES: dict[str, tuple[Term, Term]] = {
    "assumption-8": (EPSILON_AT_ONE, TARGET),
    "assumption-11": (ZERO, CURVATURE),
    "proposition-16": (SLOPE_AT_ONE, SHRINKING),
    "proposition-17": (EPSILON, ("mul", W, SLOPE)),
}


def _read_point(proof: Tree) -> dict[str, Fraction]:
    return {name: to_exact(value) for name, value in proof["at"].items()}


def explain_witness(context: Context, decision: Decision, proof: Tree) -> tuple[Step, ...]:
    """A condition that is one inequality fails at a point: both sides in numbers, or their difference where they are equal."""
    name = decision.condition
    point = {**_read_point(proof), **({WEIGHT: Fraction(1)} if name in AT_ONE else {})}
    epsilon = _expression_near(context, name, point)
    lead: Prose = ("The condition fails ", *at_point(point), ": ")
    before = () if name == "assumption-8" else (derivatives_step(context, epsilon, second=name == "assumption-11"),)
    larger, smaller = (from_sympy(fix(side, point)) for side in _sides(context, name, epsilon))
    numbers = _numbers(name, larger, smaller)
    if numbers is not None:
        return (*before, Step((*lead, *numbers, ".")))
    difference = Formula((("add", larger, ("neg", smaller)), ">" if name not in STRICT else ">=", ZERO), ())
    negated = Goal(-fix(gap(context, name, epsilon), point), (), name not in STRICT)
    tree = proof["curvature" if "curvature" in proof else "bound"]
    names = Formula((("add", _SIDES[name][0], ("neg", _SIDES[name][1])),))
    return (
        *before,
        step(
            (*lead, "the difference of the sides, ", names, ", is "), make_setting(context, negated), tree, explain_tree, shown=difference
        ),
    )


def _expression_near(context: Context, condition: str, point: dict[str, Fraction]) -> sympy.Expr:
    """Return ε as it is around the point, with its branches decided."""
    if condition == "assumption-8":
        return context.profile.expression()
    if condition == "proposition-16":
        return context.near_one[0]
    if context.smooth:
        return context.epsilon
    near = resolve_near(context.epsilon, point, context.weight)
    if near is None:
        raise InvalidExpression("a border between two branches of epsilon runs through the point")
    return near


def _sides(context: Context, condition: str, epsilon: sympy.Expr) -> tuple[sympy.Expr, sympy.Expr]:
    """Return the side that is too large at a witness, and the other side."""
    first = sympy.diff(epsilon, context.weight)
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
    if condition in STRICT and enclose(larger, {}) == enclose(smaller, {}) and larger == smaller:
        if above == ZERO:
            return (Formula((below, "=", ZERO), ()), ", which is not positive")
        return (Formula((above, "=", larger), ()), " and ", Formula((below, "=", smaller), ()), " are equal")
    found = compare(larger, smaller)
    if found is None:
        return None
    (high_sign, high), (low_sign, low) = found
    right = Formula((below, "=", smaller) if smaller == low else (below, "=", smaller, low_sign, low), ())
    if above == ZERO:
        return (right, ", which is not positive")
    left = Formula((above, "=", larger) if larger == high else (above, "=", larger, high_sign, high), ())
    return (left, ", but ", right, ", and ", Formula((high, ">", low), ()))


def explain_kink(context: Context, decision: Decision, proof: Tree) -> tuple[Step, ...]:
    """ε has no derivative at a weight: the expressions on its two sides, and their values or derivatives there."""
    record = _read_point(proof)
    lo, hi = (to_exact(end) for end in proof["kink"])
    epsilon = fix(context.epsilon, record)
    left, right = (resolve_near(epsilon, {WEIGHT: end}, context.weight) for end in (lo, hi))
    if left is None or right is None:
        raise InvalidExpression("epsilon could not be resolved beside the kink")
    at = None if decision.witness is None else decision.witness.get(WEIGHT)
    exact = at is not None and _meet(context, epsilon, at)
    place: Prose = ("at ", Formula((W, "=", number(at)))) if exact and at is not None else (
        "at one w in the range ", Formula((number(lo), "<=", W, "<=", number(hi)))
    )  # fmt: skip
    here: Prose = (" for the record ", *at_point(record)[1:]) if record else ()
    pieces = Step(
        (
            "epsilon has no derivative in w ", *place, *here, ": below it, ", Formula((EPSILON, "=", from_sympy(left))),
            ", and above it, ", Formula((EPSILON, "=", from_sympy(right))), ".",
        )
    )  # fmt: skip
    box = () if exact else (Variable(WEIGHT, lo, hi),)
    return (pieces, _one_sided(context, left, right, at if exact else None, box))


def _meet(context: Context, epsilon: sympy.Expr, at: Fraction) -> bool:
    """Tell whether the border between the branches is exactly at a weight, so that neither is taken around it."""
    return resolve_near(epsilon, {WEIGHT: at}, context.weight) is None


def _one_sided(context: Context, left: sympy.Expr, right: sympy.Expr, at: Fraction | None, box: tuple[Variable, ...]) -> Step:
    def there(expression: sympy.Expr) -> sympy.Expr:
        return expression if at is None else expression.subs(context.weight, to_rational(at))

    for name, what, sides in (
        (EPSILON, "values", (left, right)),
        (SLOPE, "derivatives", tuple(sympy.diff(side, context.weight) for side in (left, right))),
    ):
        before, after = (from_sympy(there(side)) for side in sides)
        apart = compare(before, after, box) or compare(after, before, box)
        if apart is not None:
            below, above = Formula((name, "=", before)), Formula((name, "=", after))
            verdict = Formula((apart[0][1], ">", apart[1][1]), ())
            rising = compare(before, after, box) is None
            first, second = (after, before) if rising else (before, after)
            bounds = (Formula((first, ">=", apart[0][1]), box), " and ", Formula((second, "<=", apart[1][1]), box), ", where ", verdict)
            shown: Prose = (
                (", that is ", verdict)
                if at is not None and not box and {first, second} == {apart[0][1], apart[1][1]}
                else (", and ", *bounds)
            )
            return Step((f"The one-sided {what} there differ: ", below, " from below and ", above, " from above", *shown, "."))
    return Step(("The expressions on its two sides have different values or derivatives there.",))


def explain_tail(context: Context, _decision: Decision, proof: Tree) -> tuple[Step, ...]:
    """Assumption 9 fails at a record: ε stays at or below the logarithm from some w on."""
    record, start = _read_point(proof), to_exact(proof["threshold"])
    epsilon = fix(context.epsilon, record)
    line = 1 + context.growth * context.weight
    log = proof["form"] == "log"
    goal = Goal(sympy.log(line) - epsilon if log else line - sympy.exp(epsilon), (Variable(WEIGHT, start, None),))
    left = ("add", LINE, ("neg", EPSILON)) if log else ("add", ("add", ONE, ("mul", E, W)), ("neg", ("exp", EPSILON)))
    where: Prose = ("Consider the record ", *at_point(record)[1:], ", where ") if record else ("Here ",)
    after: Prose = (" for all ", Formula((W, ">=", number(start))))
    return (
        Step((*where, Formula((EPSILON, "=", from_sympy(neat(epsilon)))), ".")),
        step(("To be shown: ",), make_setting(context, goal), proof["tail"], explain_tree, shown=claim(goal, name=left), behind=after),
        Step(("So from there on no weight has ", Formula((EPSILON, ">", LINE)), ", and there is no threshold.")),
    )


def explain_limit(context: Context, _decision: Decision, proof: Tree) -> tuple[Step, ...]:
    """Assumption 11 fails in the limit: K·e^ε ≤ 1/n at weights w(n) ≥ 1, for all n ≥ 1."""
    record = _read_point(proof)
    epsilon = fix(context.epsilon, record)
    count = sympy.Symbol("n", positive=True)
    base = make_setting(context, Goal(sympy.S.Zero, ()))
    base = type(base)(Goal(sympy.S.Zero, (Variable("n", Fraction(1), None),)), {**base.symbols, "n": count})
    weight = base.read(str(proof["weight"]))
    bent = (context.curvature_of(epsilon) * sympy.exp(epsilon)).subs(context.weight, weight)
    above, flat = base.about(weight - 1), base.about(1 - count * bent)
    second = ("mul", CURVATURE, ("exp", EPSILON))
    where: Prose = ("Consider the record ", *at_point(record)[1:], ", where ") if record else ("Here ",)
    along = Formula((W, "=", from_sympy(weight)))
    return (
        Step((*where, Formula((EPSILON, "=", from_sympy(neat(epsilon)))), ".")),
        derivatives_step(context, epsilon, second=True),
        step(("Take the weights ", along, " for n = 1, 2, ... They are admissible: "), above, proof["weight-proof"], explain_tree),
        step(
            ("There the second derivative of ", Formula((("exp", EPSILON),)), " is at most 1/n: "), flat, proof["flat"], explain_tree,
            shown=claim(flat.goal, name=("add", ONE, ("neg", ("mul", symbol("n"), second)))),
        ),
        Step(("So the second derivative comes below every positive constant, and there is no such constant mu(x) for this record.",)),
    )  # fmt: skip
