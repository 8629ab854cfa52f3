"""Trees that forget: a power, root, exponential or logarithm becomes a variable of its own, within a proved range."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import sympy

from profiles.numbers import exact_text
from profiles.profile import Variable
from profiles.symbolic import from_sympy, to_rational
from profiles.terms import to_text
from proofs_check.prover.algebra import expand, is_modest, transcendental_atoms, with_atom_replaced
from proofs_check.prover.attempt import Attempt, fresh_name, looks_true
from proofs_check.prover.explore import candidates
from proofs_check.prover.goals import Goal
from proofs_check.prover.pointwise import UndefinedAtPoint, as_ball, value_at
from proofs_check.prover.trees import MANIFEST
from proofs_check.results import Tree


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
            yield {
                "rule": "generalise",
                "name": name,
                "term": to_text(from_sympy(atom)),
                "low": exact_text(low),
                "lower": lower,
                "general": to_text(from_sympy(general)),
                "proof": proof,
            }


def through_logarithm(attempt: Attempt) -> Iterator[Tree]:
    """Write a variable x ≥ 1 that occurs under a logarithm, log(x), as exp(y), y ≥ 0."""
    goal = attempt.goal
    if attempt.depth == 0 or not attempt.plausible or not is_modest(goal.expression):
        return
    for variable in attempt.used:
        symbol = goal.symbol(variable.name)
        if variable.hi is not None or variable.lo < 1 or sympy.log(symbol) not in goal.expression.atoms(sympy.log):
            continue
        name = fresh_name(goal)
        logarithm = sympy.Symbol(name, nonnegative=True)
        general = expand(sympy.powsimp(expand(goal.expression.subs(symbol, sympy.exp(logarithm)))))
        box = (*(other for other in goal.box if other is not variable), Variable(name, Fraction(0), None))
        if not looks_true(Goal(general, box, goal.strict)):
            continue
        proof = attempt.prove(general, box=box)
        if proof is not None:
            yield {
                "rule": "generalise", "name": name, "term": f"log({variable.name})", "low": "0", "lower": MANIFEST,
                "general": to_text(from_sympy(general)), "proof": proof,
            }  # fmt: skip


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
