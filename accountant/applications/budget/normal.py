"""Normal noise for a budget in μ²: the largest μ of an (ε, δ), and scales rounded up. Loads curves, which pure noise does not need."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from accountant.calibration.events import find_least_noise
from accountant.compositions.events import Composition, MechanismKind, make_event
from profiles.numbers import root_above

_TOLERANCE = Fraction(1, 10**5)


@lru_cache(maxsize=64)
def largest_mu(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return a μ, within a relative 1e-5 of the largest one, for which the Gaussian pair has δ(ε) ≤ δ; certified in both directions."""
    once = Composition("one Gaussian release", (make_event(MechanismKind.GAUSSIAN, {"noise_multiplier": 1}),))
    return 1 / find_least_noise(once, epsilon, delta, tolerance=_TOLERANCE).value


def scale_above(square: Fraction) -> Fraction:
    """Return a decimal at or above √``square``, with about 15 digits."""
    unit = 10 ** max(0, 15 - len(str(int(square))) // 2) if square >= 1 else 10 ** (15 + len(str(int(1 / square))) // 2)
    return root_above(square, unit)
