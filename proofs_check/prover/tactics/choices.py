"""Trees for Abs, Max, Min, Piecewise and tables in a goal: what holds for each of the values holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import sympy

from profiles.symbolic import TableFunction, from_sympy, single_branches, to_rational
from profiles.terms import to_text
from proofs_check.prover.algebra import derivative, expand, polynomial, put_in, quotient
from proofs_check.prover.attempt import Attempt
from proofs_check.prover.goals import Goal
from proofs_check.prover.tactics.ranges import reduce_to_end
from proofs_check.results import Tree

#: Of a table that is taken apart.
MOST_LINES = 6


def choose(attempt: Attempt) -> Iterator[Tree]:
    """Prove the goal with each value in place of an innermost Abs, Max, Min, Piecewise or short table.

    Where the value is taken only if some gap is ≥ 0, a multiple of the gap may be taken off: what makes the rest free of some variable, the
    quotient of the two as polynomials, the slope in that node, or half of it.
    """
    if attempt.depth == 0 or not attempt.plausible:
        return
    for node in sympy.postorder_traversal(attempt.goal.expression):
        if isinstance(node, (sympy.Abs, sympy.Max, sympy.Min, sympy.Piecewise)) or (isinstance(node, TableFunction) and _is_short(node)):
            cases = _cases(attempt, node)
            if cases is not None:
                yield {"rule": "branches", "cases": cases}
            return


def _cases(attempt: Attempt, node: sympy.Basic) -> list[Tree] | None:
    expression = attempt.goal.expression
    fresh = sympy.Dummy("y", real=True)
    slope = derivative(expression.xreplace({node: fresh}), fresh)
    cases: list[Tree] = []
    for value, gap, sign in _choices(node):
        chosen = expression.xreplace({node: value})
        shares = [
            sympy.S.Zero,
            *_shares(chosen, gap),
            *_quotients(chosen, gap),
            *([] if slope.has(fresh) else [sign * slope, sign * slope / 2]),
        ]
        proof = None
        for share in dict.fromkeys(shares):
            proof = attempt.prove(chosen - share * gap)
            if proof is not None:
                extra = {} if share == 0 else {"share": to_text(from_sympy(share))}
                cases.append({"value": to_text(from_sympy(sign * value)), "proof": proof, **extra})
                break
        if proof is None:
            return None
    return cases


def _shares(chosen: sympy.Expr, gap: sympy.Expr) -> Iterator[sympy.Expr]:
    for symbol in sorted(gap.free_symbols, key=str):
        rate = derivative(gap, symbol)
        if rate != 0 and not rate.has(symbol):
            share = derivative(chosen, symbol) / rate
            if not share.has(symbol):
                yield share


def _quotients(chosen: sympy.Expr, gap: sympy.Expr) -> Iterator[sympy.Expr]:
    """Yield q with chosen = q·gap + r, r free of a variable, for polynomials in it: where both vanish, nothing else is left."""
    for symbol in sorted(gap.free_symbols, key=str):
        if all(part is not None and part.degree() >= 1 for part in (polynomial(chosen, symbol), polynomial(gap, symbol))):
            share = quotient(chosen, gap, symbol)
            if share.free_symbols:
                yield share


def _is_short(table: TableFunction) -> bool:
    return len(table.table.slopes) <= MOST_LINES


def _lines_of(table: TableFunction) -> list[tuple[sympy.Expr, sympy.Expr, int]]:
    """Return the lines of a table as the values of the Piecewise that it abbreviates."""
    known, argument = table.table, table.args[0]
    lines = [to_rational(y - slope * x) + to_rational(slope) * argument for (x, y), slope in zip(known.points, known.slopes, strict=False)]
    gaps = [to_rational(knot) - argument for knot in known.knots]
    return [(line, gap, 1) for line, gap in zip(lines, (*gaps, *(-gap for gap in gaps[-1:])), strict=True)] if gaps else []


def follow_lines(attempt: Attempt) -> Iterator[Tree]:
    """Reduce a goal to an end of a range on which each table of it is one line."""
    goal = attempt.goal
    tables = goal.expression.atoms(TableFunction)
    if attempt.depth == 0 or not tables or not attempt.plausible:
        return
    lines = {table: _line_on(table, goal) for table in tables}
    if None not in lines.values():
        yield from reduce_to_end(replace(attempt, goal=replace(goal, expression=expand(goal.expression.xreplace(lines)))))


def _line_on(table: TableFunction, goal: Goal) -> sympy.Expr | None:
    """Return the line that a table follows for all values of its argument, which is linear in one variable; None where it bends."""
    argument = table.args[0]
    variable = next((v for v in goal.box if {symbol.name for symbol in argument.free_symbols} == {v.name}), None)
    if variable is None or variable.hi is None:
        return None
    ends = [put_in(argument, {goal.symbol(variable.name): to_rational(end)}) for end in (variable.lo, variable.hi)]
    if not all(end.is_Rational for end in ends) or derivative(argument, goal.symbol(variable.name)).free_symbols:
        return None
    low, high = sorted(Fraction(int(end.p), int(end.q)) for end in ends)
    points = table.table.points
    inside = [x for x, _ in points[1:-1] if low < x < high]
    if inside or not (table.table.continues or points[0][0] <= low <= high <= points[-1][0]):
        return None
    index = sum(x <= low for x, _ in points[1:-1])
    (x, y), slope = points[index], table.table.slopes[index]
    return to_rational(y) + to_rational(slope) * (argument - to_rational(x))


def _gap(condition: Any) -> sympy.Expr:
    """Return what is ≥ 0 where a comparison holds."""
    return condition.rhs - condition.lhs if condition.rel_op in ("<", "<=") else condition.lhs - condition.rhs


def _choices(node: sympy.Basic) -> list[tuple[sympy.Expr, sympy.Expr, int]]:
    """Return (value, gap, sign): the gap is ≥ 0 where the node is the value; the kernel's node is sign times this one, its value too."""
    if isinstance(node, TableFunction):
        return _lines_of(node)
    if isinstance(node, sympy.Piecewise):
        pairs = single_branches(node)
        gaps = [_gap(condition) for _, condition in pairs[:-1]]
        return [(value, gap, 1) for (value, _), gap in zip(pairs, (*gaps, -gaps[-1]), strict=True)]
    if isinstance(node, sympy.Abs):
        return [(node.args[0], 2 * node.args[0], 1), (-node.args[0], -2 * node.args[0], 1)]
    if len(node.args) != 2:
        return []
    first, second = node.args
    if isinstance(node, sympy.Max):
        return [(first, first - second, 1), (second, second - first, 1)]
    return [(first, second - first, -1), (second, first - second, -1)]
