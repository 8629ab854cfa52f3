"""Trees for goals without variables: high precision, tangents of exp for tiny numbers, conjugates of roots for equal ones; and sin² + cos² = 1."""

from __future__ import annotations

from collections.abc import Iterator

import sympy

from profiles.symbolic import from_sympy
from profiles.terms import to_text
from proofs_check.prover import trees
from proofs_check.prover.attempt import Attempt, fresh_name
from proofs_check.prover.pointwise import UndefinedAtPoint, as_ball, value_at
from proofs_check.prover.tactics.sums import add_up
from proofs_check.results import Tree

PRECISIONS = (256, 1024)
MOST_ROOTS, MOST_EXPONENTS = 6, 4


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
        yield _exponential(-goal.expression, sympy.S.One, trees.ZERO)
        yield from _by_conjugates(attempt)


def _exponential(exponent: sympy.Expr, coefficient: sympy.Expr, rest: Tree) -> Tree:
    """Return the proof of t ≥ 0 from t − c·(exp(m) − 1 − m) ≥ 0, for a number c ≥ 0."""
    nonnegative = trees.MANIFEST
    shown = to_text(from_sympy(exponent)), to_text(from_sympy(coefficient))
    return {"rule": "exp-tangent", "exponent": shown[0], "coefficient": shown[1], "nonnegative": nonnegative, "rest": rest}


def _by_tangents(attempt: Attempt) -> Iterator[Tree]:
    """Take c·(exp(m) − 1 − m) off for the coefficient c ≥ 0 of some exp(m); what is left is zero, or (exp(m/2) − 1)² where it is to be > 0."""
    expression = sympy.expand(attempt.goal.expression, power_exp=False)
    for exponential in sorted(expression.atoms(sympy.exp), key=sympy.default_sort_key)[:MOST_EXPONENTS]:
        coefficient, m = expression.coeff(exponential), exponential.args[0]
        if not coefficient.is_positive:
            continue
        if not attempt.goal.strict:
            yield _exponential(m, coefficient, trees.ZERO)
            continue
        square = coefficient * (sympy.exp(m / 2) - 1) ** 2
        rest = attempt.goal.expression - coefficient * (exponential - 1 - m)
        parts = [square, 2 * coefficient * (sympy.exp(m / 2) - 1 - m / 2), rest]
        proofs = [trees.boxes(1, precision=1024), _exponential(m / 2, 2 * coefficient, trees.ZERO), trees.ZERO]
        yield add_up(attempt, parts, proofs)


def _by_conjugates(attempt: Attempt) -> Iterator[Tree]:
    """Multiply a sum of roots that is zero by what makes it a rational number."""
    numerator, denominator = sympy.fraction(sympy.together(attempt.goal.expression))
    factor, rest = denominator, sympy.expand(numerator)
    for _ in range(MOST_ROOTS):
        roots = [node for node in rest.atoms(sympy.Pow) if node.exp.is_Rational and node.exp.q > 1 and not node.base.free_symbols]
        outer = [root for root in roots if not any(root != other and other.has(root) for other in roots)]
        if not outer:
            break
        made = _without_root(rest, min(outer, key=sympy.default_sort_key))
        if made is None:
            return
        factor, rest = factor * made[0], made[1]
    if rest == 0:
        for signed in (factor, -factor):
            shown = to_text(from_sympy(signed))
            yield {"rule": "scale", "factor": shown, "positive": trees.boxes(1, precision=256), "product": trees.ZERO}


