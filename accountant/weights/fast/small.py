"""Rows of a linear profile with a small exponent y = a w, where E and a nearly cancel: E − a in double-double (docs/rounding.md, 3.3).

The constraint (e^y − 1)/y ≤ E/a is the same as a·P(y) ≤ E − a with P(y) = (e^y − 1 − y)/y = y/2 + y²/6 + ..., in which nothing cancels once
E − a is known to binary64 accuracy.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from accountant.weights.fast.linear import Solution
from accountant.weights.fast.rounding import TOLERANCE, TargetConstants, U, split
from profiles.arrays import Floats

#: Largest y for which eight terms of P leave a relative remainder below 2 U.
MOST = 1 / 16
_TERMS = 8
_STEP_BACK = 96 * U
#: Relative error of a·P(a w) as computed, and of a double-double a and E; both with a factor of two or more to spare.
_SERIES_ERROR, _PAIR_ERROR = 24 * U, 2.0**-99
_SAFE_LOW, _SAFE_HIGH = 2.0**-850, 2.0**850


@dataclass(frozen=True, slots=True)
class AffinePair:
    """c + d·z with c, d·z ≥ 0 and the rational constants as sums of two binary64 numbers."""

    constant: tuple[float, float]
    slope: tuple[float, float]
    name: str

    def evaluate(self, z: Floats, rest: Floats | None = None) -> tuple[Floats, Floats]:
        """Return (high, low), together a relative 2^-100 from c + d (z + rest) at most, where nothing underflows and |rest| ≤ U |z|."""
        high, low = two_product(self.slope[0], z)
        low = low + self.slope[1] * z
        if rest is not None:
            low = low + self.slope[0] * rest
        total, rest = two_sum(self.constant[0], high)
        rest = rest + (low + self.constant[1])
        result = total + rest
        return result, rest - (result - total)


def make_pair(constant: Fraction, slope: Fraction, name: str) -> AffinePair:
    """Return the pair of exact constants."""
    return AffinePair(split(constant), split(slope), name)


def two_sum(left: float | Floats, right: Floats) -> tuple[Floats, Floats]:
    """Return the rounded sum and its exact error (Knuth)."""
    total: Floats = left + right
    part = total - left
    error: Floats = (left - (total - part)) + (right - part)
    return total, error


def two_product(left: float, right: Floats) -> tuple[Floats, Floats]:
    """Return the rounded product and its exact error (Dekker), where nothing over- or underflows."""
    product = left * right
    left_high = 134217729.0 * left - (134217729.0 * left - left)
    right_high = 134217729.0 * right - (134217729.0 * right - right)
    left_low, right_low = left - left_high, right - right_high
    error: Floats = ((left_high * right_high - product) + left_high * right_low + left_low * right_high) + left_low * right_low
    return product, error


def solve_small(pair: AffinePair, z: Floats, target: TargetConstants, rest: Floats | None = None) -> Solution:
    """Return weights for rows with a = c + d z ≤ ε* (exactly), certified where y ≤ 1/16 and the bound proves the contract.

    ``rest``: what is to be added to z where it stands for decimals, known to a relative 2 U.
    """
    with np.errstate(all="ignore"):
        a, a_low = pair.evaluate(z, rest)
        difference, error = two_sum(target.growth, -a)
        difference += error + (target.growth_low - a_low)
        unsure = 4 * U * difference + _PAIR_ERROR * target.growth
        ratio = difference / a
        y = 2.0 * ratio - (4.0 / 3.0) * ratio * ratio
        for _ in range(3):
            y -= (_series(y) - ratio) / (0.5 + y * (1 / 3 + y * (1 / 8 + y * (1 / 30 + y / 144))))
        weights = np.maximum(y / a * (1.0 - _STEP_BACK), 1.0)
        exponent = a * weights
        reached = a * _series(exponent)
        feasible = (reached * (1.0 + _SERIES_ERROR) <= difference - unsure) | (weights == 1.0)
        # a·P is convex in w and 0 at 0, so that w g'(w) ≥ a P: the relative gap is at most −g/(a P)
        close = difference + unsure - reached * (1.0 - _SERIES_ERROR) <= (0.999 * TOLERANCE) * reached
        usable = (exponent <= MOST) & (a >= _SAFE_LOW) & (z <= _SAFE_HIGH) & (a <= _SAFE_HIGH)
        return Solution(weights, feasible & close & usable)


def _series(y: Floats) -> Floats:
    """Return P(y) to eight terms by Horner's rule."""
    result = 1.0 + y / (_TERMS + 1)
    for divisor in range(_TERMS, 2, -1):
        result *= y / divisor
        result += 1.0
    return 0.5 * y * result
