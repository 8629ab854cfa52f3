"""One round of the exponential mechanism by Gumbel noise in binary64: another law than the exact one of ``profiles.randomness``."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from profiles.arrays import Positions
from profiles.randomness import measure_gaps


def draw_gumbel(scores: np.ndarray[Any, Any], rate: Fraction, rng: np.random.Generator, size: int) -> Positions:
    """Return ``size`` indices, each the largest entry of λ(q − max q) + Gumbel noise, shape (size,), in binary64.

    In exact real arithmetic the index c has probability e^(λq_c) / Σ e^(λq_b): P(argmax = c) = ∫ e^−(g − x_c) e^(−Σ_b e^−(g − x_b)) dg.
    Subtracting the largest score first leaves the law alone and prevents overflow: exponents are at most 0, and −∞ is never chosen. In
    binary64 it is another law: Gumbel noise made of 53 bits lies in (−4, 37), so that a candidate which is further behind is never chosen,
    and then no finite ε holds. λ is rounded down. Source: Gumbel 1954; Mironov 2012 for what floating point gives away.
    """
    exponents = measure_gaps(scores) * -_rate_below(rate)
    block = max(1, min(size, 2**20 // len(exponents)))
    found = np.empty(size, dtype=np.intp)
    for start in range(0, size, block):
        stop = min(size, start + block)
        found[start:stop] = (rng.gumbel(size=(stop - start, len(exponents))) + exponents).argmax(axis=1)
    return found


def _rate_below(rate: Fraction) -> float:
    nearest = float(rate)
    return nearest if Fraction(nearest) <= rate else float(np.nextafter(nearest, 0.0))
