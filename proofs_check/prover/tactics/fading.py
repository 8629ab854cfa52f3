"""Trees for exponentials that fade: far out each product y^j·exp(−k y) is small, and before that ranges are finite.

Statement: where s = −c·m·y^j·exp(−k y) with c, k > 0 and 0 ≤ m, and k y ≥ j from Y on, s rises in y there: its bound is its value at Y.
An exponential of a product of two variables, exp(−k a w), is one of y = a w, and a is y/w.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import sympy

from profiles.symbolic import from_sympy, to_rational
from profiles.variables import Variable
from proofs_check.prover import trees
from proofs_check.prover.algebra import expand, gather_powers, put_in
from proofs_check.prover.attempt import Attempt, fresh_name, looks_true
from proofs_check.prover.explore import GoalStatus, explore
from proofs_check.prover.goals import Goal
from proofs_check.prover.minimize import fraction_below
from proofs_check.prover.oracle import accepts
from proofs_check.prover.pointwise import as_ball, value_at
from proofs_check.prover.tactics.sums import add_up
from proofs_check.results import Tree

#: Where a range is cut: what fades is less than 1e-3, 1e-7 or 1e-15 from there on, for small powers.
CUTS = (Fraction(10), Fraction(20), Fraction(40))
#: Pieces and points for what is before the cut.
PIECES, POINTS = 800, 200
MOST_SUMMANDS = 40


def bound_fading(attempt: Attempt) -> Iterator[Tree]:
    """Split an infinite range; beyond, replace each summand with y^j·exp(−k y) that is negative by its value at the cut."""
    goal = attempt.goal
    if attempt.depth == 0 or not goal.expression.has(sympy.exp) or not attempt.plausible:
        return
    for variable in attempt.used:
        symbol = goal.symbol(variable.name)
        if variable.hi is not None or variable.lo < 0 or any(other.hi is None for other in attempt.used if other is not variable):
            continue
        expression = expand(goal.expression)
        fading = [part for part in sympy.Add.make_args(expression) if _rate(part, symbol) is not None]
        if not fading or len(fading) > MOST_SUMMANDS or any(_grows(part, symbol) for part in fading):
            continue
        for cut in (cut for cut in CUTS if cut > variable.lo):
            above = _beyond(attempt, expression, fading, Variable(variable.name, cut, None))
            if above is None:
                continue
            before = Goal(goal.expression, _with(goal.box, replace(variable, hi=cut)), goal.strict)
            below = next((tree for tree in _subdivisions(before) if accepts(before, tree)), None)
            if below is not None:
                yield trees.split(variable.name, cut, below, above)
            break


def _subdivisions(before: Goal) -> Iterator[Tree]:
    """Yield subdivisions of a finite box: plain ones where balls see that one will do, else one with mean-value forms."""
    closed = replace(before, box=tuple(replace(variable, open_below=False) for variable in before.box))
    exploration = explore(closed, budget=PIECES, points=POINTS)
    if exploration.status is GoalStatus.HOLDS:
        yield trees.boxes(4 * exploration.boxes + 50)
    elif exploration.status is GoalStatus.UNDECIDED:
        yield trees.boxes(PIECES, centred=True)


def _with(box: tuple[Variable, ...], variable: Variable) -> tuple[Variable, ...]:
    return tuple(variable if other.name == variable.name else other for other in box)


def _rate(summand: sympy.Expr, symbol: sympy.Symbol) -> sympy.Expr | None:
    """Return k > 0 where a summand is a product with exp(−k y) and powers y^j, 0 ≤ j < 10 k; None where it is something else."""
    rate, degree = sympy.S.Zero, sympy.S.Zero
    for factor in sympy.Mul.make_args(summand):
        if isinstance(factor, sympy.exp):
            slope = factor.args[0].coeff(symbol)
            if factor.args[0] - slope * symbol != 0 or not slope.is_Rational:
                return None
            rate -= slope
        elif symbol in factor.free_symbols:
            base, exponent = factor.as_base_exp()
            if base != symbol or not exponent.is_Integer or exponent < 0:
                return None
            degree += exponent
    return rate if rate > 0 and degree < CUTS[0] * rate else None


def _grows(summand: sympy.Expr, symbol: sympy.Symbol) -> bool:
    """Tell whether a summand has a factor, beside those of y, whose sign is not seen."""
    others = (factor for factor in sympy.Mul.make_args(summand) if symbol not in factor.free_symbols)
    return any(not (factor.is_number or factor.is_nonnegative) for factor in others)


def _beyond(attempt: Attempt, expression: sympy.Expr, fading: list[sympy.Expr], variable: Variable) -> Tree | None:
    """Prove the goal from the cut on: what does not fade, less the bounds of what does."""
    box, symbol = _with(attempt.goal.box, variable), attempt.goal.symbol(variable.name)
    parts, proofs, total = list[sympy.Expr](), list[Tree](), sympy.S.Zero
    for part in fading:
        if accepts(Goal(part, box), trees.MANIFEST):
            bound, tree = sympy.S.Zero, trees.MANIFEST
        else:
            largest = _largest(-put_in(part, {symbol: to_rational(variable.lo)}), box)
            if largest is None:
                return None
            bound, tree = largest, trees.monotone(variable.name, trees.MANIFEST, trees.boxes(20), increasing=True)
            if not accepts(Goal(part + bound, box), tree):
                return None
        total += bound
        parts.append(part + bound)
        proofs.append(tree)
    rest = Goal(expression - sum(fading, sympy.S.Zero) - total, box, attempt.goal.strict)
    if not looks_true(rest):
        return None
    ways = (trees.MANIFEST, trees.boxes(PIECES))
    shown = next((tree for tree in ways if accepts(rest, tree)), None) or attempt.search(rest, 1)
    return None if shown is None else add_up(attempt, [rest.expression, *parts], [shown, *proofs])


def _largest(expression: sympy.Expr, box: tuple[Variable, ...]) -> sympy.Rational | None:
    """Return a short number above a monomial in variables that are not negative: above its value at their upper ends."""
    ends = {variable.name: variable.hi for variable in box if variable.hi is not None}
    if any(symbol.name not in ends for symbol in expression.free_symbols):
        return None
    value = as_ball(value_at(from_sympy(expression), ends, 96))
    below = fraction_below(-value)
    return None if below is None else to_rational(-below)


def name_exponent(attempt: Attempt) -> Iterator[Tree]:
    """Give the product y = a·w under an exponential a name, and put y/w in place of a, and 1/v in place of w ≥ 1."""
    goal = attempt.goal
    if attempt.depth == 0 or not goal.expression.has(sympy.exp) or not attempt.plausible:
        return
    for first, second in _products(goal):
        name = fresh_name(goal)
        y = sympy.Symbol(name, positive=True)
        inverse = Variable(f"u{second.name}", Fraction(0), 1 / second.lo)
        u = sympy.Symbol(inverse.name, positive=True)
        moved = put_in(goal.expression, {goal.symbol(first.name): y / goal.symbol(second.name)})
        general = expand(gather_powers(expand(put_in(moved, {goal.symbol(second.name): 1 / u}))))
        if {goal.symbol(first.name), goal.symbol(second.name)} & general.free_symbols or put_in(general, {u: 0}).has(sympy.zoo, sympy.nan):
            continue
        low = first.lo * second.lo
        others = tuple(variable for variable in goal.box if variable not in (first, second))
        box = (*others, Variable(name, low, None, first.open_below), inverse)
        whole = Attempt(Goal(general, box, goal.strict), attempt.depth, attempt.search)
        proof = next((tree for tree in bound_fading(whole) if accepts(whole.goal, tree)), None) or attempt.prove(general, box=box)
        if proof is None:
            continue
        shown = put_in(general, {u: 1 / goal.symbol(second.name)})
        ends = (0, trees.MANIFEST), (1 / second.lo, trees.boxes(5))
        inner = trees.generalise(inverse.name, f"1/{second.name}", trees.ProvedRange(*ends), general, proof)
        product = f"{first.name}*{second.name}"
        yield trees.generalise(name, product, trees.ProvedRange((low, trees.MANIFEST), open_below=first.open_below), shown, inner)


def fades(goal: Goal) -> bool:
    """Tell whether an exponential of a product of two variables fades, as exp(−a w) does."""
    return next(_products(goal), None) is not None


def _products(goal: Goal) -> Iterator[tuple[Variable, Variable]]:
    """Yield (a, w), w unbounded and at least some number above 0, where some exponential has the exponent −k a w."""
    by_name = {variable.name: variable for variable in goal.box}
    for node in sorted(goal.expression.atoms(sympy.exp), key=sympy.default_sort_key):
        coefficient, factors = node.args[0].as_coeff_mul()
        names = [factor.name for factor in factors if factor.is_Symbol]
        if coefficient < 0 and len(names) == len(factors) == 2 and all(name in by_name for name in names):
            a, b = (by_name[name] for name in names)
            for first, second in ((a, b), (b, a)):
                if second.hi is None and second.lo > 0 and first.lo >= 0:
                    yield first, second
            return
