"""Trees that put a polynomial below an exponential, exp(n m) ≥ (1 + m)^n for m ≥ 0, or a line above a logarithm."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import sympy

from proofs_check.prover import trees
from proofs_check.prover.algebra import cancelled, derivative, expand, expand_plainly, put_in
from proofs_check.prover.attempt import Attempt, fresh_name, looks_true
from proofs_check.prover.goals import Goal
from proofs_check.prover.sizes import is_modest
from proofs_check.results import Tree

POWERS = (1, 2, 3, 4, 6)
MOST = 3
MOST_SLOPES = 4
MOST_TERMS = 8
#: Tangents that are taken one after the other, where nothing else is needed.
LEVELS = 2
#: Beyond the numbers that a computer calculates with.
LARGEST = 10**320


def at_tangent(attempt: Attempt) -> Iterator[Tree]:
    """Take the whole of c·(exp(m) − 1 − m), or c·(a − 1 − log a), out of a short sum, where what is left is manifest: 1 − exp(−x) ≤ x.

    What is left may need that once more, exp(exp(−x) − 1) ≥ exp(−x) ≥ 1 − x, or a search where it is to be positive.
    """
    yield from _at_tangents(attempt, LEVELS)


def _at_tangents(attempt: Attempt, levels: int) -> Iterator[Tree]:
    goal, expression = attempt.goal, attempt.goal.expression
    if not levels or not expression.is_Add or len(expression.args) > MOST_TERMS or not expression.has(sympy.exp, sympy.log):
        return
    for node in sorted((node for node in expression.atoms(sympy.exp, sympy.log) if node.free_symbols), key=sympy.default_sort_key)[:MOST]:
        exponential = isinstance(node, sympy.exp)
        coefficient = expression.coeff(node) if exponential else -expression.coeff(node)
        if coefficient.is_nonnegative is not True or coefficient == 0:
            continue
        shift = _numbers_in(coefficient) if exponential else sympy.S.Zero  # exp(-1)*exp(m) is exp(m - 1)
        inner, coefficient = node.args[0] + shift, coefficient / sympy.exp(shift)
        excess = node * sympy.exp(shift) - 1 - inner if exponential else inner - 1 - node
        left = Goal(expand_plainly(expression - coefficient * excess, powers=False, largest=LARGEST), goal.box, goal.strict)
        if not looks_true(left):
            continue
        shown = {"nonnegative": trees.MANIFEST, "coefficient": trees.text(coefficient)}
        found = attempt.prove(left.expression) if goal.strict and levels == LEVELS else None
        deeper = _at_tangents(replace(attempt, goal=left), levels - 1) if found is None else [found]
        for proof in (trees.MANIFEST, trees.boxes(1), *deeper):
            if exponential:
                yield {"rule": "exp-tangent", "exponent": trees.text(inner), **shown, "rest": proof}
            else:
                positive = {"argument": trees.text(inner), "argument-positive": trees.MANIFEST}
                yield {"rule": "log-tangent", **positive, **shown, "rest": proof}


def _numbers_in(coefficient: sympy.Expr) -> sympy.Expr:
    """Return the sum of the exponents of the factors exp(number) of a product."""
    factors = sympy.Mul.make_args(coefficient)
    return sum((part.args[0] for part in factors if isinstance(part, sympy.exp) and part.args[0].is_Rational), sympy.S.Zero)


def whole_logarithm(attempt: Attempt) -> Iterator[Tree]:
    """Prove log(a) ≥ 0 from a ≥ 1: the logarithm of any y ≥ 1 is."""
    goal = attempt.goal
    if attempt.depth == 0 or not isinstance(goal.expression, sympy.log):
        return
    argument, name = goal.expression.args[0], fresh_name(goal)
    at_least_one = attempt.prove(expand(argument - 1))
    if at_least_one is not None:
        tree = trees.generalise(name, argument, trees.ProvedRange((1, at_least_one)), f"log({name})", trees.MANIFEST)
        yield {**tree, "open": True} if goal.strict else tree


def below_exponential(attempt: Attempt) -> Iterator[Tree]:
    """Replace c·exp(g), c ≥ 0, g ≥ 0, by c·(1 + g/n)^n; then no exponential of g is left."""
    for argument, coefficient, others in _linear_parts(attempt, sympy.exp):
        yield from _replace(attempt, coefficient, argument, others)


def above_logarithm(attempt: Attempt) -> Iterator[Tree]:
    """Replace −c·log(a), c ≥ 0, by −c·(t a − 1 − log t), the line that touches it at 1/t: exp(m) ≥ 1 + m for m = log(t a)."""
    for argument, rate, others in _linear_parts(attempt, sympy.log):
        coefficient = expand(-rate)
        if looks_true(Goal(coefficient, attempt.goal.box)):
            for slope in _touching_slopes(others, coefficient, argument):
                yield from _above(attempt, others, coefficient, argument, slope)


def _linear_parts(attempt: Attempt, kind: type[sympy.Function]) -> Iterator[tuple[sympy.Expr, sympy.Expr, sympy.Expr]]:
    """Yield (a, c, r) where a goal worth the effort is c·f(a) + r for the function f, and neither c nor r contains f(a)."""
    expression = attempt.goal.expression
    if attempt.depth < 2 or not attempt.plausible or not is_modest(expression):
        return
    nodes = sorted((node for node in expression.atoms(kind) if node.free_symbols), key=sympy.default_sort_key)
    for node in nodes[:MOST]:
        fresh = sympy.Dummy("y", positive=True)
        replaced = expression.xreplace({node: fresh})
        coefficient = expand(derivative(replaced, fresh))
        if not coefficient.has(fresh):
            yield node.args[0], coefficient, put_in(replaced, {fresh: 0})


def _touching_slopes(others: sympy.Expr, coefficient: sympy.Expr, argument: sympy.Expr) -> list[sympy.Expr]:
    """Return slopes t for which a summand of the rest is cancelled by c·t·a, or by c·t·b for a summand b of a; and t = 1."""
    slopes: dict[sympy.Expr, None] = {sympy.S.One: None}
    for summand in sympy.Add.make_args(expand(others)):
        for part in sympy.Add.make_args(expand(argument)):
            ratio = cancelled(summand / (coefficient * part))
            if ratio is not None and ratio != 0 and not ratio.free_symbols & part.free_symbols:
                slopes[ratio] = None
    return list(slopes)[:MOST_SLOPES]


def _above(attempt: Attempt, others: sympy.Expr, coefficient: sympy.Expr, argument: sympy.Expr, slope: sympy.Expr) -> Iterator[Tree]:
    goal = attempt.goal
    scaled = expand(slope * argument)
    rest = expand(others - coefficient * (scaled - 1)) + coefficient * sympy.log(slope)
    if not looks_true(Goal(slope, goal.box, strict=True)) or not looks_true(Goal(rest, goal.box, goal.strict)):
        return
    nonnegative = attempt.prove(coefficient, strict=False)
    proof = None if nonnegative is None else attempt.prove(rest, cost=2)
    if nonnegative is not None and proof is not None:
        yield trees.tangent(sympy.log(slope) + sympy.log(argument), coefficient, proof, nonnegative)


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
    return trees.tangent(m, total, rest, nonnegative)
