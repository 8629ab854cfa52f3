"""Goals with exponentials that fade: true ones are proved, ones that fail by little are not."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy

from profiles.variables import Variable
from proofs_check.prover.goals import Goal
from proofs_check.prover.oracle import accepts
from proofs_check.prover.search import prove_by
from proofs_check.prover.tactics.fading import bound_fading, fades, name_exponent

A, W, Y = sympy.Symbol("a", positive=True), sympy.Symbol("w", positive=True), sympy.Symbol("y", positive=True)
POSITIVE, WEIGHT, HALF_LINE = (
    Variable("a", Fraction(0), None, True),
    Variable("w", Fraction(1), None),
    Variable("y", Fraction(0), None, True),
)
#: y·exp(−y) is at most 1/e at y = 1, (a w)²·exp(−a w) at most 4/e² = 0.54134... at a w = 2.
CASES = [
    (bound_fading, sympy.Rational("0.368") - Y * sympy.exp(-Y), (HALF_LINE,), True),
    (bound_fading, sympy.Rational("0.367") - Y * sympy.exp(-Y), (HALF_LINE,), False),
    (bound_fading, 1 - Y**2 * sympy.exp(-Y) - sympy.exp(-Y) / 3, (HALF_LINE,), True),
    (name_exponent, sympy.Rational("0.55") - A**2 * sympy.exp(-A * W), (POSITIVE, WEIGHT), True),
    (name_exponent, sympy.Rational("0.54") - A**2 * sympy.exp(-A * W), (POSITIVE, WEIGHT), False),
    (name_exponent, 3 - A**2 * sympy.exp(-A * W) + (A * sympy.exp(-A * W)) ** 2, (POSITIVE, WEIGHT), True),
]


@pytest.mark.parametrize(("tactic", "expression", "box", "holds"), CASES)
def test_what_holds_is_proved_and_what_fails_by_little_is_not(tactic, expression, box, holds):
    goal = Goal(expression, box)
    tree = prove_by(tactic, goal)
    assert (tree is not None) == holds
    assert tree is None or accepts(goal, tree)


def test_a_product_in_an_exponent_is_found():
    assert fades(Goal(sympy.exp(-2 * A * W), (POSITIVE, WEIGHT)))
    assert not fades(Goal(sympy.exp(A * W), (POSITIVE, WEIGHT)))
    assert not fades(Goal(sympy.exp(-A * W), (POSITIVE, Variable("w", Fraction(1), Fraction(2)))))
