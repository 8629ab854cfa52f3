"""What has to hold for a term to be defined: the obligations of its operations, and where they are violated."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

import sympy

from profiles.errors import InvalidExpression
from profiles.evaluation import constant_value
from profiles.symbolic import to_sympy
from profiles.terms import Term, free_symbols, subterms
from profiles.variables import Variable
from proofs_check.prover.explore import explore
from proofs_check.prover.goals import Goal
from proofs_check.prover.points import candidates, roots
from proofs_check.prover.pointwise import Counterexample, find_sign_change, first_counterexample
from proofs_check.prover.search import prove
from proofs_check.results import Tree

#: Simple points that are looked at for the term itself, and for two signs of a divisor.
_POINTS, _SIGNS = 400, 300


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
        """Return a tree for the obligation (its positive side), None if none is found, or the kernel needs none to see it of a number."""
        if not free_symbols(self.term):
            return None
        return next((tree for goal in self.goals(box) if (tree := prove(goal)) is not None), None)

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
        yield from roots(expression, box)


def find_counterexample(term: Term, box: tuple[Variable, ...], needs: Sequence[Obligation]) -> Counterexample | None:
    """Return where a term with these obligations is undefined or negative, at a simple point of the box or where one of them may fail."""
    critical = [need.critical_points(box) for need in needs]
    divisors = [need.term for need in needs if need.need is Need.NONZERO]
    simple, plain = candidates(box, _POINTS), candidates(box, _SIGNS)
    return first_counterexample(term, itertools.chain(simple, *critical)) or find_sign_change(divisors, plain)


def _symbolic(term: Term, box: Sequence[Variable]) -> sympy.Expr | None:
    symbols = {variable.name: sympy.Symbol(variable.name, real=True) for variable in box}
    try:
        return to_sympy(term, symbols)
    except InvalidExpression:
        return None


def obligations(term: Term) -> list[Obligation]:
    """Return the obligations of ``term`` as it was written, inner ones first, without repetition and without trivial ones."""
    needs = dict.fromkeys(_oblige(part) for part in subterms(term))
    return [need for need in needs if need is not None]


def _oblige(part: Term) -> Obligation | None:
    """Return what the operation of one part of a term obliges to."""
    need = _need(part)
    if need is None:
        return None
    subject = ("cos", part[1]) if part[0] == "tan" else part[2] if part[0] == "div" else part[1]
    return Obligation(need, subject) if need is Need.NONZERO or free_symbols(subject) else None


def _need(term: Term) -> Need | None:
    match term[0]:
        case "div" | "tan":
            return Need.NONZERO
        case "log":
            return Need.POSITIVE
        case "sqrt":
            return Need.NONNEGATIVE
        case "pow":
            exponent = constant_value(term[2])
            if exponent is None:
                return Need.POSITIVE
            if exponent.denominator == 1:
                return Need.NONZERO if exponent < 0 else None
            return Need.NONNEGATIVE if exponent > 0 else Need.POSITIVE
    return None
