"""Abs, Min, Max and Piecewise in w: replaced where one branch is taken on the whole domain, found out as kinks elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import sympy
from sympy.core.relational import Relational

from profiles.profile import Variable
from proofs_check.prover.algebra import rational_roots
from proofs_check.prover.explore import candidates
from proofs_check.prover.goals import Goal
from proofs_check.prover.search import prove

_KINKED = (sympy.Abs, sympy.Min, sympy.Max, sympy.Piecewise)


def _holds(expression: sympy.Expr, box: tuple[Variable, ...]) -> bool:
    if expression.is_nonnegative:
        return True
    return prove(Goal(expression, box), 2) is not None


def resolve(expression: sympy.Expr, box: tuple[Variable, ...], weight: sympy.Symbol) -> tuple[sympy.Expr, bool]:
    """Return the expression with decided branches put in, and whether no undecided branch depends on ``weight``."""
    changed = True
    while changed:
        changed = False
        for node in _nodes(expression, weight):
            replacement = _decide(node, box)
            if replacement is not None:
                expression, changed = expression.subs(node, replacement), True
                break
    return expression, not any(True for _ in _nodes(expression, weight))


def _nodes(expression: sympy.Expr, weight: sympy.Symbol) -> Iterator[Any]:
    for node in sympy.postorder_traversal(expression):
        if isinstance(node, _KINKED) and weight in node.free_symbols:
            yield node


def _decide(node: Any, box: tuple[Variable, ...]) -> sympy.Expr | None:
    if isinstance(node, sympy.Abs):
        inner = node.args[0]
        return inner if _holds(inner, box) else -inner if _holds(-inner, box) else None
    if isinstance(node, sympy.Piecewise):
        return _decide_piecewise(node, box)
    sign = 1 if isinstance(node, sympy.Max) else -1
    for argument in node.args:
        if all(other is argument or _holds(sign * (argument - other), box) for other in node.args):
            return argument
    return None


def _decide_piecewise(node: Any, box: tuple[Variable, ...]) -> sympy.Expr | None:
    for value, condition in node.args:
        if condition == sympy.true:
            return value
        if not isinstance(condition, Relational):
            return None
        gap = condition.rhs - condition.lhs if condition.rel_op in ("<", "<=") else condition.lhs - condition.rhs
        strict = condition.rel_op in ("<", ">")
        if prove(Goal(gap, box, strict), 2) is not None:
            return value
        if prove(Goal(-gap, box, not strict), 2) is None:
            return None
    return None


def kink_points(expression: sympy.Expr, records: Sequence[Variable], weight: sympy.Symbol) -> Iterator[dict[str, Fraction]]:
    """Yield exact points (w > 1) where two branches meet, for records worth trying; the kernel decides whether ε has a kink there."""
    for record in candidates(records, 60):
        values = {symbol: sympy.Rational(record[symbol.name].numerator, record[symbol.name].denominator)
                  for symbol in expression.free_symbols if symbol.name in record}  # fmt: skip
        for border in _borders(expression, weight):
            for root in rational_roots(border.subs(values), weight):
                if root > 1:
                    yield {**record, weight.name: root}


def _borders(expression: sympy.Expr, weight: sympy.Symbol) -> Iterator[sympy.Expr]:
    for node in _nodes(expression, weight):
        if isinstance(node, sympy.Abs):
            yield node.args[0]
        elif isinstance(node, sympy.Piecewise):
            yield from (condition.lhs - condition.rhs for _, condition in node.args if isinstance(condition, Relational))
        else:
            arguments = list(node.args)
            yield from (first - second for index, first in enumerate(arguments) for second in arguments[index + 1 :])
