"""What an explanation displays is true: every asserted formula is evaluated at points of the box over which it is asserted."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from profiles.grammar import parse_expression
from profiles.profile import Variable
from proofs_check.enclosures import working_precision
from proofs_check.explain import Formula
from proofs_check.explain.document import is_notation
from proofs_check.prover.pointwise import as_ball, value_at

BITS = 256
HOLDS = {
    "=": lambda a, b: not (a > b or a < b),
    ">=": lambda a, b: not a < b,
    "<=": lambda a, b: not a > b,
    ">": lambda a, b: not a <= b,
    "<": lambda a, b: not a >= b,
}


def steps_of(steps):
    for step in steps:
        yield step
        yield from steps_of(step.children)


def formulas_of(explanation):
    for prose in (explanation.statement, *(step.said for step in steps_of(explanation.steps))):
        yield from (piece for piece in prose if isinstance(piece, Formula))


def points_of(box, rng, count=12):
    def draw(variable):
        if variable.hi is None:
            return (
                variable.lo
                + Fraction(rng.choice([0, 1, 3, 25, 400]) if not variable.open_below else 0)
                + Fraction(rng.randint(1, 999), 100)
            )
        return variable.lo + (variable.hi - variable.lo) * Fraction(rng.randint(1 if variable.open_below else 0, 100), 100)

    yield from ({v.name: draw(v) for v in box} for _ in range(count))
    if not any(v.open_below for v in box):
        yield {v.name: v.lo for v in box}


def check(formula, rng):
    """Evaluate one formula; what stands for the names of the theory is skipped, because it is defined by what follows it."""
    terms, signs = formula.parts[::2], formula.parts[1::2]
    known = [not is_notation(term) for term in terms]
    with working_precision(BITS):
        for point in points_of(formula.over, rng):
            values = [as_ball(value_at(term, point, BITS)) if here else None for term, here in zip(terms, known, strict=True)]
            for left, sign, right in zip(values, signs, values[1:], strict=False):
                if left is not None and right is not None:
                    assert HOLDS[sign](left, right), (formula, point)
            if formula.equals is not None:
                assert HOLDS["="](values[0], as_ball(value_at(formula.equals, point, BITS))), (formula, point)


def test_every_displayed_formula_is_true(shown):
    rng = random.Random(shown.name)
    for explanation in shown.explanations.values():
        for formula in formulas_of(explanation):
            if formula.over is not None:
                check(formula, rng)


def test_a_false_formula_would_be_noticed():
    box = (Variable("w", Fraction(1), None),)
    wrong = Formula((parse_expression("w**2"), ">=", parse_expression("2*w")), box)
    with pytest.raises(AssertionError):
        check(wrong, random.Random(0))
    other = Formula((parse_expression("1 + w"),), box, equals=parse_expression("2 + w"))
    with pytest.raises(AssertionError):
        check(other, random.Random(0))
