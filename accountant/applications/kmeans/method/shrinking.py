"""Noisy totals of cells, their means, and how far the means are trusted. All of it is post-processing of what was released.

A mean S̃/Ñ of M merged cells has noise of energy v = M·E‖ζ‖²/Ñ². The origin is the released mean of all records, so that moving a mean
toward 0 moves it toward what one centre would be. Two ways to do so:

* by rows, where d is small: positive-part James–Stein, c ↦ max(0, 1 − v/‖c‖²)·c.
* by the spectrum, where d is large: the sums of s cells are an s × d matrix of low rank (the cells lie about few directions) with noise of
  the same variance σ² = E‖ζ‖²/d in every entry. With y the singular values over σ√max(s, d) and β = min(s, d)/max(s, d), the values

      η(y) = √((y² − β − 1)² − 4β)/y for y > 1 + √β, else 0,

  have the least Frobenius error of all functions of y as s, d → ∞ (Gavish and Donoho 2017, Section III), which is what counts the error of
  all sums together. Noise of s cells in d dimensions then costs about (√s + √d)² per direction that is kept, and not s·d.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accountant.applications.budget.protocols import Cells
from profiles.arrays import Booleans, Floats

#: From how many dimensions on the spectrum is used (benchmarks/results/kmeans.md, section 2).
SPECTRAL_DIMENSIONS = 16
#: A cell is used whose noisy count is above so many standard deviations of its noise; fewer records have no mean to speak of.
_DEVIATIONS = 2.0


@dataclass(frozen=True, slots=True, eq=False)
class ShrunkCentres:
    """At most k centres, shape (k', d), and the noisy counts of their clusters, shape (k',)."""

    centres: Floats
    counts: Floats


@dataclass(frozen=True, slots=True, eq=False)
class CellTotals:
    """Noisy totals of s groups of cells: ``counts`` (s,), ``sums`` (s, d), ``cells`` (s,): of how many cells each group is the union.

    ``count_variance`` and ``sum_energy`` are those of one cell.
    """

    counts: Floats
    sums: Floats
    cells: Floats
    count_variance: float
    sum_energy: float

    @property
    def usable(self) -> Booleans:
        """Which groups have a noisy count that says that there are records, shape (s,)."""
        large: Booleans = self.counts > np.maximum(1.0, _DEVIATIONS * np.sqrt(self.cells * self.count_variance))
        return large

    def pick(self, which: Booleans) -> CellTotals:
        """Return the noisy totals of the groups at which ``which`` is true."""
        return CellTotals(self.counts[which], self.sums[which], self.cells[which], self.count_variance, self.sum_energy)

    def merge(self, labels: NDArray[np.intp]) -> CellTotals:
        """Return the totals of unions; ``labels``: the number of that of each group, shape (s,)."""
        members = np.zeros((int(labels.max(initial=-1)) + 1, len(labels)))
        members[labels, np.arange(len(labels))] = 1.0
        return CellTotals(members @ self.counts, members @ self.sums, members @ self.cells, self.count_variance, self.sum_energy)


def read_totals(released: Cells) -> CellTotals:
    """Return the totals of cells that were released with their sums."""
    counts = np.asarray(released.counts, dtype=np.float64)
    sums = np.zeros((len(counts), 0)) if released.sums is None else np.asarray(released.sums, dtype=np.float64)
    return CellTotals(counts, sums, np.ones(len(counts)), released.count_variance, released.sum_energy)


def compute_means(totals: CellTotals, radius: float) -> Floats:
    """Return S̃/max(Ñ, 1), moved into the ball of ``radius``, in which every true mean is: shape (s, d)."""
    return confine(totals.sums / np.maximum(totals.counts, 1.0)[:, np.newaxis], radius)


def shrink_means(totals: CellTotals, radius: float) -> Floats:
    """Return the means of groups, each shrunk toward 0 by positive-part James–Stein, in the ball of ``radius``: shape (s, d).

    >>> one = CellTotals(np.array([100.0]), np.array([[30.0, 40.0]]), np.ones(1), 2.0, 500.0)
    >>> shrink_means(one, 1.0).round(3).tolist()
    [[0.24, 0.32]]
    """
    counts = np.maximum(totals.counts, 1.0)
    means: Floats = totals.sums / counts[:, np.newaxis]
    squares = np.einsum("sd,sd->s", means, means)
    noise = totals.cells * totals.sum_energy / np.square(counts)
    kept = np.where(squares > noise, 1 - noise / np.where(squares > noise, squares, 1.0), 0.0)
    return confine(means * kept[:, np.newaxis], radius)


def denoise_sums(totals: CellTotals, earlier: CellTotals | None = None) -> CellTotals:
    """Return the totals with sums whose singular values are shrunk; see the page above. Each row is taken over the deviation of its noise.

    ``earlier``: totals of other cells of the same records, which lie about the same directions and so make them better known.

    >>> quiet = CellTotals(np.ones(2), np.eye(2), np.ones(2), 0.0, 0.0)
    >>> denoise_sums(quiet).sums.tolist() == quiet.sums.tolist()
    True
    """
    scales = [_deviations(item) for item in (totals, earlier) if item is not None]
    if not (totals.sums.size and all((scale > 0).all() for scale in scales)):
        return totals
    stacked = np.concatenate([totals.sums] if earlier is None else [totals.sums, earlier.sums]) / np.concatenate(scales)
    left, values, right = np.linalg.svd(stacked, full_matrices=False)
    most, least = max(stacked.shape), min(stacked.shape)
    unit, beta = np.sqrt(most), least / most
    y = values / unit
    above = y > 1 + np.sqrt(beta)
    squared = np.maximum((np.square(y) - beta - 1) ** 2 - 4 * beta, 0.0)
    kept = np.where(above, np.sqrt(squared) / np.where(above, y, 1.0), 0.0) * unit
    sums = (left[: len(totals.sums)] * kept) @ right * scales[0]
    return CellTotals(totals.counts, sums, totals.cells, totals.count_variance, totals.sum_energy)


def _deviations(totals: CellTotals) -> Floats:
    """Return the standard deviation of the noise of every entry of a row of sums, shape (s, 1)."""
    deviations: Floats = np.sqrt(totals.cells * totals.sum_energy / max(totals.sums.shape[1], 1))[:, np.newaxis]
    return deviations


def is_spectral(totals: CellTotals) -> bool:
    """Tell whether there are enough dimensions for the spectrum."""
    return int(totals.sums.shape[1]) >= SPECTRAL_DIMENSIONS


def clean_means(totals: CellTotals, radius: float) -> Floats:
    """Return the means of cells that will be cut anew: less noise where the spectrum tells it, and else none taken away, shape (s, d).

    Shrinking single rows would draw all of them together, and the next cells with them.
    """
    return compute_means(denoise_sums(totals) if is_spectral(totals) else totals, radius)


def trust_means(totals: CellTotals, radius: float) -> Floats:
    """Return the means of groups shrunk in the way that suits d: shape (s, d)."""
    return clean_means(totals, radius) if is_spectral(totals) else shrink_means(totals, radius)


def confine(points: Floats, radius: float) -> Floats:
    """Return the points with those outside the ball of ``radius`` moved onto it along their ray, shape (s, d)."""
    lengths = np.sqrt(np.einsum("sd,sd->s", points, points))
    outside = lengths > radius
    return points * np.where(outside, radius / np.where(outside, lengths, 1.0), 1.0)[:, np.newaxis]
