"""Draws are the inverse of the exact distribution function, also where binary64 cannot tell."""

from __future__ import annotations

import itertools
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy.stats import chisquare

from accountant.applications.clustering import drawing
from accountant.applications.clustering.drawing import draw_choice, draw_geometric, draw_laplace
from accountant.sampler import open_bits


def digits_of(value: mpmath.mpf, more: int = 12):
    """Return a source whose digits are those of a number in [0, 1), by 32 bits."""
    scaled = int(mpmath.floor(value * mpmath.mpf(2) ** (32 * more)))
    words = [(scaled >> (32 * (more - 1 - i))) & (2**32 - 1) for i in range(more)]
    return iter(words).__next__


def exact_sums(gains: list[int], rate: Fraction) -> list[mpmath.mpf]:
    weights = [mpmath.exp(mpmath.mpf(rate.numerator) / rate.denominator * (g - max(gains))) for g in gains]
    total = mpmath.fsum(weights)
    return [mpmath.fsum(weights[: i + 1]) / total for i in range(len(gains))]


@pytest.mark.parametrize("rate", [Fraction(1, 3), Fraction(7), Fraction(1, 10**9)])
@pytest.mark.parametrize("gap", [-90, -60, -30, 30, 60, 90])
def test_draws_next_to_a_partial_sum_are_right(rate, gap):
    with mpmath.workdps(120):
        gains = [0, 3, -2, 3, 1]
        for i, end in enumerate(exact_sums(gains, rate)[:-1]):
            at = end * (1 + mpmath.sign(gap) * mpmath.mpf(2) ** (-abs(gap)))
            expected = sum(bool(s <= at) for s in exact_sums(gains, rate))
            assert draw_choice(np.array(gains), rate, digits_of(at)) == expected
            assert expected in (i, i + 1) or abs(gap) == 30


def test_balls_are_used_where_binary64_is_not_enough(monkeypatch):
    called = []
    right = drawing._choose_in_balls
    monkeypatch.setattr(drawing, "_choose_in_balls", lambda *arguments: called.append(1) or right(*arguments))
    half = mpmath.mpf(1) / 2
    with mpmath.workdps(100):
        assert draw_choice(np.array([5, 5]), Fraction(1), digits_of(half - mpmath.mpf(2) ** -200)) == 0
        assert draw_choice(np.array([5, 5]), Fraction(1), digits_of(half + mpmath.mpf(2) ** -200)) == 1
        assert called == [1, 1]
        assert draw_choice(np.array([5, 5]), Fraction(1), digits_of(half - mpmath.mpf(2) ** -20)) == 0
    assert called == [1, 1]


def test_huge_gaps_and_huge_scores():
    digit = open_bits(3).digit
    assert {draw_choice(np.array([0, -(2**61), 10]), Fraction(1), digit) for _ in range(200)} <= {0, 2}
    assert {draw_choice(np.array([2**61, 2**61 - 1]), Fraction(1), digit) for _ in range(50)} == {0, 1}
    assert draw_choice(np.array([-(2**61)]), Fraction(5), digit) == 0


def test_the_frequencies_of_choices():
    gains, rate, digit = np.array([0, 1, 2, 1]), Fraction(1, 2), open_bits(11).digit
    found = np.bincount([draw_choice(gains, rate, digit) for _ in range(20_000)], minlength=4)
    weights = np.exp(gains * float(rate))
    assert chisquare(found, weights / weights.sum() * 20_000).pvalue > 1e-7


@pytest.mark.parametrize("rate", [Fraction(1, 7), Fraction(1), Fraction(3, 2)])
def test_geometric_numbers_jump_where_the_tail_says(rate):
    with mpmath.workdps(120):
        for j in (1, 2, 9):
            tail = mpmath.exp(-mpmath.mpf(rate.numerator) / rate.denominator * j)  # P[number >= j]
            nudge = mpmath.mpf(2) ** -170
            assert draw_geometric(rate, digits_of(tail - nudge)) == j
            assert draw_geometric(rate, digits_of(tail + nudge)) == j - 1
    assert draw_geometric(rate, itertools.chain([2**32 - 1] * 2, itertools.repeat(0)).__next__) == 0


def test_the_frequencies_of_noise():
    digit, a = open_bits(5).digit, np.exp(-0.8)
    rate = Fraction(4, 5)
    found = np.bincount(np.minimum([draw_geometric(rate, digit) for _ in range(5_000)], 8), minlength=9)
    law = (1 - a) * a ** np.arange(9.0)
    law[8] = a**8
    assert chisquare(found, law * 5_000).pvalue > 1e-7
    found = np.bincount(np.clip([draw_laplace(rate, digit) for _ in range(5_000)], -6, 6) + 6, minlength=13)
    law = (1 - a) / (1 + a) * a ** np.abs(np.arange(-6.0, 7.0))
    law[[0, 12]] = a**6 / (1 + a)
    assert chisquare(found, law * 5_000).pvalue > 1e-7
