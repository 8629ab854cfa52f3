"""Algorithm 4 as it is printed exceeds its epsilon, and the constants of its proof do not fit; those of Theorem 4 do."""

import math
from fractions import Fraction

import mpmath
import pytest
from scipy import stats


def log_chance_of_taking(size, p, threshold):
    """log P[Bin(size, p) + Exp(log 2) > threshold] is at most this, for a threshold above the mean: one of two must pass the middle."""
    middle = (size * p + threshold) / 2
    return max(stats.binom.logsf(math.floor(middle), size, p), -(threshold - middle) * math.log(2)) + math.log(2)


@pytest.mark.parametrize("epsilon", [1.0, 0.5])
def test_the_permutation_alone_costs_two_epsilon(epsilon):
    """m = 2 disjoint sets of 54,800 and 150,000 elements, log to the base 2, so that n_min = 100 and n = 100·2^11 exactly.

    The last threshold halves where n + Lap(0.5/epsilon) passes n: then set 1 is taken, else it is not. So P_D[(1, 0)] = 1/2 and, with one
    element less, e^(-2 epsilon)/2, both up to an error that is bounded here. The ratio is e^(2 epsilon): twice the epsilon that is claimed.
    """
    n, sizes, spread = 204_800, (54_800, 150_000), 80.0
    errors = [-spread * 2 * epsilon]  # |Lap| > spread
    for rounds, least in ((10, n - 1 - spread), (11, n - 1)):
        for r in range(1, rounds + 1):
            p = -math.expm1(-epsilon / (4 * 2 ** (rounds - r)))
            for item, size in enumerate(sizes):
                if (rounds, r, item) == (11, 11, 1):  # taken, unless the sample is small
                    errors.append(stats.binom.logcdf(math.floor(p * 1000 * (n + spread) / 2**r), size - 1, p))
                else:
                    errors.append(log_chance_of_taking(size, p, p * 1000 * least / 2**r))
    with mpmath.workdps(60):
        error = sum(mpmath.exp(max(value, -700)) for value in errors)  # binary64 tails end near e^-700
        assert error < mpmath.mpf(10) ** -30
        least = (mpmath.mpf(1) / 2 - error) / (mpmath.exp(-2 * epsilon) / 2 + error)
        assert mpmath.log(least) > 2 * epsilon - mpmath.mpf(10) ** -28 > epsilon


def test_the_tiny_instance():
    """D = {x}, x in set 1 of 2, against D' empty: P[(1, 0)] with R = 1 has the ratio e^(2 eps) (1 + p_1) on each value of the noisy count.

    n_min = 100 and 200 <= n~ < 400: tau = 500 n~. Both integrals have the same integrand but for the shift of the Laplace density
    (e^(2 eps) where n~ > 1) and one more element in the sample with probability p: 2^(1 - t) for 2^-t.
    """
    with mpmath.workdps(60):
        epsilon = mpmath.mpf(1)
        p = 1 - mpmath.exp(-epsilon / 4)

        def chance(present):
            def integrand(noisy):
                taken = mpmath.mpf(2) ** (-p * 500 * noisy)
                density = epsilon * mpmath.exp(-2 * epsilon * (noisy - present))
                return density * taken * (1 + p * present) * (1 - taken)

            return mpmath.quad(integrand, [200, 200.1, 201, 210])

        ratio = mpmath.log(chance(1) / chance(0))
        assert abs(ratio - (2 * epsilon + mpmath.log(1 + p))) < mpmath.mpf(10) ** -20
        assert ratio > mpmath.mpf("2.1998")  # the claim is 1


def test_the_constants_of_the_printed_proof():
    """(19) at r = R with tau_R = n~/2^R < 2 n_min = 200 log m: 0.005 tau_R < log m < log(6 m/beta). It never holds."""
    for m in (2, 10**3, 10**9):
        for beta in (0.99, 0.05):
            assert 0.005 * 2 * 100 * math.log2(m) < math.log2(6 * m / beta)
    # (20) at r = R where n~ = n_min 2^R: 10 ln(12 m^q/beta) against 0.05 q 100 log2(m)
    for m in (2, 10**3, 10**9):
        for q in (100, 10**4):
            assert 10 * (math.log(12 / 0.99) + q * math.log(m)) > 0.05 * q * 100 * math.log2(m)
    # with the printed threshold p_R tau_R = p_R 1000 n~/2^R instead, a small epsilon puts it below the noise of m sets
    m, epsilon = 10**6, Fraction(1, 10**5)
    most = (1 - math.exp(-epsilon / 4)) * 1000 * 2 * 100 * math.log2(m)
    assert m * 2.0**-most > 900  # sets that are expected to pass the last threshold by noise alone


def test_the_constants_of_theorem_4():
    a, c, q, g, idle = 8.25, 3.5, 10.2, 1.193, 0.45
    kept = 1 - 1 / (a * math.log(2))  # share of the threshold that is not noise, for epsilon0 >= log 2
    slack = 1 + 1e-3
    assert g * 2 * c / kept * slack <= q  # picks of a round
    assert a * (c - 1 - math.log(c)) >= q * slack  # union over the sets of at most q OPT picks
    assert 2 * c * a * (g * math.log(g) - g + 1) >= slack  # the sample of a round is not much larger than its mean
    assert a * (kept * math.log(kept / idle) - kept + idle) >= slack  # rounds that take nothing
    assert 9.2 * math.log(6) > q * math.log(2)  # log(m + 1) for log m
    t0 = a * math.log(6)
    assert 2 * t0 + 2 * a * math.log(2) + 1 <= 2.85 * t0
