"""Rounds of DP-Lloyd: records go to the nearest centre, cells release noisy totals, centres move."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from accountant.applications.budget.protocols import Assign, DataAccess
from accountant.applications.kmeans.method.merging import merge_points
from accountant.applications.kmeans.method.plan import LloydPlan
from accountant.applications.kmeans.method.shrinking import (
    CellTotals,
    ShrunkCentres,
    clean_means,
    compute_means,
    denoise_sums,
    is_spectral,
    read_totals,
    shrink_means,
    trust_means,
)
from profiles.arrays import Floats, Positions, ignore_flags
from profiles.mechanisms.k_norm_sum import draw_directions
from profiles.mechanisms.nearest import prepare_search

#: A clipped record may be longer than the radius by roundings, not by this.
_WIDER = 1 + 2.0**-10
#: From totals of cells and a radius to their means.
Estimate = Callable[[CellTotals, float], Floats]


def assign_nearest(centres: Floats, radius: float) -> Assign:
    """Return what maps rows in the ball of ``radius`` to the nearest of ``centres``, shape (k, d): a function of the row alone.

    Labels are those of the definition in :mod:`profiles.mechanisms.nearest`, whatever other rows come with a row.

    >>> assign_nearest(np.array([[1.0], [-1.0]]), 1.0)(np.array([[0.3], [-0.3]])).tolist()
    [0, 1]
    """
    search = prepare_search(np.ascontiguousarray(centres), radius * _WIDER)

    @ignore_flags
    def assign(rows: Floats) -> Positions:
        return search.kept[search.label(rows)]

    return assign


@ignore_flags
def run_rounds(access: DataAccess, start: Floats, shares: list[Fraction], estimate: Estimate) -> tuple[Floats, CellTotals | None]:
    """Return the centres after a round for each of ``shares`` (each of what is left then), and the totals of the last round.

    A cell that is not usable keeps its centre.
    """
    centres, totals = start, None
    for share in shares:
        totals = read_totals(access.release(assign_nearest(centres, access.radius), share, len(centres)))
        centres = np.where(totals.usable[:, np.newaxis], estimate(totals, access.radius), centres)
    return centres, totals


@ignore_flags
def run_lloyd(access: DataAccess, plan: LloydPlan, rng: np.random.Generator) -> ShrunkCentres:
    """Return at most k′ centres by ``plan``; ``rng`` draws what needs no secret."""
    statistics = access.statistics
    access.clip(min(access.radius, plan.clip * statistics.rms))
    # of equal length, so that the nearest one is the one of the closest direction, whatever the length is
    directions = draw_directions(rng, (plan.cells,), statistics.dimension, 2) * statistics.rms
    before = [plan.share_before / plan.rounds_before] * plan.rounds_before
    after = [(1 - plan.share_before) / plan.rounds_after] * plan.rounds_after if plan.rounds_after else []
    shares = divide_left([*before, *after])
    first, last = shares[: plan.rounds_before - 1], shares[plan.rounds_before - 1]
    centres, earlier = run_rounds(access, directions, first, clean_means)
    cells = read_totals(access.release(assign_nearest(centres, access.radius), last, plan.cells))
    return refine(access, merge_cells(cells, plan.active, access.radius, rng, earlier), shares[plan.rounds_before :])


def refine(access: DataAccess, shrunk: ShrunkCentres, shares: list[Fraction]) -> ShrunkCentres:
    """Return what more rounds make of centres; where nothing was found there is nothing to spend on."""
    if not len(shrunk.centres):
        return shrunk
    centres, totals = run_rounds(access, shrunk.centres, shares, trust_means)
    return shrunk if totals is None else ShrunkCentres(centres, totals.counts)


def merge_cells(
    totals: CellTotals, clusters: int, radius: float, rng: np.random.Generator, earlier: CellTotals | None = None
) -> ShrunkCentres:
    """Return at most ``clusters`` centres: usable cells are merged by k-means on their means, weighted by noisy counts, and shrunk.

    ``earlier``: the totals of the round before, whose sums lie about the same directions.
    """
    spectral = is_spectral(totals)
    usable = (denoise_sums(totals, earlier) if spectral else totals).pick(totals.usable)
    labels = merge_points(compute_means(usable, radius), usable.counts, clusters, rng)
    merged = usable.merge(labels)
    return ShrunkCentres(compute_means(merged, radius) if spectral else shrink_means(merged, radius), merged.counts)


def divide_left(parts: list[Fraction]) -> list[Fraction]:
    """Return each part of a whole as a part of what is left then; parts that add up to 1 end with 1.

    >>> [str(share) for share in divide_left([Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)])]
    ['1/2', '1/2', '1']
    """
    left, shares = Fraction(1), []
    for part in parts:
        shares.append(part / left)
        left -= part
    return shares
