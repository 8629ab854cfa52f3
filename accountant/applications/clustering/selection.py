"""The repeated exponential mechanism that picks candidates by how much they lower the cost, and the histogram over them."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from accountant.applications.choosing import PlainScores, choose_greedily, count_up_to
from accountant.applications.clustering.records import CostTally
from accountant.applications.clustering.space import UNITS, Costs
from profiles.arrays import Integers, Positions
from profiles.randomness import BitSource, ExponentialDraws

#: A matrix product of binary64 numbers adds integers exactly while all partial sums stay below this.
_EXACT = 2**53
_BLOCK = 2**18


def select_candidates(tally: CostTally, rounds: int, epsilon: Fraction, digits: BitSource) -> tuple[int, ...]:
    """Return T = (c_1, ..., c_L): c_i is drawn from the candidates not yet drawn with probability proportional to exp(ε·q_i(c)).

    q_i(c) = cost(T_{i−1}) − cost(T_{i−1} ∪ {c}), where a record costs 1 while nothing is selected. All q_i are exact multiples of 2^−24,
    and the draws are exact. ``rounds`` ≤ m is public. ε-add-DP: docs/metric-clustering.md, Theorem 1; Ghazi et al. 2024, Theorem 4.3.
    """
    size, draws = tally.costs.shape[1], ExponentialDraws(epsilon / UNITS, digits)
    return choose_greedily(count_up_to(size, rounds), PlainScores(CostReductions(tally), size, UNITS), rounds, draws)


class CostReductions:
    """Claim: ``gains[c]`` = Σ_x max(0, cost of x now − cost of x from c), exactly, in units; kept up to date by :meth:`add`."""

    __slots__ = ("_costs", "_counts", "_current", "gains")

    def __init__(self, tally: CostTally) -> None:
        self._costs, self._counts = tally.costs, tally.counts
        self._current = np.full(len(tally.counts), UNITS, dtype=np.int32)
        # max(now, cost) − cost, with now = 1 ≥ cost
        self.gains = self._sum(lambda costs, _: UNITS - costs, np.arange(len(tally.counts)))

    def add(self, candidate: int) -> None:
        """Add a candidate: max(0, a − c) = max(a, c) − c, so that gains fall by Σ_x max(before, c) − max(after, c)."""
        after = np.minimum(self._current, self._costs[:, candidate])
        changed = np.flatnonzero(after < self._current)
        before = self._current
        self._current = after
        self.gains -= self._sum(
            lambda costs, rows: np.maximum(costs, before[rows, np.newaxis]) - np.maximum(costs, after[rows, np.newaxis]), changed
        )

    def _sum(self, amount: Callable[[Costs, Positions], Costs], rows: Positions) -> Integers:
        """Return Σ over rows of counts·amount, exactly; amounts are integers of 0, ..., ``UNITS``."""
        width = self._costs.shape[1]
        total = np.zeros(width, dtype=np.int64)
        step = max(1, _BLOCK // width)
        for start in range(0, len(rows), step):
            part = rows[start : start + step]
            counts = self._counts[part]
            summed = amount(self._costs[part], part)
            if int(counts.sum()) < _EXACT // UNITS:
                total += (counts.astype(np.float64) @ summed).astype(np.int64)
            else:
                total += counts @ summed.astype(np.int64)
        return total


def count_nearest(tally: CostTally, chosen: tuple[int, ...]) -> Integers:
    """Return how many records are nearest to each of the chosen candidates; among equal costs the first chosen has the record."""
    counts = np.zeros(len(chosen), dtype=np.int64)
    if len(tally.counts):
        np.add.at(counts, tally.costs[:, list(chosen)].argmin(axis=1), tally.counts)
    return counts
