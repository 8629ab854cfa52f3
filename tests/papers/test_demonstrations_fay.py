"""What happens to whoever implements other printed lines of Fay et al. than Algorithm 1 (tests/papers/test_demonstrations.py)."""

import itertools
import math

import mpmath
import pytest
from mpmath import exp, log, mpf


def psi(epsilon, w):
    return log(1 + (exp(epsilon) - 1) / w)


def test_a_grid_maximum_is_too_small_an_epsilon():
    a, b, t, s, r = mpf(1) / 40000, mpf(1) / 40000, mpf(1) / 500, mpf(1) / 10000, 99

    def sampled(z):
        q = b + s * z**2
        return psi((a + t * z) / q, 1 / q)

    grid = max(sampled(mpf(r) * k / 99) for k in range(100))
    assert sampled(mpf(1) / 2) > grid + 2  # the record at distance 1/2 has two nats more than the printed epsilon
    assert sampled(mpf(1) / 2) < 11  # the certified bound


def test_lambda_zero_gives_no_epsilon():
    def largest(lam, near):
        b, s = lam / 10, (1 - lam) / 10
        return psi((1 + near) / (b + s * near**2), 1 / (b + s * near**2))

    values = [largest(mpf(0), mpf(10) ** -k) for k in range(1, 5)]
    assert all(later > 50 * before for before, later in itertools.pairwise(values))
    assert largest(mpf("0.5"), mpf(10) ** -4) < 21
    with pytest.raises(ZeroDivisionError):  # Proposition 6 of the first version, A'_1/A'_2 with A'_2 = lam m/n
        (exp(1 / (mpf(0) / 10)) - 1) * 0


def test_the_sum_mechanism_has_no_epsilon_below_p_one():
    def loss(p, far):
        return ((far**p + 1) ** (1 / p)) - far  # noise with density exp(-||y||_p), the sum differs by (0, 1), y = (far, 0)

    assert loss(mpf(1) / 2, mpf(1)) == 3
    assert loss(mpf(1) / 2, mpf(10) ** 8) > 20000  # 1 + 2 sqrt(far)
    assert all(loss(mpf(p), mpf(far)) <= 1 for p in (1, 2) for far in (0, 1, 100))


def test_the_supremum_of_the_feasible_weights_breaks_the_target():
    target = log(2)

    def profile(w, *, at_the_jump_above=True):
        above = w >= 2 if at_the_jump_above else w > 2
        return log(1 + w**2) if above else log(1 + w / 2)

    feasible, infeasible = mpf(1), mpf(3)
    for _ in range(60):
        middle = (feasible + infeasible) / 2
        if psi(profile(middle), middle) <= target:
            feasible = middle
        else:
            infeasible = middle
    assert infeasible == 2
    assert psi(profile(infeasible), infeasible) > target + mpf("0.4")
    assert psi(profile(feasible), feasible) <= target  # the lower end is safe, but there is no largest one
    assert psi(profile(mpf(2), at_the_jump_above=False), mpf(2)) <= target


def test_the_printed_noise_scale_of_the_first_version_adds_too_little_noise():
    def laplace_loss(shift, scale):
        return shift / scale

    claimed = laplace_loss(1, 1) + laplace_loss(mpf(1), 2)  # count at beta_count = 1, sum at beta_sum = 2, ||x||_1 = 1
    printed = laplace_loss(1, 1) + laplace_loss(mpf(1), 1)
    assert (claimed, printed) == (mpf("1.5"), 2)


def test_the_printed_noise_split_has_the_larger_error():
    def error(ratio, d, rho):
        """First-order error of a centre at cost d/beta_sum + 1/beta_count = 1, for ratio = beta_count/beta_sum."""
        scale_sum = d + 1 / ratio
        return d * scale_sum**2 + 4 * d * rho**2 * (ratio * scale_sum) ** 2

    for d, rho in ((2, 1), (10, mpf("0.5")), (10, mpf("0.225"))):
        factor = (4 * d * rho**2) ** (mpf(1) / 3)
        best = min(error(mpf(k) / 100, d, rho) for k in range(1, 1000))
        assert error(1 / factor, d, rho) <= best
        assert error(factor, d, rho) > 1.01 * error(1 / factor, d, rho)


def test_the_number_of_evaluations_may_be_the_logarithm_of_a_negative_number():
    a = 1.0
    target, mu, vbar = a, a**2 * math.exp(a), min(math.exp(a) + a**2 * math.exp(a) / 2, a * math.exp(a) + 1)
    with pytest.raises(ValueError, match=r"math domain error|expected a positive"):
        math.log2(math.ceil((math.exp(target) - vbar) / (0.01 * mu)))


def test_the_printed_limit_of_the_sample_size_refuses_proper_probabilities():
    lam, largest, mean = 0.5, 1.0, 0.5  # r = 1, xbar = 1/2
    share = 0.6  # m/n, above xbar/r^2
    assert share > mean / largest**2
    assert max(share * (lam + (1 - lam) * z**2 / mean) for z in (0, 0.5, 1.0)) <= 0.9


def test_a_record_at_the_origin_has_no_largest_weight():
    def bound(norm, target):
        return 4 * (math.exp(target) - 1) / norm**2

    assert psi(mpf(1) * mpf(bound(1, 1)), mpf(bound(1, 1))) > 1
    with pytest.raises(ZeroDivisionError):
        bound(0, 1)
    assert all(psi(mpf(0) * w, mpf(w)) == 0 for w in (1, 10**6, 10**12))  # every weight is feasible: no bracket, no end of the search


def test_the_end_of_the_bracket_may_itself_be_feasible():
    weight = 2 * (mpf(4) - min(mpf(2) + 1, mpf(2) + 1)) / 2 + 2  # v of f = 1 + w^2, mu = 2, eps* = log 4
    assert weight == 3
    with mpmath.workdps(40):
        assert abs(log(1 + weight**2 / weight) - log(4)) < mpf(10) ** -35
