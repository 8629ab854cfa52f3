"""Trees for goals without variables: many bits, tangents of exp for tiny numbers, conjugates of roots; and sin² + cos² = 1."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

import sympy

from profiles.symbolic import from_sympy
from profiles.terms import Term, number, substitute, to_text
from proofs_check.prover import trees
from proofs_check.prover.algebra import (
    approximate,
    even_power_replaced,
    expand,
    expand_plainly,
    inverse,
    numerator_and_denominator,
    polynomial,
    prime_powers,
    put_in,
    remainder,
)
from proofs_check.prover.attempt import Attempt, fresh_name
from proofs_check.prover.pointwise import UndefinedAtPoint, as_ball, value_at
from proofs_check.prover.tactics.sums import add_up
from proofs_check.results import Tree

PRECISIONS = (256, 1024)
MOST_ROOTS, MOST_EXPONENTS = 6, 4
#: Beyond the numbers that a computer calculates with.
LARGEST = 10**320


def decide_constant(attempt: Attempt) -> Iterator[Tree]:
    """Prove a goal about numbers: by its value at up to 1,024 bits, or, where it is zero or next to zero, by an identity."""
    goal = attempt.goal
    if goal.expression.free_symbols:
        return
    try:
        value = as_ball(value_at(goal.term, {}, max(PRECISIONS)))
    except UndefinedAtPoint:
        return
    if value < 0:
        return
    if value > 0:
        yield from (trees.boxes(1, precision=precision) for precision in PRECISIONS)
    yield from _by_tangents(attempt)
    if value.contains(0) and not goal.strict:
        yield trees.tangent(-goal.expression, sympy.S.One, trees.ZERO)
        yield from _by_conjugates(attempt)


def _by_tangents(attempt: Attempt) -> Iterator[Tree]:
    """Take c·(exp(m) − 1 − m) off for the coefficient c ≥ 0 of some exp(m); what is left is zero, or (exp(m/2) − 1)² > 0."""
    expression = expand_plainly(attempt.goal.expression, powers=False, largest=LARGEST)
    for exponential in sorted(expression.atoms(sympy.exp), key=sympy.default_sort_key)[:MOST_EXPONENTS]:
        coefficient, m = expression.coeff(exponential), exponential.args[0]
        if not coefficient.is_positive:
            continue
        if not attempt.goal.strict:
            yield trees.tangent(m, coefficient, trees.ZERO)
            continue
        square = coefficient * (sympy.exp(m / 2) - 1) ** 2
        rest = attempt.goal.expression - coefficient * (exponential - 1 - m)
        parts = [square, 2 * coefficient * (sympy.exp(m / 2) - 1 - m / 2), rest]
        proofs = [trees.boxes(1, precision=1024), trees.tangent(m / 2, 2 * coefficient, trees.ZERO), trees.ZERO]
        yield add_up(attempt, parts, proofs)


@dataclass(slots=True)
class _Roots:
    """Symbols for the roots in a number, inner ones first: (symbol, q, base as a polynomial in the symbols before it)."""

    known: list[tuple[sympy.Symbol, int, sympy.Expr]] = field(default_factory=list)

    def read(self, expression: sympy.Expr) -> sympy.Expr:
        """Return a number as a rational function of symbols for its roots, a root of a whole number as one of roots of primes."""
        if expression.is_Pow and expression.exp.is_Rational and expression.exp.q > 1:
            base = self.read(expression.base)
            return sympy.Mul(*(self._root(b, expression.exp.q) ** (expression.exp.p * n) for b, n in self._bases(base)))
        return expression.func(*map(self.read, expression.args)) if expression.args else expression

    def _bases(self, base: sympy.Expr) -> list[tuple[sympy.Expr, int]]:
        return prime_powers(base) if base.is_Rational else [(base, 1)]

    def _root(self, base: sympy.Expr, q: int) -> sympy.Symbol:
        for symbol, order, inner in self.known:
            if order == q and inner == base:
                return symbol
        self.known.append((sympy.Symbol(f"r{len(self.known)}"), q, base))
        return self.known[-1][0]

    def reduce(self, expression: sympy.Expr) -> sympy.Expr:
        """Return a polynomial with each root below its order."""
        for symbol, q, base in reversed(self.known):
            expression = remainder(expression, symbol**q - base, symbol) if expression.has(symbol) else expression
        return expand_plainly(expression, largest=LARGEST)

    def value(self, expression: sympy.Expr) -> sympy.Expr:
        """Return a number for a polynomial in the symbols."""
        known: dict[sympy.Symbol, sympy.Expr] = {}
        for symbol, q, base in self.known:
            known[symbol] = approximate(put_in(base, known), 60) ** sympy.Rational(1, q)
        return approximate(put_in(expression, known), 60)

    def term(self, expression: sympy.Expr) -> Term:
        """Return a polynomial in the symbols as a term, each root as it is."""
        known: dict[str, Term] = {}
        for symbol, q, base in self.known:
            known[symbol.name] = ("pow", substitute(from_sympy(base), known), number(Fraction(1, q)))
        return substitute(from_sympy(expression), known)


def _by_conjugates(attempt: Attempt) -> Iterator[Tree]:
    """Multiply a sum of roots that is zero by what makes it zero as a polynomial in its roots: its conjugates."""
    if attempt.goal.expression.has(sympy.Function, sympy.pi, sympy.E):
        return
    roots = _Roots()
    numerator, denominator = numerator_and_denominator(roots.read(attempt.goal.expression))
    factor, rest = denominator, roots.reduce(numerator)
    for symbol, q, base in list(reversed(roots.known))[:MOST_ROOTS]:
        if rest == 0 or not rest.has(symbol):
            continue
        minimal = symbol**q - base
        conjugate = put_in(rest, {symbol: -symbol}) if q == 2 else inverse(rest, minimal, symbol)
        if abs(roots.value(conjugate)) < 1e-20:
            return
        factor, rest = factor * conjugate, roots.reduce(rest * conjugate)
    if rest == 0:
        for signed in (factor, -factor):
            shown = to_text(roots.term(signed))
            yield {"rule": "scale", "factor": shown, "positive": trees.boxes(1, precision=256), "product": trees.ZERO}


def use_circle(attempt: Attempt) -> Iterator[Tree]:
    """Use sin² + cos² = 1: put 1 − cos² for sin², or show that a + b·sin + c·cos is ≥ 0 because a² ≥ b² + c²."""
    goal = attempt.goal
    if attempt.depth == 0 or not goal.expression.has(sympy.sin, sympy.cos) or not attempt.plausible:
        return
    for angle in sorted({wave.args[0] for wave in goal.expression.atoms(sympy.sin, sympy.cos)}, key=sympy.default_sort_key)[:3]:
        s, c = sympy.Dummy("s"), sympy.Dummy("c")
        general = goal.expression.xreplace({sympy.sin(angle): s, sympy.cos(angle): c})
        form, name = polynomial(general, s, c), fresh_name(goal)
        if form is None:
            continue
        waves = {s: sympy.sin(angle), c: sympy.cos(angle)}
        if form.degree(s) == 2 and form.degree(c) == 2:
            share = form.as_expr().coeff(s, 2)
            reduced = even_power_replaced(general, s, 1 - c**2).xreplace(waves)
            if not share.has(s, c):
                proof = attempt.prove(reduced)
                if proof is not None:
                    yield add_up(attempt, [reduced, share * (waves[s] ** 2 + waves[c] ** 2 - 1)], [proof, _circle(angle, share, name)])
        if form.total_degree() == 1:
            yield from _below_amplitude(attempt, angle, [form.coeff_monomial(m) for m in (1, s, c)], name)


def _below_amplitude(attempt: Attempt, angle: sympy.Expr, coefficients: list[sympy.Expr], name: str) -> Iterator[Tree]:
    """2a·(a + b·sin + c·cos) = (a·sin + b)² + (a·cos + c)² + (a² − b² − c²) − a²·(sin² + cos² − 1)."""
    a, b, c = coefficients
    sine, cosine, strict = sympy.sin(angle), sympy.cos(angle), attempt.goal.strict
    rest = expand(a**2 - b**2 - c**2)
    positive = attempt.prove(a, strict=True)
    proof = None if positive is None else attempt.prove(rest, strict=strict)
    if positive is None or proof is None:
        return
    parts = [rest, (a * sine + b) ** 2, (a * cosine + c) ** 2, -(a**2) * (sine**2 + cosine**2 - 1)]
    product = add_up(attempt, parts, [proof, trees.boxes(20), trees.boxes(20), _circle(angle, -(a**2), name)])
    yield trees.scale(2 * a, product, positive)


def _circle(angle: sympy.Expr, share: sympy.Expr, name: str) -> Tree:
    """Return the proof of share·(sin² + cos² − 1) ≥ 0, which is 0 at the angle 0 and has the slope 0."""
    turned = sympy.Symbol(name, real=True)
    general = trees.text(sympy.Mul(share, sympy.sin(turned) ** 2 + sympy.cos(turned) ** 2 - 1, evaluate=False))
    proof = trees.monotone(name, trees.ZERO, trees.ZERO, increasing=True)
    return {"rule": "periodicity", "name": name, "term": trees.text(angle), "general": general, "proof": proof}
