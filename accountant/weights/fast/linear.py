"""Profiles linear in the weight, ε = a(x)·w: all rows at once, each certified by a rounding bound (docs/rounding.md, section 3).

With y = a w the constraint is y ≤ log(1 + R y), R = E/a. Its positive root has a closed form in Lambert's W; two steps from an
approximation of it reach binary64 accuracy, a step back makes the weight feasible, and one more evaluation certifies both sides of
the contract.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from accountant.weights.fast.rounding import LIBRARY, TOLERANCE, TargetConstants, U
from profiles.arrays import Booleans, Floats

#: Barry et al. (2000), lower branch of Lambert's W without its small third constant; within 0.6% everywhere.
_BARRY = 0.1681
_SAFE_LOW, _SAFE_HIGH = 2.0**-960, 2.0**960


@dataclass(frozen=True, slots=True)
class Solution:
    """Weights of a block of rows; ``certified`` rows satisfy the contract, the others hold a guess."""

    weights: Floats
    certified: Booleans


def solve_linear(a: Floats, error: float | Floats, target: TargetConstants) -> Solution:
    """Return certified weights for coefficients ``a`` ≥ 0 whose relative error is at most ``error``; rows with exact coefficient above
    ε* must have been refused before. Rows that are not certified hold a guess.
    """
    with np.errstate(all="ignore"):
        beta = error + (LIBRARY + 8 * U)
        y = _approximate(a, target)
        weights = y / a
        logarithm, slope = _logarithm(weights, target)
        kappa = y - slope
        excess = y - logarithm
        excess += (2.25 * beta) * logarithm
        excess /= kappa
        np.subtract(1.0, excess, out=excess)
        weights *= excess
        np.maximum(weights, 1.0, out=weights)
        return Solution(weights, certify(a, weights, beta, target))


def _approximate(a: Floats, target: TargetConstants) -> Floats:
    """Return y = a w* to about 2e-9 relatively."""
    if target.large:
        inverse = np.zeros_like(a) if target.growth == np.inf else a / target.growth
        log_ratio = target.epsilon - np.log(a)
    else:
        inverse = a / target.growth
        log_ratio = -np.log(inverse)
    spread = np.sqrt(np.maximum(2.0 * (log_ratio - 1.0 + inverse), 0.0))
    y = log_ratio + spread / (1.0 + _BARRY * spread)
    inner = inverse + y
    slope = 1.0 / inner
    excess = y - log_ratio
    excess -= np.log(inner)
    rate = 1.0 - slope
    # Halley's step for y − log R − log(1/R + y)
    y -= excess * rate / (rate * rate - 0.5 * excess * slope * slope)
    return y


def _logarithm(weights: Floats, target: TargetConstants) -> tuple[Floats, Floats | float]:
    """Return log(1 + E w) within 18.2 u relatively, and an upper bound (up to 3 u) on its slope with respect to log w."""
    if target.large:
        result = np.log(weights)
        result += target.epsilon
        return result, 1.0
    mass = weights * target.growth
    slope = mass / (1.0 + mass)
    return np.log1p(mass), slope


def certify(a: Floats, weights: Floats, beta: float | Floats, target: TargetConstants, tolerance: float = TOLERANCE) -> Booleans:
    """Tell for which rows both F(w) ≤ 0 (or w = 1) and w* ≤ w(1 + tolerance) are proved by the rounding bound."""
    y = a * weights
    logarithm, slope = _logarithm(weights, target)
    margin = beta * logarithm
    slack = logarithm - y
    feasible = slack >= margin
    feasible |= weights == 1.0
    slack += margin
    # convexity of exp(ε) − 1 − E w: w*/w − 1 ≤ −F / (y (1 + F) − E w/(1 + E w)) for F(w) ≤ 0
    kappa = y - slope
    kappa -= 1e-9 * logarithm
    feasible &= slack <= (0.999 * tolerance) * kappa
    feasible &= slack <= 5e-10
    feasible &= (weights <= _SAFE_HIGH) & (a >= _SAFE_LOW) & (a <= _SAFE_HIGH)
    return feasible
