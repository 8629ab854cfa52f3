"""Trees that work on the range of one variable: reduction to an end by monotonicity, a split before the tail, w = 1/u."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import sympy

from profiles.numbers import exact_text
from profiles.terms import to_text
from profiles.variables import Variable
from proofs_check.prover import trees
from proofs_check.prover.algebra import expand, gather_powers, is_algebraic, over_one_denominator, put_in, split_powers
from proofs_check.prover.attempt import Attempt, fresh_name, looks_true
from proofs_check.prover.goals import Goal
from proofs_check.prover.oracle import accepts
from proofs_check.prover.tactics.direct import SMALL_BUDGET, subdivide
from proofs_check.results import Tree

TAILS = tuple(Fraction(10) ** power for power in (1, 2, 4, 6, 8, 10, 13, 16, 20, 30))
#: Those of them at which it is seen first whether the sign beyond may be manifest at all: at one of them it is, if it is anywhere.
TRIED_FIRST = (TAILS[9], TAILS[3], TAILS[1])
#: The depth at which a goal is subdivided as finely as one that a search started from.
FINE = 2
#: What the kernel may spend on such a look, in its own units.
GUESS = 20_000


def reduce_to_end(attempt: Attempt) -> Iterator[Tree]:
    """The expression is monotone in a variable, and the goal holds at the end where it is least."""
    if attempt.depth == 0 or not attempt.plausible:
        return
    for variable in sorted(attempt.used, key=lambda item: item.hi is not None):
        for increasing in (True, False):
            tree = _reduce(attempt, variable, increasing=increasing)
            if tree is not None:
                yield tree


def _reduce(attempt: Attempt, variable: Variable, *, increasing: bool) -> Tree | None:
    end = variable.lo if increasing else variable.hi
    if end is None:
        return None
    goal = attempt.goal
    is_open = increasing and variable.open_below
    fixed = goal.at(variable.name, end)
    if fixed.expression.has(sympy.zoo, sympy.nan, sympy.oo, -sympy.oo):
        return None
    derivative = goal.slope(variable.name, increasing=increasing)
    if not looks_true(derivative):
        return None
    at_end = attempt.prove(fixed.expression, strict=goal.strict and not is_open, box=fixed.box)
    if at_end is None:
        return None
    slope = attempt.prove(derivative.expression, strict=goal.strict and is_open)
    return None if slope is None else trees.monotone(variable.name, slope, at_end, increasing=increasing)


def extend_to_zero(attempt: Attempt) -> Iterator[Tree]:
    """Prove it from x = 0 on, where it is 0, though only x ≥ lo > 0 is asked for: it rises from there."""
    if attempt.depth == 0 or not attempt.plausible:
        return
    goal = attempt.goal
    for variable in attempt.used:
        if variable.lo <= 0 or variable.open_below or goal.strict:
            continue
        symbol, name = goal.symbol(variable.name), fresh_name(goal)
        if expand(goal.at(variable.name, Fraction(0)).expression) != 0:
            continue
        fresh = sympy.Symbol(name, nonnegative=True)
        general = put_in(goal.expression, {symbol: fresh})
        others = tuple(other for other in goal.box if other is not variable)
        whole = Goal(general, (*others, Variable(name, Fraction(0), variable.hi)))
        if not looks_true(whole.slope(name, increasing=True)):
            continue
        slope = attempt.prove(whole.slope(name, increasing=True).expression, box=whole.box)
        if slope is not None:
            rising = trees.monotone(name, slope, trees.ZERO, increasing=True)
            extended = trees.generalise(name, variable.name, trees.ProvedRange((0, trees.MANIFEST)), to_text(whole.term), rising)
            yield extended if variable.hi is None else {**extended, "high": exact_text(variable.hi), "upper": trees.boxes(2)}


def split_tail(attempt: Attempt) -> Iterator[Tree]:
    """Split a half-infinite range at a large number, beyond which the sign is manifest, or the expression rises manifestly."""
    if attempt.depth < 1 or not attempt.plausible:
        return
    for variable in attempt.used:
        if variable.hi is not None or variable.open_below:
            continue
        tail = _tail(attempt.goal, variable)
        if tail is not None:
            cut, above = tail
            before = _replaced(attempt.goal, Variable(variable.name, variable.lo, cut))
            below = attempt.search(before, min(attempt.depth - 1, 1))
            if below is not None:
                yield trees.split(variable.name, cut, below, above)


def _tail(goal: Goal, variable: Variable) -> tuple[Fraction, Tree] | None:
    """Return the least of some large numbers beyond which the sign is manifest, or the slope's is, and the proof of what is beyond."""
    ways = [trees.MANIFEST]
    if not any(
        goal.symbol(variable.name) in wave.free_symbols for wave in goal.expression.atoms(sympy.sin, sympy.cos)
    ):  # slopes of waves change sign
        ways.append(trees.monotone(variable.name, trees.MANIFEST, trees.boxes(4), increasing=True))
    tails = {cut: _replaced(goal, Variable(variable.name, cut, None)) for cut in TAILS if cut > variable.lo}
    likely = [tree for tree in ways if any(accepts(tails[cut], tree, most=GUESS) for cut in TRIED_FIRST if cut in tails)]
    return next(((cut, tree) for cut, beyond in tails.items() for tree in likely if accepts(beyond, tree)), None)


