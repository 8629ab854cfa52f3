"""A k-d tree of midpoint cuts, grown by noisy counts: cells of few dimensions that are small where records are."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from accountant.applications.budget.protocols import DataAccess
from accountant.applications.kmeans.method.merging import merge_points
from accountant.applications.kmeans.method.plan import TreePlan
from accountant.applications.kmeans.method.rounds import divide_left, refine
from accountant.applications.kmeans.method.shrinking import ShrunkCentres, compute_means, read_totals, shrink_means
from profiles.arrays import Booleans, Floats, Positions, ignore_flags

#: A cell is cut again whose noisy count is above so many standard deviations of its noise.
_DEVIATIONS = 3.0


@dataclass(frozen=True, slots=True, eq=False)
class CutTree:
    """A binary tree of boxes. Node i is cut at ``cuts[i]`` along ``axes[i]`` into the nodes ``first[i]`` and ``first[i]`` + 1.

    A leaf has an infinite cut and is its own first node. ``low`` and ``high``, shape (nodes, d): its box. ``leaves``: nodes without a cut.
    """

    axes: Positions
    cuts: Floats
    first: Positions
    low: Floats
    high: Floats
    leaves: Positions
    depth: int

    def assign(self, rows: Floats) -> Positions:
        """Return the position in ``leaves`` of the leaf of each row, shape (rows,): comparisons of its own coordinates alone."""
        at = np.arange(len(rows))
        nodes = np.zeros(len(rows), dtype=np.intp)
        for _ in range(self.depth):
            nodes = self.first[nodes] + (rows[at, self.axes[nodes]] >= self.cuts[nodes])
        numbers = np.zeros(len(self.axes), dtype=np.intp)
        numbers[self.leaves] = np.arange(len(self.leaves))
        return numbers[nodes]

    def cut(self, which: Booleans) -> CutTree:
        """Return the tree with some of its leaves cut at the middle of their longest side; ``which``: shape (leaves,)."""
        parents = self.leaves[which]
        middle = (self.low[parents] + self.high[parents]) / 2
        axes = (self.high[parents] - self.low[parents]).argmax(axis=1)
        at = np.arange(len(parents))
        low, high = np.repeat(self.low[parents], 2, axis=0), np.repeat(self.high[parents], 2, axis=0)
        high[0::2][at, axes] = low[1::2][at, axes] = middle[at, axes]
        start, added = len(self.axes), 2 * len(parents)
        children = np.arange(start, start + added)
        grown = CutTree(
            np.concatenate([self.axes, np.zeros(added, dtype=np.intp)]),
            np.concatenate([self.cuts, np.full(added, np.inf)]),
            np.concatenate([self.first, children]),
            np.concatenate([self.low, low]),
            np.concatenate([self.high, high]),
            np.concatenate([self.leaves[~which], children]),
            self.depth + 1,
        )
        grown.axes[parents], grown.cuts[parents], grown.first[parents] = axes, middle[at, axes], children[0::2]
        return grown


def plant_tree(dimension: int, radius: float) -> CutTree:
    """Return the tree of one leaf, the cube about the ball of ``radius``.

    >>> tree = plant_tree(1, 1.0)
    >>> for _ in range(2):
    ...     tree = tree.cut(np.ones(len(tree.leaves), dtype=bool))
    >>> tree.assign(np.array([[-0.7], [-0.2], [0.2], [0.7]])).tolist()
    [0, 1, 2, 3]
    """
    corner = np.full((1, dimension), radius)
    none = np.zeros(1, dtype=np.intp)
    return CutTree(none, np.full(1, np.inf), none.copy(), -corner, corner, none.copy(), 0)


@ignore_flags
def run_tree(access: DataAccess, plan: TreePlan, rng: np.random.Generator) -> ShrunkCentres:
    """Return at most k centres by ``plan``; ``rng`` draws what needs no secret. What counts did not need goes to the leaves."""
    access.clip(min(access.radius, plan.clip * access.statistics.rms))
    tree, spent = _grow(access, plan)
    rest = 1 - plan.share_counts - plan.share_leaves
    rounds = [rest / plan.rounds_after] * plan.rounds_after if plan.rounds_after else []
    shares = divide_left([spent, 1 - sum(rounds) - spent, *rounds])[1:]
    leaves = read_totals(access.release(tree.assign, shares[0], len(tree.leaves)))
    picked, boxes = leaves.pick(leaves.usable), tree.leaves[leaves.usable]
    # the mean of the records of a cell is in its box
    boxed = np.clip(compute_means(picked, np.inf), tree.low[boxes], tree.high[boxes])
    merged = picked.merge(merge_points(boxed, picked.counts, plan.clusters, rng))
    return refine(access, ShrunkCentres(shrink_means(merged, access.radius), merged.counts), shares[1:])


def _grow(access: DataAccess, plan: TreePlan) -> tuple[CutTree, Fraction]:
    """Return the tree and the part of the budget that its counts cost; leaves with few records are not cut again."""
    tree = plant_tree(access.statistics.dimension, access.radius)
    alive = np.ones(1, dtype=bool)
    share = plan.share_counts / plan.looks if plan.looks else Fraction(0)
    spent = Fraction(0)
    for look in range(plan.looks + 1):
        for _ in range(min(plan.step, plan.depth - look * plan.step)):
            kept = int(np.count_nonzero(~alive))
            tree = tree.cut(alive)
            alive = np.arange(len(tree.leaves)) >= kept
        if look == plan.looks:
            break
        cells = access.release(tree.assign, share / (1 - spent), len(tree.leaves), sums=False)
        spent += share
        alive &= cells.counts > max(1.0, _DEVIATIONS * float(np.sqrt(cells.count_variance)))
        # leaves that stay come first, as in :meth:`CutTree.cut`
        if not alive.any():
            break
    return tree, spent
