"""ε written in another way: roots of squares as absolute values, Max and Min by absolute values, so that what cancels is gone.

Statement: (r²)^c = |r|^(2c), r·r^c = r^(1 + c), max(a, b) = (a + b + |a − b|)/2, |r|^(2k) = r^(2k), |−r| = |r|, and the
arguments of a maximum may stand in any order: the largest one first, because the kernel compares two at a time. SymPy does some of this
on construction; the kernel, which reads ε as it was written, is told the other term, and shows that it equals ε.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import sympy

from profiles.errors import InvalidExpression
from profiles.evaluation import constant_value
from profiles.profile import Profile
from profiles.symbolic import from_sympy, to_sympy
from profiles.terms import Term, children, free_symbols, rebuild, to_text
from profiles.variables import WEIGHT
from proofs_check.prover.algebra import expand, put_in, tidy
from proofs_check.prover.effort import until_failure
from proofs_check.prover.oracle import equals
from proofs_check.prover.points import candidates
from proofs_check.prover.pointwise import as_ball, value_at
from proofs_check.prover.sizes import is_modest
from proofs_check.results import Tree

_BRANCHING = ("abs", "min", "max", "piecewise")
_KINKED = (sympy.Abs, sympy.Min, sympy.Max, sympy.Piecewise)
_MOST_LEVELLED = 4
#: Records at which the arguments of a maximum are compared, and the weight.
_MOST_RECORDS, _BESIDE_ONE = 60, Fraction(1025, 1024)


@dataclass(frozen=True, slots=True)
class Restatement:
    """Another expression for ε, and the roots r of the powers (r²)^c in ε that make it one; ``term``: as the kernel is to read it."""

    expression: sympy.Expr
    roots: tuple[sympy.Expr, ...] = ()
    term: Term | None = None

    def field(self) -> Tree:
        """Return the field of a proof that tells the kernel."""
        told: Tree = {"term": to_text(self.term or from_sympy(self.expression))}
        return {**told, "roots": [to_text(from_sympy(root)) for root in self.roots]} if self.roots else told


def restate(profile: Profile, expression: sympy.Expr) -> Restatement | None:
    """Return ε in another way if that has fewer branches or roots of squares, and the kernel agrees that it is ε; else None.

    ``expression`` is ε for SymPy, with numbers in place of parameters.
    """
    return next(until_failure(_restatements(profile, expression)), None)


def _restatements(profile: Profile, expression: sympy.Expr) -> Iterator[Restatement]:
    values = profile.values()
    weight = values[WEIGHT]
    written = {node for node in _nodes(profile.epsilon) if WEIGHT in free_symbols(node)}
    roots = dict.fromkeys(root for node in written for root in _roots(node, values))
    simpler = _levelled(_without_roots(expression, weight), weight)
    branching = {node for node in written if node[0] in _BRANCHING}
    if roots or _count(simpler, weight) < len(branching) or _without_steep_roots(written, simpler, values):
        restatement = Restatement(simpler, tuple(roots))
    else:
        ordered = _largest_first(profile.numeric_epsilon(), candidates(profile.record_variables(), _MOST_RECORDS))
        if ordered == profile.numeric_epsilon():
            return
        restatement = Restatement(expression, term=ordered)
    if equals(profile, restatement.field()):
        yield restatement


def _largest_first(term: Term, records: Sequence[Mapping[str, Fraction]]) -> Term:
    """Return a term in which a maximum (minimum) of more than two begins with what is largest (least) just above w = 1 at some records."""
    new = rebuild(term, lambda part: _largest_first(part, records))
    if new[0] not in ("max", "min") or len(new) < 4 or WEIGHT not in free_symbols(new):
        return new
    sign = 1 if new[0] == "max" else -1
    balls = [[as_ball(value_at(part, {**record, WEIGHT: _BESIDE_ONE})) * sign for record in records] for part in new[1:]]
    for index, values in enumerate(balls):
        others = [other for place, other in enumerate(balls) if place != index]
        if index and all(a > b for other in others for a, b in zip(values, other, strict=True)):
            return (new[0], new[1 + index], *new[1 : 1 + index], *new[2 + index :])
    return new


def _nodes(term: Term) -> Iterator[Term]:
    for part in children(term):
        yield from _nodes(part)
    yield term


def _roots(node: Term, values: dict[str, sympy.Expr]) -> Iterator[sympy.Expr]:
    """Yield r where a node as it was written is (r²)^c, and c is not an integer."""
    exponent = constant_value(node[2]) if node[0] == "pow" else None
    if node[0] == "sqrt" or (exponent is not None and exponent.denominator > 1):
        try:
            root = square_root(to_sympy(node[1], values))
        except InvalidExpression:
            return
        if root is not None:
            yield root


def _without_steep_roots(written: set[Term], simpler: sympy.Expr, values: dict[str, sympy.Expr]) -> bool:
    """Tell whether roots that are infinitely steep at w = 1, as in (w − 1)·√(w − 1), are gone in (w − 1)^(3/2)."""
    weight = values[WEIGHT]

    def is_steep(base: sympy.Expr, exponent: sympy.Expr) -> bool:
        return bool(exponent.is_Rational and 0 < exponent < 1) and put_in(base, {weight: 1}).is_zero is True

    def is_written(node: Term) -> bool:
        exponent = Fraction(1, 2) if node[0] == "sqrt" else constant_value(node[2]) if node[0] == "pow" else None
        return exponent is not None and 0 < exponent < 1 and is_steep(to_sympy(node[1], values), sympy.Rational(1, 2))

    if not any(map(is_written, written)):
        return False
    return not any(is_steep(power.base, power.exp) for power in simpler.atoms(sympy.Pow) if weight in power.free_symbols)


def square_root(base: sympy.Expr) -> sympy.Expr | None:
    """Return r with r² = base for a small polynomial, or an even power; None where there is none."""
    if isinstance(base, sympy.Pow) and base.exp.is_Integer and base.exp > 0 and base.exp % 2 == 0:
        return base.base ** (base.exp / 2)
    if not is_modest(base) or not base.is_polynomial(*base.free_symbols):
        return None
    coefficient, factors = tidy(base).as_coeff_mul()
    powers, scale = [factor.as_base_exp() for factor in factors], sympy.sqrt(coefficient)
    if not scale.is_Rational or not powers or not all(power.is_Integer and power % 2 == 0 for _, power in powers):
        return None
    return scale * sympy.Mul(*(factor ** (power / 2) for factor, power in powers))


def _without_roots(expression: sympy.Expr, weight: sympy.Symbol) -> sympy.Expr:
    replaced = {}
    for node in expression.atoms(sympy.Pow):
        if weight in node.free_symbols and node.exp.is_Rational and not node.exp.is_Integer:
            root = square_root(node.base)
            if root is not None:
                replaced[node] = sympy.Abs(root) ** (2 * node.exp)
    return expression.xreplace(replaced)


def _count(expression: sympy.Expr, weight: sympy.Symbol) -> int:
    return sum(weight in node.free_symbols for node in expression.atoms(*_KINKED))


def _levelled(expression: sympy.Expr, weight: sympy.Symbol) -> sympy.Expr:
    """Return the expression with Max and Min written by absolute values, if fewer branches are left then."""
    extrema = [node for node in expression.atoms(sympy.Max, sympy.Min) if weight in node.free_symbols and len(node.args) == 2]
    if not 0 < len(extrema) <= _MOST_LEVELLED:
        return expression
    replaced = {}
    for node in extrema:
        a, b = node.args
        sign = 1 if isinstance(node, sympy.Max) else -1
        replaced[node] = (a + b + sign * sympy.Abs(a - b)) / 2
    levelled = expand(expression.xreplace(replaced))
    return levelled if _count(levelled, weight) < _count(expression, weight) else expression
