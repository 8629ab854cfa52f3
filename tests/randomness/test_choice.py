"""Choices are those of exact arithmetic for every prefix of the random number, also where binary64 cannot decide."""

from __future__ import annotations

import itertools
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from profiles.errors import InvalidArgument
from profiles.mechanisms.repeated import draw_gumbel
from profiles.mechanisms.repeated.interface import to_scores
from profiles.randomness import ExponentialChoice, ExponentialDraws, choice, measure_gaps, open_bits

#: Statistical tests: fixed seeds; with others one of them would be red once in 10⁷ times.
ALARM = 1e-7


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
    draws = ExponentialDraws(rate, Script(*digits_of(number, 4)))
    near = [d for d in distances if d <= draws.reach]
    far = sum(counts[len(near) :])
    exact = list(zip(distances, counts, strict=True))
    found = draws.levels(np.array(near), np.array(counts[: len(near)]), far, exact)
    assert found == truth([rate * d for d in distances], counts, number)


@settings(max_examples=80, deadline=None)
@given(RATES, st.lists(st.integers(0, 2**40) | st.integers(0, 5), min_size=1, max_size=12), st.data())
def test_candidates_are_those_of_exact_arithmetic(rate, gains, data):
    number = Fraction(2 * data.draw(st.integers(0, 2**128 - 1)) + 1, 2**129)  # at no border: a tie of many candidates may have one at 1/2
    scores = np.array(gains, dtype=data.draw(st.sampled_from([np.int64, np.float64, object])))
    found = ExponentialDraws(rate, Script(*digits_of(number, 5))).among(scores)
    assert found == truth([rate * (max(gains) - gain) for gain in gains], [1] * len(gains), number)


@pytest.mark.parametrize("above", [False, True])
def test_a_number_next_to_a_border_needs_more_digits(above):
    # two entries with weights 1 and e^-1: the border is at e/(1 + e); the number agrees with it in more than 300 bits
    with mpmath.workdps(150):
        border = Fraction(int(mpmath.floor(mpmath.e / (1 + mpmath.e) * 2**320)), 2**320)
    number = border + Fraction(1, 2**320) if above else border
    source = Script(*digits_of(number, 10))
    assert ExponentialChoice(np.array([1, 0]), Fraction(1)).draw(source) == int(above)
    assert source.used > 9


def test_what_is_far_below_is_still_chosen_by_the_largest_numbers():
    source = Script(*[2**32 - 1] * 40)
    assert ExponentialChoice(np.array([1000, 0]), Fraction(1)).draw(source) == 0
    assert 40 < source.used < 60  # 1 - e^-1000 has 1442 leading ones, and the script only 1280
    source = Script(*[2**32 - 1] * 60)
    assert ExponentialChoice(np.array([1000, 0]), Fraction(1)).draw(source) == 1


@pytest.mark.parametrize("rate", [Fraction(1, 3), Fraction(7), Fraction(1, 10**9)])
@pytest.mark.parametrize("gap", [-90, -60, -30, 30, 60, 90])
def test_numbers_next_to_a_partial_sum_give_the_right_side(rate, gap):
    with mpmath.workdps(120):
        gains = [0, 3, -2, 3, 1]
        weights = [mpmath.exp(mpmath.mpf(rate.numerator) / rate.denominator * (gain - 3)) for gain in gains]
        ends = [mpmath.fsum(weights[: i + 1]) / mpmath.fsum(weights) for i in range(len(gains))]
        for i, end in enumerate(ends[:-1]):
            at = end * (1 + mpmath.sign(gap) * mpmath.mpf(2) ** (-abs(gap)))
            expected = sum(bool(other <= at) for other in ends)
            number = Fraction(int(mpmath.floor(at * mpmath.mpf(2) ** 384)), 2**384)
            assert ExponentialChoice(np.array(gains), rate).draw(Script(*digits_of(number, 12))) == expected
            assert expected in (i, i + 1) or abs(gap) == 30


