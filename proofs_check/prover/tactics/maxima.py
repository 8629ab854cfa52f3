"""Trees for maxima of several terms: a maximum is at least each weighted mean of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction

import sympy

from profiles.errors import InvalidExpression
from profiles.symbolic import from_sympy, to_rational
from profiles.terms import to_text
from proofs_check.prover import trees
from proofs_check.prover.algebra import derivative, expand, polynomial, put_in
from proofs_check.prover.attempt import Attempt, looks_true
from proofs_check.prover.effort import spend
from proofs_check.prover.goals import Goal
from proofs_check.prover.tactics.sums import add_up
from proofs_check.results import Tree

MOST_CHOICES, MOST_MEANS = 8, 40
#: What a step with a row of linear equations costs.
SOLVE = 5


def weigh(attempt: Attempt) -> Iterator[Tree]:
    """Put a weighted mean in place of a maximum that the goal rises with (or of a minimum that it falls with)."""
    goal = attempt.goal
    if attempt.depth == 0 or not attempt.plausible:
        return
    for node in sorted(goal.expression.atoms(sympy.Max, sympy.Min), key=lambda node: (-node.count_ops(), sympy.default_sort_key(node)))[:3]:
        fresh = sympy.Dummy("y", real=True)
        shape = goal.expression.xreplace({node: fresh})
        slope = derivative(shape, fresh)
        if slope.has(fresh) or len(node.args) > MOST_CHOICES:
            continue
        sign = 1 if isinstance(node, sympy.Max) else -1
        share = sign * slope
        if attempt.search(Goal(share, goal.box), 0) is None:
            continue
        terms = [sign * argument for argument in node.args]
        for weights in _weights(terms):
            mean = sum((weight * term for weight, term in zip(weights, terms, strict=True)), sympy.S.Zero)
            rest = put_in(shape, {fresh: sign * mean})
            rest = expand(rest) if not rest.has(sympy.Function) else rest
            if not looks_true(Goal(rest, goal.box, goal.strict)):
                continue
            proof = attempt.prove(rest)
            shown = share * (sign * node - mean)
            tree = None if proof is None else _above_mean(share, terms, weights)
            if proof is not None and tree is not None:
                yield add_up(attempt, [rest, shown], [proof, tree])
                break


def choose_each(attempt: Attempt) -> Iterator[Tree]:
    """Prove the goal for each argument in place of a maximum (minimum) of more than two."""
    goal = attempt.goal
    if attempt.depth == 0 or not attempt.plausible:
        return
    for node in sorted(goal.expression.atoms(sympy.Max, sympy.Min), key=sympy.default_sort_key):
        if not 3 <= len(node.args) <= MOST_CHOICES:
            continue
        proofs = []
        for argument in node.args:
            proof = attempt.prove(goal.expression.xreplace({node: argument}))
            if proof is None:
                break
            proofs.append(proof)
        else:
            try:
                sign = 1 if isinstance(node, sympy.Max) else -1
                yield _each([sign * argument for argument in node.args], proofs)
            except InvalidExpression:
                return


def _each(terms: Sequence[sympy.Expr], proofs: Sequence[Tree]) -> Tree:
    """Return the tree for Max(Max(a, b), c) as the kernel nests it: a case for the last argument, and one for the others."""
    if len(terms) == 1:
        return proofs[0]
    before, last = _maximum(terms[:-1]), to_text(from_sympy(terms[-1]))
    return {"rule": "branches", "cases": [{"value": before, "proof": _each(terms[:-1], proofs[:-1])}, {"value": last, "proof": proofs[-1]}]}


def _maximum(terms: Sequence[sympy.Expr]) -> str:
    words = [to_text(from_sympy(term)) for term in terms]
    return words[0] if len(words) == 1 else f"Max({', '.join(words)})"


def _above_mean(share: sympy.Expr, terms: Sequence[sympy.Expr], weights: Sequence[sympy.Rational]) -> Tree | None:
    """Return the proof of share·(Max(terms) − mean) ≥ 0: in each case, multiples of gaps are taken off until nothing is left."""
    total = sum(weights, sympy.S.Zero)
    if len(terms) == 1 or total == 0:
        return trees.ZERO
    ratio = sum(weights[:-1], sympy.S.Zero) / total
    inner = _above_mean(share, terms[:-1], weights[:-1])
    if inner is None:
        return None
    first = {"value": _maximum(terms[:-1]), "share": to_text(from_sympy(total * share * (1 - ratio))), "proof": inner}
    second = {"value": to_text(from_sympy(terms[-1])), "share": to_text(from_sympy(total * share * ratio)), "proof": inner}
    return {"rule": "branches", "cases": [first, second]}


def _weights(terms: Sequence[sympy.Expr]) -> Iterator[list[sympy.Rational]]:
    """Yield weights: those that make the mean free of variables, where the terms are linear; then equal ones, of some of the terms."""
    symbols = sorted({symbol for term in terms for symbol in term.free_symbols}, key=str)
    subsets = [subset for size in range(1, 5) for subset in itertools.combinations(range(len(terms)), size)]
    yielded = 0
    slopes = [_slopes(term, symbols) for term in terms] if symbols else []
    for subset in subsets if slopes and None not in slopes else ():
        solved = _balanced([slope for slope in (slopes[i] for i in subset) if slope is not None])
        if solved is not None:
            yield [solved[subset.index(i)] if i in subset else sympy.S.Zero for i in range(len(terms))]
            yielded += 1
    for subset in sorted(subsets, key=len, reverse=True)[: MOST_MEANS - yielded]:
        yield [sympy.Rational(1, len(subset)) if i in subset else sympy.S.Zero for i in range(len(terms))]


def _slopes(term: sympy.Expr, symbols: Sequence[sympy.Symbol]) -> list[Fraction] | None:
    """Return the slopes of a term in the symbols, None where it is not linear in them with rational numbers."""
    form = polynomial(term, *symbols)
    if form is None or form.total_degree() > 1:
        return None
    slopes = [form.coeff_monomial(symbol) for symbol in symbols]
    return [Fraction(int(slope.p), int(slope.q)) for slope in slopes] if all(slope.is_Rational for slope in slopes) else None


def _balanced(slopes: Sequence[Sequence[Fraction]]) -> list[sympy.Rational] | None:
    """Return positive weights with the sum 1 for which the mean of linear terms has slopes of zero; None if there are none, or many."""
    count = len(slopes)
    rows = [[*column, Fraction(0)] for column in zip(*slopes, strict=True)] + [[Fraction(1)] * (count + 1)]
    spend(SOLVE * count * len(rows))
    for i in range(count):
        pivot = next((k for k in range(i, len(rows)) if rows[k][i] != 0), None)
        if pivot is None:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for k in range(len(rows)):
            if k != i and rows[k][i] != 0:
                rows[k] = [a - rows[k][i] * b for a, b in zip(rows[k], rows[i], strict=True)]
    weights = [row[-1] for row in rows[:count]]
    if any(row[-1] != 0 for row in rows[count:]) or min(weights) <= 0:
        return None
    return [to_rational(weight) for weight in weights]
