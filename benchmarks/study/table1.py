"""Table 1 of Fay et al. 2024: the public numbers of eight data sets, the sample sizes of its figures, and data that has these numbers."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Facts:
    """What the paper treats as public: n, d, r ≥ max ‖x‖₂ and x̃ = mean ‖x‖₂², exact as they are used."""

    n: int
    dimension: int
    radius: Fraction
    mean_square: Fraction

    @property
    def largest_size(self) -> Fraction:
        """The m up to which the coreset rule has q ≤ 1 for every λ: n·x̃/r²."""
        return self.n * self.mean_square / self.radius**2


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row of Table 1: its numbers as printed, and the three m of Figure 3 or 6 for it (from its axis titles and plots)."""

    name: str
    facts: Facts
    sizes: tuple[int, int, int]


def _row(name: str, n: int, d: int, r: str, mean: str, sizes: tuple[int, int, int]) -> TableRow:
    return TableRow(name, Facts(n, d, Fraction(r), Fraction(mean)), sizes)


TABLE_1 = (
    _row("kdd-protein", 142_107, 74, "8020.65", "7031359.55", (5_000, 10_000, 15_000)),
    _row("rna", 476_350, 8, "420.67", "24902.47", (5_000, 20_000, 50_000)),
    _row("song", 502_461, 90, "7507.16", "6769375.49", (5_000, 20_000, 50_000)),
    _row("covertype", 566_486, 54, "4489.17", "3839798.28", (5_000, 20_000, 75_000)),
    _row("ijcnn1", 48_740, 22, "1.51", "1.26", (5_000, 10_000, 15_000)),
    _row("pose", 34_936, 48, "2250.64", "1249739.50", (3_000, 5_000, 8_000)),
    _row("miniboone", 126_812, 50, "2213.05", "295947.13", (4_000, 5_000, 7_000)),
    _row("fma", 103_909, 518, "6020.23", "5838871.88", (5_000, 10_000, 15_000)),
)
ROWS = {row.name: row for row in TABLE_1}

#: Half the number of clusters off the origin, their spread in units of the typical centre norm, and the seed of all synthetic data.
_PAIRS, _SPREAD, _SEED = 12, 0.35, 20_241_201
#: The longest point ends just below r, so that no rounding puts it above.
_BELOW = 1 - 1e-12


def generate(name: str, scale: int = 1) -> Array:
    """Return data with the numbers of a row of Table 1: n/``scale`` points (rounded down to even), the same d, r and x̃, mean 0.

    A mixture of 24 clusters: 12 directions uniform on the sphere, centre norms log-normal with σ = 0.5, shares ∝ Gamma(1), Gaussian spread
    of 0.35 in all; then each point with its mirror image, hence mean 0. Norms are mapped by z ↦ r (z/z_max)^γ, γ chosen such that the mean
    square is x̃; directions stay. Nothing else is taken from the real data: its clusters and the shape of its norms are not public.
    """
    row = ROWS[name]
    half, d = row.facts.n // scale // 2, row.facts.dimension
    radius, mean = float(row.facts.radius) * _BELOW, float(row.facts.mean_square)
    rng = np.random.default_rng([_SEED, zlib.crc32(name.encode())])
    directions = rng.standard_normal((_PAIRS, d))
    centres = directions / np.linalg.norm(directions, axis=1, keepdims=True) * rng.lognormal(0.0, 0.5, (_PAIRS, 1))
    shares = rng.gamma(1.0, size=_PAIRS)
    labels = rng.choice(_PAIRS, size=half, p=shares / shares.sum())
    points = centres[labels] + rng.standard_normal((half, d)) * (_SPREAD / np.sqrt(d))
    norms = np.linalg.norm(points, axis=1)
    ratios = np.log(norms / norms.max())

    def excess(gamma: float) -> float:
        return float(radius**2 * np.exp(2 * gamma * ratios).mean() - mean)

    gamma = brentq(excess, 1e-6, 1e3, xtol=1e-14, rtol=1e-14)
    points *= (radius * np.exp(gamma * ratios) / norms)[:, np.newaxis]
    return np.concatenate([points, -points])
