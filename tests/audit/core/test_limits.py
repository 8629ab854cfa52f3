"""Exact binomial limits: certified, on the right side, and equal to hand-derived values."""

from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profiles.errors import InvalidArgument
from proofs_check.audit.limits import epsilon_of_chance, epsilon_of_guesses, lower_limit, quantile_above, upper_limit

ONE_PERCENT = Fraction(1, 100)


def tail_at_least(successes: int, trials: int, chance: float) -> mpmath.mpf:
    """P(Bin(trials, chance) ≥ successes) at 60 digits, by the plain sum."""
    with mpmath.workdps(60):
        r = mpmath.mpf(chance)
        return mpmath.fsum(mpmath.binomial(trials, k) * r**k * (1 - r) ** (trials - k) for k in range(successes, trials + 1))


@pytest.mark.thorough
@settings(max_examples=80, deadline=None)
@given(
    st.integers(1, 120), st.data(), st.sampled_from([Fraction(1, 2), Fraction(1, 20), ONE_PERCENT, Fraction(1, 10**6), Fraction(1, 10**12)])
)
def test_limits_are_certified_and_tight(trials: int, data: st.DataObject, alpha: Fraction) -> None:
    successes = data.draw(st.integers(0, trials))
    low, high = lower_limit(successes, trials, alpha), upper_limit(successes, trials, alpha)
    with mpmath.workdps(60):
        level = mpmath.mpf(alpha.numerator) / alpha.denominator
        if successes:
            assert tail_at_least(successes, trials, low) <= level
            assert tail_at_least(successes, trials, min(1.0, low * (1 + 1e-9))) > level * (1 - mpmath.mpf(10) ** -12)
        else:
            assert low == 0.0
        if successes < trials:
            assert 1 - tail_at_least(successes + 1, trials, high) <= level * (1 + mpmath.mpf(10) ** -40)
        else:
            assert high == 1.0


def test_all_right_by_hand() -> None:
    # K of K right: r^K = alpha, so r = alpha^(1/K); K = 1: r = alpha.
    assert lower_limit(1, 1, ONE_PERCENT) == pytest.approx(0.01, rel=1e-12)
    assert lower_limit(1, 1, ONE_PERCENT) <= 0.01
    assert lower_limit(100, 100, ONE_PERCENT) == pytest.approx(0.01**0.01, rel=1e-13)


def test_no_floor_on_probabilities() -> None:
    # Seen K times on one side, never on the other: the bound grows like log(K / log(1/alpha)) without a ceiling.
    for right in (10**3, 10**6, 10**9):
        expected = mpmath.log(right / mpmath.log(100))
        assert epsilon_of_guesses(right, 0, ONE_PERCENT) == pytest.approx(float(expected), abs=0.01)


def test_log_odds_are_rounded_down() -> None:
    with mpmath.workdps(60):
        for chance in (0.5000001, 0.6, 0.75, 0.999, 1 - 2.0**-53):
            exact = mpmath.log(mpmath.mpf(chance) / (1 - mpmath.mpf(chance)))
            assert mpmath.mpf(epsilon_of_chance(chance)) <= exact
            assert mpmath.mpf(epsilon_of_chance(chance)) >= exact * (1 - mpmath.mpf(10) ** -14)
    assert epsilon_of_chance(0.5) == epsilon_of_chance(0.0) == 0.0


def test_delta_takes_what_it_can_have_given_away() -> None:
    # 1,000 outputs, delta' = 1/10: at most quantile(Bin(1000, 1/10), 1 - alpha/10) right guesses were gifts.
    given_away = quantile_above(1_000, Fraction(1, 10), ONE_PERCENT / 10)
    with mpmath.workdps(60):
        assert tail_at_least(given_away + 1, 1_000, 0.1) <= mpmath.mpf(1) / 1000
        assert tail_at_least(given_away, 1_000, 0.1) > mpmath.mpf(1) / 1000
    with_delta = epsilon_of_guesses(500, 100, ONE_PERCENT, outputs=1_000, slack=Fraction(1, 10))
    by_hand = epsilon_of_chance(lower_limit(500 - given_away, 600 - given_away, ONE_PERCENT * Fraction(9, 10)))
    assert with_delta == by_hand < epsilon_of_guesses(500, 100, ONE_PERCENT)
    assert epsilon_of_guesses(100, 0, ONE_PERCENT, outputs=1_000, slack=Fraction(1, 10)) == 0.0


@pytest.mark.parametrize(
    ("successes", "trials", "alpha"), [(-1, 3, ONE_PERCENT), (4, 3, ONE_PERCENT), (1, 3, Fraction(0)), (1, 3, Fraction(1))]
)
def test_impossible_counts_are_refused(successes: int, trials: int, alpha: Fraction) -> None:
    with pytest.raises(InvalidArgument):
        lower_limit(successes, trials, alpha)


def test_passes_must_be_counted() -> None:
    with pytest.raises(InvalidArgument, match="passes"):
        epsilon_of_guesses(5, 5, ONE_PERCENT, outputs=9, slack=Fraction(1, 10))
