"""Trees that multiply: by a positive factor that clears denominators and exponentials; factors of even order taken out."""

from __future__ import annotations

from collections.abc import Iterator

import sympy

from profiles.symbolic import from_sympy
from profiles.terms import to_text
from proofs_check.prover import trees
from proofs_check.prover.algebra import clearing_factor, expand, factored
from proofs_check.prover.attempt import Attempt
from proofs_check.results import Tree


def clear_factors(attempt: Attempt) -> Iterator[Tree]:
    """Multiply by a positive factor exp(−g)·Π x^k that leaves neither exponentials of g nor negative powers of positive variables."""
    if attempt.depth == 0 or not attempt.plausible:
        return
    goal = attempt.goal
    positive = [goal.symbol(variable.name) for variable in goal.box if variable.lo > 0 or variable.open_below]
    factor = clearing_factor(goal.expression, positive)
    if factor is None:
        return
    product = attempt.prove(expand(sympy.powsimp(expand(goal.expression * factor))))
    if product is not None:
        yield scale(factor, product)


def scale(factor: sympy.Expr, product: Tree, positive: Tree = trees.MANIFEST) -> Tree:
    """Return a proof by multiplication with a positive factor."""
    return {"rule": "scale", "factor": to_text(from_sympy(factor)), "positive": positive, "product": product}


def factor_out(attempt: Attempt) -> Iterator[Tree]:
    """Write a rational function as a product: squares show their sign by themselves, positive factors are divided out."""
    goal = attempt.goal
    product = factored(goal.expression)
    if attempt.depth == 0 or product is None or not attempt.plausible:
        return
    if not goal.strict:
        yield {"rule": "sum", "parts": [to_text(from_sympy(product))], "proofs": [trees.boxes(100)]}
    factors = [part for part in sympy.Mul.make_args(product) if part.free_symbols]
    for kept in factors if len(factors) > 1 else ():
        positive = attempt.prove(kept / product, strict=True)
        remaining = None if positive is None else attempt.prove(kept)
        if positive is not None and remaining is not None:
            yield scale(kept / product, remaining, positive)
