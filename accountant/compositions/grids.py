"""Grids: on which lattice the laws of losses of a composition are put, so that a bound is as sharp as asked. Nothing here is trusted."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil, floor, inf, log2, log10, sqrt
from typing import Any

import numpy as np

from accountant.compositions.allocations import plan_allocation
from accountant.compositions.events import Direction
from accountant.compositions.shapes import LEAST_EPSILON, DiscretizedEvent, Shape, Side, to_three_digits
from profiles import exact_text
from profiles.arrays import Floats
from proofs_check.kernel.core.documents import require
from proofs_check.kernel.theories.compositions.lattices import MOST_CELLS

#: Levels of a grid differ by at least so many: a part of a law on each of them takes part in every product.
_STRIDE = 2
#: What a cell in the tail costs more than one in the bulk, for each squaring: what lies there meets the bulk anew.
_TAIL = 0.8
_COARSEST = 1e-4  # of the mean density: where there is less, cells do not grow
_FEWEST = 2  # digits of delta: of cells that are far wider than a law next to none are needed
_ROUNDING = 0.1  # the part of the gap that rounding may take
_FIRST, _LATER = 0.62, 0.25
#: Of units between two levels so many are tried; cells whose widths are levels have this part of the error of those that they stand for.
_UNITS, _LEVELLED = 8, 0.34
_WIDEST, _WIDER = 2.0, 0.1
_PASSES = 3
_FAR_TOO_MANY = 4 * MOST_CELLS
_COARSEST_LATTICE, _MOST_LEVEL = 256.0, 58
_LITTLE = 1e-2  # a unit is rounded to three digits
_RARE = 1e-3  # so few uses with a loss do not count


def plan(shape: Shape, side: Side, *, gap: Fraction, fineness: float = 1.0, finer: int = 0) -> dict[str, object]:
    """Return a grid in the words of a certificate, for sides that are about ``gap`` ε/fineness² apart.

    ``finer``: by so many halvings are the cells on which the steps of an epoch are added up.
    A cell of width h where a share s of the tilted law lies raises ε by count (exponent + 1) s h²/12; the number of cells is least for a
    given sum of these if h is the density of the shares to the power −1/3.
    """
    budget = float(gap) * max(shape.epsilon, float(LEAST_EPSILON)) / (shape.exponent + 1) / fineness**2
    aligned = next((part.ends for part in sorted(shape.parts, key=lambda p: -p.event.count) if part.ends is not None), None)
    cells = [_widths(part, shape, budget / len(shape.parts), 1.0 if side.up else 1.5, aligned) for part in shape.parts]
    few = min(_ROUNDING * budget * (shape.exponent + 1) ** 2, _ROUNDING)  # what part of δ the masses may be off by
    points = [float(np.sum(np.diff(part.places) / widths)) for part, widths in zip(shape.parts, cells, strict=True)]
    require(max(points) < _FAR_TOO_MANY, "the grid is too large")  # before it is written down
    uses = sum(part.event.count * number for part, number in zip(shape.parts, points, strict=True))
    digits = ceil(max(log10(4 * uses / few), _FEWEST) + log10(side.delta.denominator) - log10(side.delta.numerator))
    if aligned is None:
        finest, cells = _fit_levels(shape.parts, cells)
        unit = to_three_digits(finest)
    else:
        unit = aligned[1] - aligned[0]
        finest = min(float(np.min(widths)) for widths in cells)
        unit = unit if unit.denominator < 10**40 else Fraction(floor(unit * 10**40), 10**40)
        unit /= 2 ** max(0, ceil(log2(float(unit) / finest)))  # so that atoms stay on the grid when the cells double
    step = Fraction(1, 10**digits)  # atoms lie just above points of the grid
    entries = list[dict[str, object]]()
    for part, widths in zip(shape.parts, cells, strict=True):
        linear = plan_allocation(part.event, float(side.delta), remove=side.direction is Direction.REMOVE, up=side.up, finer=finer)
        if part.ends is None:
            offset = part.edge
            low, high = (Fraction(float(part.places[i])) for i in (0, -1))
        else:
            offset = Fraction(floor(part.ends[0] / step)) * step - step
            low, high = offset, part.ends[1] - 2 * step
        first, last = floor((low - offset) / unit), ceil((high - offset) / unit)
        last = max(last, first + 1)
        start, steps = _steps(first, last, (part.places - float(offset)) / float(unit), widths / float(unit), whole=part.ends is not None)
        exact = part.ends is None or aligned is None or part.ends[1] - part.ends[0] == aligned[1] - aligned[0]
        least = _LATER * budget / len(shape.parts) * (1.0 if side.up else 2.25)
        floors = _floors(part, shape, unit, widths, least, exact=exact)
        entries.append(
            {"offset": exact_text(offset), "start": start, "steps": steps, "floors": floors}
            | ({} if part.order is None else {"order": exact_text(part.order)})
            | ({} if linear is None else {"linear": linear})
        )
    return {"digits": digits, "unit": exact_text(unit), "tails": [exact_text(tail) for tail in side.tails], "events": entries}


def _widths(part: DiscretizedEvent, shape: Shape, budget: float, factor: float, aligned: tuple[Fraction, Fraction] | None) -> Floats:
    """Return how wide cells are in each interval of a part; the lattice is made for atoms at the ends ``aligned``."""
    _, shares, atoms = part.tilt(shape.exponent)
    widths, count = np.diff(part.places), part.event.count
    wide = np.full(len(widths), float(part.places[-1] - part.places[0]))
    if np.sum(shares) > 0:
        wide = _widths_of_density(part, shape, shares, budget, factor)
    for end, share in zip(part.ends or (), atoms, strict=False):
        near = np.minimum(np.abs(part.places[:-1] - float(end)), np.abs(part.places[1:] - float(end)))
        if aligned is not None and part.ends is not None and part.ends[1] - part.ends[0] != aligned[1] - aligned[0]:  # off the lattice
            little = max(sqrt(12 * _FIRST * budget / count), _FIRST * budget * (shape.exponent + 1) / count)  # a cell moves it by its width
            wide = np.minimum(wide, np.maximum(little, near / 2))
        if np.sum(shares) > 0 and count * share >= _RARE:  # what shares a cell with an atom is taken for a part of it
            wide = np.minimum(wide, np.maximum(max(budget * (shape.exponent + 1) / (8 * count), 1 / shape.exponent), near / 2))
    if part.ends is not None and len(shape.parts) > 1:  # the laws of other events are brought to the level of an atom
        wide = np.minimum(wide, max(sqrt(8 * _LATER * budget), _LATER * budget * (shape.exponent + 1)))
    return np.array(wide)


def _widths_of_density(part: DiscretizedEvent, shape: Shape, shares: Floats, budget: float, factor: float) -> Floats:
    widths, count = np.diff(part.places), part.event.count
    peak = widths[np.argmax(part.masses)] * 8
    middle, bulk = (part.places[:-1] + part.places[1:]) / 2, part.places[np.argmax(part.masses)]
    away = np.abs(middle - bulk)
    spread = float(np.sum(part.masses * away**2, where=away <= peak) / np.sum(part.masses, where=away <= peak))
    floor_of = _COARSEST * float(np.sum(shares) / np.sum(widths))
    times = np.ones(len(widths))
    for _ in range(_PASSES):
        density = np.maximum(shares / widths, floor_of) * count * times
        shape_of = density ** (-1 / 3)
        error = float(np.sum(count * shares * times * shape_of**2)) / 12
        wide = shape_of * sqrt(_FIRST * budget / error) * factor
        meetings = np.log2(count * spread / wide**2)  # of what lies in the tail with a bulk that is as wide as its cell
        times = np.where(away > peak, np.maximum(_TAIL * np.minimum(meetings, count.bit_length()), 1.0), 1.0)
    most = _WIDEST + _WIDER * budget * (shape.exponent + 1)
    return np.array(np.minimum(wide, most))


def _fit_levels(parts: Sequence[DiscretizedEvent], cells: Sequence[Floats]) -> tuple[float, list[Floats]]:
    """Return a unit, and widths that are a power of 2^_STRIDE of it instead of those of ``cells``, with few points for their error.

    Widths w for which points cost as much as they save have an error of h^2/w^3 along the line where cells are h wide, and 1/h points.
    """
    lengths, wanted = np.concatenate([np.diff(part.places) for part in parts]), np.concatenate(list(cells))
    best, unit, times = inf, 1.0, 1.0
    for k in range(_UNITS):
        base = float(np.min(wanted)) * 2.0 ** (k * _STRIDE / _UNITS)
        levelled = _to_levels(wanted, base)
        points, error = float(np.sum(lengths / levelled)), float(np.sum(lengths * levelled**2 / wanted**3))
        if points * sqrt(error) < best:
            best, unit, times = points * sqrt(error), base, sqrt(_LEVELLED * float(np.sum(lengths / wanted)) / error)
    made = [_to_levels(widths, unit) * times for widths in cells]
    finest = min(float(np.min(widths)) for widths in made)
    return finest, made


def _to_levels(widths: Floats, unit: float) -> Floats:
    return np.array(unit * 2.0 ** (np.floor(np.log2(widths / unit) / _STRIDE) * _STRIDE))


def _floors(part: DiscretizedEvent, shape: Shape, unit: Fraction, widths: Floats, budget: float, *, exact: bool) -> list[int]:
    """Return the level below which nothing stays after each squaring: what is lost is about the same each time, and ``budget`` in all.

    After k squarings cells of a width h raise ε by count 2^−k (exponent + 1) h²/8, at most by half of them, but for what has such cells
    already, or still lies at a place of the lattice: at the edge, or at an end. The laws of other events are brought to these cells once.
    """
    shares = np.maximum(part.tilt(shape.exponent)[1], part.masses)  # what shares a place with an atom is taken for a part of it
    count, most = part.event.count, floor(log2(float(part.ends[1] - part.ends[0]) / float(unit))) + 0.5 if part.ends else 60.0
    middle = (part.places[:-1] + part.places[1:]) / 2
    away = np.min([np.abs(middle - float(x)) for x in part.ends or (part.edge,)], axis=0)
    losses = list[tuple[int, float, float]]()  # of each level that is lifted to: what moves, and by how much it raises ε
    for level in range(_STRIDE, _MOST_LEVEL, _STRIDE):
        h = float(unit) * 2.0**level
        if h > _COARSEST_LATTICE:
            break
        moved = float(np.sum(shares * np.minimum(away / h, 1.0) * (widths < h))) if exact and level <= most else 1.0
        losses.append((level, moved, min(h * h / 8, h / 2 / (shape.exponent + 1))))
    once, floors, spent = budget, list[int](), 2 * budget
    while spent > budget:
        floors, spent = [0], 0.0
        for k in range(1, count.bit_length()):
            done = count >> (count.bit_length() - 1 - k)
            uses = (1.0 + done % 2) / done  # so many powers are lifted, and the law of one use with some of them
            allowed = [
                (level, lost)
                for level, moved, h in losses
                if (lost := max(count * min(uses, moved), float(len(shape.parts) > 1)) * h) <= once and level > floors[-1]
            ]
            floors.append(allowed[-1][0] if allowed else floors[-1])
            spent += allowed[-1][1] if allowed else 0.0
        once /= 1.5
    return floors[1:]


def _steps(first: int, last: int, places: Floats, widths: Floats, *, whole: bool) -> tuple[int, list[list[int]]]:
    """Return the first place, and levels and numbers of equal steps, as wide as they may be, to the last place or, if not whole, beyond."""
    levels = [max(0, floor(log2(w) + _LITTLE) // _STRIDE * _STRIDE) if w > 1 else 0 for w in widths]

    ends = places.tolist()

    def most(low: int, high: int) -> int:
        i, j = bisect_right(ends, low) - 1, bisect_left(ends, high)
        return min(levels[max(i, 0) : max(j, 1)] or [levels[-1]])

    begin = levels[0]
    at = start = first >> begin << begin
    steps = list[list[int]]()
    while at < last:
        level = min(max(most(at, at + 1), 0), _MOST_LEVEL)
        while level and (at % (1 << level) or (whole and at + (1 << level) > last) or most(at, at + (1 << level)) < level):
            level -= min(_STRIDE, level)
        if steps and steps[-1][0] == level:
            steps[-1][1] += 1
        else:
            steps.append([level, 1])
        at += 1 << level
    return start, steps


def count_points(grid: Mapping[str, Any]) -> int:
    """Return the number of points of a grid."""
    return sum(number for entry in grid["events"] for _, number in entry["steps"])
