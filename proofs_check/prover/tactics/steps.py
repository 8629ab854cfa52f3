"""Trees for floor and ceiling: ceiling(a) = a + y and floor(a) = a - y with y in [0, 1], so that both grow as their arguments do."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import sympy

from profiles.profile import Variable
from profiles.symbolic import from_sympy
from profiles.terms import to_text
from proofs_check.prover.attempt import Attempt, fresh_name, looks_true
from proofs_check.prover.goals import Goal
from proofs_check.results import Tree


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
        fact: Tree = {"rule": "ceiling", "argument": to_text(from_sympy(sign * argument))}
        yield {
            "rule": "generalise", "name": distance.name, "term": to_text(from_sympy(sign * (node - argument))), "low": "0", "lower": fact,
            "high": "1", "upper": fact, "general": to_text(from_sympy(general)), "proof": proof,
        }  # fmt: skip