def halve(attempt: Attempt) -> Iterator[Tree]:
    """Split a finite range in the middle, where an equality at one end keeps the whole from being seen at once."""
    if attempt.depth < 2 or not attempt.plausible:
        return
    for variable in attempt.used:
        if variable.hi is None:
            continue
        middle = (variable.lo + variable.hi) / 2
        halves = (replace(variable, hi=middle), Variable(variable.name, middle, variable.hi))
        proofs = [attempt.search(_replaced(attempt.goal, half), 1) for half in halves]
        below, above = proofs
        if below is not None and above is not None:
            yield trees.split(variable.name, middle, below, above)


def _replaced(goal: Goal, variable: Variable) -> Goal:
    box = tuple(variable if other.name == variable.name else other for other in goal.box)
    return Goal(goal.expression, box, goal.strict)


def invert(attempt: Attempt) -> Iterator[Tree]:
    """Write an algebraic expression on [lo, oo), lo > 0, in u = 1/w on [0, 1/lo] times a power of w: then nothing is infinite."""
    if attempt.depth == 0 or not attempt.plausible:
        return
    for variable in attempt.used:
        if variable.hi is not None or variable.lo <= 0 or variable.open_below:
            continue
        weight = attempt.goal.symbol(variable.name)
        if not is_algebraic(attempt.goal.expression, weight):
            continue
        name = "u" + variable.name
        inverse = sympy.Symbol(name, positive=True)
        turned = split_powers(over_one_denominator(put_in(attempt.goal.expression, {weight: 1 / inverse})))
        turned = expand(gather_powers(turned))
        lowest = _lowest_power(turned, inverse)
        general = expand(turned * inverse**-lowest)
        if put_in(general, {inverse: 0}).has(sympy.zoo, sympy.nan, sympy.oo):
            continue
        box = (*(other for other in attempt.goal.box if other.name != variable.name), Variable(name, Fraction(0), 1 / variable.lo))
        whole = Attempt(
            Goal(general, box, attempt.goal.strict), FINE, attempt.search
        )  # as fine as if it were the first goal: all is finite now
        proof = next((tree for tree in _at_once(whole) if accepts(whole.goal, tree, most=GUESS)), None) or attempt.prove(general, box=box)
        if proof is None:
            continue
        ends = (0, trees.MANIFEST), (1 / variable.lo, trees.boxes(5))
        tree = trees.generalise(name, f"1/{variable.name}", trees.ProvedRange(*ends), general, proof)
        yield tree if lowest == 0 else trees.scale(weight**lowest, tree)


def _at_once(whole: Attempt) -> Iterator[Tree]:
    """Yield subdivisions of a finite box, with mean-value forms where there are several variables."""
    yield from subdivide(whole)
    if len(whole.used) > 1 and whole.plausible and not whole.goal.expression.has(sympy.Abs, sympy.Max, sympy.Min, sympy.Piecewise):
        yield trees.boxes(SMALL_BUDGET, centred=True)


def _lowest_power(expression: sympy.Expr, symbol: sympy.Symbol) -> sympy.Rational:
    lowest = sympy.oo
    for summand in sympy.Add.make_args(expression):
        powers = (part.as_base_exp() for part in sympy.Mul.make_args(summand))
        own = sum((exponent for base, exponent in powers if base == symbol and exponent.is_Rational), sympy.S.Zero)
        lowest = min(lowest, own)
    return lowest
