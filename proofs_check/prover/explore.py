"""Branch and bound in ball arithmetic: decides a goal on a box, or finds a point that violates it, or says what is left.

A half-infinite range [a, ∞) is explored through u = a/x in (0, 1] (a > 0) or u = 1/(1 + x − a); pieces that reach infinity are
never decided here and are reported as the tail, which needs an argument of its own.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any

from flint import arb, fmpq

from profiles.balls import ball, working_precision
from profiles.errors import InvalidExpression
from profiles.terms import Term
from profiles.variables import Variable
from proofs_check.enclosures import Enclosure
from proofs_check.prover.effort import spend
from proofs_check.prover.goals import Goal
from proofs_check.prover.points import telling_points

TAIL = fmpq(1, 2**60)
CONFIRM_BITS = 256
#: What a box and a point cost a search, beside a unit for each step of the term.
BOX, POINT = 30, 8


class GoalStatus(Enum):
    """What an exploration by branch and bound found out about a goal."""

    HOLDS = "holds"
    HOLDS_BEFORE_TAIL = "holds before the tail"
    VIOLATED = "violated"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Exploration:
    """What is known of the goal, the number of boxes looked at, and a violating point if there is one."""

    status: GoalStatus
    boxes: int
    witness: dict[str, Fraction] | None = None


class _Axis:
    """The range of a variable and a coordinate on it; for infinite ranges u in (0, 1] decreases from infinity to the lower end."""

    __slots__ = ("ends", "infinite", "lo", "open_below", "variable")

    def __init__(self, variable: Variable) -> None:
        self.variable, self.infinite, self.open_below = variable, variable.hi is None, variable.open_below
        self.lo = _rational(variable.lo)
        self.ends = (fmpq(0), fmpq(1)) if variable.hi is None else (self.lo, _rational(variable.hi))

    def value(self, u: Any) -> Any:
        """Return the value of the variable at a coordinate, lo/u or lo + 1/u − 1 where its range is infinite."""
        if not self.infinite:
            return u
        return self.lo / u if self.lo > 0 else self.lo + 1 / u - 1

    def reaches_tail(self, lo: Any, hi: Any) -> bool:
        """Tell whether a coordinate interval touches infinity, or the excluded end of an open range."""
        if not self.infinite:
            return self.open_below and lo == self.variable.lo
        return lo == 0 or (self.open_below and hi == 1)


#: Both ends of a coordinate interval for each axis, as FLINT's rationals, which are many times faster than fractions.
Cell = tuple[tuple[Any, Any], ...]


def _rational(value: Fraction) -> Any:
    return fmpq(value.numerator, value.denominator)


def explore(goal: Goal, *, budget: int = 1500, points: int = 1500, precision: int = 64) -> Exploration:
    """Decide ``goal`` by branch and bound within ``budget`` boxes, after about ``points`` simple points.

    Only balls decide; a violating point is confirmed at 256 bits. Raises nothing: a goal outside the grammar is undecided.
    """
    try:
        term = goal.term
    except InvalidExpression:
        return Exploration(GoalStatus.UNDECIDED, 0)
    enclosure, telling = Enclosure(term), telling_points(goal.expression, goal.box, points)
    violation = violating_point(enclosure, telling, strict=goal.strict)
    if violation is not None:
        return Exploration(GoalStatus.VIOLATED, 0, violation)
    axes = [_Axis(variable) for variable in goal.box]
    with working_precision(precision):
        return _branch(enclosure, axes, goal, budget)


def _branch(enclosure: Enclosure, axes: Sequence[_Axis], goal: Goal, budget: int) -> Exploration:
    root: Cell = tuple(axis.ends for axis in axes)
    order = itertools.count()
    queue: list[tuple[float, int, Cell, bool]] = [(0.0, next(order), root, True)]
    boxes, tail, cost = 0, False, BOX + 2 * enclosure.steps
    while queue:
        _, _, cell, doubtful = heapq.heappop(queue)
        spend(cost)
        if any(axis.reaches_tail(*side) for axis, side in zip(axes, cell, strict=True)):
            if _small_tail(axes, cell):
                tail = True
                continue
        else:
            boxes += 1
            value = enclosure.evaluate(_balls(axes, cell))
            if (value > 0) if goal.strict else (value >= 0):
                continue
            middle = {axis.variable.name: axis.value((lo + hi) / 2) for axis, (lo, hi) in zip(axes, cell, strict=True)}
            if doubtful and _fails(enclosure, middle, strict=goal.strict):
                return Exploration(
                    GoalStatus.VIOLATED, boxes, _shorten(enclosure, goal, {name: _fraction(q) for name, q in middle.items()})
                )
        if boxes >= budget or not axes:
            return Exploration(GoalStatus.UNDECIDED, boxes)
        for child in _bisect(cell, root):
            priority, in_doubt = _priority(enclosure, axes, child, strict=goal.strict)
            heapq.heappush(queue, (priority, next(order), child, in_doubt))
        boxes += 1
    return Exploration(GoalStatus.HOLDS_BEFORE_TAIL if tail else GoalStatus.HOLDS, boxes)


def _fraction(value: Any) -> Fraction:
    return Fraction(int(value.p), int(value.q))


def _small_tail(axes: Sequence[_Axis], cell: Cell) -> bool:
    return all(
        not axis.reaches_tail(lo, hi) or (hi <= TAIL if lo == 0 else hi - lo <= TAIL) for axis, (lo, hi) in zip(axes, cell, strict=True)
    )


def _priority(enclosure: Enclosure, axes: Sequence[_Axis], cell: Cell, *, strict: bool) -> tuple[float, bool]:
    """Return the value in the middle (most negative first, so that violations are met early), and whether the goal may fail there."""
    value = enclosure.evaluate({axis.variable.name: arb(axis.value((lo + hi) / 2)) for axis, (lo, hi) in zip(axes, cell, strict=True)})
    rank = float(value.mid())
    return rank if rank == rank else 0.0, not (value > 0 if strict else value >= 0)  # noqa: PLR0124


def _balls(axes: Sequence[_Axis], cell: Cell) -> dict[str, arb]:
    return {axis.variable.name: arb(axis.value(lo)).union(arb(axis.value(hi))) for axis, (lo, hi) in zip(axes, cell, strict=True)}


def _bisect(cell: Cell, root: Cell) -> Iterator[Cell]:
    widest, largest = 0, fmpq(-2)
    for index, ((lo, hi), (first, last)) in enumerate(zip(cell, root, strict=True)):
        share = (hi - lo) / (last - first) if last != first else fmpq(-1)
        if share > largest:
            widest, largest = index, share
    lo, hi = cell[widest]
    middle = (lo + hi) / 2
    for side in ((lo, middle), (middle, hi)):
        yield (*cell[:widest], side, *cell[widest + 1 :])


def violates(term: Term, point: dict[str, Fraction], *, strict: bool, precision: int = CONFIRM_BITS) -> bool:
    """Tell whether ball arithmetic certifies that term ≥ 0 (> 0 if strict) fails at the point."""
    return _violated(Enclosure(term), point, strict=strict, precision=precision)


def _violated(enclosure: Enclosure, point: dict[str, Fraction], *, strict: bool, precision: int = CONFIRM_BITS) -> bool:
    with working_precision(precision):
        value = enclosure.evaluate({name: ball(number) for name, number in point.items()})
        return bool(value <= 0) if strict else bool(value < 0)


def _fails(enclosure: Enclosure, point: dict[str, Any], *, strict: bool) -> bool:
    with working_precision(CONFIRM_BITS):
        value = enclosure.evaluate({name: arb(number) for name, number in point.items()})
        return bool(value <= 0) if strict else bool(value < 0)


def violating_point(enclosure: Enclosure, points: Sequence[dict[str, Fraction]], *, strict: bool) -> dict[str, Fraction] | None:
    """Return the first of ``points`` at which the goal for a term certainly fails, None if there is none."""
    known = dict[int, arb]()
    spend(len(points) * (POINT + enclosure.steps))
    with working_precision(CONFIRM_BITS):
        for point in points:
            box = {}
            for name, number in point.items():  # points share their numbers
                if id(number) not in known:
                    known[id(number)] = ball(number)
                box[name] = known[id(number)]
            value = enclosure.evaluate(box)
            if (value <= 0) if strict else (value < 0):
                return point
    return None


def _shorten(enclosure: Enclosure, goal: Goal, point: dict[str, Fraction]) -> dict[str, Fraction]:
    """Return a nearby violating point with few decimal digits where there is one."""
    for digits in (0, 1, 2, 3, 5, 8, 12):
        short = {name: Fraction(round(value * 10**digits), 10**digits) for name, value in point.items()}
        inside = all(variable.contains(short[variable.name]) for variable in goal.box)
        if inside and _violated(enclosure, short, strict=goal.strict):
            return short
    return point
