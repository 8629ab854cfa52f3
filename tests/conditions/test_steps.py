"""Profiles with floor and ceiling: what a jump refutes, what holds in spite of it, and that no derivative is ever taken to be 0."""

from fractions import Fraction

import pytest

from profiles import declare
from proofs_check.verify import verify

STAIRCASE = {"record": {"z": ["1/2", 4]}, "parameters": {"b": "0.3", "d": 3}}


@pytest.fixture(scope="module")
def staircase():
    return verify(declare("staircase", "b*ceiling(w*z/d)", **STAIRCASE), 2)


def test_bounds_and_growth_of_the_staircase_are_proved(staircase):
    assert staircase.proved("assumption-8")
    assert staircase.proved("assumption-9")


@pytest.mark.parametrize("condition", ["assumption-11", "proposition-17"])
def test_a_jump_refutes_what_needs_a_derivative(staircase, condition):
    found = staircase.decisions[condition]
    assert found.verdict.value == "refuted"
    assert found.checked
    argument = found.witness["w"] * found.witness["z"] / 3
    assert argument.denominator == 1  # a place where the argument is a whole number


def test_a_jump_is_no_continuity(staircase):
    assert {c.statement: c.verdict for c in staircase.consequences}["theorem-10"] == "unknown"


@pytest.mark.parametrize("epsilon", ["floor(w)", "w + floor(w*z)", "ceiling(w)*z", "z*w*ceiling(log(1 + w))", "Max(w, ceiling(w))"])
@pytest.mark.parametrize("condition", ["assumption-11", "proposition-17", "proposition-16"])
def test_nothing_that_needs_a_derivative_is_proved_of_a_step_in_w(epsilon, condition):
    profile = declare("p", epsilon, record={"z": [1, 2]})
    assert verify(profile, 6, [condition]).decisions[condition].verdict.value != "proved"


@pytest.mark.thorough(quick=4)
@pytest.mark.parametrize(
    ("epsilon", "target", "verdict"),
    [
        ("w*ceiling(z/3)/2", 1, "proved"),  # ceiling(6/3) = 2: the largest value, at the end
        ("w*ceiling(z/3)/2", "0.99", "refuted"),
        ("w*(1 + floor(z/3))/2", "1.5", "proved"),
        ("w*(1 + floor(z/3))/2", "1.49", "refuted"),  # only at z = 6 itself
        ("w*tanh(z)", 1, "proved"),
        ("w*tanh(z)", "0.9", "refuted"),
        ("w*sinh(z)/cosh(z)", 1, "proved"),
    ],
)
def test_the_largest_value_of_a_step_in_the_record(epsilon, target, verdict):
    found = verify(declare("p", epsilon, record={"z": ["0.1", 6]}), target, ["assumption-8"])
    assert found.decisions["assumption-8"].verdict.value == verdict


@pytest.mark.thorough
def test_a_step_in_the_record_alone_leaves_the_weight_smooth():
    found = verify(declare("p", "w*ceiling(z/3)/2", record={"z": ["0.1", 6]}), 1)
    assert found.proved("assumption-11")
    assert found.proved("assumption-9")


def test_witnesses_stand_as_decimals_too():
    found = verify(declare("p", "w*spend/1000", record={"spend": [0, Fraction(4000, 7)]}), "0.5", ["assumption-8"])
    shown = found.decisions["assumption-8"].to_json()
    assert shown["witness"] == {"spend": "4000/7"}
    assert shown["witness_decimal"] == {"spend": "571.42857"}
