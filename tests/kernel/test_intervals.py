"""Every interval function encloses the true values, which mpmath gives at 60 digits and more."""

from decimal import Context, Decimal, localcontext
from fractions import Fraction

import mpmath
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from proofs_check.kernel.core import intervals as iv

PRECISION = st.sampled_from([53, 64, 100, 300])
NUMBERS = st.one_of(
    st.fractions(min_value=-60, max_value=60, max_denominator=10**6),
    st.builds(lambda m, e: Fraction(m) * Fraction(2) ** e, st.integers(-(2**60), 2**60), st.integers(-300, 60)),
)
POSITIVE = NUMBERS.map(abs).filter(bool)
EXPONENTS = st.one_of(st.integers(-9, 9).map(Fraction), st.fractions(min_value=-5, max_value=5, max_denominator=12))


def value(a):
    with mpmath.workprec(4000):
        return mpmath.mpf(str(a)) if not a.is_infinite() else mpmath.inf * (1 if a > 0 else -1)


def encloses(x, true):
    # ``true`` carries 1500 bits, and a decimal end is not a binary number
    with mpmath.workprec(4000):
        slack = abs(true) * mpmath.mpf(2) ** -1400
        return value(x[0]) - slack <= true <= value(x[1]) + slack


def exact(q):
    with mpmath.workprec(4000):
        return mpmath.mpf(q.numerator) / q.denominator


def hull(a, b, p):
    return iv.join(iv.from_fraction(a, p), iv.from_fraction(b, p))


def between(a, b, t):
    return a + (b - a) * t


def contains_image(function, true, a, b, t, p):
    with mpmath.workprec(1500):
        return encloses(function(hull(a, b, p), p), true(exact(between(a, b, t))))


FRACTION = st.fractions(min_value=0, max_value=1, max_denominator=64)


@pytest.mark.thorough
@given(NUMBERS, NUMBERS, FRACTION, PRECISION)
@example(Fraction(10) ** 30, Fraction(-(10**30)), Fraction(1, 2), 53)
def test_exponential(a, b, t, p):
    assert contains_image(iv.exp, mpmath.exp, min(a, 10**6), min(b, 10**6), t, p)


@pytest.mark.thorough
@given(POSITIVE, POSITIVE, FRACTION, PRECISION)
@example(Fraction(1), 1 + Fraction(1, 2**200), Fraction(1, 2), 64)
@example(1 - Fraction(1, 2**200), Fraction(1), Fraction(1, 2), 64)
def test_logarithm(a, b, t, p):
    assert contains_image(iv.log, mpmath.log, a, b, t, p)


@pytest.mark.thorough
@given(NUMBERS, NUMBERS, FRACTION, PRECISION)
@example(Fraction(355, 113), Fraction(355, 113), Fraction(0), 64)
@example(Fraction(10**19), Fraction(10**19), Fraction(0), 64)
@example(Fraction(2**63), Fraction(2**63), Fraction(0), 300)
def test_cosine_and_sine(a, b, t, p):
    assert contains_image(iv.cos, mpmath.cos, a, b, t, p)
    assert contains_image(iv.sin, mpmath.sin, a, b, t, p)


@pytest.mark.thorough
@given(NUMBERS, NUMBERS, FRACTION, EXPONENTS, PRECISION)
def test_constant_powers(a, b, t, c, p):
    if c.denominator > 1:
        a, b = abs(a), abs(b)
    x = between(a, b, t)
    if x or c > 0:
        with mpmath.workprec(1500):
            true = mpmath.power(exact(x), int(c)) if c.denominator == 1 else mpmath.power(exact(x), exact(c))
            assert encloses(iv.power(hull(a, b, p), c, p), true) or (c.denominator > 1 and x == 0)


@pytest.mark.thorough
@given(NUMBERS, NUMBERS, NUMBERS, NUMBERS, FRACTION, FRACTION, PRECISION)
def test_arithmetic(a, b, c, d, t, u, p):
    x, y = between(a, b, t), between(c, d, u)
    left, right = hull(a, b, p), hull(c, d, p)
    assert encloses(iv.add(left, right, p), exact(x + y))
    assert encloses(iv.mul(left, right, p), exact(x * y))
    assert encloses(iv.negate(left), exact(-x))
    assert encloses(iv.absolute(left), exact(abs(x)))
    assert encloses(iv.maximum(left, right), exact(max(x, y)))
    if x:
        assert encloses(iv.reciprocal(left, p), exact(1 / x))


@given(POSITIVE, st.sampled_from([iv.exp, iv.log, iv.cos, iv.sin]))
def test_more_precision_never_widens_beyond_the_old_enclosure(a, function):
    a = min(a, Fraction(10**5))
    rough, fine = (function(iv.from_fraction(a, p), p) for p in (64, 400))
    if function in (iv.exp, iv.log):
        with mpmath.workprec(4000):
            assert value(fine[1]) - value(fine[0]) <= value(rough[1]) - value(rough[0])
    assert rough[0] <= fine[1]
    assert fine[0] <= rough[1]


