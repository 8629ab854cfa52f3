"""How a budget is divided between the counts and the sums of cells: guesses about utility, on which no guarantee rests.

The derivations: :mod:`accountant.applications.kmeans.planning` for pure ε, :mod:`accountant.applications.kmeans.gaussian` for normal noise.
"""

from __future__ import annotations

import math
from fractions import Fraction

from accountant.calibration.lloyd import noise_energy

#: ‖c‖₂/r of a typical centre.
TYPICAL_NORM = 0.45
#: The part of ε that is left for the proof of the worst case, whose bound lies above the supremum by a relative 1e-9 at most.
MARGIN = Fraction(2, 10**9)


def count_share(dimension: int, p: float) -> Fraction:
    """Return a/(a + b), the share of the budget that the counts get, as a fraction with denominator 10⁶, strictly between 0 and 1.

    >>> float(count_share(2, 2))
    0.28935
    """
    ratio = (2 * TYPICAL_NORM**2 / noise_energy(dimension, p)) ** (1 / 3)
    return Fraction(min(max(round(ratio / (1 + ratio) * 10**6), 1), 10**6 - 1), 10**6)


def normal_count_share(dimension: int) -> Fraction:
    """Return a/(a + b) = ρ/(ρ + √d), the share of the counts, as a fraction with denominator 10⁶.

    >>> float(normal_count_share(2))
    0.241389
    """
    return Fraction(round(TYPICAL_NORM / (TYPICAL_NORM + math.sqrt(dimension)) * 10**6), 10**6)
