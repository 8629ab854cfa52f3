"""The one exact evaluation of a term: against balls, on definedness, and where earlier evaluations of the project differed."""

from __future__ import annotations

import doctest
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles import evaluation, parse_expression
from profiles.balls import ball, working_precision
from profiles.evaluation import NoValue, constant_value, evaluate, exact_value
from profiles.tables import make_table
from profiles.terms import Term, number, symbol
from proofs_check.enclosures import Enclosure
from proofs_check.prover.pointwise import UndefinedAtPoint, as_ball, value_at

TABLE = make_table("f", [[0, 0], [1, 2], [2, -1]])
ONE = ("neg", "exp", "log", "sqrt", "sin", "cos", "tan", "abs", "floor", "ceiling", "tanh", "sinh", "cosh")
numbers = st.sampled_from([Fraction(a, b) for a in (-9, -8, -4, -2, -1, 0, 1, 2, 3, 4, 8, 9, 27, 600) for b in (1, 2, 4, 8, 9)])
points = st.fixed_dictionaries({"w": numbers, "z": numbers, "y": numbers})


def combine(parts: st.SearchStrategy[Term]) -> st.SearchStrategy[Term]:
    tests = st.tuples(st.sampled_from(["<", "<=", ">", ">="]), parts, parts)
    return st.one_of(
        st.tuples(st.sampled_from(ONE), parts),
        st.tuples(st.sampled_from(["div", "pow"]), parts, parts),
        st.tuples(st.sampled_from(["add", "mul", "min", "max"]), parts, parts, parts),
        st.tuples(st.just("table"), st.just(TABLE), parts),
        st.tuples(st.just("piecewise"), st.tuples(parts, tests), st.tuples(parts, st.just(("true",)))),
    )


terms = st.recursive(
    st.one_of(numbers.map(number), st.sampled_from([symbol(name) for name in "wzy"]), st.just(("pi",))), combine, max_leaves=7
)


def test_doctests() -> None:
    assert doctest.testmod(evaluation).failed == 0


@given(terms, points)
def test_values_lie_in_balls_and_what_is_undefined_has_no_finite_one(term: Term, point: dict[str, Fraction]) -> None:
    value = evaluate(term, point)
    with working_precision(256):
        try:
            found = as_ball(value_at(term, point))
        except UndefinedAtPoint:
            assert not isinstance(value, Fraction)
            return
        if isinstance(value, Fraction):
            assert found.contains(ball(value))
            enclosed = Enclosure(term).evaluate({name: ball(entry) for name, entry in point.items()})
            assert not enclosed.is_finite() or enclosed.contains(ball(value))
    assert value is not NoValue.UNDEFINED


@given(terms, points)
def test_a_partial_value_is_the_value_for_all_numbers_of_the_missing_symbols(term: Term, point: dict[str, Fraction]) -> None:
    some = exact_value(term, {"z": point["z"]}, defined=True)
    whole = evaluate(term, point)
    assert some is None or not isinstance(whole, Fraction) or whole == some


@given(terms, points)
def test_constants_are_values(term: Term, point: dict[str, Fraction]) -> None:
    constant = constant_value(term)
    assert constant is None or evaluate(term, point) == constant


@pytest.mark.parametrize(
    ("text", "point", "expected"),
    [
        ("0*(1/(w - 2))", {"w": 2}, NoValue.UNDEFINED),
        ("z/z", {"z": 0}, NoValue.UNDEFINED),  # the fast weights had 0
        ("0/(z - 1)", {"z": 1}, NoValue.UNDEFINED),
        ("0**0", {}, Fraction(1)),  # the fast weights had nothing
        ("z**w", {"z": 0, "w": 2}, NoValue.UNDEFINED),  # is exp(w*log(z)) to the kernel; the prover and sampling rules had 0
        ("z**2", {"z": 0}, Fraction(0)),
        ("w**z", {"w": -9, "z": -3}, NoValue.UNDEFINED),  # sampling rules had -1/729
        ("w**-3", {"w": -9}, Fraction(-1, 729)),
        ("sqrt(z)", {"z": "9/4"}, Fraction(3, 2)),  # the prover and the fast weights had nothing
        ("z**(2/3)", {"z": "8/27"}, Fraction(4, 9)),
        ("z**(1/3)", {"z": -8}, NoValue.UNDEFINED),
        ("log(z)", {"z": 1}, Fraction(0)),  # sampling rules had nothing
        ("exp(z) + cos(z) + cosh(z) + sin(z) + tan(z) + tanh(z)", {"z": 0}, Fraction(3)),
        ("log(z)", {"z": 0}, NoValue.UNDEFINED),
        ("exp(1) + 1/z", {"z": 0}, NoValue.UNDEFINED),
        ("Piecewise((1/z, z > 0), (2, True))", {"z": 0}, Fraction(2)),
        ("Piecewise((1, 1/z > 0), (2, True))", {"z": 0}, NoValue.UNDEFINED),
        ("z*y", {"z": 0}, NoValue.NOT_RATIONAL),
        ("z**1000*z**1000*z**1000", {"z": 1000}, NoValue.NOT_RATIONAL),
        ("sqrt(z)", {"z": 2}, NoValue.NOT_RATIONAL),
    ],
)
def test_outcomes(text: str, point: dict[str, int | str], expected: object) -> None:
    assert evaluate(parse_expression(text), {name: Fraction(value) for name, value in point.items()}) == expected


@pytest.mark.parametrize(("text", "expected"), [("z*w", 0), ("z/w + 1", 1), ("z*(1/(y - 2))", None), ("w*y", None), ("(z - 1)**w", None)])
def test_what_is_known_to_be_defined_needs_not_all_symbols(text: str, expected: int | None) -> None:
    assert exact_value(parse_expression(text), {"z": Fraction(0), "y": Fraction(2)}, defined=True) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("2**3/4 - 1", 1), ("4**(1/2)", None), ("sqrt(4)", None), ("exp(0)", None), ("0*(1/(2 - 2))", None), ("z", None), ("(-8)**3", -512)],
)
def test_literal_constants(text: str, expected: int | None) -> None:
    assert constant_value(parse_expression(text)) == expected
