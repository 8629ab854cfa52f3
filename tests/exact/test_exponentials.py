"""Numbers made of rationals and exponentials: field laws, order and logarithms against 60 digits, normal forms, limits."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profiles.errors import InvalidArgument, InvalidNumber, Undecided
from proofs_check.exact import ExpRational, Log, exp
from proofs_check.exact.exponentials import log_of, near, raise_to

exponents = st.fractions(-3, 3, max_denominator=6)
coefficients = st.fractions(-5, 5, max_denominator=7)
sums = st.lists(st.tuples(coefficients, exponents), min_size=1, max_size=3)


def build(terms):
    total = Fraction(0)
    for c, a in terms:
        total = total + c * exp(a)
    return total


def truth(terms):
    return mpmath.fsum(mpmath.mpf(c.numerator) / c.denominator * mpmath.exp(mpmath.mpf(a.numerator) / a.denominator) for c, a in terms)


def as_mpf(bounds):
    return [mpmath.mpf(end.numerator) / end.denominator for end in (bounds.lower, bounds.upper)]


@pytest.mark.thorough
@settings(max_examples=60, deadline=None)
@given(sums, sums, sums)
def test_field_laws_and_values_at_sixty_digits(one, two, three):
    a, b, c = build(one), build(two), build(three)
    assert (a + b) * c == a * c + b * c
    assert a - a == 0
    assert isinstance(a - a, Fraction)
    assert (a + b) - b == a
    assert hash((a + b) - b) == hash(a)
    with mpmath.workdps(60):
        x, y = truth(one), truth(two)
        if abs(x - y) > mpmath.mpf(10) ** -50:
            assert (a < b, a > b, a <= b, a >= b) == (x < y, x > y, x < y, x > y)
        else:
            assert a == b
            assert a <= b
        if b != 0:
            assert (a / b) * b == a
            found = as_mpf(near_ends(a / b))
            assert found[0] - mpmath.mpf(10) ** -30 <= x / y <= found[1] + mpmath.mpf(10) ** -30


def near_ends(value):
    from proofs_check.exact.enclosed import enclose_ball  # noqa: PLC0415

    return enclose_ball(near(value))


def test_equality_is_decided_across_units():
    assert exp("1/2") * exp("1/3") == exp("5/6")
    assert (exp("1/2") + 1) * (exp("1/2") - 1) == exp(1) - 1
    assert hash(exp("1/2") ** 2) == hash(exp(1))
    assert {exp(1): "a"}[exp("1/3") ** 3] == "a"
    assert exp(1) * exp(-1) == Fraction(1)
    assert isinstance(exp(1) / exp(1), Fraction)
    assert exp(1) != Fraction(3)
    assert exp(2) ** -1 == exp(-2)


def test_close_numbers_are_ordered():
    with mpmath.workdps(400):
        digits = mpmath.nstr(mpmath.e, 390)
    close = Fraction(digits)
    with mpmath.workdps(500):
        below = mpmath.mpf(close.numerator) / close.denominator < mpmath.e
    assert (close < exp(1)) == below
    assert (exp(1) > close) == below
    assert 0 < abs_of(exp(1) - close) < Fraction(1, 10**385)


def abs_of(value):
    return value if value > 0 else -value


@given(st.fractions(-40, 40, max_denominator=5))
@settings(max_examples=40, deadline=None)
def test_logarithms(a):
    found = log_of(exp(a))
    assert Fraction(found.lower) <= a <= Fraction(found.upper)
    shifted = log_of(1 + exp(a))
    with mpmath.workdps(60):
        value = mpmath.log1p(mpmath.exp(mpmath.mpf(a.numerator) / a.denominator))
        assert mpmath.mpf(shifted.lower) <= value <= mpmath.mpf(shifted.upper)
    assert shifted.upper - shifted.lower <= 2**-51 * abs(shifted.upper)


def test_powers_of_logarithms():
    assert raise_to(Log(1 + exp("1/2")), Fraction(2)) == 1 + 2 * exp("1/2") + exp(1)
    assert raise_to(Log(Fraction(8, 27)), Fraction(-2, 3)) == Fraction(9, 4)
    assert raise_to("0.5", Fraction(3)) == exp("3/2")
    with pytest.raises(InvalidArgument, match="integer multiples"):
        raise_to(Log(2), Fraction(1, 2))
    with pytest.raises(InvalidArgument, match="positive"):
        Log(0)


def test_limits_and_nonsense():
    with pytest.raises(Undecided, match="polynomials of degree"):
        exp(1) + exp(Fraction(1, 10**6))
    with pytest.raises(InvalidNumber):
        exp(float("nan"))
    with pytest.raises(InvalidNumber, match="divided by 0"):
        exp(1) / 0
    with pytest.raises(TypeError):
        exp(1) + 0.5
    assert isinstance(exp(1), ExpRational)
    assert exp(0) == Fraction(1)
    assert repr(2 * exp(1) - Fraction(1, 3)) == "(6·e^1 - 1)/3"
    assert exp(-100_000) > 0
    assert exp(100_000).bounds().lower > 1e300
