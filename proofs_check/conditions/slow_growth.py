"""Assumption 9 for slow growth: any positive power of w, or the square of its logarithm, is above log(1 + E w) in the end.

Statement: let ε ≥ m + k w^p for all w ≥ 1, with k, p > 0 free of w, or ε ≥ m + c log(w)², c > 0; let M ≥ 0 and M ≥ −m, and c = k p²/4 for
the power. Then ε > log(1 + E w) for all w ≥ exp(B), B = 1 + (1 + ε* + M)/c. Proof: put l = log w = B + y. As exp(2 u) ≥ (1 + u)² for
u = p l/2 ≥ 0, k w^p ≥ c l²; and 1 + E w ≤ (1 + E) w = exp(ε* + l). With S = ε* + M and C = (1 + S)/c,
c l² − l ≥ 2 (1 + S)(1 + y) + (1 + S) C − (1 + C + y) ≥ 1 + 2 S > ε* − m.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import sympy

from profiles.terms import fresh_name
from proofs_check.conditions.context import Context
from proofs_check.conditions.growth import offset_name
from proofs_check.prover import trees
from proofs_check.prover.algebra import cancelled, expand, gather_powers, put_in
from proofs_check.prover.attempt import looks_true
from proofs_check.prover.effort import until_failure
from proofs_check.prover.search import prove
from proofs_check.results import Tree

SHARES = (sympy.S.One, sympy.Rational(1, 2))


@dataclass(frozen=True, slots=True)
class Bound:
    """ε ≥ offset + factor·w^power, or offset + factor·log(w)² without a power."""

    offset: sympy.Expr
    factor: sympy.Expr
    power: sympy.Expr | None

    def along(self, logarithm: sympy.Expr) -> sympy.Expr:
        """Return the bound at w = exp(logarithm)."""
        growing = logarithm**2 if self.power is None else sympy.exp(self.power * logarithm)
        return self.offset + self.factor * growing

    @property
    def square(self) -> sympy.Expr:
        """The factor of log(w)²."""
        return self.factor if self.power is None else self.factor * self.power**2 / 4


def prove_slow_growth(context: Context) -> Iterator[tuple[str, Tree]]:
    """Yield (threshold, proof) for the kernel's claim, for one bound after the other that is proved."""
    for bound in dict.fromkeys(until_failure(_bounds(context))):
        proof = _prove(context, bound)
        if proof is not None:
            yield proof


def _bounds(context: Context) -> Iterator[Bound]:
    weight = context.weight
    constant, growing = expand(context.epsilon).as_independent(weight, as_Add=True)
    for summand in sympy.Add.make_args(growing):
        coefficient, function = summand.as_independent(weight, as_Add=False)
        base, exponent = gather_powers(function).as_base_exp()
        offsets = dict.fromkeys((constant, sympy.S.Zero))
        if isinstance(function, sympy.exp):
            logarithm = sympy.log(weight)
            quotient = cancelled(function.args[0] / logarithm)
            base, exponent = (base, exponent) if quotient is None else (weight, quotient)
        for share in SHARES:
            for offset in offsets:
                if isinstance(base, sympy.log) and exponent == 2:
                    yield Bound(offset, share * coefficient, None)
                elif weight in base.free_symbols and not exponent.has(weight):
                    yield Bound(offset, share * coefficient, exponent)


def _prove(context: Context, bound: Bound) -> tuple[str, Tree] | None:
    names = _Names(context)
    allowance = _allowance(context, bound.offset)
    if allowance is None or any(part is not None and not _is_positive(context, part) for part in (bound.factor, bound.power)):
        return None
    start = 1 + (1 + context.target_rational + allowance) / bound.square
    logarithm = start + names.beyond
    line = context.target_rational + logarithm
    parts = [
        put_in(context.epsilon, {context.weight: sympy.exp(logarithm)}) - bound.along(logarithm),
        bound.along(logarithm) - line,
        line - sympy.log(1 + context.growth * sympy.exp(logarithm)),
    ]
    above = _above(context, bound, logarithm, names)
    if above is None:
        return None
    shown, offset = trees.text(sympy.exp(start)), offset_name(context)
    rising = trees.monotone(offset, trees.MANIFEST, trees.ZERO, increasing=True)
    general = " + ".join(f"({trees.text(part)})" for part in parts)
    proof = trees.add_up(parts, [above, _growth(bound, logarithm), _line(context, line, names)], strict=1)
    term = f"log({shown} + {offset}) - ({trees.text(start)})"
    direct = trees.generalise(names.beyond.name, term, trees.ProvedRange((0, rising)), general, proof)
    return shown, {"threshold": shown, "threshold-proof": _above_one(start), "form": "log", "direct": direct}


class _Names:
    """New names: log w beyond the start, and what a subterm is replaced by."""

    def __init__(self, context: Context) -> None:
        self.beyond, self.subterm = (sympy.Symbol(fresh_name(name, context.names), nonnegative=True) for name in "yx")


def _is_positive(context: Context, expression: sympy.Expr) -> bool:
    return prove(context.for_records(expression, strict=True), 1) is not None


def _allowance(context: Context, offset: sympy.Expr) -> sympy.Expr | None:
    """Return M ≥ 0 with M ≥ −offset, as a sum of terms that are seen to be ≥ 0."""
    if prove(context.for_records(offset), 1) is not None:
        return sympy.S.Zero
    if prove(context.for_records(-offset), 1) is not None:
        return -offset
    return offset**2 + sympy.Rational(1, 4)


def _above(context: Context, bound: Bound, logarithm: sympy.Expr, names: _Names) -> Tree | None:
    """Prove ε − (m + k w^p) ≥ 0 at w = exp(logarithm) from the same for all w ≥ 1."""
    difference = expand(context.epsilon - bound.along(sympy.log(context.weight)))
    if difference == 0:
        return trees.ZERO
    goal = context.for_all(difference)
    proof = prove(goal, 3) if looks_true(goal) else None
    if proof is None:
        return None
    name = names.subterm.name
    general, moved = put_in(difference, {context.weight: names.subterm}), trees.renamed(proof, context.weight.name, name)
    return trees.generalise(name, sympy.exp(logarithm), trees.ProvedRange((1, _above_one(logarithm))), general, moved)


def _above_one(exponent: sympy.Expr) -> Tree:
    """exp(m) − 1 ≥ m ≥ 0."""
    return trees.tangent(exponent, sympy.S.One, trees.MANIFEST)


def _growth(bound: Bound, logarithm: sympy.Expr) -> Tree:
    """Prove m + k exp(p l) − ε* − l > 0: exp(2 u) = (1 + u)² + (exp(u) − 1 − u)(exp(u) + 1 + u)."""
    if bound.power is None:
        return trees.MANIFEST
    u = bound.power * logarithm / 2
    return trees.tangent(u, bound.factor * (sympy.exp(u) + 1 + u), trees.MANIFEST)


def _line(context: Context, line: sympy.Expr, names: _Names) -> Tree:
    """Prove ε* + l − log(1 + E exp(l)) ≥ 0, which is 0 at l = 0 and rises."""
    target, x = context.target_rational, names.subterm
    general = target + x - sympy.log(1 + context.growth * sympy.exp(x))
    rising = trees.monotone(x.name, trees.MANIFEST, trees.ZERO, increasing=True)
    return trees.generalise(x.name, line - target, trees.ProvedRange((0, trees.MANIFEST)), general, rising)
