"""H_a of the sampled Gaussian pairs in closed form, at 50 digits: written for these tests, from docs/dp-sgd.md alone."""

from __future__ import annotations

import mpmath
from mpmath import mpf

mpmath.mp.dps = 50


def going(q: mpf, mu: mpf, a: mpf) -> mpf:
    """Return H_a((1 − q) N(0, 1) + q N(μ, 1) ‖ N(0, 1)): events x > s are best."""
    if a <= 1 - q:
        return 1 - a
    s = mpmath.log((a - 1 + q) / q) / mu + mu / 2
    return q * mpmath.ncdf(mu - s) + (1 - q - a) * mpmath.ncdf(-s)


def coming(q: mpf, mu: mpf, a: mpf) -> mpf:
    """Return H_a(N(0, 1) ‖ (1 − q) N(0, 1) + q N(μ, 1)): events x < s are best."""
    if a <= 0:
        return mpf(1)
    limit = (1 / a - 1 + q) / q
    if limit <= 0:
        return mpf(0)
    s = mpmath.log(limit) / mu + mu / 2
    return (1 - a * (1 - q)) * mpmath.ncdf(s) - a * q * mpmath.ncdf(s - mu)
