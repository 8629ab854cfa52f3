"""Records brought into the declared ball, one by one.

Claim. :func:`project_records` replaces each record by a function of that record (and of the public p and r). If M is ε-PDP on data sets of
records with ‖x‖_p ≤ r, then M after it is PDP on all data sets, with the profile ε(w, f(x)).

Proof. Let f be the map of one record, and D' = D with (w, x) more. f(D') is f(D) with (w, f(x)) more, and ‖f(x)‖_p ≤ r. So the outputs on
f(D) and f(D') are ε(w, f(x))-indistinguishable. (A map that looks at other records, such as scaling by the largest norm, would not do.) ∎

In floating point. The norm is computed by elementwise operations column after column, so that it, too, is a function of the record
alone: m = max |x_l|, s = Σ (|x_l|/m)^p in the order of the columns, ‖x‖_p = m s^(1/p). f(x) = x where that number is at most r and
otherwise (x/m)·(r/s^(1/p)), which is of norm r (1 + δ), |δ| ≤ (d + 40)·2⁻⁵³. The domain that the mechanism declares is therefore the
slightly larger :func:`widen` (r) = r (1 + 2⁻³⁰): what is computed to be inside r is inside it over the reals, for all d up to 2²².
(p = 1, 2, ∞ need only operations that IEEE 754 fixes; for other p NumPy's power must be a function of its arguments, to 8 ulp.)
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from profiles.arrays import Floats, ignore_flags
from profiles.mechanisms.datasets import find_reach
from profiles.numbers import round_down

_ROWS = 2**12
SLACK = Fraction(1, 2**30)


def widen(radius: Fraction) -> Fraction:
    """Return r (1 + 2⁻³⁰): no record that is computed to be inside r has a larger norm over the reals."""
    return radius * (1 + SLACK)


@ignore_flags
def measure_records(points: Floats, p: float) -> tuple[Floats, Floats, Floats]:
    """Return x/m, s^(1/p) and m of each row, by elementwise operations: the norm is their product m·s^(1/p).

    >>> ratios, lengths, largest = measure_records(np.array([[3.0, -4.0]]), 2)
    >>> (largest * lengths).tolist()
    [5.0]
    """
    columns = np.ascontiguousarray(points.T)
    largest = np.abs(columns).max(axis=0)
    ratios = columns / np.where(largest > 0, largest, 1.0)
    if math.isinf(p):
        return ratios, np.ones_like(largest), largest
    total = np.zeros_like(largest)
    with np.errstate(all="ignore"):
        for ratio in np.abs(ratios):
            total += ratio if p == 1 else ratio * ratio if p == 2 else ratio**p
    total = np.maximum(total, 1.0)  # it is at least 1, or the record is 0
    return ratios, total if p == 1 else np.sqrt(total) if p == 2 else total ** (1 / p), largest


@ignore_flags
def record_norms(points: Floats, p: float) -> Floats:
    """Return ‖x‖_p of each row as this page defines it in floating point."""
    norms = np.empty(len(points))
    with np.errstate(all="ignore"):
        for start in range(0, len(points), _ROWS):
            _, lengths, largest = measure_records(points[start : start + _ROWS], p)
            norms[start : start + _ROWS] = largest * lengths
    return norms


@ignore_flags
def project_records(points: Floats, p: float, radius: Fraction) -> Floats:
    """Return the records with those outside the l_p ball of ``radius`` moved onto it along the ray to 0; see the claim above.

    The result shares memory with ``points`` where nothing moves.

    >>> project_records(np.array([[3.0, -4.0], [0.5, 0.0]]), 2, Fraction(1)).tolist()
    [[0.6000000000000001, -0.8], [0.5, 0.0]]
    """
    bound = round_down(radius)
    result = points
    with np.errstate(all="ignore"):
        for start in range(0, len(points), _ROWS):
            block = points[start : start + _ROWS]
            if _clearly_inside(block, p, bound):
                continue
            ratios, lengths, largest = measure_records(block, p)
            outside = largest * lengths > bound
            if outside.any():
                if result is points:
                    result = points.copy()
                result[start : start + _ROWS][outside] = (ratios[:, outside] * (bound / lengths[outside])).T
    return result


def _clearly_inside(points: Floats, p: float, bound: float) -> bool:
    """Tell whether a bound that is cheap and clear of rounding settles it: ‖x‖_p ≤ d^max(0, 1/p − 1/2) ‖x‖₂."""
    wider: float = math.sqrt(points.shape[1]) ** max(0.0, 2 / p - 1)
    return find_reach(points) * wider <= bound
