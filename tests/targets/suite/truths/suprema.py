"""Certified suprema over a real variable of log ratios of log-concave functions, by branch and bound with monotone derivatives."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from flint import arb

from profiles.balls import ball, upper_fraction
from tests.targets.suite.case import Nats
from tests.targets.suite.truths.sides import Side

TOLERANCE = Fraction(1, 10**10)
_MOST_CELLS = 20_000


@dataclass(frozen=True, slots=True)
class Point:
    """What is known at a point v about ℓ = linear + log A − log B, with log A and log B concave.

    ``linear`` is exact; ``logs`` encloses log A − log B, ``rise_top`` (log A)′ and ``rise_bottom`` (log B)′.
    """

    linear: Fraction
    logs: arb
    rise_top: arb
    rise_bottom: arb

    @property
    def value(self) -> arb:
        """ℓ(v)."""
        return ball(self.linear) + self.logs


@dataclass(frozen=True, slots=True)
class Cell:
    """An interval [start, stop] on which ``linear`` is affine, with its end points and an upper bound of ℓ on it."""

    start: Fraction
    stop: Fraction
    left: Point
    right: Point
    upper: Nats


def _make_cell(start: Fraction, stop: Fraction, left: Point, right: Point) -> Cell:
    """Bound ℓ on [start, stop] from both ends.

    The derivatives of concave functions decrease, so that on the cell ℓ′ = slope + (log A)′ − (log B)′ lies between
    slope + (log A)′(stop) − (log B)′(start) and slope + (log A)′(start) − (log B)′(stop). Hence ℓ ≤ ℓ(start) + max(0, sup ℓ′)·width, and
    likewise from the other end.
    """
    width = stop - start
    slope = (right.linear - left.linear) / width
    rising = upper_fraction((ball(slope) + left.rise_top - right.rise_bottom) * ball(width))
    falling = upper_fraction((left.rise_bottom - right.rise_top - ball(slope)) * ball(width))
    bounds = [
        at + max(Fraction(0), change)
        for at, change in ((upper_fraction(left.value), rising), (upper_fraction(right.value), falling))
        if at is not None and change is not None
    ]
    return Cell(start, stop, left, right, min(bounds, default=math.inf))


def find_supremum(evaluate: Callable[[Fraction], Point], ends: Sequence[Fraction]) -> Side:
    """Return bounds of sup ℓ over [ends[0], ends[-1]], where ``linear`` is affine between neighboring ends.

    Stops where the bounds are within :data:`TOLERANCE`, or after many cells with what is known then.
    """
    points = [evaluate(end) for end in ends]
    lower: Nats = max(Side.of_ball(point.value).lower for point in points)
    cells = [_make_cell(*pair, *values) for pair, values in zip(pairwise(ends), pairwise(points), strict=True)]
    heap = [(-cell.upper, i, cell) for i, cell in enumerate(cells)]
    heapq.heapify(heap)
    made = len(heap)
    while made < _MOST_CELLS and -heap[0][0] > lower + TOLERANCE:
        _, _, cell = heapq.heappop(heap)
        middle = (cell.start + cell.stop) / 2
        point = evaluate(middle)
        lower = max(lower, Side.of_ball(point.value).lower)
        for half in (_make_cell(cell.start, middle, cell.left, point), _make_cell(middle, cell.stop, point, cell.right)):
            heapq.heappush(heap, (-half.upper, made, half))
            made += 1
    return Side(lower, max(lower, -heap[0][0]))
