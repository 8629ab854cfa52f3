"""Trees that put a polynomial below an exponential: exp(n m) ≥ (1 + m)^n for m ≥ 0."""

from __future__ import annotations

from collections.abc import Iterator

import sympy

from profiles.symbolic import from_sympy
from profiles.terms import to_text
from proofs_check.prover import trees
from proofs_check.prover.algebra import expand, is_modest
from proofs_check.prover.attempt import Attempt, looks_true
from proofs_check.prover.goals import Goal
from proofs_check.results import Tree

POWERS = (1, 2, 3, 4, 6)
MOST = 3


def below_exponential(attempt: Attempt) -> Iterator[Tree]:
    """Replace c·exp(g), c ≥ 0, g ≥ 0, by c·(1 + g/n)^n; then no exponential of g is left."""
    goal = attempt.goal
    if attempt.depth < 2 or not attempt.plausible or not is_modest(goal.expression):
        return
    exponentials = sorted((node for node in goal.expression.atoms(sympy.exp) if node.free_symbols), key=sympy.default_sort_key)
    for exponential in exponentials[:MOST]:
        fresh = sympy.Dummy(positive=True)
        replaced = goal.expression.xreplace({exponential: fresh})
        coefficient = expand(sympy.diff(replaced, fresh))
        if not coefficient.has(fresh):
            yield from _replace(attempt, coefficient, exponential.args[0], replaced.subs(fresh, 0))


def _replace(attempt: Attempt, coefficient: sympy.Expr, exponent: sympy.Expr, others: sympy.Expr) -> Iterator[Tree]:
    goal = attempt.goal
    for n in POWERS:
        m = exponent / n
        rest = others + coefficient * (1 + m) ** n
        if not looks_true(Goal(rest, goal.box, goal.strict)):
            continue
        proof = attempt.prove(rest, cost=2)
        tree = None if proof is None else tangent(attempt, coefficient, m, n, proof)
        if tree is not None:
            yield tree
            return


def tangent(attempt: Attempt, coefficient: sympy.Expr, m: sympy.Expr, n: int, rest: Tree) -> Tree | None:
    """Return the proof of t ≥ 0 from t − c·(exp(n m) − (1 + m)^n) ≥ 0.

    It uses exp(n m) − (1 + m)^n = (exp(m) − 1 − m)·Σ exp(j m)·(1 + m)^(n−1−j), j from 0 to n − 1.
    """
    total = coefficient * sum(sympy.exp(j * m) * (1 + m) ** (n - 1 - j) for j in range(n))
    nonnegative = attempt.search(Goal(total, attempt.goal.box), 1)
    if nonnegative is None:
        parts = [attempt.search(Goal(coefficient, attempt.goal.box), 2), attempt.search(Goal(m, attempt.goal.box), 1)]
        if None in parts:
            return None
        nonnegative = trees.boxes(200)
    return {
        "rule": "exp-tangent",
        "exponent": to_text(from_sympy(m)),
        "coefficient": to_text(from_sympy(total)),
        "nonnegative": nonnegative,
        "rest": rest,
    }
