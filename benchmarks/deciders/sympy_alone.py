"""SymPy alone on a statement: assumptions, solveset, limits and corners."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial

import sympy
from sympy.calculus.util import minimum
from sympy.solvers.inequalities import solve_univariate_inequality

from benchmarks.deciders.confirm import violates
from benchmarks.deciders.statements import Question, Range, Relation, Statement
from benchmarks.deciders.turns import in_turn

_RELATIONS = {"<": sympy.Lt, "<=": sympy.Le, ">": sympy.Gt, ">=": sympy.Ge, "=": sympy.Eq, "!=": sympy.Ne}
_OPPOSITE = {"<": "nonnegative", "<=": "positive", ">": "nonpositive", ">=": "negative"}
Forms = tuple[Callable[[sympy.Expr], sympy.Expr], ...]
FORMS: Forms = (lambda x: x, sympy.expand, sympy.factor, lambda x: sympy.factor(sympy.together(x)))


def version() -> str:
    """The version of SymPy."""
    return str(sympy.__version__)


def decide(statement: Statement, seconds: float) -> str | None:
    """Corners, signs, limits, solving, and signs once more with ``simplify``; each step with an equal share of the remaining time."""
    questions = statement.questions
    growth = statement.condition == "assumption-9"
    steps = [
        *([partial(_by_limits, statement)] if growth else []),
        *(partial(_by_corners, question) for question in questions),
        *(partial(_by_signs, question, FORMS) for question in questions),
        *([] if growth else [partial(_by_limits, statement)]),
        *(partial(_by_solving, question) for question in questions),
        *(partial(_by_signs, question, (sympy.simplify,)) for question in questions),
    ]
    return in_turn(steps, seconds, first=seconds / 2 if growth else 0.0)


def decide_plainly(statement: Statement, seconds: float) -> str | None:
    """What one asks SymPy first: the sign by the declared assumptions, the limit, ``solveset``; nothing shifted, no points tried."""
    questions = statement.questions
    steps = [
        *([partial(_by_limits, replace(statement, corners=()))] if statement.condition == "assumption-9" else []),
        *(partial(_by_signs, replace(question, box={}), FORMS) for question in questions),
        *(partial(_by_solving, question) for question in questions),
        *(partial(_by_signs, replace(question, box={}), (sympy.simplify,)) for question in questions),
    ]
    return in_turn(steps, seconds, first=seconds / 2)


def _by_corners(question: Question) -> str | None:
    found = question.sat is not None and any(violates(question, point) for point in _points(question))
    return question.sat if found else None


def _by_signs(question: Question, forms: Forms) -> str | None:
    if question.unsat is None:
        return None
    return question.unsat if all(_excluded_by_signs(clause, question.box, forms) for clause in question.broken) else None


def _points(question: Question) -> Iterator[dict[sympy.Symbol, sympy.Expr]]:
    points: list[dict[sympy.Symbol, sympy.Expr]] = [{}]
    for symbol, (lo, hi, excluded) in question.box.items():
        ends = [value for value in (*(() if excluded else (lo,)), hi if hi is not None else lo + 1, lo + 10) if hi is None or value <= hi]
        points = [{**point, symbol: end} for point in points for end in ends]
    yield from points


def _excluded_by_signs(clause: list[Relation], box: dict[sympy.Symbol, Range], forms: Forms) -> bool:
    return any(op in _OPPOSITE and _has_sign(expression, _OPPOSITE[op], box, forms) for op, expression in clause)


def _has_sign(expression: sympy.Expr, sign: str, box: dict[sympy.Symbol, Range], forms: Forms) -> bool:
    """Tell whether SymPy sees the sign on the box: as it stands, or with ranges shifted to [0, ∞), their upper ends apart if need be."""
    if _seen(expression, sign, forms):
        return True
    ranged = [symbol for symbol, (_, hi, _) in box.items() if hi is not None]
    shifts = {}
    for symbol, (lo, hi, excluded) in box.items():
        free = sympy.Symbol(f"{symbol.name}_0", **({"positive": True} if excluded else {"nonnegative": True}))
        shifts[symbol] = lo + free if hi is None else (lo + hi * free) / (1 + free)
    if not _seen(expression.subs(shifts), sign, forms):
        return False
    if sign in ("nonnegative", "nonpositive"):
        return True
    return all(
        _has_sign(expression.subs(symbol, box[symbol][1]), sign, {key: value for key, value in box.items() if key != symbol}, forms)
        for symbol in ranged
    )


def _seen(expression: sympy.Expr, sign: str, forms: Forms) -> bool:
    for form in forms:
        with suppress(NotImplementedError, ValueError, TypeError, sympy.PolynomialError):
            if getattr(form(expression), f"is_{sign}"):
                return True
    return False


def _by_limits(statement: Statement) -> str | None:
    """Assumption 9 by the sign of the limit, Assumption 11 refuted by the limit 0."""
    if statement.tail is None:
        return None
    growth = statement.condition == "assumption-9"
    with suppress(NotImplementedError, ValueError, TypeError):
        for corner in statement.corners:
            limit = sympy.limit(statement.tail.subs(corner), statement.weight, sympy.oo)
            if limit.is_extended_negative if growth else limit.is_zero:
                return "refuted"
        if growth and sympy.limit(statement.tail, statement.weight, sympy.oo).is_extended_positive:
            return "proved"
    return None


def _by_solving(question: Question) -> str | None:
    if len(question.box) > 1:
        return None
    if not question.box:
        return None
    ((symbol, (lo, hi, excluded)),) = question.box.items()
    domain = sympy.Interval(lo, sympy.oo if hi is None else hi, left_open=excluded, right_open=hi is None)
    real = sympy.Symbol(symbol.name, real=True)
    empty = True
    for clause in question.broken:
        solutions = domain
        try:
            for op, expression in clause:
                relation = _RELATIONS[op](expression.subs(symbol, real), 0)
                if relation == sympy.true:
                    continue
                solutions = sympy.S.EmptySet if relation == sympy.false else solutions & _solve(relation, real, domain)
        except (NotImplementedError, ValueError, TypeError, RecursionError):
            solutions = None
        if solutions is not None and solutions.is_empty is False and question.sat is not None:
            return question.sat
        if solutions is None or not solutions.is_empty:
            empty = empty and _minimum_excludes(clause, symbol, domain)
    return question.unsat if empty else None


def _solve(relation: sympy.Basic, symbol: sympy.Symbol, domain: sympy.Set) -> sympy.Set:
    if isinstance(relation, (sympy.Eq, sympy.Ne)):
        roots = sympy.solveset(relation.lhs, symbol, domain)
        return roots if isinstance(relation, sympy.Eq) else domain - roots
    return solve_univariate_inequality(relation, symbol, relational=False, domain=domain)


def _minimum_excludes(clause: list[Relation], symbol: sympy.Symbol, domain: sympy.Set) -> bool:
    for op, expression in clause:
        with suppress(NotImplementedError, ValueError, TypeError, RecursionError):
            if op in ("<", "<="):
                least = minimum(expression, symbol, domain)
                if least.is_positive or (op == "<" and least.is_nonnegative):
                    return True
    return False
