"""The error of each answer: the standard error and the 95 % interval of the noise, before a release and after it. Public numbers alone.

Before it, the noise of a mean or a variance is told for a number of rows that is declared, or per row. After it the interval is one of
post-processing: if the noise of each part is within its radius, and the chance that one is not is at most 1/20 in all, the value
without noise lies in the interval. It says nothing of how a sample stands for a population, nor of what clips have cut off.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from accountant.applications.answers.laws import TAIL, PartNoise
from accountant.applications.answers.parts import Needs, PartKind
from accountant.applications.answers.requests import Mean, Quantile, Variance
from profiles.numbers import nearest, round_down, round_up


@dataclass(frozen=True, slots=True)
class Estimate:
    """One number that is released: its ``value``, the standard error of its noise (None of a quantile), and the ends of the interval.

    Of a quantile the ends are ranks: the point lies within so many rows of the best point of its grid.
    """

    value: int | float
    error: float | None
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ReleasedAnswer:
    """One answer: its ``name``, the ``group`` and the ``category`` that it is about, and the number with its error."""

    name: str
    group: tuple[str | int, ...]
    category: str | int | None
    estimate: Estimate

    @property
    def value(self) -> int | float:
        return self.estimate.value

    @property
    def standard_error(self) -> float | None:
        """Of the noise, rounded up; None of a quantile."""
        return self.estimate.error

    @property
    def interval(self) -> tuple[float, float]:
        """The ends of the 95 % interval of the noise; of a quantile, how many ranks its point may be off."""
        return self.estimate.low, self.estimate.high

    def to_json(self, columns: Sequence[str]) -> dict[str, Any]:
        """Return the answer as JSON types; ``columns``: those of the groups."""
        told: dict[str, Any] = {"answer": self.name}
        if self.group:
            told["group"] = dict(zip(columns, self.group, strict=True))
        if self.category is not None:
            told["category"] = self.category
        interval = "rank_interval_95" if self.standard_error is None else "interval_95"
        return told | {"value": self.value, "standard_error": self.standard_error, interval: list(self.interval)}


def expect_error(item: Needs, noises: Sequence[PartNoise], rows: float | None) -> tuple[float | None, float, str]:
    """Return the standard error and the radius of the 95 % interval of an answer before it is released, and in which unit.

    ``noises``: those of its parts; ``rows``: about how many rows there are, None where it is not declared: then errors of means are those
    of their sums, which the number of rows divides. Means are taken to be at the middle of the clip, where the number of rows adds nothing.
    """
    first = noises[0]
    if isinstance(item.request, Quantile):
        return None, first.radius(), "rows, in rank"
    if isinstance(item.request, (Mean, Variance)):
        noise = first if isinstance(item.request, Mean) else noises[1]
        if rows is None:
            return noise.deviation, noise.radius(TAIL), "/ rows"
        return noise.deviation / rows, noise.radius(TAIL) / rows, ""
    return first.deviation, first.radius(), ""


def estimate(item: Needs, noises: Sequence[PartNoise], values: Sequence[int | float]) -> Estimate:
    """Return what is released of one cell: the noisy ``values`` of its parts, put together, with the error of their noise."""
    if isinstance(item.request, (Mean, Variance)):
        return _estimate_moment(item, noises, [float(value) for value in values])
    (noise, *_), (value, *_) = noises, values
    if noise.part.kind is PartKind.CHOICE:
        return Estimate(value, None, -noise.radius(), noise.radius())
    radius = noise.radius()
    return Estimate(value, noise.deviation, _below(value, radius), _above(value, radius))


def _below(value: float, radius: float) -> float:
    end = float(value) - radius
    return end if float(value).is_integer() and radius.is_integer() else math.nextafter(end, -math.inf)


def _above(value: float, radius: float) -> float:
    return -_below(-value, radius)


def _estimate_moment(item: Needs, noises: Sequence[PartNoise], values: Sequence[float]) -> Estimate:
    clip, part = noises[0].part.clip, noises[0].part
    low, high = (0.0, 0.0) if clip is None else (round_down(clip.low), round_up(clip.high))
    radii = [noise.radius(TAIL / len(noises)) for noise in noises]
    rows, spread = values[-1], radii[-1]
    middle, radius = nearest(part.middle), round_up(part.reach)
    mean_of = _ratio(values[0], radii[0], rows, spread, radius)
    error = _ratio_error(values[0], noises[0].deviation, rows, noises[-1].deviation, radius)
    if isinstance(item.request, Mean):
        return _within(Estimate(middle + mean_of[0], error, middle + mean_of[1], middle + mean_of[2]), low, high)
    half = round_up(noises[1].part.reach)
    of_squares = _ratio(values[1], radii[1], rows, spread, half)
    squared = sorted((mean_of[1] ** 2, mean_of[2] ** 2))
    if mean_of[1] <= 0 <= mean_of[2]:
        squared[0] = 0.0
    value = of_squares[0] + half - mean_of[0] ** 2
    of_both = _ratio_error(values[1], noises[1].deviation, rows, noises[-1].deviation, half)
    moment = Estimate(value, of_both + 2 * abs(mean_of[0]) * error, of_squares[1] + half - squared[1], of_squares[2] + half - squared[0])
    return _within(moment, 0.0, radius**2)


def _ratio(total: float, radius: float, rows: float, spread: float, most: float) -> tuple[float, float, float]:
    """Return total/rows and the least and the largest such number where both are off by their radii, all within ±``most``."""
    value = min(max(total / max(rows, 1.0), -most), most)
    least = rows - spread
    if least < 1:
        return value, -most, most
    ends = [(total + side) / count for side in (-radius, radius) for count in (least, rows + spread)]
    return value, max(min(ends) * (1 - 1e-15) if min(ends) > 0 else min(ends) * (1 + 1e-15), -most), min(max(ends) * (1 + 1e-15), most)


def _ratio_error(total: float, deviation: float, rows: float, spread: float, most: float) -> float:
    """Return the first-order standard error of total/rows, at most the width of what it can be."""
    count = max(rows, 1.0)
    return min(math.hypot(deviation, min(abs(total) / count, most) * spread) / count, 2 * most)


def _within(estimate: Estimate, low: float, high: float) -> Estimate:
    def inside(value: float) -> float:
        return min(max(value, low), high)

    return Estimate(inside(estimate.value), estimate.error, inside(estimate.low), inside(estimate.high))
