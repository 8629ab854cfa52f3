"""What an explanation displays is true: every asserted formula is evaluated at points of the box over which it is asserted."""

from __future__ import annotations

from fractions import Fraction

import pytest

from profiles.grammar import parse_expression
from profiles.variables import Variable
from proofs_check.explain import Formula


@pytest.mark.thorough
def test_every_displayed_formula_is_true(shown, check_all):
    assert sum(check_all(explanation) for explanation in shown.explanations.values()) > 20


@pytest.mark.parametrize(
    ("left", "sign", "right"),
    [("w**2", ">=", "2*w"), ("w", ">", "w"), ("2 - exp(1)", ">=", "-71/100"), ("sqrt(2)*w", "=", "141421/100000*w")],
)
def test_a_false_formula_would_be_noticed(check, left, sign, right):
    wrong = Formula((parse_expression(left), sign, parse_expression(right)), (Variable("w", Fraction(1), None),))
    with pytest.raises(AssertionError):
        check(wrong)


def test_a_false_form_would_be_noticed(check):
    other = Formula((parse_expression("1 + w"),), (Variable("w", Fraction(1), None),), equals=parse_expression("2 + w"))
    with pytest.raises(AssertionError):
        check(other)
