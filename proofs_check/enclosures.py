"""Enclosures of terms in ball arithmetic (Arb through python-flint).

Statement: where a term is defined and real at every point of a box, :meth:`Enclosure.evaluate` returns a ball that contains all its
values there. Definedness itself is proved elsewhere; an operation that may be undefined on the box gives an infinite or NaN ball,
which satisfies no comparison, so that nothing is ever proved from it.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

from flint import arb, fmpq

from profiles.balls import ball
from profiles.evaluation import Program, Step
from profiles.numbers import nearest
from profiles.tables import Table
from profiles.terms import Term

__all__ = ["Enclosure", "Gradient"]

#: Balls around partial derivatives, one for each name; None stands for a function that is constant in that name.
Gradient = list[arb | None]


class TableEnclosure:
    """Enclosures of a piecewise-linear table by its lines: by those that a ball may touch, found by binary64 numbers near their ends."""

    __slots__ = ("_near", "_points", "_slopes")

    def __init__(self, table: Table) -> None:
        self._points = [(_rational(x), _rational(y)) for x, y in table.points]
        self._slopes = [_rational(slope) for slope in table.slopes]
        self._near = [nearest(knot) for knot in table.knots]

    def _touched(self, x: arb) -> Iterator[tuple[int, arb, arb]]:
        """Yield (index, from, to): every point of the ball lies between ``from`` and ``to`` on one of these lines."""
        low, high = x.lower(), x.upper()
        # rounding is monotone, so that a knot with a smaller binary64 number is smaller; one more line on either side for safety
        first = max(bisect.bisect_left(self._near, float(low)) - 1, 0)
        last = min(bisect.bisect_right(self._near, float(high)) + 1, len(self._slopes) - 1)
        for index in range(first, last + 1):
            left, right = arb(self._points[index][0]), arb(self._points[index + 1][0])
            if (index > 0 and left > high) or (index < len(self._slopes) - 1 and right < low):
                continue
            begin = low if index == 0 or left < low else left
            end = high if index == len(self._slopes) - 1 or right > high else right
            yield index, begin, end

    def _at(self, index: int, x: arb) -> arb:
        at, y = self._points[index]
        return arb(y) + arb(self._slopes[index]) * (x - arb(at))

    def value(self, x: arb) -> arb:
        """Return a ball around the values at all points of a ball."""
        if not x.is_finite():
            return arb.nan()
        touched = list(self._touched(x))
        if len(touched) == 1:
            return self._at(touched[0][0], x)
        result = None
        for index, begin, end in touched:
            part = self._at(index, begin).union(self._at(index, end))
            result = part if result is None else result.union(part)
        return arb.nan() if result is None else result

    def slope(self, x: arb) -> arb:
        """Return a ball around all difference quotients between points of a ball."""
        if not x.is_finite():
            return arb.nan()
        result = None
        for index, _, _ in self._touched(x):
            slope = arb(self._slopes[index])
            result = slope if result is None else result.union(slope)
        return arb.nan() if result is None else result


def _rational(value: Fraction) -> fmpq:
    return fmpq(value.numerator, value.denominator)


@lru_cache(maxsize=64)
def enclose_table(table: Table) -> TableEnclosure:
    """Return the enclosure of a table, made once for equal tables."""
    return TableEnclosure(table)


class Enclosure(Program):
    """A term compiled for repeated evaluation on boxes; equal subterms are evaluated once per box."""

    __slots__ = ("_operations",)

    def __init__(self, term: Term) -> None:
        super().__init__(term)
        self._operations = [(head, _OPERATIONS[head], arguments, payload) for head, arguments, payload in self._steps]

    def _step(self, term: Term) -> Step:
        return ("num", (), _rational(term[1])) if term[0] == "num" else super()._step(term)

    @property
    def steps(self) -> int:
        """How many operations an evaluation takes."""
        return len(self._operations)

    def evaluate(self, box: Mapping[str, arb]) -> arb:
        """Return a ball that contains the term's values for all points of ``box`` (name → ball)."""
        values: list[arb] = []
        for _, operation, arguments, payload in self._operations:
            values.append(operation(values, arguments, payload, box))
        return values[-1]

    def evaluate_with_gradient(self, box: Mapping[str, arb], names: Sequence[str]) -> tuple[arb, Gradient]:
        """Return a ball around the values on ``box`` and balls around the partial derivatives in ``names``, by forward differentiation.

        Statement: where the balls g_i are finite, f(y) − f(x) lies in Σ g_i (y_i − x_i) for any two points x, y of the box that differ in
        ``names`` only. For smooth operations g_i encloses ∂_i f. For Abs, Min and Max of which two branches may be taken, it encloses the
        hull of the derivatives of both (Clarke's generalised gradient; Lebourg's mean value theorem). An undecided Piecewise may jump, so
        that its gradient is NaN, and so is that of a floor or ceiling that may take two values.
        """
        values: list[arb] = []
        gradients: list[Gradient] = []
        flat: Gradient = [None] * len(names)
        for head, operation, arguments, payload in self._operations:
            result = operation(values, arguments, payload, box)
            if head == "sym":
                gradient: Gradient = [arb(1) if payload == name else None for name in names] if payload in names else flat
            elif head == "piecewise":
                gradient = _piecewise_gradient(arguments, payload, values, gradients)
            else:
                gradient = flat
                for place in arguments:
                    if gradients[place] is not flat:
                        x, dx = [values[index] for index in arguments], [gradients[index] for index in arguments]
                        gradient = _differentiate(head, x, dx, payload, result)
                        break
            values.append(result)
            gradients.append(gradient)
        return values[-1], gradients[-1]

    def evaluate_with_slope(self, box: Mapping[str, arb], name: str) -> tuple[arb, arb]:
        """Return balls around the values and around the derivative in one variable: :meth:`evaluate_with_gradient` for one name."""
        value, (slope,) = self.evaluate_with_gradient(box, (name,))
        return value, arb(0) if slope is None else slope


