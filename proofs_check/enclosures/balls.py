"""Enclosures of terms in ball arithmetic (Arb through python-flint).

Statement: where a term is defined and real at every point of a box, :meth:`Enclosure.evaluate` returns a ball that contains all its
values there. Definedness itself is proved elsewhere; an operation that may be undefined on the box gives an infinite or NaN ball,
which satisfies no comparison, so that nothing is ever proved from it.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import flint
from flint import arb, fmpq

from profiles.programs import Program, Step
from profiles.terms import Term
from proofs_check.enclosures.lines import lines_of

#: FLINT's precision belongs to the process: a second thread that sets it would change the results of the first (all still enclosures, but
#: of other points and widths), and might leave its own behind for good.
_one_thread = threading.RLock()


@contextlib.contextmanager
def working_precision(bits: int) -> Iterator[None]:
    """Set the precision of ball arithmetic to ``bits`` for a ``with`` block, in which other threads wait at their own blocks."""
    with _one_thread:
        before = flint.ctx.prec
        flint.ctx.prec = bits
        try:
            yield
        finally:
            flint.ctx.prec = before


#: Of the exact numbers that are made from balls: larger ones would fill the memory.
_LARGEST_EXPONENT = 10**7


def ball(value: Fraction) -> arb:
    """Return the tightest ball around an exact number at the working precision."""
    return arb(fmpq(value.numerator, value.denominator))


def interval(lo: Fraction, hi: Fraction) -> arb:
    """Return a ball that contains the closed interval [lo, hi]."""
    return ball(lo).union(ball(hi))


def lower_fraction(value: arb) -> Fraction | None:
    """Return the exact lower end of a ball, None where it is not finite or its exponent is astronomic."""
    return _exact(value.lower())


def upper_fraction(value: arb) -> Fraction | None:
    """Return the exact upper end of a ball, None where it is not finite or its exponent is astronomic."""
    return _exact(value.upper())


def _exact(value: arb) -> Fraction | None:
    if not value.is_finite():
        return None
    mantissa, exponent = value.man_exp()
    power = int(exponent)
    if abs(power) > _LARGEST_EXPONENT:
        return None
    return Fraction(int(mantissa) * 2**power) if power >= 0 else Fraction(int(mantissa), 2**-power)


class Enclosure(Program):
    """A term compiled for repeated evaluation on boxes; equal subterms are evaluated once per box."""

    __slots__ = ("_operations",)

    def __init__(self, term: Term) -> None:
        super().__init__(term)
        self._operations = [(head, _OPERATIONS[head], arguments, payload) for head, arguments, payload in self._steps]

    def _step(self, term: Term) -> Step:
        return ("num", (), fmpq(term[1].numerator, term[1].denominator)) if term[0] == "num" else super()._step(term)

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

    def evaluate_with_slope(self, box: Mapping[str, arb], name: str) -> tuple[arb, arb]:
        """Return balls around the values and around the derivative in one variable, by forward differentiation.

        Where two branches of Abs, Min or Max may both be taken, the derivative is the hull of both: then the second ball contains all
        difference quotients (the mean-value theorem for continuous, piecewise differentiable functions). An undecided Piecewise may
        jump, so its derivative is NaN, and so is that of a floor or ceiling that may take two values.
        """
        values: list[arb] = []
        slopes: list[arb] = []
        for head, operation, arguments, payload in self._operations:
            own = [values[index] for index in arguments]
            result = operation(values, arguments, payload, box)
            slopes.append(_differentiate(head, own, [slopes[index] for index in arguments], payload, result, values, name))
            values.append(result)
        return values[-1], slopes[-1]


def _differentiate(head: str, x: Sequence[arb], dx: Sequence[arb], payload: Any, result: arb, values: Sequence[arb], name: str) -> arb:
    zero = arb(0)
    if head == "sym":
        return arb(1) if payload == name else zero
    if all(slope.is_zero() for slope in dx) and head != "piecewise":
        return zero
    match head:
        case "add":
            return sum(dx[1:], dx[0])
        case "mul":
            total, product = dx[0], x[0]
            for factor, slope in zip(x[1:], dx[1:], strict=True):
                total, product = total * factor + product * slope, product * factor
            return total
        case "neg":
            return -dx[0]
        case "div":
            return (dx[0] - result * dx[1]) / x[1]
        case "exp":
            return result * dx[0]
        case "log":
            return dx[0] / x[0]
        case "sqrt":
            return dx[0] / (2 * result)
        case "sin":
            return x[0].cos() * dx[0]
        case "cos":
            return -x[0].sin() * dx[0]
        case "tan":
            return (1 + result * result) * dx[0]
        case "abs":
            return dx[0] if x[0] >= 0 else -dx[0] if x[0] <= 0 else dx[0].union(-dx[0])
        case "min" | "max":
            return _hull_of_active(head, x, dx)
        case "pow":
            return _power_slope(x, dx, payload, result)
        case "floor" | "ceiling":  # it may jump, unless it is one number on the whole box
            return zero if result.is_exact() else arb.nan()
        case "table":
            return lines_of(payload).slope(x[0]) * dx[0]
        case "piecewise":
            return _piecewise(dx, payload, values) if _decided(payload, values) else arb.nan()
    return arb.nan()


def _hull_of_active(head: str, x: Sequence[arb], dx: Sequence[arb]) -> arb:
    def beaten(index: int) -> bool:
        return any((other > x[index]) if head == "max" else (other < x[index]) for other in x)

    active = [slope for index, slope in enumerate(dx) if not beaten(index)]
    result = active[0]
    for slope in active[1:]:
        result = result.union(slope)
    return result


def _power_slope(x: Sequence[arb], dx: Sequence[arb], known: Fraction | None, result: arb) -> arb:
    if known is not None:
        return ball(known) * _power(x[0], ball(known - 1), known - 1) * dx[0]
    return result * (dx[1] * x[0].log() + x[1] * dx[0] / x[0])


def _decided(conditions: Sequence[tuple[str, int, int] | None], values: Sequence[arb]) -> bool:
    for condition in conditions:
        holds = True if condition is None else _decide(condition[0], values[condition[1]], values[condition[2]])
        if holds is None:
            return False
        if holds:
            return True
    return False


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
    "table": lambda values, places, payload, _box: lines_of(payload).value(values[places[0]]),
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


def _piecewise(branches: Sequence[arb], conditions: Sequence[tuple[str, int, int] | None], values: Sequence[arb]) -> arb:
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
