"""Trees for Abs, Max, Min and Piecewise in a goal: what holds for each of the values holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import sympy

from profiles.symbolic import from_sympy
from profiles.terms import to_text
from proofs_check.prover.algebra import derivative
from proofs_check.prover.attempt import Attempt
from proofs_check.results import Tree


def choose(attempt: Attempt) -> Iterator[Tree]:
    """Prove the goal with each value in place of an innermost Abs, Max, Min or Piecewise.

    Where the value is taken only if some gap is ≥ 0, a multiple of the gap may be taken off: what makes the rest free of some variable, the
    slope in that node, or half of it.
    """
    if attempt.depth == 0 or not attempt.plausible:
        return
    for node in sympy.postorder_traversal(attempt.goal.expression):
        if isinstance(node, (sympy.Abs, sympy.Max, sympy.Min, sympy.Piecewise)):
            cases = _cases(attempt, node)
            if cases is not None:
                yield {"rule": "branches", "cases": cases}
            return


def _cases(attempt: Attempt, node: sympy.Basic) -> list[Tree] | None:
    expression = attempt.goal.expression
    fresh = sympy.Dummy("y", real=True)
    slope = derivative(expression.xreplace({node: fresh}), fresh)
    found: list[Tree] = []
    for value, gap, sign in _choices(node):
        chosen = expression.xreplace({node: value})
        shares = [sympy.S.Zero, *_shares(chosen, gap), *([] if slope.has(fresh) else [sign * slope, sign * slope / 2])]
        proof = None
        for share in dict.fromkeys(shares):
            proof = attempt.prove(chosen - share * gap)
            if proof is not None:
                extra = {} if share == 0 else {"share": to_text(from_sympy(share))}
                found.append({"value": to_text(from_sympy(sign * value)), "proof": proof, **extra})
                break
        if proof is None:
            return None
    return found


def _shares(chosen: sympy.Expr, gap: sympy.Expr) -> Iterator[sympy.Expr]:
    for symbol in sorted(gap.free_symbols, key=str):
        rate = derivative(gap, symbol)
        if rate != 0 and not rate.has(symbol):
            share = derivative(chosen, symbol) / rate
            if not share.has(symbol):
                yield share


def _gap(condition: Any) -> sympy.Expr:
    """Return what is ≥ 0 where a comparison holds."""
    return condition.rhs - condition.lhs if condition.rel_op in ("<", "<=") else condition.lhs - condition.rhs


def _choices(node: sympy.Basic) -> list[tuple[sympy.Expr, sympy.Expr, int]]:
    """Return (value, gap, sign): the gap is ≥ 0 where the node is the value; the kernel's node is sign times this one, its value too."""
    if isinstance(node, sympy.Piecewise):
        gaps = [_gap(condition) for _, condition in node.args[:-1]]
        return [(value, gap, 1) for (value, _), gap in zip(node.args, (*gaps, -gaps[-1]), strict=True)]
    if isinstance(node, sympy.Abs):
        return [(node.args[0], 2 * node.args[0], 1), (-node.args[0], -2 * node.args[0], 1)]
    if len(node.args) != 2:
        return []
    first, second = node.args
    if isinstance(node, sympy.Max):
        return [(first, first - second, 1), (second, second - first, 1)]
    return [(first, second - first, -1), (second, first - second, -1)]
