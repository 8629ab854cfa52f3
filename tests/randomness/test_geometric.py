"""Many geometric numbers at once: enclosures, undecided words, and the law."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from profiles import InvalidArgument
from profiles.randomness import draw_geometrics, open_bits
from profiles.randomness.geometric import _draw_events, _enclose


class Told:
    """A source that gives the words and digits it was told."""

    name, hypothesis, seed = "told", "told", None

    def __init__(self, words, digits):
        self.given, self.left = np.array(words, dtype=np.uint64), list(digits)

    def words(self, count):
        assert count == len(self.given)
        return self.given

    def digit(self):
        return self.left.pop(0)


@pytest.mark.parametrize("x", [Fraction(1, 2**40), Fraction(1, 3), Fraction(1), Fraction(7, 2)])
@pytest.mark.parametrize("half", [True, False])
def test_events_have_their_probability(x, half):
    for bits in (64, 96, 160):
        lo, hi = _enclose(x, bits, half=half)
        with mpmath.workdps(80):
            inner = mpmath.exp(mpmath.mpf(x.numerator) / x.denominator)
            exact = mpmath.mpf(2) ** bits * (1 / (1 + inner) if half else 1 / inner)
            assert lo <= exact <= hi <= lo + 2


def test_a_word_on_the_border_is_decided_by_further_digits():
    x = Fraction(1, 3)
    lo, hi = _enclose(x, 64, half=True)
    assert hi == lo + 1
    exact = _enclose(x, 96, half=True)[0] - (lo << 32)  # the next digit of the probability
    words = [lo - 1, lo, lo, lo + 1]
    found = _draw_events(x, 4, Told(words, [exact - 2, exact + 2]), half=True)
    assert found.tolist() == [True, True, False, False]


@pytest.mark.parametrize("rate", [Fraction(1, 3), Fraction(5, 2), Fraction(1, 2**60)])
def test_the_law_is_geometric(rate):
    # the mean of N numbers is off by 6 standard deviations with probability below 1e-8
    runs = 4000 if rate > Fraction(1, 2**40) else 200
    found = np.array([float(value) for value in draw_geometrics(rate, runs, open_bits(5))])
    mean = 1 / float(mpmath.expm1(mpmath.mpf(rate.numerator) / rate.denominator))
    assert abs(found.mean() - mean) < 6 * np.sqrt(mean * (1 + mean) / runs)
    for j in (1, 3):
        share = float(mpmath.exp(-mpmath.mpf(rate.numerator) / rate.denominator * j))
        assert abs((found >= j).mean() - share) <= 6 * np.sqrt(share * (1 - share) / runs)


def test_rates_and_sizes():
    assert draw_geometrics(Fraction(1), 0, open_bits(1)) == []
    with pytest.raises(InvalidArgument, match="rate of geometric noise must be positive"):
        draw_geometrics(Fraction(0), 1, open_bits(1))
