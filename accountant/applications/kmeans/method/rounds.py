"""Rounds of DP-Lloyd: records go to the nearest centre, cells release noisy totals, centres move."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from accountant.applications.kmeans.access import Assign, DataAccess
from accountant.applications.kmeans.method.merging import merge_points
from accountant.applications.kmeans.method.plan import LloydPlan
from accountant.applications.kmeans.method.shrinking import (
    SPECTRAL_DIMENSIONS,
    Totals,
    compute_means,
    denoise_sums,
    read_totals,
    trust_means,
)
from profiles.arrays import Floats, Positions, ignore_flags
from profiles.mechanisms.k_norm_sum import draw_directions
from profiles.mechanisms.nearest import prepare_search

#: A clipped record may be longer than the radius by roundings, not by this.
_WIDER = 1 + 2.0**-10
#: From totals of cells and a radius to their means.
Estimate = Callable[[Totals, float], Floats]


def assign_nearest(centres: Floats, radius: float) -> Assign:
    """Return what maps rows in the ball of ``radius`` to the nearest of ``centres``, shape (k, d): a function of the row alone.

    Labels are those of the definition in :mod:`profiles.mechanisms.nearest`, whatever other rows come with a row.

    >>> assign_nearest(np.array([[1.0], [-1.0]]), 1.0)(np.array([[0.3], [-0.3]])).tolist()
    [0, 1]
    """
    search = prepare_search(np.ascontiguousarray(centres), radius * _WIDER)

    @ignore_flags
    def assign(rows: Floats) -> Positions:
        labels = np.empty(len(rows), dtype=np.intp)
        for start in range(0, len(rows), search.block):
            labels[start : start + search.block] = search.kept[search.label(rows[start : start + search.block])]
        return labels

    return assign


@ignore_flags
def run_rounds(access: DataAccess, centres: Floats, shares: list[Fraction], estimate: Estimate) -> tuple[Floats, list[Totals]]:
    """Return the centres after a round for each of ``shares`` (each of what is left then), and the totals of each round.

    A cell that is not usable keeps its centre.
    """
    rounds: list[Totals] = []
    for share in shares:
        totals = read_totals(access.release(assign_nearest(centres, access.radius), share, len(centres)))
        centres = np.where(totals.usable[:, np.newaxis], estimate(totals, access.radius), centres)
        rounds.append(totals)
    return centres, rounds


@ignore_flags
def run_lloyd(access: DataAccess, plan: LloydPlan, rng: np.random.Generator) -> tuple[Floats, list[Totals]]:
    """Return at most k′ centres and the totals of all rounds, by ``plan``; ``rng`` draws what needs no secret."""
    statistics = access.statistics
    access.clip(min(access.radius, plan.clip * statistics.rms))
    dimension = statistics.dimension
    spectral = dimension >= SPECTRAL_DIMENSIONS
    # of equal length, so that the nearest one is the one of the closest direction, whatever the length is
    directions = draw_directions(rng, (plan.cells,), dimension, 2) * statistics.rms
    before = [plan.share_before / plan.rounds_before] * plan.rounds_before
    after = [(1 - plan.share_before) / plan.rounds_after] * plan.rounds_after if plan.rounds_after else []
    shares = divide_left([*before, *after])
    middle = plan.rounds_before
    _, rounds = run_rounds(access, directions, shares[:middle], _clean if spectral else compute_means)
    centres = merge_cells(rounds[-1], plan.active, access.radius, rng)
    if plan.rounds_after and len(centres):
        centres, more = run_rounds(access, centres, shares[middle:], trust_means)
        rounds += more
    return centres, rounds


def merge_cells(totals: Totals, clusters: int, radius: float, rng: np.random.Generator) -> Floats:
    """Return at most ``clusters`` centres: usable cells are merged by k-means on their means, weighted by noisy counts, and shrunk."""
    if totals.sums.shape[1] >= SPECTRAL_DIMENSIONS:
        totals = denoise_sums(totals)
        usable = totals.pick(totals.usable)
        labels = merge_points(compute_means(usable, radius), usable.counts, clusters, rng)
        return compute_means(usable.merge(labels, int(labels.max(initial=-1)) + 1), radius)
    usable = totals.pick(totals.usable)
    labels = merge_points(compute_means(usable, radius), usable.counts, clusters, rng)
    return trust_means(usable.merge(labels, int(labels.max(initial=-1)) + 1), radius)


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


def _clean(totals: Totals, radius: float) -> Floats:
    return compute_means(denoise_sums(totals), radius)