def _scaled(factor: arb, gradient: Gradient) -> Gradient:
    return [None if entry is None else factor * entry for entry in gradient]


def _divided(gradient: Gradient, by: arb) -> Gradient:
    return [None if entry is None else entry / by for entry in gradient]


def _added(left: Gradient, right: Gradient) -> Gradient:
    return [b if a is None else a if b is None else a + b for a, b in zip(left, right, strict=True)]


def _hull(left: Gradient, right: Gradient) -> Gradient:
    return [None if a is None and b is None else (a or arb(0)).union(b or arb(0)) for a, b in zip(left, right, strict=True)]


def _unknown(gradient: Gradient) -> Gradient:
    return [None if entry is None else arb.nan() for entry in gradient]


def _differentiate(head: str, x: Sequence[arb], dx: Sequence[Gradient], payload: Any, result: arb) -> Gradient:
    """Return the gradient of one operation from the values and gradients of its arguments; ``result`` is its value."""
    gradient = dx[0]
    match head:
        case "add":
            for slopes in dx[1:]:
                gradient = _added(gradient, slopes)
            return gradient
        case "mul":
            product = x[0]
            for index in range(1, len(x)):
                gradient = _added(_scaled(x[index], gradient), _scaled(product, dx[index]))
                product = product * x[index] if index + 1 < len(x) else product
            return gradient
        case "neg":
            return _scaled(arb(-1), gradient)
        case "div":
            return _divided(_added(gradient, _scaled(-result, dx[1])), x[1])
        case "pow":
            return _power_gradient(x, dx, payload, result)
        case "exp":
            return _scaled(result, gradient)
        case "log":
            return _divided(gradient, x[0])
        case "sqrt":
            return _divided(gradient, 2 * result) if x[0] > 0 else _unknown(gradient)
        case "sin":
            return _scaled(x[0].cos(), gradient)
        case "cos":
            return _scaled(-x[0].sin(), gradient)
        case "tan":
            return _scaled(1 + result * result, gradient)
        case "abs":
            return _scaled(arb(1) if x[0] >= 0 else arb(-1) if x[0] <= 0 else arb(-1).union(arb(1)), gradient)
        case "min" | "max":
            return _hull_of_active(head, x, dx)
        case "floor" | "ceiling":  # it may jump, unless it is one number on the whole box
            return [None] * len(gradient) if result.is_exact() else _unknown(gradient)
        case "table":
            return _scaled(enclose_table(payload).slope(x[0]), gradient)
    return _unknown(gradient)


def _hull_of_active(head: str, x: Sequence[arb], dx: Sequence[Gradient]) -> Gradient:
    """Return the hull over the arguments that may be the extreme one; of two that are certainly equal the first."""

    def beats(one: int, other: int) -> bool:
        return bool(x[one] >= x[other] if head == "max" else x[one] <= x[other])

    def beaten(index: int) -> bool:
        return any(beats(other, index) and (other < index or not beats(index, other)) for other in range(len(x)) if other != index)

    active = [slopes for index, slopes in enumerate(dx) if not beaten(index)]
    result = active[0]
    for slopes in active[1:]:
        result = _hull(result, slopes)
    return result


def _power_gradient(x: Sequence[arb], dx: Sequence[Gradient], known: Fraction | None, result: arb) -> Gradient:
    base, gradient = x[0], dx[0]
    if known is None:
        if not base > 0:
            return _unknown(_added(gradient, dx[1]))
        return _scaled(result, _added(_scaled(base.log(), dx[1]), _divided(_scaled(x[1], gradient), base)))
    if known in (0, 1):
        return gradient if known else [None] * len(gradient)
    if known.denominator != 1 and known < 1 and not base > 0:
        return _unknown(gradient)
    return _scaled(ball(known) * _power(base, ball(known - 1), known - 1), gradient)


#: The relation, and the places of both sides among the steps; None for a branch that is always taken.
_Test = tuple[str, int, int] | None


