"""What happens to whoever implements the printed text: Algorithm 1 as printed, line by line, beside the corrected one."""

import math

import mpmath
import pytest
from mpmath import exp, log, mpf


def printed_algorithm(f, slope, target, mu, *, alpha, extra=1, endpoint="mid"):
    """Algorithm 1 with f = exp∘ε: a bisection that keeps the half whose ends have different signs."""

    def g(w):
        return (f(w) - 1) / w - (exp(target) - 1)

    vbar = min(f(mpf(1)) + mu / 2, slope + 1)
    lo, hi = mpf(1), 2 * (exp(target) - vbar) / mu + extra
    b = hi
    while hi - lo > alpha:
        middle = (lo + hi) / 2
        lo, hi = (lo, middle) if g(middle) > 0 else (middle, hi)
    return {"mid": (lo + hi) / 2, "low": lo}[endpoint], b, g


def psi(f, w):
    return log(1 + (f(w) - 1) / w)


@pytest.fixture(autouse=True)
def digits():
    with mpmath.workdps(40):
        yield


def test_the_printed_bracket_excludes_the_root_and_the_derived_one_does_not():
    f, target, mu = exp, mpf("1.5"), exp(mpf(1))
    weight, b, g = printed_algorithm(f, exp(mpf(1)), target, mu, alpha=mpf(10) ** -12)
    best = mpmath.findroot(lambda w: f(w) - 1 - w * (exp(target) - 1), 2.1)
    assert g(mpf(1)) < 0
    assert g(b) < 0  # no change of sign in [1, b]
    assert b < best
    assert abs(weight - b) < mpf(10) ** -11  # bisection runs to the end of the bracket
    corrected, v, g = printed_algorithm(f, exp(mpf(1)), target, mu, alpha=mpf(10) ** -12, extra=2, endpoint="low")
    assert g(v) > 0
    assert best - mpf(10) ** -11 < corrected <= best


def test_the_bracket_of_a_quadratic_profile_by_head():
    def f(w):
        return 1 + w**2  # eps = log(1 + w^2), mu = 2, eps* = log 4: w = 3 is optimal

    weight, b, _ = printed_algorithm(f, mpf(2), log(4), mpf(2), alpha=mpf(10) ** -12)
    assert abs(b - 2) < mpf(10) ** -35
    assert abs(weight - 2) < mpf(10) ** -11
    assert abs(psi(f, mpf(3)) - log(4)) < mpf(10) ** -35


def test_the_printed_bracket_may_lie_below_one():
    _, b, _ = printed_algorithm(exp, exp(mpf(1)), mpf(1), exp(mpf(1)), alpha=mpf(10))
    assert abs(b - (1 - 2 / exp(mpf(1)))) < mpf(10) ** -35


def test_equation_4_shortens_even_the_corrected_bracket():
    a, target = mpf(1) / 10, mpf(1) / 5

    def f(w):
        return exp(a * w)

    best = mpmath.findroot(lambda w: f(w) - 1 - w * (exp(target) - 1), 14)
    printed, claimed = a * exp(a), a**2 * exp(a)
    weight, v, g = printed_algorithm(f, a * exp(a), target, printed, alpha=mpf(10) ** -10, extra=2)
    assert 4 < v < mpf("4.01")
    assert g(v) < 0
    assert best > 14
    assert weight < best / 3  # feasible, but the record is sampled three times as often as it has to be
    assert psi(f, weight) < target
    corrected, _, _ = printed_algorithm(f, a * exp(a), target, claimed, alpha=mpf(10) ** -10, extra=2, endpoint="low")
    assert best - mpf(10) ** -9 < corrected <= best


def test_the_midpoint_breaks_the_target_and_the_lower_end_does_not():
    broken = 0
    for k in range(1, 40):
        target = 1 + mpf(k) / 20
        midpoint, _, _ = printed_algorithm(exp, exp(mpf(1)), target, exp(mpf(1)), alpha=mpf(10) ** -3, extra=2)
        low, _, _ = printed_algorithm(exp, exp(mpf(1)), target, exp(mpf(1)), alpha=mpf(10) ** -3, extra=2, endpoint="low")
        broken += psi(exp, midpoint) > target
        assert psi(exp, low) <= target
    assert broken > 10


def test_equation_4_and_the_midpoint_give_weights_that_break_the_target():
    a, mu = mpf(1) / 2, exp(mpf(1) / 2) / 2  # Equation (4) with T = 1: the true constant is half of it

    def f(w):
        return exp(a * w)

    broken = [
        k for k in range(1, 40) if psi(f, printed_algorithm(f, a * exp(a), 1 + mpf(k) / 20, mu, alpha=mpf(10) ** -3)[0]) > 1 + mpf(k) / 20
    ]
    assert broken


def test_the_printed_if_condition_returns_one_where_two_is_optimal():
    def f(w):
        return 3 + w**2  # eps = log(3 + w^2), eps(1) = eps* = log 4, eps'(1) = 1/2 >= 0

    assert mpf(1) / 2 < 1 - 1 / f(mpf(1))  # Case 1 of the proof

    def g(w):
        return (f(w) - 1) / w - 3

    assert g(mpf(1)) == 0  # an ordinary bisection returns this end of [1, b] at once
    assert g(mpf(2)) == 0
    assert psi(f, mpf("1.5")) < log(4)


def test_the_printed_number_of_evaluations_is_too_small():
    alpha, mu = mpf(1) / 100, mpf(2)

    def f(w):
        return 1 + w**2

    target = log(4 + mpf(15) / 100)  # X = (e^eps* - 3)/(alpha mu) = 57.5
    x = (exp(target) - 3) / (alpha * mu)
    allowed = math.floor(math.log2(math.ceil(x)))
    length = 2 * (exp(target) - 3) / mu
    assert length / 2**allowed / 2 > alpha
    needed = math.ceil(math.log2((length + 1) / alpha))
    weight, _, _ = printed_algorithm(f, mpf(2), target, mu, alpha=(length + 1) / 2**needed, extra=2, endpoint="low")
    assert exp(target) - 1 - alpha <= weight <= exp(target) - 1
