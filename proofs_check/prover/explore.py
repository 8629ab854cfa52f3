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
from functools import lru_cache
from typing import Any

import sympy
from flint import arb, fmpq

from profiles.balls import ball, working_precision
from profiles.errors import InvalidExpression
from profiles.terms import Term
from profiles.variables import Variable
from proofs_check.enclosures import Enclosure
from proofs_check.prover.algebra import critical_centres
from proofs_check.prover.effort import spend, until_failure
from proofs_check.prover.goals import Goal
from proofs_check.prover.sizes import is_modest

TAIL = fmpq(1, 2**60)
CONFIRM_BITS = 256
#: What a box and a point cost a search, beside a unit for each step of the term.
BOX, POINT = 30, 8


#: Narrow bumps and dips are looked for around this many zeros and extrema of polynomials of this degree at most, at these distances.
MOST_CENTRES, MAX_DEGREE = 8, 6
SCALES = tuple(Fraction(1, 10**power) for power in range(8))
SHARES = (Fraction(1), Fraction(1, 2), Fraction(1, 5))


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
    violation = violating_point(term, telling_points(goal.expression, goal.box, points), strict=goal.strict)
    if violation is not None:
        return Exploration(GoalStatus.VIOLATED, 0, violation)
    axes = [_Axis(variable) for variable in goal.box]
    enclosure = Enclosure(term)
    with working_precision(precision):
        return _branch(enclosure, term, axes, goal, budget)


def _critical_points(expression: sympy.Expr, box: Sequence[Variable]) -> Iterator[dict[str, Fraction]]:
    for variable in box:
        values = _critical_values(expression, variable)
        others = candidates([other for other in box if other is not variable], 8) if values else []
        yield from ({**point, variable.name: value} for point in others for value in values)


def _branch(enclosure: Enclosure, term: Term, axes: Sequence[_Axis], goal: Goal, budget: int) -> Exploration:
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
                return Exploration(GoalStatus.VIOLATED, boxes, _shorten(term, goal, {name: _fraction(q) for name, q in middle.items()}))
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


def candidates(box: Sequence[Variable], limit: int = 1500) -> list[dict[str, Fraction]]:
    """Return points worth trying first: ends, simple interior points, and widely spread values on infinite ranges."""
    names, choices = [variable.name for variable in box], [_values(variable) for variable in box]
    return [
        {name: values[place] for name, values, place in zip(names, choices, places, strict=True)}
        for places in _spread(tuple(map(len, choices)), limit)
    ]


@lru_cache(maxsize=256)
def _spread(sizes: tuple[int, ...], limit: int) -> tuple[tuple[int, ...], ...]:
    """Return the places in lists of ``sizes`` values whose points are tried: half of them first of all, the others spread over the rest."""
    ranked = sorted(itertools.islice(itertools.product(*map(range, sizes)), 40 * limit), key=sum)
    first, rest = ranked[: limit // 2], ranked[limit // 2 :]
    step = -(-len(rest) // max(1, limit - limit // 2))
    return (*first, *rest[::step]) if rest else tuple(first)


def telling_points(expression: sympy.Expr, box: Sequence[Variable], limit: int) -> list[dict[str, Fraction]]:
    """Return candidates, and points at which parts of an expression are zero or least: an equality may hold at such a point only."""
    return [*candidates(box, limit), *until_failure(_critical_points(expression, box))]


def _critical_values(expression: sympy.Expr, variable: Variable) -> list[Fraction]:
    """Return short numbers in the range of a variable at and around which a narrow bump or dip of an expression may lie.

    Centres are zeros and extrema of polynomials in that variable alone that are arguments of functions, bases of powers, denominators, or
    the whole. First come the centres, then points around each at all scales down to 1e-7.
    """
    symbol = next((symbol for symbol in expression.free_symbols if symbol.name == variable.name), None)
    if symbol is None or not is_modest(expression):
        return []
    centres: dict[Fraction, None] = {}
    for inner in _inner_expressions(expression, symbol):
        for root in critical_centres(inner, symbol, MAX_DEGREE):
            if variable.contains(root) and root != variable.lo:
                centres[root] = None
    values: dict[Fraction, None] = {}
    for offset in (Fraction(0), *(scale * share for scale in SCALES for share in SHARES)):
        for centre in list(centres)[:MOST_CENTRES]:
            for value in (centre + offset, centre - offset):
                if variable.contains(value):
                    values[value] = None
    return list(values)


def _inner_expressions(expression: sympy.Expr, symbol: sympy.Symbol) -> Iterator[sympy.Expr]:
    seen: set[sympy.Expr] = set()
    for node in (None, *sympy.preorder_traversal(expression)):
        inner = expression if node is None else node.args[0] if isinstance(node, (sympy.Pow, sympy.Function)) and node.args else None
        if isinstance(inner, sympy.Expr) and inner not in seen and inner.free_symbols == {symbol}:
            seen.add(inner)
            yield inner


def _values(variable: Variable) -> list[Fraction]:
    lo, hi = variable.lo, variable.hi
    if hi is None and lo == 0 and variable.open_below:
        return [Fraction(1), Fraction(1, 10), Fraction(10), Fraction(1, 1000), Fraction(1000), Fraction(1, 10**6), Fraction(10**6)]
    if hi is None:
        offsets = (0, 1, Fraction(1, 2), 2, 4, 9, Fraction(1, 100), 99, 999, *(10**power for power in range(6, 31, 3)), 10**100, 10**301)
        return [lo + offset for offset in offsets]
    shares = (Fraction(0), Fraction(1), Fraction(1, 2), Fraction(1, 4), Fraction(3, 4), Fraction(1, 100), Fraction(99, 100))
    middle = [Fraction(0)] if lo < 0 < hi else []
    values = dict.fromkeys([*middle, *(lo + share * (hi - lo) for share in shares)])
    return [value for value in (*values, lo + (hi - lo) / 10**6) if value != lo] if variable.open_below else list(values)


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


def violating_point(term: Term, points: Sequence[dict[str, Fraction]], *, strict: bool) -> dict[str, Fraction] | None:
    """Return the first of ``points`` at which the goal certainly fails, None if there is none."""
    enclosure, known = Enclosure(term), dict[int, arb]()
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


def _shorten(term: Term, goal: Goal, point: dict[str, Fraction]) -> dict[str, Fraction]:
    """Return a nearby violating point with few decimal digits where there is one."""
    for digits in (0, 1, 2, 3, 5, 8, 12):
        short = {name: Fraction(round(value * 10**digits), 10**digits) for name, value in point.items()}
        inside = all(variable.contains(short[variable.name]) for variable in goal.box)
        if inside and violates(term, short, strict=goal.strict):
            return short
    return point
