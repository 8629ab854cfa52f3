"""Where a term is undefined or negative: points that are found, and none where it is neither."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy

from profiles.grammar import parse_expression
from profiles.terms import subterms, to_text
from profiles.variables import Variable
from proofs_check.prover.definedness import Need, find_counterexample, obligations
from proofs_check.prover.pointwise import counterexample_at

UNIT = (Variable("z", Fraction(0), Fraction(1)),)


def look(text):
    term = parse_expression(text, "a term")
    return find_counterexample(term, UNIT, obligations(term))


@pytest.mark.parametrize("text", ["z", "1/(1 + z)", "log(2 + z)", "sqrt(z)", "(z + 1)**(1/3)", "z**2 - 2*z + 1"])
def test_nothing_is_found_against_what_is_defined_and_not_negative(text):
    assert look(text) is None


@pytest.mark.parametrize(("text", "at"), [("1/z", 0), ("1 + 1/(z - 1/3)**2", Fraction(1, 3)), ("1 - log(z)", 0), ("1/(1 - z)", 1)])
def test_a_point_at_which_it_is_undefined_is_found_with_the_reason(text, at):
    found = look(text)
    assert found.reason
    assert found.at == {"z": at}


@pytest.mark.parametrize("text", ["z - 1/2", "-exp(z)", "(z - 1/2)**2 - 1/100"])
def test_a_point_at_which_it_is_negative_is_found(text):
    found = look(text)
    assert (found.reason, found.divisor) == (None, None)
    assert sympy.sympify(text).subs(found.at) < 0


def test_a_divisor_that_changes_its_sign_where_no_root_is_rational_is_found():
    assert look("1/(z**2 - 1/2)**2") is None  # a square does not change its sign, and no point that is looked at is the root
    found = look("2 + z/(z**2 - 1/2) - z/(z**2 - 1/2)")
    assert to_text(found.divisor) == "z**2 - 1/2"
    assert found.at["z"] ** 2 < Fraction(1, 2) < found.until["z"] ** 2


def test_a_point_is_judged_by_itself():
    term = parse_expression("1/z - 2", "a term")
    assert counterexample_at(term, {"z": Fraction(1, 4)}) is None
    assert counterexample_at(term, {"z": Fraction(1)}).reason is None
    assert counterexample_at(term, {"z": Fraction(0)}).reason


def test_inner_obligations_come_first_and_once():
    term = parse_expression("log(1/z) + sqrt(1/z)", "a term")
    assert [to_text(part) for part in subterms(parse_expression("z + 1", "a term"))] == ["z", "1", "z + 1"]
    assert [(need.need, to_text(need.term)) for need in obligations(term)] == [
        (Need.NONZERO, "z"),
        (Need.POSITIVE, "1/z"),
        (Need.NONNEGATIVE, "1/z"),
    ]
