"""Which method a fit runs: plans as values, and the rule that chooses one from public and released numbers alone.

The rule looks at d and at Q = ñ·rms/(k·r·b), with r the smaller of the radius of the records and 2 rms, and b the noise of a sum that gets
the whole ε, over r: d/ε, or √d/μ for normal noise. So Q = ñ·ε·rms/(d·r·k) is the signal-to-noise ratio of one of k centres of equal size
that gets the whole ε. Merging m cells multiplies the noise of a centre by √m, T rounds by T (by √T where noise is normal): few rounds and
many cells. All that enters is public or was released before, so the choice is post-processing. How the rule was found:
benchmarks/results/kmeans.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from accountant.applications.budget.protocols import Statistics
from accountant.applications.kmeans.method.shrinking import SPECTRAL_DIMENSIONS
from profiles.numbers import to_integer

#: Up to how many dimensions a tree is used.
TREE_DIMENSIONS = 4
_WIDEST = 2.0
#: Below this signal of a centre with all that is left no two centres are told apart.
_HOPELESS = 0.5
#: Below this signal the spectrum of few cells shows more than a merge of many.
_UNMERGED = 2.5
#: From this signal on a third round is worth its normal noise; where there is a spectrum, from :data:`_UNMERGED` on.
_ROUNDS_PAY = 5.0


@dataclass(frozen=True, slots=True)
class LloydPlan:
    """Many cells about random directions, few rounds, and one merge.

    ``clusters``: k. ``active``: k′ ≤ k, the clusters that are looked for; the others stay at the mean. ``multiple``: m, cells for each of
    them. ``rounds_before`` ≥ 1 with m·k′ cells, which get ``share_before`` of the budget in equal parts; ``rounds_after`` with k′, which
    get the rest.
    ``clip``: records are clipped to that many rms.
    """

    clusters: int
    active: int
    multiple: int
    rounds_before: int
    rounds_after: int
    share_before: Fraction
    clip: float

    @property
    def cells(self) -> int:
        return self.multiple * self.active


@dataclass(frozen=True, slots=True)
class TreePlan:
    """A k-d tree of midpoint cuts, one merge of its leaves, and rounds.

    Cells with many records are cut ``step`` times between two looks at the counts, down to ``depth`` cuts. The counts get
    ``share_counts`` of the budget in equal parts, counts and sums of the leaves ``share_leaves``, and ``rounds_after`` rounds the rest.
    """

    clusters: int
    depth: int
    step: int
    rounds_after: int
    share_counts: Fraction
    share_leaves: Fraction
    clip: float

    @property
    def looks(self) -> int:
        """How often counts alone are released, at most."""
        return (self.depth - 1) // self.step


#: What a fit runs.
MethodPlan = LloydPlan | TreePlan


def measure_signal(statistics: Statistics, *, clusters: int, radius: float, sum_noise: float) -> float:
    """Return Q. ``radius``: of the ball to which records are clipped; ``sum_noise``: ‖ζ‖/radius of a sum that gets the whole budget.

    >>> import numpy as np
    >>> seen = Statistics(1000.0, np.zeros(5), 0.5, 1.0, np.zeros(5))
    >>> measure_signal(seen, clusters=10, radius=1.0, sum_noise=5.0)
    10.0
    """
    wide = min(radius, _WIDEST * statistics.rms)
    return statistics.count * statistics.rms / (clusters * wide * sum_noise)


def choose_method(signal: float, *, clusters: int, dimension: int, left: float = 1.0, normal: bool = False) -> MethodPlan:
    """Return the plan for Q = ``signal``, k = ``clusters`` and d = ``dimension``.

    ``left``: the part of the budget that is left. Where Q·``left`` is below 1/2, all of it goes to the mean, which had too little: the mean
    of the clipped residuals is added, shrunk by its own noise. ``normal``: T rounds multiply the noise by √T, so that more of them pay.

    Raises :class:`profiles.InvalidArgument` where k or d is not a positive integer.

    >>> choose_method(50.0, clusters=8, dimension=22).cells
    32
    """
    clusters = to_integer(clusters, "n_clusters", 1)
    dimension = to_integer(dimension, "the dimension", 1)
    if clusters == 1:
        return LloydPlan(1, 1, 1, 1, 0, Fraction(1), _WIDEST)
    if signal * left < _HOPELESS:
        return LloydPlan(clusters, 1, 1, 1, 0, Fraction(1), 1.0)
    if dimension <= TREE_DIMENSIONS and signal >= 10:
        if signal < 100:
            return TreePlan(clusters, 8, 1, 0, Fraction(3, 10), Fraction(7, 10), 2.0)
        return TreePlan(clusters, 12, 3, 2, Fraction(12, 100), Fraction(28, 100), 2.0)
    spectral = dimension >= SPECTRAL_DIMENSIONS
    if normal and (_UNMERGED if spectral else _ROUNDS_PAY) <= signal < 25:
        multiple, clip = (3, 1.0) if signal < 10 else (4, 1.2)
        return LloydPlan(clusters, clusters, multiple, 2, 1, Fraction(6, 10), clip)
    return _choose_lloyd(signal, clusters, spectral=spectral)


def _choose_lloyd(signal: float, clusters: int, *, spectral: bool) -> LloydPlan:
    """Return the row of the table of benchmarks/results/kmeans.md."""
    if signal < 4:
        alone = spectral and signal < _UNMERGED
        active = min(clusters, max(2, int((0.75 if alone else 0.5 if spectral else 0.4) * signal * clusters)))
        return LloydPlan(clusters, active, 1 if alone else 2, 1, 0, Fraction(1), 1.0)
    if signal < (7 if spectral else 10):
        return LloydPlan(clusters, clusters, 4, 1, 0, Fraction(1), 1.0)
    if signal < 10:
        return LloydPlan(clusters, clusters, 3, 2, 0, Fraction(1), 1.0)
    if signal < 25:
        return LloydPlan(clusters, clusters, 4, 2, 0, Fraction(1), 1.0)
    if signal < 200:
        return LloydPlan(clusters, clusters, 4, 2, 1, Fraction(6, 10), 1.5)
    return LloydPlan(clusters, clusters, 16, 2, 2, Fraction(1, 2), 2.0)
