"""Conditions as questions for a solver: is there a point of a box at which the condition is violated?

A question is a box and a disjunction of conjunctions of comparisons of SymPy expressions with 0. A condition is a series of
questions, each with what ``unsat`` and what ``sat`` say about it; the first answer that says something decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import sympy

from benchmarks.deciders.cases import Case
from profiles.profile import Profile

#: (comparison, expression): the expression compared with 0.
Relation = tuple[str, sympy.Expr]
Range = tuple[sympy.Expr, sympy.Expr | None, bool]

THRESHOLDS = (64, 2**20, 1)
FLOORS = (sympy.Rational(1, 1000), sympy.Rational(1, 10**13))
N = sympy.Symbol("n", positive=True)


@dataclass(frozen=True)
class Question:
    """Is there a point of ``box`` (symbol → lower end, upper end, lower end excluded) at which some conjunction of ``broken`` holds?"""

    box: dict[sympy.Symbol, Range]
    broken: list[list[Relation]]
    unsat: str | None = None
    sat: str | None = None


@dataclass(frozen=True)
class Piece:
    """ε where the relations hold."""

    where: list[Relation]
    epsilon: sympy.Expr


@dataclass(frozen=True)
class Statement:
    """A condition of a profile: the questions, and what SymPy's limits can be taken of."""

    condition: str
    questions: list[Question]
    weight: sympy.Symbol
    tail: sympy.Expr | None = None
    corners: tuple[dict[sympy.Symbol, sympy.Expr], ...] = ()


def pieces_of(epsilon: sympy.Expr, weight: sympy.Symbol) -> list[Piece]:
    """Return ε as smooth pieces; profiles here have at most one choice, between two branches."""
    choices = [node for node in epsilon.atoms(sympy.Max, sympy.Min, sympy.Abs, sympy.Piecewise) if node.has(weight)]
    if not choices:
        return [Piece([], epsilon)]
    node = choices[0]
    if isinstance(node, sympy.Piecewise):
        (first, condition), (second, _) = node.args
        gap = condition.rhs - condition.lhs
    else:
        first, second = (node.args[0], -node.args[0]) if isinstance(node, sympy.Abs) else node.args
        gap = second - first if isinstance(node, sympy.Min) else first - second
    return [Piece([(">=", gap)], epsilon.subs(node, first)), Piece([(">=", -gap)], epsilon.subs(node, second))]


def _box(profile: Profile) -> tuple[dict[sympy.Symbol, Range], sympy.Symbol]:
    symbols = profile.symbols()
    box = {}
    for variable in profile.record_variables():
        ends = [None if end is None else sympy.Rational(end.numerator, end.denominator) for end in (variable.lo, variable.hi)]
        box[symbols[variable.name]] = (ends[0], ends[1], variable.open_below)
    return box, symbols["w"]


def _corners(box: dict[sympy.Symbol, Range]) -> Iterator[dict[sympy.Symbol, sympy.Expr]]:
    choices = [(sympy.Integer(1),) if hi is None else tuple(dict.fromkeys((lo, hi, (lo + hi) / 2))) for lo, hi, _ in box.values()]
    for values in product(*choices):
        yield dict(zip(box, values, strict=True))


def _kinks(pieces: list[Piece], weight: sympy.Symbol) -> list[list[Relation]]:
    if len(pieces) == 1:
        return []
    gap = pieces[0].epsilon - pieces[1].epsilon
    return [[(">", weight - 1), ("=", gap), ("!=", sympy.diff(gap, weight))]]


def build(case: Case, condition: str) -> Statement:
    """Return a condition of a case as a statement."""
    profile = case.profile()
    records, weight = _box(profile)
    pieces = pieces_of(profile.expression(), weight)
    domain = {**records, weight: (sympy.Integer(1), None, False)}
    target = sympy.Rational(case.target)
    corners = tuple(_corners(records))
    if condition in ("assumption-8", "proposition-16"):
        broken = []
        for piece in pieces:
            start = piece.epsilon.subs(weight, 1)
            slope = sympy.diff(piece.epsilon, weight).subs(weight, 1)
            wrong = (">", start - target) if condition == "assumption-8" else ("<=", 1 - sympy.exp(-start) - slope)
            broken.append([*((op, side.subs(weight, 1)) for op, side in piece.where), wrong])
        return Statement(condition, [Question(records, broken, "proved", "refuted")], weight, corners=corners)
    if condition == "proposition-17":
        broken = [[*piece.where, ("<", weight * sympy.diff(piece.epsilon, weight) - piece.epsilon)] for piece in pieces]
        question = Question(domain, broken + _kinks(pieces, weight), "proved", "refuted")
        return Statement(condition, [question], weight, corners=corners)
    if condition == "assumption-9":
        line = 1 + (sympy.exp(target) - 1) * weight
        tail = profile.expression() - sympy.log(line)
        return Statement(condition, list(_growth(pieces, records, corners, line, weight)), weight, tail, corners)
    bent = _curvature(pieces[0].epsilon, weight) * sympy.exp(pieces[0].epsilon) if len(pieces) == 1 else None
    return Statement(condition, list(_convexity(pieces, domain, corners, weight)), weight, bent, corners)


def _growth(
    pieces: list[Piece],
    records: dict[sympy.Symbol, Range],
    corners: tuple[dict[sympy.Symbol, sympy.Expr], ...],
    line: sympy.Expr,
    weight: sympy.Symbol,
) -> Iterator[Question]:
    for threshold in THRESHOLDS:
        box = {**records, weight: (sympy.Integer(threshold), None, False)}
        yield Question(box, [[*piece.where, ("<=", sympy.exp(piece.epsilon) - line)] for piece in pieces], unsat="proved")
    for corner in corners:
        for threshold in (1, 1000):
            box = {weight: (sympy.Integer(threshold), None, False)}
            above = [
                [*((op, side.subs(corner)) for op, side in piece.where), (">", sympy.exp(piece.epsilon.subs(corner)) - line)]
                for piece in pieces
            ]
            yield Question(box, above, unsat="refuted")


def _curvature(epsilon: sympy.Expr, weight: sympy.Symbol) -> sympy.Expr:
    return sympy.diff(epsilon, weight, 2) + sympy.diff(epsilon, weight) ** 2


def _convexity(
    pieces: list[Piece], domain: dict[sympy.Symbol, Range], corners: tuple[dict[sympy.Symbol, sympy.Expr], ...], weight: sympy.Symbol
) -> Iterator[Question]:  # fmt: skip
    kinks = _kinks(pieces, weight)
    curved = [(piece.where, _curvature(piece.epsilon, weight), piece.epsilon) for piece in pieces]
    yield Question(domain, [*([*where, ("<=", bend)] for where, bend, _ in curved), *kinks], sat="refuted")
    if len(pieces) == 1:
        _, bend, epsilon = curved[0]
        start, bent = bend.subs(weight, 1), bend * sympy.exp(epsilon)
        yield Question(domain, [[("<", bend - start)], [("<=", start)]], unsat="proved")
        yield Question(domain, [[("<", bent - bent.subs(weight, 1))], [("<=", start)]], unsat="proved")
    for floor in FLOORS:
        yield Question(domain, [*([*where, ("<", bend - floor)] for where, bend, _ in curved), *kinks], unsat="proved")
    if len(pieces) == 1:
        for corner in corners:
            along = sympy.powsimp(bent.subs(corner).subs(weight, N))
            yield Question({N: (sympy.Integer(1), None, False)}, [[("<", 1 - N * along)]], unsat="refuted")
