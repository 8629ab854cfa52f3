"""Correct mechanisms with their exact ε on a pair, derived by hand; each attains it, so that any bound that is too large shows."""

import math
from fractions import Fraction

import mpmath
import numpy as np

from proofs_check.audit import Claim
from proofs_check.audit.calibration import Correct


def log_up(ratio: Fraction) -> Fraction:
    """Return log(ratio) rounded up at 40 digits."""
    with mpmath.workdps(60):
        return Fraction(math.ceil(mpmath.log(mpmath.mpf(ratio.numerator) / ratio.denominator) * 10**40), 10**40)


def randomized_response(dataset, rng, size):
    """Keep a bit with probability 3/4: the ratio is 3 on both outputs."""
    return (rng.random(size) < (0.75 if dataset[0] else 0.25)).astype(float)


def rare_event(dataset, rng, size):
    """P(1) = 1/20 or 1/60: the ratio is 3 at 1, and below 3 at 0."""
    return (rng.random(size) * (20.0 if dataset[0] else 60.0) < 1).astype(float)


def laplace(dataset, rng, size):
    """Shift 1, scale 1: ε = 1, attained on both sides of [0, 1]."""
    return dataset[0] + rng.laplace(0, 1, size)


def geometric(dataset, rng, size):
    """Two-sided geometric noise with ratio 1/2 on the integers: ε = log 2 for a shift of 1."""
    return dataset[0] + rng.geometric(0.5, size) - rng.geometric(0.5, size)


def exponential_one_sided(dataset, rng, size):
    """One-sided exponential noise, D shifted by 1 upwards: p ≤ e q everywhere, q is infinitely larger on [0, 1]. For add-DP: ε = 1."""
    return dataset[0] + rng.exponential(1, size)


def vector(dataset, rng, size):
    """Three places of Laplace noise with scale 3: each place has ε = 1/3, the sum is attained where all three are extreme."""
    return dataset[0] + rng.laplace(0, 3, (size, 3))


def symbols(dataset, rng, size):
    """⊤ or ⊥ sequences that stop at the first ⊤; ⊤ has chance 2/5 or 1/5 at each of at most 3 steps.

    Ratios: ⊤ 2; ⊥⊤ (3/5·2/5)/(4/5·1/5) = 3/2; ⊥⊥⊤ 9/8; ⊥⊥⊥ (4/5)³/(3/5)³ = 64/27 the other way. So ε = log(64/27).
    """
    chance = 0.4 if dataset[0] else 0.2
    found = []
    for row in rng.random((size, 3)) < chance:
        hits = np.flatnonzero(row)
        found.append(("⊥",) * 3 if not len(hits) else ("⊥",) * int(hits[0]) + ("⊤",))
    return found


def same(dataset, rng, size):
    """Does not look at its data: ε = 0, so that every positive bound is wrong."""
    return rng.normal(size=size)


def same_vector(dataset, rng, size):
    """Does not look at its data, in five places: ε = 0."""
    return rng.normal(size=(size, 5))


def gaussian_delta(dataset, rng, size):
    """Gaussian noise of scale 1 on a shift of 1, at ε = 1: δ(ε) = Φ(1/2 − ε) − e^ε Φ(−1/2 − ε)."""
    return dataset[0] + rng.normal(size=size)


def gaussian_slack(epsilon: float) -> Fraction:
    """δ(ε) of the Gaussian mechanism with sensitivity over scale 1 (Balle and Wang 2018, Theorem 5), rounded down at 30 digits."""
    with mpmath.workdps(50):
        value = mpmath.ncdf(mpmath.mpf("0.5") - epsilon) - mpmath.exp(epsilon) * mpmath.ncdf(-mpmath.mpf("0.5") - epsilon)
        return Fraction(math.floor(value * 10**30), 10**30)


ONE, ZERO = (1.0,), (0.0,)

CORRECT = (
    Correct("randomized response", randomized_response, ONE, ZERO, Claim(log_up(Fraction(3))), "stated"),
    Correct("rare event", rare_event, ONE, ZERO, Claim(log_up(Fraction(3))), "stated"),
    Correct("Laplace", laplace, ONE, ZERO, Claim(1), "stated"),
    Correct("geometric", geometric, ONE, ZERO, Claim(log_up(Fraction(2))), "stated"),
    Correct("exponential, add-DP", exponential_one_sided, ONE, ZERO, Claim(1, one_sided=True), "stated"),
    Correct("vector of Laplace", vector, ONE, ZERO, Claim(1), "stated"),
    Correct("symbols", symbols, ONE, ZERO, Claim(log_up(Fraction(64, 27))), "stated"),
    Correct("no data, number", same, ONE, ZERO, Claim(0), "stated"),
    Correct("no data, vector", same_vector, ONE, ZERO, Claim(0), "stated"),
    Correct("Gaussian with delta", gaussian_delta, ONE, ZERO, Claim(1, gaussian_slack(1.0)), "stated"),
    Correct("Laplace, add-DP", laplace, ONE, ZERO, Claim(1, one_sided=True), "stated"),
)
