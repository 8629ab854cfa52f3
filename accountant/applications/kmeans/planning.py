"""What is fixed before the data are looked at: how much noise DP-Lloyd needs for a given ε, how it is divided between the counts and the
sums, and where the centres start.

Statement. One iteration moves a centre to c̃ = (S + ζ)/(N + ξ) with N = Σ w, S = Σ w x, c = S/N. To first order in the noise c̃ − c =
(ζ − ξ c)/N, and E ξ² = 2 β_count², so that

    E ‖c̃ − c‖₂² = (V β_sum² + 2 ‖c‖₂² β_count²)/N²,    V = E ‖ζ‖₂² at β_sum = 1,  V = d (d + 1) Q_p(d),

see :func:`accountant.calibration.lloyd.noise_energy`. With ‖c‖₂ = ρ r and
the shares a = 1/β_count and b = r/β_sum of the budget a + b = ε/T, the error is r² (V/b² + 2ρ²/a²)/N². It is convex, and least where the
derivatives agree: V/b³ = 2ρ²/a³, that is

    a/b = (2ρ²/V)^(1/3),    least error = r² T² (V^(1/3) + (2ρ²)^(1/3))³ / (N ε)².

ρ is a guess about the data and enters by its cube root only; it is 0.45 here, which is how Su et al. 2016 put it (0.225 of the width
of the domain). The optimum does not depend on the unit of the data. Section 5 of Fay et al. 2024 has β_count/β_sum = (4 d ρ²)^(1/3) with
ρ = 0.225: there the share of the count is a/b = 1/(r (4 d ρ²)^(1/3)), which changes with the unit in which the data are written, and
falls with d² where the data are fixed and r grows (docs/private-kmeans.md compares both).

Privacy does not rest on any of this: the scales are exact fractions with T (1/β_count + r/β_sum) < ε whatever the shares are.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from accountant.applications.budget.shares import MARGIN, count_share
from profiles.arrays import Floats
from profiles.mechanisms.datasets import compute_norms
from profiles.mechanisms.k_norm_sum import draw_directions

_CANDIDATES = 32
_MOST = 2**14


@dataclass(frozen=True, slots=True)
class NoiseScales:
    """The noise of one iteration as exact numbers: Laplace(β_count) on counts, density ∝ exp(−‖ζ‖_p/β_sum) on sums."""

    beta_count: Fraction
    beta_sum: Fraction


def choose_scales(epsilon: Fraction, *, radius: Fraction, iterations: int, dimension: int, p: float) -> NoiseScales:
    """Return scales with T (1/β_count + r/β_sum) = ε (1 − 2e-9) exactly, divided for the least first-order error of a centre.

    ``epsilon`` > 0 in nats; ``radius`` bounds ‖x‖_p in the unit of the data; p ≥ 1 or ``math.inf``.

    >>> scales = choose_scales(Fraction(1), radius=Fraction(4), iterations=10, dimension=22, p=2)
    >>> 10 * (1 / scales.beta_count + 4 / scales.beta_sum) == 1 - MARGIN
    True
    """
    share = count_share(dimension, p)
    budget = epsilon * (1 - MARGIN) / iterations
    return NoiseScales(1 / (share * budget), radius / ((1 - share) * budget))


def pack_centres(clusters: int, dimension: int, p: float, radius: float, rng: np.random.Generator) -> Floats:
    """Return ``clusters`` centres in the l_p ball of ``radius``, shape (k, d), drawn without any data.

    Su et al. 2016 start DP k-means from a random packing of balls into the domain. The same idea without their search for the largest
    radius: candidates are drawn in the ball, and one after the other the candidate is taken for which the smaller of its distance to
    the boundary and half its distance to the centres chosen so far is largest. Candidates have a uniform radius and the direction of the
    cone measure: a uniform point of the ball would lie at the boundary in high dimension. Nothing here affects privacy.

    >>> pack_centres(3, 2, 2, 1.0, np.random.default_rng(0)).shape
    (3, 2)
    """
    count = max(clusters, min(_CANDIDATES * clusters, _MOST))
    candidates = draw_directions(rng, (count,), dimension, p) * rng.random((count, 1))
    room = 1 - compute_norms(candidates, p)
    chosen = np.empty(clusters, dtype=np.intp)
    for j in range(clusters):
        chosen[j] = room.argmax()
        gaps = candidates - candidates[chosen[j]]
        room = np.minimum(room, np.sqrt(np.einsum("ij,ij->i", gaps, gaps)) / 2)
        room[chosen[j]] = -1.0
    return candidates[chosen] * radius
