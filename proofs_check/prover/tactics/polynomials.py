"""Trees for polynomials: sums of squares of lines, and sums of products of distances to the ends of the ranges (Bernstein)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from math import comb, prod

import sympy

from profiles.symbolic import to_rational
from proofs_check.prover import trees
from proofs_check.prover.algebra import derivative, expand, polynomial, put_in
from proofs_check.prover.attempt import Attempt
from proofs_check.prover.effort import spend
from proofs_check.prover.sizes import is_modest
from proofs_check.prover.tactics.sums import add_up
from proofs_check.results import Tree

MOST_DEGREE, MOST_VARIABLES, MOST_PARTS = 6, 4, 60
#: What a product of a coefficient costs.
STEP = 10


def _polynomial(attempt: Attempt) -> sympy.Poly | None:
    """Return the goal as a polynomial with rational coefficients in its variables, None where it is not a small one."""
    symbols = [attempt.goal.symbol(variable.name) for variable in attempt.used]
    expression = attempt.goal.expression
    if not 1 <= len(symbols) <= MOST_VARIABLES or not is_modest(expression):
        return None
    form = polynomial(expression, *symbols)
    return form if form is not None and form.total_degree() <= 2 * MOST_DEGREE and all(c.is_Rational for c in form.coeffs()) else None


def add_squares(attempt: Attempt) -> Iterator[Tree]:
    """Write a polynomial of degree two as a sum of squares of lines and a number."""
    form = _polynomial(attempt) if attempt.depth else None
    if form is None or form.total_degree() != 2 or not attempt.plausible:
        return
    for order in itertools.islice(itertools.permutations(form.gens), 6):
        rest, squares = form.as_expr(), list[sympy.Expr]()
        for symbol in order:
            leading = derivative(derivative(rest, symbol), symbol) / 2
            if leading == 0:
                continue
            if leading < 0:
                break
            square = leading * (symbol + put_in(derivative(rest, symbol), {symbol: 0}) / (2 * leading)) ** 2
            rest = expand(rest - square)
            squares.append(square)
        if rest.is_Rational and (rest > 0 or (rest == 0 and not attempt.goal.strict)):
            yield add_up(attempt, [rest, *squares], [trees.MANIFEST, *(trees.boxes(20) for _ in squares)])
            return


def expand_from_ends(attempt: Attempt) -> Iterator[Tree]:
    """Write a polynomial on finite ranges in Bernstein's form, if its coefficients there are ≥ 0."""
    form = _polynomial(attempt) if attempt.depth else None
    if form is None or any(variable.hi is None or variable.lo == variable.hi for variable in attempt.used) or not attempt.plausible:
        return
    degrees = form.degree_list()
    if max(degrees) > MOST_DEGREE or prod(degree + 1 for degree in degrees) > MOST_PARTS:
        return
    coefficients = bernstein(form, [(variable.lo, variable.end) for variable in attempt.used])
    least = min(coefficients.values(), default=Fraction(-1))
    if least < 0 or (least == 0 and attempt.goal.strict):
        return
    parts = [to_rational(least)]
    for powers, coefficient in coefficients.items():
        factors = [to_rational(coefficient - least)]
        for symbol, variable, degree, i in zip(form.gens, attempt.used, degrees, powers, strict=True):
            lo, hi = to_rational(variable.lo), to_rational(variable.end)
            factors += [comb(degree, i) / (hi - lo) ** degree, (symbol - lo) ** i, (hi - symbol) ** (degree - i)]
        part = sympy.Mul(*factors)
        parts += [part] if part != 0 else []
    yield add_up(attempt, parts, [trees.MANIFEST, *(trees.boxes(20) for _ in parts[1:])])


def bernstein(form: sympy.Poly, ranges: list[tuple[Fraction, Fraction]]) -> dict[tuple[int, ...], Fraction]:
    """Return the Bernstein coefficients of a polynomial on a box: b(i) = Σ C(i, j)/C(d, j) a(j), j <= i, in x = lo + (hi - lo) t.

    None where it becomes too large.
    """
    moved = {symbol: to_rational(lo) + to_rational(hi - lo) * symbol for symbol, (lo, hi) in zip(form.gens, ranges, strict=True)}
    unit = polynomial(put_in(form.as_expr(), moved), *form.gens)
    monomials = {} if unit is None else dict(unit.terms())
    degrees, result = form.degree_list(), dict[tuple[int, ...], Fraction]()
    if unit is None:
        return result
    spend(STEP * prod((degree + 1) * (degree + 2) // 2 for degree in degrees))
    for i in itertools.product(*(range(degree + 1) for degree in degrees)):
        total = Fraction(0)
        for j, coefficient in monomials.items():
            if all(b <= a for a, b in zip(i, j, strict=True)):
                share = prod((Fraction(comb(a, b), comb(d, b)) for a, b, d in zip(i, j, degrees, strict=True)), start=Fraction(1))
                total += share * Fraction(int(coefficient.p), int(coefficient.q))
        result[i] = total
    return result
