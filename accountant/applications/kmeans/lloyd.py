"""DP-Lloyd on the released statistics: T rounds from a packing of a ball about the private mean. No utility is promised."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from accountant.applications.budget.protocols import DataAccess
from accountant.applications.kmeans.planning import pack_centres
from accountant.applications.kmeans.protocols import Clustering
from profiles.arrays import Floats
from profiles.mechanisms.lloyd_runs import MOST_ROUNDS, PostProcessing
from profiles.mechanisms.nearest import find_nearest
from profiles.numbers import to_integer

#: The ball that records are clipped to, in units of their root mean squared distance from the mean.
_WIDTH = 2


@dataclass(frozen=True, slots=True)
class Lloyd:
    """``rounds`` iterations, T, each of which gets the same part of the budget (Fay et al. 2024, Algorithm 2)."""

    rounds: int

    def __post_init__(self) -> None:
        to_integer(self.rounds, "iterations", 1, MOST_ROUNDS)

    def __call__(self, access: DataAccess, clusters: int, rng: np.random.Generator) -> Clustering:
        """Return the centres of the last round, and the noisy counts that they were made of."""
        statistics = access.statistics
        radius = min(_WIDTH * statistics.rms, access.radius)
        access.clip(radius)
        centres = pack_centres(clusters, statistics.dimension, 2, radius, rng)
        move = PostProcessing(1.0, (2, Fraction(radius)))
        counts = np.zeros(clusters)
        for left in range(self.rounds, 0, -1):
            cells = access.release(nearest_to(centres), Fraction(1, left), clusters)
            counts = cells.counts
            if cells.sums is not None:
                centres = move.move(centres, counts, cells.sums)
        return Clustering(centres, counts, {"method": "lloyd", "rounds": self.rounds, "clipped to": radius})


def nearest_to(centres: Floats) -> Callable[[Floats], NDArray[np.integer]]:
    """Return what assigns each row the number of its nearest centre (:mod:`profiles.mechanisms.nearest`)."""
    return lambda rows: find_nearest(rows, centres)
