"""The laws that rounded noise has to have, by integrals of densities over cells of the output grid: P(k) = P(⌊g + s·F + ½⌋ = k)."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from flint import arb
from scipy.integrate import dblquad

from tests.randomness.rounded.masses import Output, ball

#: Distribution functions of one number of a law, as balls.
Distribution = Callable[[arb], arb]


def laplace(x: arb) -> arb:
    """∫ e^−|y|/2. The K-norm laws in one dimension are this one, whatever p is."""
    return (x.exp() / 2) if x <= 0 else 1 - (-x).exp() / 2


def exponential(x: arb) -> arb:
    """∫ e^−y over y ≥ 0."""
    return arb(0) if x <= 0 else 1 - (-x).exp()


def normal(x: arb) -> arb:
    """∫ e^(−y²/2)/√(2π)."""
    return (1 + (x / arb(2).sqrt()).erf()) / 2


def cell(distribution: Distribution, ratio: Fraction, total: Fraction, output: int) -> arb:
    """Return P(k) in one dimension: the noise lies in [k − ½ − g, k + ½ − g)/s."""
    ends = [ball((output + side - total) / ratio) for side in (Fraction(-1, 2), Fraction(1, 2))]
    return distribution(ends[1]) - distribution(ends[0])


def euclidean_plane(x: float, y: float) -> float:
    """e^−‖z‖₂/(2π) in the plane: ∫ r e^−r dr = 1."""
    return math.exp(-math.hypot(x, y)) / (2 * math.pi)


def maximum_plane(x: float, y: float) -> float:
    """e^−‖z‖_∞/8 in the plane: the ball has the area 4, and 2! of them are the constant."""
    return math.exp(-max(abs(x), abs(y))) / 8


def plane_cell(density: Callable[[float, float], float], ratio: Fraction, output: Output) -> float:
    """Return P(k) in the plane for totals 0, to 10⁻⁸: an integral over quarters of the cell that the diagonals do not cut."""
    s, total = float(ratio), 0.0
    (i, j), half = output, 0.5
    for left in (i - half, float(i)):
        for low in (j - half, float(j)):
            ends = left / s, (left + half) / s, low / s, (low + half) / s
            total += dblquad(density, ends[2], ends[3], ends[0], ends[1], epsabs=1e-9)[0]
    return total
