"""What has to hold for a term to be defined: the obligations of its operations, and where they are violated."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

import sympy

from profiles.errors import InvalidExpression
from profiles.evaluation import constant_value
from profiles.symbolic import to_rational, to_sympy
from profiles.terms import Term, free_symbols, subterms
from profiles.variables import Variable
from proofs_check.prover.algebra import put_in, rational_roots
from proofs_check.prover.explore import candidates, explore
from proofs_check.prover.goals import Goal
from proofs_check.prover.pointwise import UndefinedAtPoint, as_ball, value_at
from proofs_check.prover.search import prove
from proofs_check.results import Tree

#: Simple points that are looked at.
_POINTS = 400


class Need(Enum):
    """What an operation needs of its argument."""

    POSITIVE = "> 0"
    NONNEGATIVE = ">= 0"
    NONZERO = "!= 0"


@dataclass(frozen=True, slots=True)
class Obligation:
    """``term`` must be > 0, ≥ 0 or ≠ 0 on the whole domain."""

    need: Need
    term: Term

    def goals(self, box: tuple[Variable, ...]) -> Iterator[Goal]:
        """Yield goals any one of which discharges the obligation."""
        expression = _symbolic(self.term, box)
        if expression is None:
            return
        yield Goal(expression, box, self.need is not Need.NONNEGATIVE)
        if self.need is Need.NONZERO:
            yield Goal(-expression, box, strict=True)

    def prove(self, box: tuple[Variable, ...]) -> Tree | None:
        """Return a tree for the obligation (its positive side), None if none is found."""
        for goal in self.goals(box):
            tree = prove(goal)
            if tree is not None:
                return tree
        return None

    def critical_points(self, box: tuple[Variable, ...]) -> Iterator[dict[str, Fraction]]:
        """Yield points of the box at which the obligation may fail."""
        expression = _symbolic(self.term, box)
        if expression is None:
            return
        if self.need is not Need.NONZERO:
            witness = explore(Goal(expression, box, self.need is Need.POSITIVE), budget=600).witness
            if witness is not None:
                yield witness
            return
        yield from _roots(expression, box)

    def sign_change(self, box: tuple[Variable, ...]) -> tuple[dict[str, Fraction], dict[str, Fraction]] | None:
        """Return two points with opposite certain signs of a term that must not vanish, None if none is found."""
        if self.need is not Need.NONZERO:
            return None
        negative = positive = None
        for point in candidates(box, 300):
            try:
                value = as_ball(value_at(self.term, point))
            except UndefinedAtPoint:
                continue
            negative = point if negative is None and value < 0 else negative
            positive = point if positive is None and value > 0 else positive
            if negative is not None and positive is not None:
                return negative, positive
        return None


@dataclass(frozen=True, slots=True)
class Counterexample:
    """Where a term fails to be defined and not negative: it is undefined at a point for a ``reason``, or negative there without one; or it
    divides by a ``divisor`` that changes its sign between two points.
    """

    at: Mapping[str, Fraction]
    reason: str | None = None
    divisor: Term | None = None
    until: Mapping[str, Fraction] | None = None


def find_counterexample(term: Term, box: tuple[Variable, ...], needs: Sequence[Obligation]) -> Counterexample | None:
    """Return where a term with these obligations is undefined or negative, at a simple point of the box or where one of them may fail."""
    for point in itertools.chain(candidates(box, _POINTS), *(need.critical_points(box) for need in needs)):
        against = counterexample_at(term, point)
        if against is not None:
            return against
    for need in needs:
        ends = need.sign_change(box)
        if ends is not None:
            return Counterexample(ends[0], divisor=need.term, until=ends[1])
    return None


def counterexample_at(term: Term, point: Mapping[str, Fraction]) -> Counterexample | None:
    """Return that a term is undefined or certainly negative at a point, None where it is neither."""
    try:
        negative = as_ball(value_at(term, point)) < 0
    except UndefinedAtPoint as error:
        return Counterexample(point, reason=str(error))
    return Counterexample(point) if negative else None


def _symbolic(term: Term, box: Sequence[Variable]) -> sympy.Expr | None:
    symbols = {variable.name: sympy.Symbol(variable.name, real=True) for variable in box}
    try:
        return to_sympy(term, symbols)
    except InvalidExpression:
        return None


def _roots(expression: sympy.Expr, box: tuple[Variable, ...]) -> Iterator[dict[str, Fraction]]:
    by_name = {symbol.name: symbol for symbol in expression.free_symbols}
    for variable in box:
        symbol = by_name.get(variable.name)
        if symbol is None:
            continue
        others = tuple(other for other in box if other.name != variable.name)
        for point in candidates(others, 12):
            fixed = put_in(expression, {by_name[name]: to_rational(value) for name, value in point.items() if name in by_name})
            for root in rational_roots(fixed, symbol):
                if variable.contains(root):
                    yield {**point, variable.name: root}


def obligations(term: Term) -> list[Obligation]:
    """Return the obligations of ``term`` as it was written, inner ones first, without repetition and without trivial ones."""
    needs: dict[Obligation, None] = {}
    for part in subterms(term):
        need = _need(part)
        if need is not None:
            subject = ("cos", part[1]) if part[0] == "tan" else part[2] if part[0] == "div" else part[1]
            if free_symbols(subject) or need is Need.NONZERO:
                needs[Obligation(need, subject)] = None
    return list(needs)


def _need(term: Term) -> Need | None:
    match term[0]:
        case "div" | "tan":
            return Need.NONZERO
        case "log":
            return Need.POSITIVE
        case "sqrt":
            return Need.NONNEGATIVE
        case "pow":
            return _power_need(constant_value(term[2]))
    return None


def _power_need(exponent: Fraction | None) -> Need | None:
    if exponent is None:
        return Need.POSITIVE
    if exponent.denominator == 1:
        return Need.NONZERO if exponent < 0 else None
    return Need.NONNEGATIVE if exponent > 0 else Need.POSITIVE
