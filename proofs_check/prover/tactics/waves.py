"""Trees for waves: sin(a) and cos(a) become sin(y) and cos(y) with y in one period, so that nothing is infinite on their account."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import sympy

from profiles.variables import Variable
from proofs_check.prover.attempt import Attempt, fresh_name, looks_true
from proofs_check.prover.goals import Goal
from proofs_check.prover.trees import text
from proofs_check.results import Tree

#: The kernel's range of an angle, which is longer than a period.
PERIOD = Fraction(7)


def unwind(attempt: Attempt) -> Iterator[Tree]:
    """Replace the angle of waves, if it is unbounded, by a new variable."""
    goal = attempt.goal
    if attempt.depth == 0 or not attempt.plausible:
        return
    unbounded = {variable.name for variable in goal.box if variable.hi is None}
    angles = {wave.args[0] for wave in goal.expression.atoms(sympy.sin, sympy.cos)}
    for angle in sorted(angles, key=sympy.default_sort_key):
        if not unbounded & {symbol.name for symbol in angle.free_symbols}:
            continue
        name = fresh_name(goal)
        turned = sympy.Symbol(name, nonnegative=True)
        general = goal.expression.xreplace({sympy.sin(angle): sympy.sin(turned), sympy.cos(angle): sympy.cos(turned)})
        used = {symbol.name for symbol in general.free_symbols}
        box = tuple(variable for variable in (*goal.box, Variable(name, Fraction(0), PERIOD)) if variable.name in used)
        if not looks_true(Goal(general, box, goal.strict)):
            continue
        proof = attempt.prove(general, box=box)
        if proof is not None:
            yield {"rule": "periodicity", "name": name, "term": text(angle), "general": text(general), "proof": proof}
