"""The kernel decides the goals of a claim, not the words that reduce the statement to them: here are the statements, on numbers."""

import itertools
import math
import random

import mpmath
import pytest
from mpmath import mpf

PAIRS = [(m, beta) for m in (2, 3, 10, 1000) for beta in (0.999, 0.5, 1e-6)]


def binomial_tail(n, p, test):
    return sum(math.comb(n, j) * p**j * (1 - p) ** (n - j) for j in range(n + 1) if test(j))


@pytest.mark.parametrize(("n", "p"), [(1, 0.5), (3, 0.1), (10, 0.3), (40, 0.02), (40, 0.9)])
def test_both_lines_of_theorem_2_1_with_the_better_constants(n, p):
    mean = n * p
    for alpha, zeta in itertools.product((0.01, 0.3, 0.6, 1.0), (0.0, 0.2, 1.0, 3.0, 7.5)):
        low, high = (1 - alpha) * mean - zeta, (1 + alpha) * mean + zeta
        assert binomial_tail(n, p, lambda j, low=low: j < low - 1e-9) <= math.exp(-2 * alpha * zeta)
        assert binomial_tail(n, p, lambda j, high=high: j > high + 1e-9) <= math.exp(-1.25 * alpha * zeta)


def test_the_better_upper_constant_is_nearly_the_best():
    n, mean, j = 10**6, 200, 703  # alpha = 1, j > 2 mean + zeta
    zeta = mpf(j) - 2 * mean - mpf("0.1")
    one_value = mpmath.binomial(n, j) * (mpf(mean) / n) ** j * (1 - mpf(mean) / n) ** (n - j)
    assert mpmath.exp(-mpf("1.3") * zeta) < one_value < mpmath.exp(-mpf("1.25") * zeta)


def test_the_factor_two_of_theorem_2_2_is_approached():
    step, losers = 0.5, 10**6
    ratio = math.exp(step) * (1 + losers) / (math.exp(step) + losers * math.exp(-step))
    assert 0.999 * math.exp(2 * step) < ratio < math.exp(2 * step)


def test_the_utility_of_theorem_2_2_has_the_constant_one():
    rng = random.Random(1)
    for _ in range(30):
        scores = [rng.uniform(0, 20) for _ in range(rng.randrange(2, 30))]
        beta, epsilon = rng.uniform(0.001, 0.9), rng.uniform(0.1, 3)
        weights = [math.exp(epsilon * score) for score in scores]
        floor = max(scores) - math.log(len(scores) / beta) / epsilon
        assert sum(w for w, score in zip(weights, scores, strict=True) if score < floor) <= beta * sum(weights)


def count_sets(m, most):
    return sum(math.comb(m, j) for j in range(min(m, most) + 1))


@pytest.mark.parametrize(("alpha_zeta", "both"), [(20, True), (10, True), (2000, True), (200, False)], ids=["1.2", "1.3", "1.5", "F.1"])
def test_the_union_bounds_over_sets_of_at_most_k(alpha_zeta, both):
    for (m, beta), k in itertools.product(PAIRS, (1, 2, 7)):
        exponent = alpha_zeta * k * math.log(m / beta)
        tails = mpmath.exp(-exponent) + (mpmath.exp(-exponent / 3) if both else 0)
        assert count_sets(m, k) <= (m + 1) ** k
        assert (m + 1) ** k * tails <= mpf(beta) / 2


def test_the_union_bounds_of_appendix_e():
    for (m, beta), q in itertools.product(PAIRS, (100, 300)):
        assert count_sets(m, q) <= m**q
        zeta = 10 * mpmath.log(12 * mpf(m) ** q / beta)
        assert m**q * (mpmath.exp(-mpf("0.3") * zeta) + mpmath.exp(-mpf("0.3") * zeta / 3)) <= mpf(beta) / 6 * (1 + mpf(10) ** -9)
        assert m * mpf(2) ** -mpmath.log(6 * m / mpf(beta), 2) <= mpf(beta) / 6 * (1 + mpf(10) ** -9)
        for last in range(1, 12):
            shares = [beta / 2 ** (last - r) for r in range(1, last + 1)]
            assert beta / 3 + sum(2 * share / 6 for share in shares) <= beta


def test_the_repaired_n_min_gives_19_and_20_in_every_round():
    for (m, beta), q, later in itertools.product(PAIRS, (100, 1000), range(12)):
        tau = 800 * math.log2(m / beta) * 2**later
        beta_r = beta / 2**later
        assert math.log2(6 * m / beta_r) <= 0.005 * tau
        assert 10 * (math.log(12 / beta_r) + q * math.log(m)) <= 0.05 * q * tau


def test_the_union_bound_of_theorem_5_6():
    for pairs, beta in itertools.product((1, 2, 100, 10**9), (0.999, 0.5, 1e-9)):
        x = math.log(2 * pairs / beta)
        assert pairs * (math.exp(-10 * x) + math.exp(-10 * x / 3)) <= beta / 2
        assert pairs * 2 ** -math.log2(2 * pairs / beta) <= beta / 2 * (1 + 1e-9)


def test_binomials_of_theorem_b_1():
    for size in (10, 25, 60):
        j = math.ceil(size / 10)
        for steps, items in itertools.product((size, size + 7, 5 * size), (2, 3, 50)):
            assert items**j * math.comb(steps, j) >= (items * steps / size) ** (0.01 * size)
    k = 460
    for steps, items in itertools.product((k, 10 * k), (2, 100)):
        tau = 0.001 * k * math.log((items + 3) * steps / k)
        assert 0.01 * k * math.log(items * steps / k) - (2 * tau + 1) - math.log(2) > 0


def test_the_roundings_of_lemma_d_6():
    for eta, beta in itertools.product((0.01, 0.3, 0.99), (0.9, 1e-3)):
        assert (1 - eta / 4) ** math.ceil(10 * math.log(3 / beta) / eta) <= beta / 3
        assert (1 - eta / (2 + eta)) ** math.ceil((1 + 2 / eta) * math.log(3 / beta)) <= beta / 3


def test_the_optimal_set_of_theorem_g_1_and_the_power_triangle():
    rng = random.Random(2)
    for _ in range(200):
        before, distances = rng.random(), [rng.random() for _ in range(3)]
        assert sum(before - min(before, d) for d in distances) >= before - min(distances) - 1e-12
        a, b, q = rng.random(), rng.random(), rng.choice((1, 2))
        assert (a + b) ** q <= 2 ** (q - 1) * (a**q + b**q) + 1e-12 <= 2**q * (a**q + b**q) + 1e-12


def test_the_sum_of_the_noise_in_27():
    for rounds, beta in itertools.product((1, 5, 40), (0.5, 1e-3)):
        limit = 2 * (rounds * mpmath.log(2) + mpmath.log(2 / mpf(beta)))  # in units of 1/rate; rate eps/2
        assert mpmath.gammainc(rounds, limit, regularized=True) <= mpf(beta) / 2
