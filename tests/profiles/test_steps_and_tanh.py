"""floor, ceiling, tanh, sinh, cosh in the language of profiles: read, printed, and evaluated on the right side of whole numbers."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from accountant import derive_epsilon, optimal_weight
from accountant.weights.convexity import prove_convexity
from accountant.weights.fast.compiled import CompiledTerm
from accountant.weights.fast.solver import optimal_weights
from profiles import InvalidExpression, declare, parse_expression
from profiles.balls import ball, interval
from profiles.presenting.latex import term_latex
from profiles.stored import read_profile, write_profile
from profiles.symbolic import from_sympy
from profiles.terms import to_text
from proofs_check.enclosures import Enclosure
from proofs_check.prover.pointwise import value_at


@pytest.mark.parametrize("text", ["floor(w*z)", "ceiling(w*z/3)", "tanh(w)", "sinh(z) + w", "cosh(w - 1)"])
def test_texts_come_back(text):
    assert to_text(parse_expression(text)) == text
    profile = declare("p", text + " + 0*w", record={"z": [0, 1]})
    assert read_profile(write_profile(profile)) == profile


def test_ceil_is_ceiling():
    assert parse_expression("ceil(w)") == parse_expression("ceiling(w)")


def test_sympy_objects_are_read():
    w, z = sympy.symbols("w z", positive=True)
    made = declare("p", sympy.ceiling(w * z / 3) + sympy.tanh(w) + sympy.floor(w), record={"z": [1, 2]})
    point = {"w": Fraction(7, 2), "z": Fraction(2)}
    assert float(value_at(made.epsilon, point)) == pytest.approx(3 + math.tanh(3.5) + 3)
    assert from_sympy(sympy.ceiling(w)) == ("ceiling", ("sym", "w"))


def test_the_sign_for_powers_is_explained():
    with pytest.raises(InvalidExpression, match=r"powers are written \*\*"):
        parse_expression("w^2")


@pytest.mark.parametrize(("text", "shown"), [("floor(z)", r"\lfloor"), ("ceiling(z)", r"\rceil"), ("tanh(z)", r"\tanh")])
def test_latex(text, shown):
    assert shown in term_latex(parse_expression(text))


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("head", ["tanh", "sinh", "cosh"])
@given(x=st.fractions(-20, 20))
def test_hyperbolic_functions(head, x):
    value = Enclosure(parse_expression(f"{head}(z)")).evaluate({"z": ball(x)})
    with mpmath.workdps(40):
        true = getattr(mpmath, head)(mpmath.mpf(x.numerator) / x.denominator)
        assert abs(mpmath.mpf(float(value.mid())) - true) <= mpmath.mpf(10) ** -13 * max(1, abs(true))


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("head", ["floor", "ceiling"])
@given(lo=st.fractions(-50, 50, max_denominator=12), width=st.fractions(0, 3, max_denominator=12))
def test_balls_contain_all_values_of_a_step(head, lo, width):
    value, slope = Enclosure((head, ("sym", "z"))).evaluate_with_slope({"z": interval(lo, lo + width)}, "z")
    rounding = math.floor if head == "floor" else math.ceil
    for k in range(9):
        assert value.contains(rounding(lo + width * Fraction(k, 8)))
    if rounding(lo) != rounding(lo + width):
        assert not slope.is_finite()  # never 0 where there is a jump


@pytest.mark.parametrize("head", ["floor", "ceiling"])
@pytest.mark.parametrize("divisor", ["0.1", "3", "0.3", "7"])
def test_arrays_never_round_to_the_wrong_side(head, divisor):
    compiled = CompiledTerm(parse_expression(f"{head}(z/{divisor})"))
    columns = np.array([k * float(divisor) for k in range(1, 200)])
    columns = np.concatenate([columns, np.nextafter(columns, 0), np.nextafter(columns, np.inf)])
    values, errors = compiled.bounded({"z": columns})
    rounding = math.floor if head == "floor" else math.ceil
    for z, value, error in zip(columns, values, np.broadcast_to(errors, values.shape), strict=True):
        assert error == np.inf or value == rounding(Fraction(float(z)) / Fraction(divisor))
    assert not np.isfinite(np.broadcast_to(errors, values.shape)).all()  # next to whole numbers nothing is claimed


@pytest.mark.thorough
def test_weights_of_a_step_in_the_record_are_feasible_next_to_whole_numbers():
    profile = declare("p", "w*ceiling(z/d)/50", record={"z": ["0.05", 3]}, parameters={"d": "0.1"})
    columns = np.array([0.1 * k for k in range(1, 30)])
    columns = np.concatenate([columns, np.nextafter(columns, 0), np.nextafter(columns, np.inf)])
    found = optimal_weights(profile, 1, {"z": columns}, convexity=prove_convexity(profile, 1))
    for z, weight in zip(columns, found.weights, strict=True):
        steps = math.ceil(Fraction(float(z)) * 10)
        one = optimal_weight(declare("q", f"w*{steps}/50"), 1, {}, digits=20)
        assert one.upper * (1 - Fraction(1, 10**11)) <= Fraction(float(weight)) <= one.upper


def test_the_largest_weight_before_a_jump_is_attained():
    profile = declare("staircase", "b*ceiling(w*z/d)", record={"z": ["1/2", 4]}, parameters={"b": "0.3", "d": 3})
    found = optimal_weight(profile, 2, {"z": "1.5"})
    assert found.lower == 36  # ceiling(36*1.5/3) = 18, and right after it 19
    assert found.upper > 36
    true = max(w for w in range(2, 80, 2) if math.exp(0.3 * (w / 2)) <= 1 + math.expm1(2) * w)
    assert true == 36


def test_the_bound_of_a_step_is_its_largest_value():
    profile = declare("staircase", "b*ceiling(w*z/d)", record={"z": ["1/2", 4]}, parameters={"b": "0.3", "d": 3})
    found = derive_epsilon(profile, q="1/2").bound
    true = math.log1p(0.5 * math.expm1(0.9))
    assert float(found.lower) <= true <= float(found.upper) <= true * (1 + 2e-9)
