"""Exact draws: enclosures against 60 digits, every decision against the digits that were drawn, frequencies against exact laws."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from profiles.errors import InvalidArgument
from profiles.randomness import draw_below, draw_discrete_laplace, draw_exp, draw_geometric, enclose_exp, open_bits

#: Statistical tests: fixed seeds; with others one of them would be red once in 10⁷ times.
ALARM = 1e-7
positive = st.fractions(min_value=0, max_value=150, max_denominator=10**12)


class Script:
    """A source with given digits."""

    def __init__(self, value: int, words: int) -> None:
        self.digits = [value >> 32 * (words - 1 - i) & (2**32 - 1) for i in range(words)]

    def digit(self) -> int:
        return self.digits.pop(0)


def precise_exp(x: Fraction) -> mpmath.mpf:
    with mpmath.workdps(120):
        return mpmath.exp(-mpmath.mpf(x.numerator) / x.denominator)


@settings(max_examples=150, deadline=None)
@given(positive, st.integers(1, 200))
def test_enclosures_contain_the_exponential_and_are_narrow(x: Fraction, bits: int) -> None:
    lo, hi = enclose_exp(x, bits)
    with mpmath.workdps(120):
        value = precise_exp(x) * mpmath.mpf(2) ** bits
        assert lo <= value <= hi
    assert 0 <= lo <= hi <= 2**bits
    assert hi - lo <= 2


def test_the_ends_of_the_range() -> None:
    assert enclose_exp(Fraction(0), 64) == (2**64, 2**64)
    assert enclose_exp(Fraction(10) ** 300, 64) == (0, 1)
    assert enclose_exp(Fraction(1, 10**300), 64) == (2**64 - 1, 2**64)
    with pytest.raises(InvalidArgument):
        enclose_exp(Fraction(-1, 2), 64)


@settings(max_examples=100, deadline=None)
@given(st.fractions(min_value=0, max_value=20, max_denominator=10**6), st.integers(0, 2**256 - 1), st.integers(-3, 3))
def test_a_draw_is_true_exactly_where_the_uniform_number_is_below(x: Fraction, value: int, near: int) -> None:
    """U is the number with the binary digits ``value``; also numbers at the decision itself, off by some units of the 128th bit."""
    with mpmath.workdps(120):
        threshold = precise_exp(x)
        at = min(max(int(mpmath.floor(threshold * 2**128)) + near, 0), 2**128 - 1) << 128
        for u in (value, at | value >> 128):
            if abs(threshold - mpmath.mpf(u) / 2**256) > mpmath.mpf(2) ** -250:
                assert draw_exp(x, Script(u, 8)) == (mpmath.mpf(u) / 2**256 < threshold)


def test_integers_below_a_bound_are_uniform_and_digits_are_not_wasted() -> None:
    digits = open_bits(np.random.default_rng(1))
    found = np.bincount([draw_below(5, digits) for _ in range(4000)], minlength=5)
    assert len(found) == 5
    assert chisquare(found).pvalue > ALARM
    assert draw_below(1, Script(0, 0)) == 0
    assert draw_below(2**40, Script(2**40 - 1, 2)) == 2**40 - 1
    assert draw_below(3, Script((2**32 - 1) << 32 | 7, 2)) == 1  # 2³² − 1 = 3·1431655765 is rejected
    with pytest.raises(InvalidArgument):
        draw_below(0, digits)


@pytest.mark.parametrize("rate", [Fraction(3, 2), Fraction(1, 3), Fraction(7, 100)])
def test_geometric_noise_has_the_tail_of_exponential_noise(rate: Fraction) -> None:
    digits = open_bits(np.random.default_rng(rate.numerator))
    found = np.array([draw_geometric(rate, digits) for _ in range(1500)])
    edges = [k for k in range(200) if 1500 * np.exp(-float(rate) * k) > 10]
    tails = np.exp(-float(rate) * np.array(edges))
    expected = 1500 * np.append(tails[:-1] - tails[1:], tails[-1])
    counts = np.bincount(np.minimum(found, edges[-1]), minlength=len(edges))
    assert chisquare(counts, expected).pvalue > ALARM


def test_the_frequencies_of_two_sided_noise() -> None:
    digits, a = open_bits(np.random.default_rng(5)), np.exp(-0.8)
    found = np.bincount(np.clip([draw_discrete_laplace(Fraction(4, 5), digits) for _ in range(3000)], -6, 6) + 6, minlength=13)
    law = (1 - a) / (1 + a) * a ** np.abs(np.arange(-6.0, 7.0))
    law[[0, 12]] = a**6 / (1 + a)
    assert chisquare(found, law * 3000).pvalue > ALARM
