"""Binary64 constants with a side: unit roundoff, the assumed accuracy of NumPy's functions, directed and double-double conversions.

The whole argument is in ``docs/rounding.md``; this module holds its numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from profiles.balls import ball, working_precision
from profiles.numbers import nearest, round_down

#: Unit roundoff of binary64, rounding to nearest.
U = 2.0**-53
#: Assumed relative error of NumPy's exp, expm1, log and log1p: 8 ulp, where NumPy and the libraries below it promise at most 4.
LIBRARY = 16 * U
#: Added to the error of every product and quotient, so that underflow is covered; rows with values this small are refined.
TINY = 2.0**-1000
#: Relative tolerance of the contract: w ≥ w*(1 − TOLERANCE).
TOLERANCE = 1e-12
#: From this ε* on, log(1 + E w) is taken as ε* + log(w), which is at most 2 exp(−ε*) above it.
LARGE_EPSILON = 40


def split(value: Fraction) -> tuple[float, float]:
    """Return (high, low) with high + low within 2^-106 of ``value`` relatively, where nothing underflows."""
    high = nearest(value)
    return (high, 0.0) if math.isinf(high) else (high, nearest(value - Fraction(high)))


@dataclass(frozen=True, slots=True)
class TargetConstants:
    """The target ε* with E = exp(ε*) − 1 in the forms that the fast paths need; ``growth`` is inf where E is out of range."""

    exact: Fraction
    epsilon: float
    below: float
    growth: float
    growth_low: float
    large: bool


def make_target(epsilon: Fraction) -> TargetConstants:
    """Return the constants of a target ε* > 0; E is correctly rounded up to a relative 2^-200."""
    large = epsilon >= LARGE_EPSILON
    high, low = math.inf, 0.0
    if epsilon < 700:
        with working_precision(320):
            mantissa, exponent = _expm1(epsilon).mid().man_exp()
        high, low = split(Fraction(int(mantissa)) * Fraction(2) ** int(exponent))
    return TargetConstants(epsilon, nearest(epsilon), round_down(epsilon), high, low, large)


def _expm1(epsilon: Fraction) -> arb:
    return ball(epsilon).expm1()
