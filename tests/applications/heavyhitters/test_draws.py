"""Exact draws: digits of e^(−λd) against 60 decimal digits of mpmath, the decision at equal digits, runs of failures, frequencies."""

import os
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy.stats import chi2

from accountant.applications.heavyhitters.draws import LONGEST_RUN, TailDraws
from profiles import InvalidArgument
from profiles.randomness.bits import open_bits


class Script:
    """A source whose single digits are given; blocks are all ``first``."""

    name, hypothesis, seed = "script", "none", None

    def __init__(self, digits=(), first=0):
        self.digits, self.first = list(digits), first

    def block(self):
        return np.full(32_768, self.first, dtype=np.uint16)

    def digit(self):
        return self.digits.pop(0)

    def words(self, count):
        raise AssertionError("no draw of a monitor takes words")


def tail(rate, gap, bits):
    with mpmath.workdps(60 + bits):
        return int(mpmath.floor(mpmath.mpf(2) ** bits * mpmath.exp(-mpmath.mpf(rate.numerator) * gap / rate.denominator)))


@pytest.mark.parametrize("rate", [Fraction(7, 10), Fraction(1, 1000), Fraction(22, 7)])
def test_first_digits(rate):
    draws = TailDraws(rate, open_bits(1))
    gaps = np.array([0, 1, 2, 17, 100, 5000, 10**6])
    assert draws._first_digits(gaps).tolist() == [tail(rate, int(gap), 16) for gap in gaps]


def test_large_gaps_take_no_memory():
    draws = TailDraws(Fraction(1, 10**9), open_bits(1))
    gaps = np.array([10**9, 10**9, 3, 2**31, 12 * 10**9])
    assert draws._first_digits(gaps).tolist() == [tail(draws.rate, int(gap), 16) for gap in gaps]
    assert draws._first.size <= 2**20


def test_equal_digits_are_settled_by_the_next():
    rate, gap = Fraction(7, 10), 3
    first, second = tail(rate, gap, 16), tail(rate, gap, 48) % 2**32
    for digits, passed in (([second - 1], True), ([second + 1], False), ([second, 0], True), ([second, 2**32 - 1], False)):
        assert TailDraws(rate, Script(digits, first)).passes_one(gap) is passed
    assert TailDraws(rate, Script([], first - 1)).passes_one(gap)
    assert not TailDraws(rate, Script([], first + 1)).passes_one(gap)
    assert TailDraws(rate, Script([], 2**16 - 1)).passes_one(0)


@pytest.mark.parametrize(("rate", "gap"), [(Fraction(7, 10), 1), (Fraction(1, 100), 3), (Fraction(1, 2), 60)])
def test_failures_are_the_quantile_of_u(rate, gap):
    for digit in (1, 77, 2**16, 2**31 + 12345, 2**32 - 2):
        found = TailDraws(rate, Script([digit, 2**31, 5, 5, 5])).failures(gap)
        with mpmath.workdps(80):
            uniform = (mpmath.mpf(digit) * 2**32 + 2**31) / mpmath.mpf(2) ** 64
            wanted = mpmath.log(uniform) / mpmath.log1p(-mpmath.exp(-mpmath.mpf(rate.numerator) * gap / rate.denominator))
        assert abs(found - wanted) <= 1 + abs(wanted) * 2**-30


def test_rare_events_give_endless_runs():
    assert TailDraws(Fraction(1), open_bits(3)).failures(10**7) == LONGEST_RUN


def test_frequencies():
    """Counts of passes for gaps 0..4, and runs of failures, against their laws; a false alarm has probability below 1e-7."""
    rate, size = Fraction(2, 5), 200_000
    passed = TailDraws(rate, open_bits(11)).passes(np.repeat(np.arange(5), size)).reshape(5, size).sum(axis=1)
    chances = np.exp(-0.4 * np.arange(5))
    assert passed[0] == size
    z = (passed[1:] - size * chances[1:]) ** 2 / (size * chances[1:] * (1 - chances[1:]))
    assert z.sum() < chi2.isf(1e-7, 4)
    draws = TailDraws(rate, open_bits(12))
    runs = np.bincount([min(draws.failures(2), 4) for _ in range(3000)], minlength=5)
    success = np.exp(-0.8)
    wanted = 3000 * np.append(success * (1 - success) ** np.arange(4), (1 - success) ** 4)
    assert ((runs - wanted) ** 2 / wanted).sum() < chi2.isf(1e-7, 4)


def test_refuses_rates():
    with pytest.raises(InvalidArgument, match="positive"):
        TailDraws(Fraction(0), open_bits(1))


@pytest.mark.parametrize("source", [1, None], ids=["seeded", "secure"])
def test_what_was_read_ahead_is_not_used_after_a_fork(source, monkeypatch):
    """Found: a pass looks at its process where its reports begin, and an iterator of them goes on in a child that is forked later."""
    draws = TailDraws(Fraction(1, 2), open_bits(source))
    draws.passes_one(3)
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.raises(InvalidArgument, match="forked"):
        draws.passes_one(3)
