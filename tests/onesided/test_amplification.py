"""ψ⁺ and ψ⁻ of exact numbers: against 60 digits, at the borders, and attained by two-point laws with rational probabilities."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accountant.amplification import BITS, amplify, round_outward
from accountant.onesided import amplify_add, amplify_remove
from profiles import InvalidNumber
from profiles.balls import ball, working_precision
from profiles.numbers import round_up_finite

losses = st.fractions(0, 30, max_denominator=1000)
rates = st.fractions(0, 1, max_denominator=1000)


def _mp(value: Fraction) -> mpmath.mpf:
    return mpmath.mpf(value.numerator) / value.denominator


@given(losses, rates)
def test_bounds_are_outside_and_tight(loss: Fraction, rate: Fraction) -> None:
    with mpmath.workdps(110):
        remove = mpmath.log1p(_mp(rate) * mpmath.expm1(_mp(loss)))
        found = _mp(amplify_remove(loss, rate))
        assert found - remove + mpmath.mpf(10) ** -100 >= 0
        assert found <= remove * (1 + mpmath.mpf(2) ** -200)
        if rate < 1:
            add = -mpmath.log1p(-_mp(rate) * -mpmath.expm1(-_mp(loss)))
            bound = amplify_add(loss, rate)
            assert bound is not None
            assert add - mpmath.mpf(10) ** -100 <= _mp(bound) <= add * (1 + mpmath.mpf(2) ** -200)


@pytest.mark.thorough
@given(st.one_of(losses, st.fractions(0, 10_000, max_denominator=10**9)), st.one_of(rates, st.fractions(0, 1)))
def test_both_directions_and_the_binary64_form_share_one_enclosure(loss: Fraction, rate: Fraction) -> None:
    """Bit for bit the formulas of Theorem 1 at 256 bits, and the binary64 form is the first of them rounded."""
    with working_precision(BITS):
        remove = round_outward((ball(rate) * ball(loss).expm1()).log1p())
        gone = -(-ball(loss)).expm1()
        add = round_outward(-(-(ball(rate) * gone)).log1p()) if rate < 1 else loss
        last = round_outward(-(-ball(rate)).log1p()) if rate < 1 else None
    inside = loss > 0 and 0 < rate < 1
    assert amplify_remove(loss, rate) == (remove if inside else loss if rate == 1 else 0)
    assert amplify_add(loss, rate) == (add if inside else loss if rate == 1 else 0)
    assert amplify_add(None, rate) == (last if rate else 0)
    found = amplify(loss, rate)
    assert Fraction(found.lower) <= remove
    assert found.upper <= round_up_finite(amplify_remove(loss, rate)) <= math.nextafter(found.upper, math.inf)


@given(losses, rates)
def test_the_first_direction_is_the_larger_one_for_equal_losses(loss: Fraction, rate: Fraction) -> None:
    add = amplify_add(loss, rate)
    assert add is not None
    assert add <= amplify_remove(loss, rate) * (1 + Fraction(1, 2**200))


@pytest.mark.thorough
@given(st.fractions(1, 20, max_denominator=50), st.fractions(1, 20, max_denominator=50), st.fractions(0, 1, max_denominator=20))
def test_both_are_attained_by_a_mechanism_with_rational_probabilities(up: Fraction, down: Fraction, rate: Fraction) -> None:
    """e^remove = up, e^add = down. Without the record A has t = (1 − 1/down)/(up − 1/down), with it t·up: the ratios of the sampled laws at
    A and B are exactly 1 + q(up − 1) and 1/(1 − q(1 − 1/down)), and log of them is what the bounds must not fall below, by little above."""
    if up == 1 or down == 1:
        return
    t = (1 - 1 / down) / (up - 1 / down)
    without, present = (t, 1 - t), (t * up, (1 - t) / down)
    assert sum(present) == 1
    sampled = tuple((1 - rate) * p0 + rate * p1 for p0, p1 in zip(without, present, strict=True))
    assert sampled[0] / without[0] == 1 + rate * (up - 1)
    assert without[1] / sampled[1] == 1 / (1 - rate * (1 - 1 / down))
    plus_loss, minus_loss = _log_up(up), _log_up(down)
    bound = amplify_add(minus_loss, rate)
    assert bound is not None
    with mpmath.workdps(90):
        for ratio, found in ((sampled[0] / without[0], amplify_remove(plus_loss, rate)), (without[1] / sampled[1], bound)):
            assert _mp(found) >= mpmath.log(_mp(ratio)) - mpmath.mpf(10) ** -80
            assert _mp(found) <= mpmath.log(_mp(ratio)) + mpmath.mpf(10) ** -60


def _log_up(value: Fraction) -> Fraction:
    with working_precision(BITS):
        return round_outward(ball(value).log())


def test_borders() -> None:
    assert amplify_remove(0, "1/3") == amplify_remove(5, 0) == 0
    assert amplify_remove("1/7", 1) == Fraction(1, 7)
    assert amplify_add(0, "1/3") == amplify_add(None, 0) == amplify_add(7, 0) == 0
    assert amplify_add("1/7", 1) == Fraction(1, 7)
    assert amplify_add(None, 1) is None


@pytest.mark.parametrize("bad", ["nan", "inf", -1, "10001", "x", None])
def test_losses_are_checked(bad: object) -> None:
    with pytest.raises(InvalidNumber):
        amplify_remove(bad, "1/2")
    if bad is not None:
        with pytest.raises(InvalidNumber):
            amplify_add(bad, "1/2")


@pytest.mark.parametrize("bad", ["nan", -0.1, "1.0000001", "two"])
def test_probabilities_are_checked(bad: object) -> None:
    with pytest.raises(InvalidNumber):
        amplify_remove(1, bad)
    with pytest.raises(InvalidNumber):
        amplify_add(None, bad)


@pytest.mark.parametrize(
    ("w", "removal", "addition"),
    [(2, Fraction(5, 2), Fraction(8, 5)), (3, Fraction(10, 3), Fraction(24, 17)), (4, Fraction(19, 4), Fraction(64, 49))],
)
def test_weighted_geometric_noise_by_enumeration(w, removal, addition):
    """A count with weight w = 1/q and two-sided geometric noise a = 1/2: epsilon(w) = w ln 2. Exact laws of one record against none."""
    a, q = Fraction(1, 2), Fraction(1, w)
    noise = lambda z: (1 - a) / (1 + a) * a ** abs(z)  # noqa: E731
    outputs = range(-40, 41)  # ratios are constant beyond [0, w]
    without = {y: noise(y) for y in outputs}
    law = {y: (1 - q) * noise(y) + q * noise(y - w) for y in outputs}
    assert max(law[y] / without[y] for y in outputs) == removal == 1 + q * (2**w - 1)
    assert max(without[y] / law[y] for y in outputs) == addition == 1 / (1 - q * (1 - Fraction(1, 2**w)))
    with mpmath.workdps(60):
        loss = w * mpmath.log(2)
        above = Fraction(int(mpmath.ceil(loss * 2**150)), 2**150)
        for found, ratio in ((amplify_remove(above, q), removal), (amplify_add(above, q), addition)):
            gap = mpmath.mpf(found.numerator) / found.denominator - mpmath.log(mpmath.mpf(ratio.numerator) / ratio.denominator)
            assert 0 <= gap < mpmath.mpf(10) ** -15
