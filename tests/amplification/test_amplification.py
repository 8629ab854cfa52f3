"""Amplified numbers against mpmath at 60 digits (and more where ψ is far below ε)."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant.amplification import _one_by_one, amplify, amplify_array
from profiles import InvalidNumber

EPSILONS = ["1e-12", "1e-6", "1", "50", "800", "5000"]
PROBABILITIES = ["1e-12", "1e-3", "0.999999999999", "1"]


def truth(epsilon, q):
    """ψ as an exact fraction within a relative 1e-60; 2,600 digits make the plain formula harmless for all cases here."""
    e, p = Fraction(epsilon), Fraction(q)
    with mpmath.workdps(2600 if e > 100 else 500):
        big_e, big_q = mpmath.mpf(e.numerator) / e.denominator, mpmath.mpf(p.numerator) / p.denominator
        value = mpmath.log(1 + big_q * (mpmath.exp(big_e) - 1))
        mantissa, exponent = mpmath.frexp(value)
        return Fraction(int(mpmath.ldexp(mantissa, 300))) * Fraction(2) ** (int(exponent) - 300)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("q", PROBABILITIES)
def test_all_24_cases_are_within_one_ulp_on_the_safe_side(epsilon, q):
    psi, found = truth(epsilon, q), amplify(epsilon, q)
    slack = psi / 10**60
    assert math.isfinite(found.upper)
    assert Fraction(found.lower) <= psi + slack
    assert psi - slack <= Fraction(found.upper)
    assert found.upper <= math.nextafter(found.lower, math.inf)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("q", PROBABILITIES)
def test_the_array_form_is_within_two_ulp_in_all_24_cases(epsilon, q):
    e, p = float(epsilon), float(q)
    psi, found = truth(e, p), float(amplify_array(e, p))
    assert psi * (1 - Fraction(1, 10**60)) <= Fraction(found)
    assert Fraction(found) - psi <= 2 * Fraction(math.ulp(found))


def test_degenerate_values():
    assert amplify(5, 0).upper == 0
    assert amplify(0, "0.3").upper == 0
    assert (amplify("0.1", 1).lower, amplify("0.1", 1).upper) == (math.nextafter(0.1, 0), 0.1)
    assert amplify(0.1, 1).lower == amplify(0.1, 1).upper == 0.1
    huge = amplify(10**300, "1e-300")
    assert Fraction(huge.lower) <= 10**300 <= Fraction(huge.upper) + 691
    tiny = amplify("1e-400", "0.5")
    assert (tiny.lower, tiny.upper) == (0.0, 5e-324)
    assert list(amplify_array([0.0, 3.0, 1.0, 1e300], [0.5, 0.0, 1.0, 5e-324])) == [0.0, 0.0, 1.0, math.nextafter(1e300, math.inf)]


@pytest.mark.parametrize(
    ("epsilon", "q"),
    [(-1, 1), (1, "1.1"), (1, -1), (float("nan"), 1), (1, float("inf")), (10**400, 1), (10**400, "0.5"), (True, 1), ("x", 1)],
)
def test_unusable_numbers_are_refused(epsilon, q):
    with pytest.raises(InvalidNumber):
        amplify(epsilon, q)


@pytest.mark.parametrize(
    ("epsilon", "q"),
    [
        ([float("nan")], [1.0]),
        ([-1.0], [1.0]),
        ([1.0], [1.5]),
        ([1.0], [float("nan")]),
        (["a"], [1.0]),
        ([2**60 + 1], [1.0]),
        ([1j], [0.5]),
    ],
)
def test_unusable_arrays_are_refused(epsilon, q):
    with pytest.raises(InvalidNumber):
        amplify_array(epsilon, q)


def test_shapes_broadcast_and_may_be_empty():
    assert amplify_array(np.ones((3, 1)), np.full(4, 0.5)).shape == (3, 4)
    assert amplify_array([], []).shape == (0,)
    assert amplify_array(1.0, 0.5).shape == ()


positive = st.floats(min_value=1e-300, max_value=1e5, allow_subnormal=False)
probability = st.one_of(st.floats(min_value=0, max_value=1), st.floats(min_value=-300, max_value=0).map(lambda x: 10.0**x))


@pytest.mark.thorough
@settings(max_examples=300, deadline=None)
@given(positive, probability)
def test_the_array_form_lies_between_the_tight_bound_and_two_ulp(epsilon, q):
    tight, fast = amplify(epsilon, q), float(amplify_array(epsilon, q))
    assert tight.lower <= fast <= tight.upper + math.ulp(tight.upper)
    assert tight.lower == tight.upper or fast >= tight.upper


@settings(max_examples=100, deadline=None)
@given(st.floats(min_value=1e-9, max_value=60), st.floats(min_value=1e-9, max_value=1))
def test_the_enclosure_contains_the_value_at_60_digits(epsilon, q):
    psi, found = truth(epsilon, q), amplify(epsilon, q)
    assert Fraction(found.lower) <= psi * (1 + Fraction(1, 10**60))
    assert psi * (1 - Fraction(1, 10**60)) <= Fraction(found.upper)


def test_the_fallback_without_extended_precision_agrees():
    e, p = np.array([1e-12, 1.0, 800.0]), np.array([1e-3, 0.5, 1e-12])
    slow = _one_by_one(e, p)
    assert np.all(amplify_array(e, p) >= slow)
    assert np.all(amplify_array(e, p) <= np.nextafter(slow, np.inf))


def test_amplification_is_monotone_in_both_arguments():
    values = [amplify(e, "0.01").upper for e in EPSILONS]
    assert values == sorted(values)
    values = [amplify(3, q).upper for q in PROBABILITIES]
    assert values == sorted(values)


def test_a_refused_number_of_thousands_of_digits_is_shown_short():
    for epsilon, q in (("-" + "9" * 900 + "e4000", "1/2"), (1, "9" * 900 + "e4000")):
        with pytest.raises(InvalidNumber, match=r"but -?9{36,37}\.\.\. was found"):
            amplify(epsilon, q)
