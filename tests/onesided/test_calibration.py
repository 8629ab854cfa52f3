"""The pair (p, ε₀): certified for the very numbers, not improvable by one place, and accepted by the kernel."""

from __future__ import annotations

import copy
import json
import math
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accountant.onesided import amplify_add, amplify_remove, calibrate_one_sided, largest_epsilon0, largest_probability
from profiles import InvalidArgument, InvalidNumber, InvalidTarget
from proofs_check.certificates import check_text

targets = st.fractions(Fraction(1, 10**9), 300, max_denominator=10**12).filter(lambda value: value > 0)


@pytest.mark.thorough
@given(targets)
def test_the_pair_is_feasible_and_no_place_larger_is(target: Fraction) -> None:
    plan = calibrate_one_sided(target)
    assert plan.remove <= target
    assert plan.add <= target
    more = math.nextafter(plan.p, 2)
    above = amplify_add(None, more)
    assert above is None or above > target
    assert amplify_remove(Fraction(math.nextafter(float(plan.epsilon0), math.inf)), plan.p) > target


@given(targets)
def test_it_is_the_formula(target: Fraction) -> None:
    """p = 1 − e^−ε and ε₀ = log(1 + e^ε), up to the rounding of p, which moves ε₀ up by at most its own place."""
    plan = calibrate_one_sided(target)
    with mpmath.workdps(60):
        epsilon = mpmath.mpf(target.numerator) / target.denominator
        assert abs(plan.p - -mpmath.expm1(-epsilon)) <= mpmath.mpf(2) ** -52 * -mpmath.expm1(-epsilon)
        assert abs(float(plan.epsilon0) / mpmath.log1p(mpmath.exp(epsilon)) - 1) < mpmath.mpf(10) ** -15


@given(targets)
def test_no_other_rate_gives_a_larger_product(target: Fraction) -> None:
    plan = calibrate_one_sided(target)
    for share in (Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)):
        p = Fraction(plan.p) * share
        assert p * largest_epsilon0(target, p) <= Fraction(plan.p) * plan.epsilon0


def test_the_corollary() -> None:
    """ε₀ = log 2 rounded down, at the same p; the largest value at ε = 1 is log(1 + e) = 1.3132616875182228340."""
    plan, best = calibrate_one_sided(1, choice="corollary"), calibrate_one_sided(1)
    assert plan.p == best.p
    assert float(plan.epsilon0) <= math.log(2) <= math.nextafter(float(plan.epsilon0), 1)
    assert float(best.epsilon0) == pytest.approx(1.3132616875182228340, abs=2e-16)
    assert plan.remove <= 1


def test_finite_losses_allow_larger_rates() -> None:
    """(1 − e^−1)/(1 − e^−2) = 1/(1 + e^−1) = 0.7310585786300049; with minus ≤ target nothing limits p."""
    assert largest_probability(1, 2) == pytest.approx(0.7310585786300049, abs=2e-16)
    assert largest_probability(1, 1) == largest_probability(2, 1) == 1.0
    assert largest_probability(1) <= largest_probability(1, 50)
    assert largest_epsilon0("0.1", 1) <= Fraction(1, 10)


@pytest.mark.parametrize("target", ["1", "1/3", "0.1", "1e-9", "40"])
def test_certificates_are_accepted_and_their_mutants_are_not(target: str) -> None:
    for certificate in calibrate_one_sided(target).certificates():
        assert check_text(json.dumps(certificate)).accepted
        smaller = copy.deepcopy(dict(certificate))
        claim = next(item for item in smaller["claims"] if item["claim"] == "epsilon-upper")
        claim["bound"] = str(Fraction(claim["bound"]) * Fraction(1, 2))
        assert not check_text(json.dumps(smaller)).accepted


@pytest.mark.parametrize("bad", [0, -1, "nan", "inf", "10001", "x", None])
def test_targets_are_checked(bad: object) -> None:
    with pytest.raises(InvalidTarget):
        calibrate_one_sided(bad)


def test_other_arguments_are_checked() -> None:
    with pytest.raises(InvalidArgument, match="optimal, corollary"):
        calibrate_one_sided(1, choice="best")
    with pytest.raises(InvalidNumber):
        largest_epsilon0(1, 0)
    with pytest.raises(InvalidTarget, match="below every binary64"):
        calibrate_one_sided(Fraction(1, 10**400))


def test_tiny_targets_are_served() -> None:
    plan = calibrate_one_sided("1e-300")
    assert 0 < plan.p <= 1e-300
    assert float(plan.epsilon0) == pytest.approx(math.log(2))
    assert plan.remove <= Fraction(1, 10**300)
