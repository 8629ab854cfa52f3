"""Trees that forget: a power, root, exponential or logarithm becomes a variable of its own, within a proved range."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import sympy

from profiles.numbers import exact_text
from profiles.profile import Variable
from profiles.symbolic import from_sympy, to_rational
from profiles.terms import to_text
from proofs_check.prover.algebra import expand, is_modest
from proofs_check.prover.attempt import Attempt, looks_true
from proofs_check.prover.explore import candidates
from proofs_check.prover.goals import Goal
from proofs_check.prover.pointwise import UndefinedAtPoint, as_ball, value_at
from proofs_check.results import Tree

NAME = "y"


def forget_atom(attempt: Attempt) -> Iterator[Tree]:
    """Prove the goal with an atom replaced by a new variable that ranges over all values it may take, and more."""
    if attempt.depth < 2 or not attempt.plausible or not is_modest(attempt.goal.expression):
        return
    expression, box = expand(attempt.goal.expression), attempt.goal.box
    taken = {variable.name for variable in box}
    name = NAME
    while name in taken:
        name += "_"
    fresh = sympy.Symbol(name, positive=True)
    for atom in _atoms(expression):
        general = _replace(expression, atom, fresh)
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


def _atoms(expression: sympy.Expr) -> list[sympy.Expr]:
    """Return what may be forgotten, with primitive exponents: x**p for x**(3*p), exp(m) for exp(2*m)."""
    found: dict[sympy.Expr, None] = {}
    for node in sorted(expression.atoms(sympy.Pow, sympy.exp, sympy.log), key=sympy.default_sort_key):
        if isinstance(node, sympy.log):
            found[node] = None
        elif not node.free_symbols:
            continue
        elif isinstance(node, sympy.exp):
            found[sympy.exp(_primitive(node.args[0]))] = None
        elif node.exp.free_symbols:
            found[node.base ** _primitive(node.exp)] = None
        elif node.exp.is_Rational and node.exp.q > 1 and node.free_symbols:
            found[node.base ** sympy.Rational(1, node.exp.q)] = None
    return list(found)


def _primitive(exponent: sympy.Expr) -> sympy.Expr:
    return exponent.as_coeff_Mul()[1]


def _replace(expression: sympy.Expr, atom: sympy.Expr, fresh: sympy.Symbol) -> sympy.Expr:
    def power_of(node: sympy.Expr) -> sympy.Expr | None:
        if isinstance(node, sympy.log) or isinstance(atom, sympy.log):
            return sympy.S.One if node == atom else None
        if isinstance(node, sympy.exp) and isinstance(atom, sympy.exp):
            ratio = node.args[0] / atom.args[0]
        elif node.is_Pow and not isinstance(atom, sympy.exp) and node.base == atom.base:
            ratio = node.exp / atom.exp
        else:
            return None
        return ratio if ratio.is_Integer else None

    mapping = {}
    for node in expression.atoms(sympy.Pow, sympy.exp, sympy.log):
        power = power_of(node)
        if power is not None:
            mapping[node] = fresh**power
    return expression.xreplace(mapping)


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