def _piecewise_gradient(arguments: Sequence[int], tests: Sequence[_Test], values: Sequence[arb], gradients: Sequence[Gradient]) -> Gradient:
    for place, test in zip(arguments, tests, strict=True):
        holds = True if test is None else _decide(test[0], values[test[1]], values[test[2]])
        if holds is None:
            break
        if holds:
            return gradients[place]
    parts = [gradients[place] for place in (*arguments, *(place for test in tests if test is not None for place in test[1:]))]
    return [None if all(entry is None for entry in entries) else arb.nan() for entries in zip(*parts, strict=True)]


#: Returns the ball of one step from the balls of all steps before it, the places of its arguments among them, its payload, and the box.
_Operation = Callable[[list[arb], tuple[int, ...], Any, Mapping[str, arb]], arb]


def _add(values: list[arb], places: tuple[int, ...], _payload: Any, _box: Mapping[str, arb]) -> arb:
    result = values[places[0]]
    for place in places[1:]:
        result = result + values[place]
    return result


def _multiply(values: list[arb], places: tuple[int, ...], _payload: Any, _box: Mapping[str, arb]) -> arb:
    result = values[places[0]]
    for place in places[1:]:
        result = result * values[place]
    return result


def _least(values: list[arb], places: tuple[int, ...], _payload: Any, _box: Mapping[str, arb]) -> arb:
    result = values[places[0]]
    for place in places[1:]:
        result = result.min(values[place])
    return result


def _greatest(values: list[arb], places: tuple[int, ...], _payload: Any, _box: Mapping[str, arb]) -> arb:
    result = values[places[0]]
    for place in places[1:]:
        result = result.max(values[place])
    return result


#: What a term's head computes, looked up once when the term is compiled and not at each of its many evaluations.
_OPERATIONS: dict[str, _Operation] = {
    "num": lambda _values, _places, payload, _box: arb(payload),
    "sym": lambda _values, _places, payload, box: box[payload],
    "pi": lambda _values, _places, _payload, _box: arb.pi(),
    "add": _add,
    "mul": _multiply,
    "neg": lambda values, places, _payload, _box: -values[places[0]],
    "div": lambda values, places, _payload, _box: values[places[0]] / values[places[1]],
    "pow": lambda values, places, payload, _box: _power(values[places[0]], values[places[1]], payload),
    "sqrt": lambda values, places, _payload, _box: _root(values[places[0]]),
    "abs": lambda values, places, _payload, _box: abs(values[places[0]]),
    "min": _least,
    "max": _greatest,
    "piecewise": lambda values, places, payload, _box: _piecewise([values[place] for place in places], payload, values),
    "table": lambda values, places, payload, _box: enclose_table(payload).value(values[places[0]]),
    "floor": lambda values, places, _payload, _box: values[places[0]].floor(),
    "ceiling": lambda values, places, _payload, _box: values[places[0]].ceil(),
    "exp": lambda values, places, _payload, _box: values[places[0]].exp(),
    "log": lambda values, places, _payload, _box: values[places[0]].log(),
    "sin": lambda values, places, _payload, _box: values[places[0]].sin(),
    "cos": lambda values, places, _payload, _box: values[places[0]].cos(),
    "tan": lambda values, places, _payload, _box: values[places[0]].tan(),
}


def _nonnegative(value: arb) -> arb:
    """Return the part of a ball at or above 0; sound only where the value is known to be ≥ 0, as in defined roots and powers."""
    if value >= 0 or not value.is_finite():
        return value
    top = value.upper()
    return arb(0).union(top) if top > 0 else arb(0)


def _root(value: arb) -> arb:
    if value > 0:
        return value.sqrt()
    clipped = _nonnegative(value)
    top = clipped.upper() if clipped.is_finite() else arb.nan()
    return arb(0).union(top.sqrt()) if top >= 0 else arb.nan()


def _power(base: arb, exponent: arb, known: Fraction | None) -> arb:
    if known is not None and known.denominator == 1:
        return _integer_power(base, int(known))
    if base > 0:
        return (exponent * base.log()).exp()
    clipped = _nonnegative(base)
    if exponent > 0 and clipped.is_finite():
        top = clipped.upper()
        return arb(0).union((exponent * top.log()).exp()) if top > 0 else arb(0)
    return arb.nan()


def _integer_power(base: arb, exponent: int) -> arb:
    if exponent < 0:
        return 1 / _integer_power(base, -exponent)
    if exponent % 2 == 0 and exponent and not (base > 0 or base < 0):
        top = abs(base).upper()
        return arb(0).union(top**exponent)
    return base**exponent


def _piecewise(branches: Sequence[arb], conditions: Sequence[_Test], values: Sequence[arb]) -> arb:
    result: arb | None = None
    for value, condition in zip(branches, conditions, strict=True):
        holds = True if condition is None else _decide(condition[0], values[condition[1]], values[condition[2]])
        if holds is False:
            continue
        result = value if result is None else result.union(value)
        if holds is True:
            break
    return arb.nan() if result is None else result


def _decide(relation: str, left: arb, right: arb) -> bool | None:
    match relation:
        case "<":
            return True if left < right else False if left >= right else None
        case "<=":
            return True if left <= right else False if left > right else None
        case ">":
            return True if left > right else False if left <= right else None
        case _:
            return True if left >= right else False if left < right else None
