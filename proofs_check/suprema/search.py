"""Where might the worst record be? Heuristic on purpose: nothing here is trusted, ``branch`` proves what it finds."""

from __future__ import annotations

from fractions import Fraction

from proofs_check.branch_and_bound import Box, Point, SearchedTerm

_STEPS = {1: 64, 2: 14, 3: 6}
_GOLDEN = Fraction(381_966, 1_000_000)
_DIGITS = 17


def guess_maximiser(objective: SearchedTerm, box: Box) -> Point:
    """Return the best record of a coarse grid, improved by coordinate-wise golden sections."""
    best: Point | None = None
    score = float("-inf")
    for point in _grid(box):
        value = _float(objective, point)
        if best is None or value > score:
            best, score = point, value
    return improve(objective, box, best or {name: lo for name, (lo, _) in box.items()})


def improve(objective: SearchedTerm, box: Box, start: Point) -> Point:
    """Return a record near ``start`` with a value that is not smaller."""
    point = dict(start)
    steps = _STEPS.get(len(box), 3)
    wide = [name for name, (lo, hi) in box.items() if lo < hi]
    for sweep in range(1 if len(wide) == 1 else 4):
        for name in wide:
            lo, hi = box[name]
            reach = (hi - lo) / steps / 8**sweep
            point = _golden(objective, point, name, (max(lo, point[name] - reach), min(hi, point[name] + reach)))
    return point


def _golden(objective: SearchedTerm, start: Point, name: str, bracket: tuple[Fraction, Fraction]) -> Point:
    lo, hi = bracket
    ends = [start, {**start, name: lo}, {**start, name: hi}]
    for _ in range(48):
        width = hi - lo
        left, right = _shorten(lo + _GOLDEN * width, width, (lo, hi)), _shorten(hi - _GOLDEN * width, width, (lo, hi))
        if not lo < left < right < hi:
            break
        if objective.at({**start, name: left}).mid() < objective.at({**start, name: right}).mid():
            lo = left
        else:
            hi = right
    ends += [{**start, name: _shorten((lo + hi) / 2, hi - lo, (lo, hi))}]
    values = [objective.at(point).mid() for point in ends]
    best = 0
    for index, value in enumerate(values):
        if value > values[best]:
            best = index
    return ends[best]


def _shorten(value: Fraction, width: Fraction, bracket: tuple[Fraction, Fraction]) -> Fraction:
    """Round to few decimals, but far finer than ``width``; witnesses are read by people."""
    if width == 0 or value == 0:
        return value
    places = max(0, min(_DIGITS, len(str(width.denominator // width.numerator + 1)) + 2))
    rounded = Fraction(round(value * 10**places), 10**places)
    return rounded if bracket[0] <= rounded <= bracket[1] else value


def _grid(box: Box) -> list[Point]:
    steps = _STEPS.get(len(box), 2)
    points: list[Point] = [{}]
    for name, (lo, hi) in box.items():
        axis = [lo] if lo == hi else [lo + (hi - lo) * Fraction(k, steps) for k in range(steps + 1)]
        points = [{**point, name: value} for point in points for value in axis][:6_000]
    return points


def _float(objective: SearchedTerm, point: Point) -> float:
    value = objective.at(point)
    return float(value.mid()) if value.is_finite() else float("-inf")
