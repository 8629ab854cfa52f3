"""Trees that forget: a power, root, exponential or logarithm becomes a variable of its own, within a proved range."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import sympy

from profiles.symbolic import from_sympy, to_rational
from profiles.variables import Variable
from proofs_check.prover.algebra import derivative, expand, gather_powers, put_in, transcendental_atoms, with_atom_replaced
from proofs_check.prover.attempt import Attempt, fresh_name, looks_true
from proofs_check.prover.goals import Goal
from proofs_check.prover.oracle import accepts
from proofs_check.prover.points import candidates
from proofs_check.prover.pointwise import UndefinedAtPoint, as_ball, value_at
from proofs_check.prover.sizes import is_modest
from proofs_check.prover.trees import MANIFEST, ProvedRange, boxes, generalise, monotone, split
from proofs_check.results import Tree

#: Where a range that has no end is cut, so that an expression rises manifestly from there on.
CUTS = (Fraction(2), Fraction(4), Fraction(10))


def forget_atom(attempt: Attempt) -> Iterator[Tree]:
    """Prove the goal with an atom replaced by a new variable that ranges over all values it may take, and more."""
    if attempt.depth < 2 or not attempt.plausible or not is_modest(attempt.goal.expression):
        return
    expression, box = expand(attempt.goal.expression), attempt.goal.box
    name = fresh_name(attempt.goal)
    fresh = sympy.Symbol(name, positive=True)
    for atom in transcendental_atoms(expression):
        general = with_atom_replaced(expression, atom, fresh)
        low = _least(atom, box)
        if low is None:
            continue
        lower = attempt.search(Goal(atom - to_rational(low), box), 1)
        if lower is None:
            continue
        wider = (*box, Variable(name, low, None))
        if not looks_true(Goal(general, wider, attempt.goal.strict)):
            continue
        proof = attempt.prove(general, box=wider, cost=2)
        if proof is not None:
            yield generalise(name, atom, ProvedRange((low, lower)), general, proof)


def through_logarithm(attempt: Attempt) -> Iterator[Tree]:
    """Write a variable x that occurs under a logarithm, log(a x + b), as (exp(y) − b)/a."""
    goal = attempt.goal
    if attempt.depth == 0 or not attempt.plausible or not is_modest(goal.expression):
        return
    for logarithm in sorted(goal.expression.atoms(sympy.log), key=sympy.default_sort_key):
        line = _line_in(logarithm.args[0], attempt.used)
        if line is None:
            continue
        variable, rate, constant = line
        start = sympy.log(constant + rate * to_rational(variable.lo))
        low = Fraction(0) if start == 0 else Fraction(math.floor(100 * float(as_ball(value_at(from_sympy(start), {}, 96)))), 100)
        lower = next((tree for tree in (MANIFEST, boxes(5)) if accepts(Goal(logarithm - to_rational(low), (variable,)), tree)), None)
        if lower is None:
            continue
        name = fresh_name(goal)
        y = sympy.Symbol(name, **({"nonnegative": True} if low >= 0 else {"real": True}))
        general = put_in(goal.expression, {goal.symbol(variable.name): (sympy.exp(y) - constant) / rate})
        general = expand(gather_powers(expand(general)))
        box = (*(other for other in goal.box if other.name != variable.name), Variable(name, low, None))
        if not looks_true(Goal(general, box, goal.strict)):
            continue
        quick = (split(name, cut, boxes(400), monotone(name, MANIFEST, boxes(4), increasing=True)) for cut in CUTS)
        proof = next((tree for tree in quick if accepts(Goal(general, box, goal.strict), tree)), None) or attempt.prove(general, box=box)
        if proof is not None:
            yield generalise(name, logarithm, ProvedRange((low, lower)), general, proof)


def _line_in(argument: sympy.Expr, variables: tuple[Variable, ...]) -> tuple[Variable, sympy.Rational, sympy.Rational] | None:
    """Return (x, a, b) with the argument a x + b for an unbounded variable x and rational numbers a > 0, b."""
    for variable in variables:
        if variable.hi is None and not variable.open_below and {symbol.name for symbol in argument.free_symbols} == {variable.name}:
            (symbol,) = argument.free_symbols
            rate = derivative(argument, symbol)
            constant = put_in(argument, {symbol: 0})
            if rate.is_Rational and rate > 0 and constant.is_Rational and constant + rate * to_rational(variable.lo) > 0:
                return variable, rate, constant
    return None


def _least(atom: sympy.Expr, box: tuple[Variable, ...]) -> Fraction | None:
    """Return a short number below the sampled values of an atom: 0, or 1."""
    term = from_sympy(atom)
    values = []
    for point in candidates(box, 200):
        try:
            value = value_at(term, point, 96)
        except UndefinedAtPoint:
            return None
        values.append(value)
    balls = [as_ball(value) for value in values]
    return next((Fraction(low) for low in (1, 0) if all(ball >= low for ball in balls)), None)