def test_enclosures_are_used_where_binary64_is_not_enough(monkeypatch):
    called = []
    right = choice._draw_enclosed
    monkeypatch.setattr(choice, "_draw_enclosed", lambda *arguments: called.append(1) or right(*arguments))
    even = ExponentialChoice(np.array([5, 5]), Fraction(1))
    half = Fraction(1, 2)
    assert even.draw(Script(*digits_of(half - Fraction(1, 2**200), 12))) == 0
    assert even.draw(Script(*digits_of(half + Fraction(1, 2**200), 12))) == 1
    assert called == [1, 1]
    assert even.draw(Script(*digits_of(half - Fraction(1, 2**20), 12))) == 0
    assert called == [1, 1]


@pytest.mark.parametrize("part", range(4))
def test_weights_have_the_accuracy_that_the_proof_supposes(part):
    """Relative error below 2⁻⁴⁵ from 0 to 700, also at both ends of the table's steps; e^−700 beyond."""
    steps = np.arange(64 * 700 + 1)[part::173] / 64
    exponents = np.concatenate(
        [steps, np.nextafter(steps, np.inf), np.nextafter(steps[1:], 0), np.random.default_rng(part).random(200) * 700]
    )
    found = choice._weigh(exponents.copy())
    with mpmath.workdps(40):
        for exponent, weight in zip(exponents.tolist(), found.tolist(), strict=True):
            assert abs(mpmath.mpf(weight) / mpmath.exp(-min(mpmath.mpf(exponent), 700)) - 1) < mpmath.mpf(2) ** -45
    assert choice._weigh(np.array([np.inf, 1e300, 0.0])).tolist() == [found_at(700), found_at(700), 1.0]


def found_at(exponent: float) -> float:
    return float(choice._weigh(np.array([float(exponent)]))[0])


numbers = st.one_of(
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=8).map(lambda found: np.array(found, dtype=np.int64)),
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8).map(np.array),
    st.lists(st.fractions(max_denominator=10**30), min_size=1, max_size=8).map(lambda found: np.array(found, dtype=object)),
)


@pytest.mark.thorough
@settings(max_examples=200, deadline=None)
@given(numbers, st.fractions(min_value=Fraction(1, 10**20), max_value=10**20))
def test_gaps_are_those_of_exact_arithmetic(values: np.ndarray, rate: Fraction) -> None:
    if rate == 0:
        return
    scores = to_scores(values, len(values))
    exact = [Fraction(value) for value in scores.tolist()]
    drawn = ExponentialChoice(scores, rate)
    for index, gap in enumerate(measure_gaps(scores).tolist()):
        assert drawn.exponent(index) == rate * (max(exact) - exact[index])
        true = max(exact) - exact[index]
        assert true > 2**1023 if gap == np.inf else abs(Fraction(gap) - true) <= true / 2**52 + Fraction(1, 2**1074)


@pytest.mark.parametrize("rate", [Fraction(1, 2**901), Fraction(2**901), Fraction(0), Fraction(10**400)])
def test_rates_that_no_float_is_near_to_are_refused(rate: Fraction) -> None:
    with pytest.raises(InvalidArgument, match="rate"):
        ExponentialChoice(np.array([1, 2]), rate)
    with pytest.raises(InvalidArgument, match="rate"):
        ExponentialDraws(rate, Script())


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
    scores = to_scores(given_scores, len(given_scores))
    shares = weights_of(list(given_scores), rate)
    digits = open_bits(np.random.default_rng(5))
    drawn = ExponentialChoice(scores, rate)
    judge(np.bincount([drawn.draw(digits) for _ in range(3000)], minlength=len(scores)), shares)
    if name != "wide integers":  # 2⁶² and 2⁶² − 1 are the same double
        judge(np.bincount(draw_gumbel(scores, rate, np.random.default_rng(6), 20_000), minlength=len(scores)), shares)


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64])
def test_scores_of_every_integer_type_have_their_own_differences(kind) -> None:
    """Found: differences of narrow integers wrapped around, so that the worst of two int32 scores was drawn half of the time."""
    ends = np.iinfo(kind)
    scores = np.array([ends.min, ends.max, ends.max - 3], dtype=kind)
    assert measure_gaps(scores).tolist() == [float(int(ends.max) - int(ends.min)), 0.0, 3.0]
    digits = open_bits(np.random.default_rng(3))
    drawn = ExponentialChoice(scores, Fraction(1, 4))
    assert 0 not in {drawn.draw(digits) for _ in range(200)}
