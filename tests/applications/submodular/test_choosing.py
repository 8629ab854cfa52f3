"""Choices are those of exact arithmetic for every prefix of the random number, also where binary64 cannot decide."""

from __future__ import annotations

import itertools
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant.applications.submodular.choosing import ExponentialChoice


class Script:
    """A source that gives the digits that it is told, then zeros."""

    name = hypothesis = "script"
    seed = None

    def __init__(self, *digits: int) -> None:
        self.rest = iter(digits)
        self.used = 0

    def block(self):
        raise AssertionError("a choice draws single digits")

    def digit(self) -> int:
        self.used += 1
        return next(self.rest, 0)


def digits_of(number: Fraction, count: int) -> list[int]:
    """The first digits to the base 2^32 of a number in [0, 1)."""
    found = []
    for _ in range(count):
        number *= 2**32
        found.append(int(number))
        number -= int(number)
    return found


def truth(exponents, counts, number: Fraction) -> int:
    """The entry with C_{i−1} ≤ U·C < C_i at 80 digits."""
    with mpmath.workdps(80):
        weights = [count * mpmath.exp(-mpmath.mpf(e.numerator) / e.denominator) for e, count in zip(exponents, counts, strict=True)]
        target = mpmath.mpf(number.numerator) / number.denominator * mpmath.fsum(weights)
        sums = list(itertools.accumulate(weights))
        return next(i for i, total in enumerate(sums) if target < total)


RATES = st.sampled_from([Fraction(1), Fraction(1, 3), Fraction(1313, 1000), Fraction(1, 1000), Fraction(40)])


@settings(max_examples=60, deadline=None)
@given(RATES, st.lists(st.integers(0, 60), min_size=1, max_size=8), st.data())
def test_levels_are_those_of_exact_arithmetic(rate, gaps, data):
    distances = sorted(set(itertools.accumulate([0, *gaps])))
    counts = data.draw(st.lists(st.integers(1, 10**5), min_size=len(distances), max_size=len(distances)))
    number = Fraction(data.draw(st.integers(0, 2**128 - 1)), 2**128)
    choice = ExponentialChoice(rate, Script(*digits_of(number, 4)))
    near = [d for d in distances if d <= choice.reach]
    far = sum(counts[len(near) :])
    exact = list(zip(distances, counts, strict=True))
    found = choice.levels(np.array(near), np.array(counts[: len(near)]), far, exact)
    assert found == truth([rate * d for d in distances], counts, number)


@settings(max_examples=60, deadline=None)
@given(RATES, st.lists(st.integers(0, 2**40) | st.integers(0, 5), min_size=1, max_size=12), st.data())
def test_candidates_are_those_of_exact_arithmetic(rate, gains, data):
    live = np.array(data.draw(st.lists(st.booleans(), min_size=len(gains), max_size=len(gains))))
    live[data.draw(st.integers(0, len(gains) - 1))] = True
    number = Fraction(data.draw(st.integers(0, 2**128 - 1)), 2**128)
    scores = np.array(gains, dtype=data.draw(st.sampled_from([np.int64, np.float64])))
    found = ExponentialChoice(rate, Script(*digits_of(number, 4))).among(scores, live)
    rows = np.flatnonzero(live)
    top = int(scores[rows].max())
    order = sorted(rows, key=lambda row: (float(rate * (top - int(scores[row]))) > 80 * np.log(2), row))  # those far away come last
    assert found == order[truth([rate * (top - int(scores[row])) for row in order], [1] * len(order), number)]


@pytest.mark.parametrize("above", [False, True])
def test_a_number_next_to_a_border_needs_more_digits(above):
    # two entries with weights 1 and e^-1: the border is at e/(1 + e); the number agrees with it in more than 300 bits
    with mpmath.workdps(150):
        border = Fraction(int(mpmath.floor(mpmath.e / (1 + mpmath.e) * 2**320)), 2**320)
    number = border + Fraction(1, 2**320) if above else border
    source = Script(*digits_of(number, 10))
    assert ExponentialChoice(Fraction(1), source).among(np.array([1, 0]), np.ones(2, dtype=bool)) == int(above)
    assert source.used > 9


def test_what_is_far_below_is_still_chosen_by_the_largest_numbers():
    source = Script(*[2**32 - 1] * 40)
    assert ExponentialChoice(Fraction(1), source).among(np.array([1000, 0]), np.ones(2, dtype=bool)) == 0
    assert 40 < source.used < 60  # 1 - e^-1000 has 1442 leading ones, and the script only 1280
    source = Script(*[2**32 - 1] * 60)
    assert ExponentialChoice(Fraction(1), source).among(np.array([1000, 0]), np.ones(2, dtype=bool)) == 1


def test_uniform_is_uniform_and_rejects():
    for size in (1, 2, 3, 7, 2**31 + 1, 2**32):
        limit = 2**32 - 2**32 % size
        assert ExponentialChoice(Fraction(1), Script(limit - 1)).uniform(size) == (size - 1 if size > 1 else 0)
        if size > 1 and limit < 2**32:
            assert ExponentialChoice(Fraction(1), Script(limit, 2**32 - 1, 5)).uniform(size) == 5 % size
