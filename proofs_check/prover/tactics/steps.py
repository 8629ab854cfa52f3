"""Trees for floor and ceiling: ceiling(a) = a + y and floor(a) = a - y with y in [0, 1], so that both grow as their arguments do."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction

import sympy

from profiles.symbolic import to_rational
from profiles.variables import Variable
from proofs_check.prover import trees
from proofs_check.prover.algebra import put_in
from proofs_check.prover.attempt import Attempt, fresh_name, looks_true
from proofs_check.prover.goals import Goal
from proofs_check.results import Tree

#: Variables of an argument whose range is taken from the corners of the box.
_MOST_VARIABLES = 3


def name_arguments(attempt: Attempt) -> Iterator[Tree]:
    """Replace the argument of a floor or ceiling by a new variable with the argument's exact range, so that its ends are not rounded ones.

    Interval arithmetic cannot tell that z/3 is not above 2 at z = 6; that y is not above 2 it can.
    """
    goal = attempt.goal
    nodes = goal.expression.atoms(sympy.ceiling, sympy.floor)
    if attempt.depth == 0 or not nodes or not attempt.plausible:
        return
    for node in sorted(nodes, key=str):
        ends = _range_at_corners(node.args[0], goal)
        if ends is None or node.args[0].is_Symbol:
            continue
        name = fresh_name(goal)
        general = goal.expression.xreplace({node: node.func(sympy.Symbol(name, real=True))})
        box = (*goal.box, Variable(name, *ends))
        lower, upper = (attempt.prove(side, strict=False) for side in (node.args[0] - ends[0], ends[1] - node.args[0]))
        proof = None if lower is None or upper is None else attempt.prove(general, box=box)
        if lower is not None and upper is not None and proof is not None:
            yield trees.generalise(name, node.args[0], trees.ProvedRange((ends[0], lower), (ends[1], upper)), general, proof)


def _range_at_corners(argument: sympy.Expr, goal: Goal) -> tuple[Fraction, Fraction] | None:
    """Return the least and the largest value of an expression at the corners of the box, None where they are not rational numbers."""
    used = [variable for variable in goal.box if goal.symbol(variable.name) in argument.free_symbols]
    if not 1 <= len(used) <= _MOST_VARIABLES:
        return None
    values = []
    for corner in itertools.product(*((variable.lo, variable.hi) for variable in used)):
        if None in corner:
            return None
        value = put_in(argument, {goal.symbol(v.name): to_rational(end) for v, end in zip(used, corner, strict=True) if end is not None})
        if not value.is_Rational:
            return None
        values.append(Fraction(int(value.p), int(value.q)))
    return min(values), max(values)


def smooth_steps(attempt: Attempt) -> Iterator[Tree]:
    """Replace an innermost floor or ceiling by its argument and a new variable for the distance between the two."""
    goal = attempt.goal
    nodes = goal.expression.atoms(sympy.ceiling, sympy.floor)
    if attempt.depth == 0 or not nodes or not attempt.plausible:
        return
    for node in sorted(nodes, key=lambda node: (len(node.atoms(sympy.ceiling, sympy.floor)), str(node))):
        argument, sign = node.args[0], 1 if isinstance(node, sympy.ceiling) else -1
        distance = Variable(fresh_name(goal), Fraction(0), Fraction(1))
        general = goal.expression.xreplace({node: argument + sign * sympy.Symbol(distance.name, nonnegative=True)})
        box = (*goal.box, distance)
        if not looks_true(Goal(general, box, goal.strict)):
            continue
        proof = attempt.prove(general, box=box)
        if proof is None:
            continue
        fact: Tree = {"rule": "ceiling", "argument": trees.text(sign * argument)}
        yield trees.generalise(distance.name, sign * (node - argument), trees.ProvedRange((0, fact), (Fraction(1), fact)), general, proof)