def _without_root(expression: sympy.Expr, root: sympy.Expr) -> tuple[sympy.Expr, sympy.Expr] | None:
    """Return (f, f·expression) with the second free of a root r: the norm over the polynomial x^q − r^q, f being a number that is not zero."""
    primitive, fresh = root.base ** sympy.Rational(1, root.exp.q), sympy.Dummy()
    polynomial = sympy.Poly(expression.subs(primitive, fresh), fresh)
    if polynomial.degree() < 1 or polynomial.has(primitive):
        return None
    minimal = sympy.Poly(fresh**root.exp.q - root.base, fresh)
    if root.exp.q == 2:
        reduced = polynomial.rem(minimal)
        conjugate = reduced.as_expr().subs(fresh, -fresh)
    else:
        cofactor, _, divisor = sympy.gcdex(polynomial.as_expr(), minimal.as_expr(), fresh)
        if divisor.has(fresh):
            return None
        conjugate = cofactor
    factor = conjugate.subs(fresh, primitive)
    if abs(factor.evalf(30)) < 1e-20:
        return None
    product = sympy.Poly(sympy.expand(polynomial.as_expr() * conjugate), fresh).rem(minimal)
    return factor, sympy.expand(product.as_expr().subs(fresh, primitive))


def use_circle(attempt: Attempt) -> Iterator[Tree]:
    """Use sin² + cos² = 1: put 1 − cos² for sin², or show that a + b·sin + c·cos is ≥ 0 because a² ≥ b² + c²."""
    goal = attempt.goal
    if attempt.depth == 0 or not goal.expression.has(sympy.sin, sympy.cos) or not attempt.plausible:
        return
    for angle in sorted({wave.args[0] for wave in goal.expression.atoms(sympy.sin, sympy.cos)}, key=sympy.default_sort_key)[:3]:
        s, c = sympy.Dummy(), sympy.Dummy()
        general = goal.expression.xreplace({sympy.sin(angle): s, sympy.cos(angle): c})
        if not general.is_polynomial(s, c):
            continue
        polynomial, name = sympy.Poly(general, s, c), fresh_name(goal)
        waves = {s: sympy.sin(angle), c: sympy.cos(angle)}
        if polynomial.degree(s) == 2 and polynomial.degree(c) == 2:
            share = polynomial.as_expr().coeff(s, 2)
            reduced = sympy.expand(general.subs(s**2, 1 - c**2)).xreplace(waves)
            if not share.has(s, c):
                proof = attempt.prove(reduced)
                if proof is not None:
                    yield add_up(attempt, [reduced, share * (waves[s] ** 2 + waves[c] ** 2 - 1)], [proof, _circle(angle, share, name)])
        if polynomial.total_degree() == 1:
            yield from _below_amplitude(attempt, angle, [polynomial.coeff_monomial(m) for m in (1, s, c)], name)


def _below_amplitude(attempt: Attempt, angle: sympy.Expr, coefficients: list[sympy.Expr], name: str) -> Iterator[Tree]:
    """2a·(a + b·sin + c·cos) = (a·sin + b)² + (a·cos + c)² + (a² − b² − c²) − a²·(sin² + cos² − 1)."""
    a, b, c = coefficients
    sine, cosine, strict = sympy.sin(angle), sympy.cos(angle), attempt.goal.strict
    rest = sympy.expand(a**2 - b**2 - c**2)
    positive = attempt.prove(a, strict=True)
    proof = None if positive is None else attempt.prove(rest, strict=strict)
    if positive is None or proof is None:
        return
    parts = [rest, (a * sine + b) ** 2, (a * cosine + c) ** 2, -(a**2) * (sine**2 + cosine**2 - 1)]
    product = add_up(attempt, parts, [proof, trees.boxes(20), trees.boxes(20), _circle(angle, -(a**2), name)])
    yield {"rule": "scale", "factor": to_text(from_sympy(2 * a)), "positive": positive, "product": product}


def _circle(angle: sympy.Expr, share: sympy.Expr, name: str) -> Tree:
    """Return the proof of share·(sin² + cos² − 1) ≥ 0, which is 0 at the angle 0 and has the slope 0."""
    turned = sympy.Symbol(name, real=True)
    general = to_text(from_sympy(sympy.Mul(share, sympy.sin(turned) ** 2 + sympy.cos(turned) ** 2 - 1, evaluate=False)))
    proof = trees.monotone(name, trees.ZERO, trees.ZERO, increasing=True)
    return {"rule": "turn", "name": name, "term": to_text(from_sympy(angle)), "general": general, "proof": proof}
