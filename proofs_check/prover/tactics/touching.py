"""Trees for goals that hold with equality, or nearly so, at a point inside a range: it is split there, and they rise from there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import sympy

from profiles.balls import interval, working_precision
from profiles.errors import InvalidExpression
from profiles.symbolic import from_sympy, to_rational
from profiles.variables import Variable
from proofs_check.enclosures import Enclosure
from proofs_check.prover import trees
from proofs_check.prover.algebra import approximate, derivative, put_in
from proofs_check.prover.attempt import Attempt, fresh_name
from proofs_check.prover.effort import remembered
from proofs_check.prover.explore import GoalStatus, explore
from proofs_check.prover.goals import Goal
from proofs_check.prover.minimize import exact_points, fraction_below, least_of
from proofs_check.prover.oracle import accepts
from proofs_check.prover.pointwise import as_ball, value_at
from proofs_check.prover.tactics.sums import add_up
from proofs_check.results import Tree

MOST_ORDER, MOST_BOXES = 4, 300
WIDTHS = (Fraction(1, 4), Fraction(1, 16), Fraction(1, 128))
#: A value this small, beside the size of what it is a difference of, may be zero.
SMALL = Fraction(1, 10**5)


def split_where_it_touches(attempt: Attempt) -> Iterator[Tree]:
    """In one variable of finite range: split at the point where the goal is zero; on either side it rises away from it."""
    goal = attempt.goal
    if attempt.depth == 0 or len(attempt.used) != 1 or goal.strict or attempt.used[0].hi is None or not attempt.plausible:
        return
    variable = attempt.used[0]
    for point in _touching(goal.expression, variable):
        if point.is_Rational:
            yield from _around(attempt, variable, Fraction(int(point.p), int(point.q)))
        else:
            yield from _from_point(attempt, variable, point)


def _touching(expression: sympy.Expr, variable: Variable) -> Iterator[sympy.Expr]:
    least = least_of(expression, (variable,))
    if least is None or not abs(least.value) < interval(SMALL, SMALL):
        return
    for point in exact_points(expression, (variable,)):
        yield point[variable.name]


def _from_point(attempt: Attempt, variable: Variable, point: sympy.Expr) -> Iterator[Tree]:
    """Measure the variable from a point that is no rational number: x = point + u, over a range of u with rational ends."""
    goal, name = attempt.goal, fresh_name(attempt.goal)
    shift = sympy.Symbol(name, real=True)
    general = put_in(goal.expression, {goal.symbol(variable.name): point + shift})
    about = Fraction(str(approximate(point, 40)))
    low, high = (
        Fraction(round((end - about) * 10**6) + step, 10**6)
        for end, step in ((variable.lo, -1), (about if variable.hi is None else variable.hi, 1))
    )
    moved = Variable(name, low, high)
    proof = next(_around(replace(attempt, goal=Goal(general, (moved,))), moved, Fraction(0)), None)
    if proof is not None:
        ends = (low, trees.boxes(4)), (high, trees.boxes(4))
        yield trees.generalise(name, goal.symbol(variable.name) - point, trees.ProvedRange(*ends), general, proof)


def _around(attempt: Attempt, variable: Variable, at: Fraction) -> Iterator[Tree]:
    """Yield the proof with splits at the point and on either side of it."""
    lo, hi, expression = variable.lo, variable.hi, attempt.goal.expression
    if hi is None or not variable.contains(at):
        return
    tree: Tree | None = None
    for width in WIDTHS:
        radius = (hi - lo) * width
        left, right = max(lo, at - radius), min(hi, at + radius)
        before = _rising(expression, variable.name, (left, at), at, MOST_ORDER) if left < at else None
        after = _rising(expression, variable.name, (at, right), at, MOST_ORDER) if at < right else None
        if before is not None and after is not None:
            tree = trees.split(variable.name, at, before, after)
        else:
            tree = before if at == right else after if left == at else None
        if tree is not None:
            break
    if tree is None:
        return
    for end, outer in ((left, (lo, left)), (right, (right, hi))):
        if outer[0] < outer[1]:
            box = tuple(Variable(variable.name, *outer) if other.name == variable.name else other for other in attempt.goal.box)
            far = attempt.search(Goal(expression, box), min(2, attempt.depth - 1))
            if far is None:
                return
            # splits are nested from the inside out: the right end is cut off last
            tree = trees.split(variable.name, end, far, tree) if end == left else trees.split(variable.name, end, tree, far)
    yield tree


def _rising(expression: sympy.Expr, name: str, side: tuple[Fraction, Fraction], at: Fraction, order: int) -> Tree | None:
    """Prove an expression ≥ 0 on a range at one end of which it is zero: its slope away from there is ≥ 0, in the same way."""
    return remembered("rising", (expression, name, side, at, order), lambda: _shown_rising(expression, name, side, at, order))


def _shown_rising(expression: sympy.Expr, name: str, side: tuple[Fraction, Fraction], at: Fraction, order: int) -> Tree | None:
    variable = Variable(name, *side)
    symbol = next((symbol for symbol in expression.free_symbols if symbol.name == name), None)
    if symbol is None:
        goal = Goal(expression, ())
        return trees.ZERO if expression == 0 else trees.boxes(1) if accepts(goal, trees.boxes(1)) else None
    goal = Goal(expression, (variable,))
    if _is_positive(goal):
        return trees.boxes(4 * MOST_BOXES)
    if order == 0:
        return None
    if not accepts(goal.at(name, at), trees.ZERO):
        return None
    increasing = at == side[0]
    slope = derivative(_branch(expression, symbol, (side[0] + side[1]) / 2), symbol)
    shown = _rising(slope if increasing else -slope, name, side, at, order - 1)
    return None if shown is None else trees.monotone(name, shown, trees.ZERO, increasing=increasing)


def _branch(expression: sympy.Expr, symbol: sympy.Symbol, at: Fraction) -> sympy.Expr:
    """Return the expression with the branch of each Abs, Max and Min that is taken at a point (whether beside it is not said)."""

    def value(part: sympy.Expr) -> float:
        return float(as_ball(value_at(from_sympy(part), {symbol.name: at})).mid())

    replaced = expression.replace(sympy.Abs, lambda inner: inner if value(inner) >= 0 else -inner)
    for kind, sign in ((sympy.Max, 1), (sympy.Min, -1)):
        replaced = replaced.replace(kind, lambda *args, sign=sign: max(args, key=lambda argument: sign * value(argument)))
    return replaced


def _is_positive(goal: Goal) -> bool:
    try:
        enclosure = Enclosure(goal.term)
    except InvalidExpression:
        return False
    (variable,) = goal.box
    with working_precision(64):
        if enclosure.evaluate({variable.name: interval(variable.lo, variable.end)}) >= 0:
            return True
    return explore(goal, budget=MOST_BOXES, points=40).status is GoalStatus.HOLDS and accepts(goal, trees.boxes(4 * MOST_BOXES))


def subtract_least(attempt: Attempt) -> Iterator[Tree]:
    """Write a goal as its least value, at an exact point, and the rest, which is zero there."""
    goal = attempt.goal
    if attempt.depth < 1 or not attempt.used or not attempt.plausible or any(variable.hi is None for variable in attempt.used):
        return
    for point in exact_points(goal.expression, attempt.used):
        value = put_in(goal.expression, {goal.symbol(name): number for name, number in point.items()})
        if value.free_symbols or value == 0 or value.has(sympy.zoo, sympy.nan, sympy.oo):
            continue
        positive = attempt.search(Goal(value, (), goal.strict), 1)
        rest = None if positive is None else attempt.prove(goal.expression - value, strict=False)
        if positive is not None and rest is not None:
            yield add_up(attempt, [value, goal.expression - value], [positive, rest])
        return


def separate(attempt: Attempt) -> Iterator[Tree]:
    """Write a sum of functions of different variables as the sum of what each is above its least value, and of these values."""
    goal = attempt.goal
    if attempt.depth < 1 or len(attempt.used) < 2 or not attempt.plausible:
        return
    constant, groups = sympy.S.Zero, list[tuple[set[str], sympy.Expr]]()
    for summand in sympy.Add.make_args(goal.expression):
        own, total = {symbol.name for symbol in summand.free_symbols}, summand
        if not own:
            constant += summand
            continue
        for group in [group for group in groups if group[0] & own]:
            groups.remove(group)
            own, total = own | group[0], total + group[1]
        groups.append((own, total))
    if len(groups) < 2:
        return
    parts, proofs = list[sympy.Expr](), list[Tree]()
    for names, total in groups:
        box = tuple(variable for variable in goal.box if variable.name in names)
        bound = _above_least(attempt, total, box)
        if bound is None:
            return
        constant += bound[0]
        parts.append(total - bound[0])
        proofs.append(bound[1])
    shown = attempt.search(Goal(constant, (), goal.strict), 1)
    if shown is not None:
        yield add_up(attempt, [constant, *parts], [shown, *proofs])


def _above_least(attempt: Attempt, expression: sympy.Expr, box: tuple[Variable, ...]) -> tuple[sympy.Expr, Tree] | None:
    for point in exact_points(expression, box):
        values = {symbol: point[symbol.name] for symbol in expression.free_symbols}
        least = put_in(expression, values)
        if not least.has(sympy.zoo, sympy.nan, sympy.oo):
            proof = attempt.prove(expression - least, strict=False, box=box)
            if proof is not None:
                return least, proof
    bounded = least_of(expression, box)
    if bounded is None or any(variable.hi is None for variable in box):
        return None
    below = fraction_below(bounded.value, 4)
    if below is None:
        return None
    least = to_rational(below)
    proof = attempt.prove(expression - least, strict=False, box=box)
    return None if proof is None else (least, proof)
