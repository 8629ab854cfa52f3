"""Trees that multiply: by a positive factor that clears denominators and exponentials; factors of even order taken out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import sympy

from proofs_check.prover import trees
from proofs_check.prover.algebra import clearing_factor, expand, factored, gather_powers
from proofs_check.prover.attempt import Attempt, fresh_name, looks_true
from proofs_check.prover.effort import remembered
from proofs_check.prover.goals import Goal
from proofs_check.results import Tree


def clear_factors(attempt: Attempt) -> Iterator[Tree]:
    """Multiply by a positive factor exp(−g)·Π x^k that leaves neither exponentials of g nor negative powers of positive variables."""
    if attempt.depth == 0 or not attempt.plausible:
        return
    cleared = remembered("cleared", attempt.goal, lambda: _cleared(attempt.goal))
    if cleared is None:
        return
    factor, product = cleared
    proof = attempt.prove(product)
    if proof is not None:
        yield from _scaled(attempt, factor, trees.MANIFEST, product, proof)


def _cleared(goal: Goal) -> tuple[sympy.Expr, sympy.Expr] | None:
    """Return such a factor, and its product with the expression; None where there is none."""
    positive = [goal.symbol(variable.name) for variable in goal.box if variable.lo > 0 or variable.open_below]
    factor = clearing_factor(goal.expression, positive)
    return None if factor is None else (factor, expand(gather_powers(expand(goal.expression * factor))))


def _scaled(attempt: Attempt, factor: sympy.Expr, positive: Tree, product: sympy.Expr, proof: Tree) -> Iterator[Tree]:
    """Yield proofs by multiplication with a positive factor: of the product as the kernel writes it, and as it was proved."""
    for way in (proof, trees.restated(replace(attempt.goal, expression=product), proof)):
        yield trees.scale(factor, way, positive)


def positive_part(attempt: Attempt) -> sympy.Expr | None:
    """Return the product of the factors of a rational function that are seen to be positive at once; None if there is none."""
    product = factored(attempt.goal.expression)
    if product is None:
        return None
    factors = [part for part in sympy.Mul.make_args(product) if part.free_symbols]
    positive = [part for part in factors if attempt.search(Goal(part, attempt.goal.box, strict=True), 0) is not None]
    return sympy.Mul(*positive) if 0 < len(positive) < len(factors) else None


def strip(attempt: Attempt, positive: sympy.Expr) -> Iterator[Tree]:
    """Divide the goal by what is positive; this costs no depth."""
    shown = attempt.search(Goal(1 / positive, attempt.goal.box, strict=True), 0)
    product = factored(attempt.goal.expression)
    remaining = None if shown is None or product is None else attempt.prove(product / positive, cost=0)
    if shown is not None and product is not None and remaining is not None:
        yield from _scaled(attempt, 1 / positive, shown, product / positive, remaining)


def _power_of_positive(attempt: Attempt, product: sympy.Expr, base: sympy.Expr) -> Iterator[Tree]:
    """Prove c·a^n > 0 from a > 0."""
    positive = attempt.prove(base, strict=True)
    if positive is not None:
        name = fresh_name(attempt.goal)
        general = product.xreplace({base: sympy.Symbol(name, positive=True)})
        yield trees.generalise(name, base, trees.ProvedRange((0, positive), open_below=True), general, trees.MANIFEST)


def even_power(attempt: Attempt) -> Iterator[Tree]:
    """Prove that an even power is positive: its base is, or is negative throughout."""
    goal = attempt.goal
    if attempt.depth == 0 or not goal.strict or not goal.expression.is_Pow or not goal.expression.exp.is_even:
        return
    for base in (goal.expression.base, -goal.expression.base):
        if looks_true(Goal(base, goal.box, strict=True)):
            yield from _power_of_positive(attempt, base**goal.expression.exp, base)


def factor_out(attempt: Attempt) -> Iterator[Tree]:
    """Write a rational function as a product: squares show their sign by themselves, positive factors are divided out."""
    goal, product = attempt.goal, factored(attempt.goal.expression)
    if attempt.depth == 0 or product is None or not attempt.plausible:
        return
    if not goal.strict:
        yield trees.add_up([product], [trees.boxes(100)])
    factors = [part for part in sympy.Mul.make_args(product) if part.free_symbols]
    if len(factors) == 1 and factors[0].is_Pow:
        yield from _power_of_positive(attempt, product, factors[0].base)
    for kept in factors if len(factors) > 1 else ():
        factor = kept / product
        positive = attempt.prove(factor, strict=True)
        remaining = None if positive is None else attempt.prove(kept)
        if positive is not None and remaining is not None:
            yield from _scaled(attempt, factor, positive, factor * product, remaining)
