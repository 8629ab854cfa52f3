"""Exact releases: the correctly rounded values of a mechanism in real arithmetic, for sums of truncated records (docs/exact-noise.md).

A release has three parts, each with its theorem. Records become integers at no cost (Theorem 1, :mod:`profiles.mechanisms.quantised`).
Their exact sum plus real-valued noise is rounded to a grid, which is post-processing (Theorem 2). That rounding is decided correctly
(Theorem 3, :mod:`profiles.randomness.rounded`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from profiles.arrays import Floats
from profiles.mechanisms.datasets import WeightedData
from profiles.mechanisms.interface import check_size, exact_scale
from profiles.mechanisms.quantised import SumUnit, Totals, total_units, weigh
from profiles.numbers import ExactLike
from profiles.randomness.bits import BitSource, open_bits
from profiles.randomness.rounded import Grid, NoiseLaw, draw_rounded


@dataclass(frozen=True, slots=True, eq=False)
class OpenedRelease:
    """What draws noise of one scale and law; made by :func:`open_release` before the data are looked at."""

    grid: Grid
    law: NoiseLaw
    bits: BitSource

    @property
    def unit(self) -> SumUnit:
        return SumUnit.of(self.grid)

    def draw(self, totals: Totals) -> Floats:
        """Return the release of totals in units, shape (..., d); each row of d numbers gets one vector of noise.

        Nothing about the totals is refused: a value beyond the range of floats becomes the largest one.
        """
        return draw_rounded(totals.reshape(-1, totals.shape[-1]), self.law, self.grid, self.bits).reshape(totals.shape)

    def draw_sums(self, data: WeightedData, size: int) -> Floats:
        """Return ``size`` releases of Σ w x, shape (size, d). Raises :class:`InvalidData` for a record too large for the noise."""
        total = total_units(data.points, weigh(data), self.unit)
        return self.draw(np.broadcast_to(total, (size, len(total))))

    def draw_counts(self, data: WeightedData, size: int) -> Floats:
        """Return ``size`` releases of Σ w, shape (size,). Raises :class:`InvalidData` for a weight too large for the noise."""
        total = total_units(data.weights[:, np.newaxis], None, self.unit)
        return self.draw(np.broadcast_to(total, (size, 1)))[:, 0]


def open_release(scale: ExactLike, what: str, law: NoiseLaw, rng: object, size: object) -> OpenedRelease:
    """Return what releases sums with noise of ``scale``, the exact number that is given, and ``law``.

    ``rng``: None for the operating system's secure source, a seed, a :class:`numpy.random.Generator` or a
    :class:`~profiles.randomness.BitSource`. Raises :class:`InvalidArgument` for a scale, source or number of outputs that cannot be used.
    """
    grid, bits = Grid.of(exact_scale(scale, what)), open_bits(rng)
    check_size(size)
    return OpenedRelease(grid, law, bits)
