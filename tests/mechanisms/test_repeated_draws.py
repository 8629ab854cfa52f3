"""Exact draws: enclosures against 60 digits, every decision against the digits that were drawn, frequencies against exact laws."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from profiles.errors import InvalidArgument, InvalidData
from profiles.mechanisms.repeated import ExponentialChoice, draw_below, draw_exp, draw_geometric, draw_gumbel, enclose_exp, open_digits
from profiles.mechanisms.repeated.choice import _round_down
from profiles.mechanisms.repeated.interface import read_exact, read_scores

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
    digits = open_digits(np.random.default_rng(1))
    found = np.bincount([draw_below(5, digits) for _ in range(4000)], minlength=5)
    assert len(found) == 5
    assert chisquare(found).pvalue > ALARM
    assert draw_below(1, Script(0, 0)) == 0
    assert draw_below(2**40, Script((2**40 - 1) << 24, 2)) == 2**40 - 1
    with pytest.raises(InvalidArgument):
        draw_below(0, digits)


def test_integers_among_floats_are_not_rounded() -> None:
    """Found: NumPy makes binary64 numbers of both lists, which moved 2^53 + 1 by one, a whole sensitivity."""
    for scores in ([2**53 + 1, 0.5], (2**63, -1), [np.uint64(2**63 + 1), 0.5], [0.5, -(2**60) - 1]):
        assert [read_exact(score) for score in read_scores(scores, 2)] == [
            Fraction(score if isinstance(score, float) else int(score)) for score in scores
        ]
    with pytest.raises(InvalidData, match="shape"):
        read_scores(0.5, 2)
    with pytest.raises(InvalidData, match="shape"):
        read_scores([[2**53 + 1, 0.5]], 2)


@pytest.mark.parametrize("rate", [Fraction(3, 2), Fraction(1, 3), Fraction(7, 100)])
def test_geometric_noise_has_the_tail_of_exponential_noise(rate: Fraction) -> None:
    digits = open_digits(np.random.default_rng(rate.numerator))
    found = np.array([draw_geometric(rate, digits) for _ in range(1500)])
    edges = [k for k in range(200) if 1500 * np.exp(-float(rate) * k) > 10]
    tails = np.exp(-float(rate) * np.array(edges))
    expected = 1500 * np.append(tails[:-1] - tails[1:], tails[-1])
    counts = np.bincount(np.minimum(found, edges[-1]), minlength=len(edges))
    assert chisquare(counts, expected).pvalue > ALARM


SCORES = {
    "integers with ties": ([3, 0, 3, 1, 2], Fraction(1, 2)),
    "doubles": ([0.25, -1.5, 2.0, 1e-300], Fraction(2, 3)),
    "fractions": ([Fraction(1, 3), Fraction(-2, 7), 0], Fraction(3)),
    "far apart": ([1e308, -1e308, 1e308 - 1e292], Fraction(1)),
    "wide integers": ([2**62, -(2**62) - 5, 2**62 - 1], Fraction(1)),
    "unsigned": (np.array([2**64 - 1, 2**64 - 2, 0], dtype=np.uint64), Fraction(1)),
    "one candidate": ([-5], Fraction(1)),
    "all equal": ([7] * 6, Fraction(10)),
    "beyond the groups": ([0, -5000, -2, -4999], Fraction(1)),
}


def weights_of(scores, rate: Fraction) -> np.ndarray:
    exact = [Fraction(value) if not isinstance(value, np.generic) else Fraction(value.item()) for value in scores]
    weights = [
        mpmath.exp(mpmath.mpf((rate * (value - max(exact))).numerator) / (rate * (value - max(exact))).denominator) for value in exact
    ]
    return np.array([float(weight / mpmath.fsum(weights)) for weight in weights])


def judge(counts: np.ndarray, shares: np.ndarray) -> None:
    likely = shares > 1e-9
    assert counts[~likely].sum() == 0
    if likely.sum() > 1:
        assert chisquare(counts[likely], counts.sum() * shares[likely] / shares[likely].sum()).pvalue > ALARM


@pytest.mark.parametrize("name", SCORES)
def test_choices_have_the_law_of_the_exponential_mechanism(name: str) -> None:
    given_scores, rate = SCORES[name]
    scores = read_scores(given_scores, len(given_scores))
    shares = weights_of(list(given_scores), rate)
    digits = open_digits(np.random.default_rng(5))
    choice = ExponentialChoice(scores, rate)
    judge(np.bincount([choice.draw(digits) for _ in range(3000)], minlength=len(scores)), shares)
    if name != "wide integers":  # 2⁶² and 2⁶² − 1 are the same double
        judge(np.bincount(draw_gumbel(scores, rate, np.random.default_rng(6), 20_000), minlength=len(scores)), shares)


numbers = st.one_of(
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=8).map(lambda found: np.array(found, dtype=np.int64)),
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8).map(np.array),
    st.lists(st.fractions(max_denominator=10**30), min_size=1, max_size=8).map(lambda found: np.array(found, dtype=object)),
)


@settings(max_examples=200, deadline=None)
@given(numbers, st.fractions(min_value=Fraction(1, 10**20), max_value=10**20))
def test_groups_never_exceed_the_exponents(values: np.ndarray, rate: Fraction) -> None:
    """All that the exactness of a choice needs of the floats in it: 0 ≤ n_c ≤ x_c."""
    if rate == 0:
        return
    scores = read_scores(values, len(values))
    groups = _round_down(scores, scores.max(), rate)
    choice = ExponentialChoice(scores, rate)
    for index, group in enumerate(groups.tolist()):
        exponent = choice.exponent(index)
        assert exponent == rate * (read_exact(scores.max()) - read_exact(scores[index]))
        assert 0 <= group <= exponent
        assert exponent <= group + 1 + exponent / 2**48 or group == 2048


def test_one_group_is_drawn_with_exact_cumulative_weights() -> None:
    """Exponents 0 and 3/2, so groups 0 and 1: the first is proposed iff U < 1/(1 + e^−1), to the last of 160 bits."""
    scores = read_scores([1.5, 0], 2)
    with mpmath.workdps(80):
        border = int(mpmath.floor(2**160 / (1 + mpmath.exp(-1))))
    for near, group in ((-1, 0), (2, 1)):
        assert ExponentialChoice(scores, Fraction(1))._draw_group(Script((border + near) << 32, 6)) == group