def test_results_are_tight():
    for function, true in ((iv.exp, mpmath.exp), (iv.log, mpmath.log), (iv.cos, mpmath.cos), (iv.sin, mpmath.sin)):
        with mpmath.workprec(300):
            x = function(iv.from_fraction(Fraction(7), 200), 200)
            assert abs(value(x[1]) - value(x[0])) < mpmath.mpf(2) ** -180
            assert abs(value(x[0]) - true(7)) < mpmath.mpf(2) ** -180


BIG = (iv.ONE, iv.INF)


def test_infinite_ends():
    assert iv.mul((iv.ZERO, iv.ZERO), BIG, 64) == (iv.ZERO, iv.ZERO)
    assert iv.mul((iv.ZERO, iv.ONE), BIG, 64) == (iv.ZERO, iv.INF)
    assert iv.mul(iv.negate(BIG), BIG, 64) == iv.negate(BIG)
    assert iv.add(BIG, iv.negate(BIG), 64) == iv.WHOLE
    assert [value(end) for end in iv.reciprocal(BIG, 64)] == [0, 1]
    assert [value(end) for end in iv.reciprocal((iv.ZERO, iv.ONE), 64)] == [1, mpmath.inf]
    assert [value(end) for end in iv.reciprocal(iv.negate(BIG), 64)] == [-1, 0]
    assert iv.reciprocal((iv.ZERO, iv.ZERO), 64) == iv.WHOLE
    assert iv.reciprocal(iv.WHOLE, 64) == iv.WHOLE
    assert iv.exp(iv.WHOLE, 64) == (iv.ZERO, iv.INF)
    assert iv.log(BIG, 64)[1] == iv.INF
    assert iv.log((iv.ZERO, iv.ONE), 64)[0] == iv.WHOLE[0]
    assert iv.log(iv.negate(BIG), 64) == iv.WHOLE
    assert iv.cos(iv.WHOLE, 64) == iv.UNIT
    for c in (Fraction(1, 2), Fraction(3), Fraction(2)):
        assert iv.power(BIG, c, 64)[1] == iv.INF
        assert iv.power(BIG, -c, 64)[0] == 0
    assert iv.power(iv.WHOLE, Fraction(2), 64) == (iv.ZERO, iv.INF)
    assert iv.power(iv.WHOLE, Fraction(3), 64) == iv.WHOLE


@pytest.mark.parametrize("power", [8, 30, 1000])
def test_huge_arguments_end_and_stay_sound(power):
    huge = iv.from_fraction(Fraction(10) ** power, 64)
    low, high = iv.exp(huge, 64)
    assert huge[1] < low <= high
    assert low.is_finite()
    assert (high == iv.INF) == (power > 8)
    low, high = iv.exp(iv.negate(huge), 64)
    assert 0 <= low < high
    assert (low == 0) == (power > 8)
    tower = huge
    for _ in range(60):
        tower = iv.mul(tower, tower, 64)
    assert tower[1] == iv.INF
    assert tower[0] > 0
    shrunk = iv.reciprocal(tower, 64)
    assert shrunk[0] == iv.ZERO
    assert iv.log(tower, 64)[1] == iv.INF
    assert iv.add(tower, iv.negate(tower), 64) == iv.WHOLE or iv.add(tower, iv.negate(tower), 64)[0] < 0


def test_far_summands_are_rounded_outward():
    big, tiny = Decimal("1e1000000000"), Decimal("1e-1000000000")
    low, high = iv.add((big, big), (tiny, tiny), 64)
    assert low <= big < high
    low, high = iv.add((big, big), iv.negate((tiny, tiny)), 64)
    assert low < big <= high


def test_a_zero_with_a_huge_exponent_does_not_cost_time():
    zero = Decimal((0, (0,), 10**9))
    low, high = iv.cos((zero, zero), 64)
    assert low <= 1 <= high
    assert iv.exp((zero, zero), 64) == (iv.ONE, iv.ONE)
    assert iv.reciprocal((zero, iv.ONE), 64) == (iv.ONE, iv.INF)


def test_unary_minus_is_not_used_on_numbers():
    # it would round to the precision of the caller's decimal context
    with localcontext(Context(prec=3)):
        wide = iv.from_fraction(Fraction(10**30 + 1, 3), 200)
        assert iv.negate(wide)[0] == wide[1].copy_negate()
        assert iv.absolute(iv.negate(wide)) == wide
        low, high = iv.cos(iv.from_fraction(Fraction(1, 3), 200), 200)
    assert value(high) - value(low) < mpmath.mpf(2) ** -180
