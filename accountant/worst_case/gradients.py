"""Enclosures of a term together with its partial derivatives on a box (forward mode in ball arithmetic).

Statement: where :meth:`Dual.evaluate` returns finite gradient balls g_i, for any two points x, y of the box
f(y) − f(x) lies in Σ g_i (y_i − x_i). For smooth operations g_i encloses ∂_i f; for Abs, Min and Max with an undecided branch it encloses
the hull of the branches' derivatives (Clarke's generalised gradient; Lebourg's mean value theorem). An undecided Piecewise may
jump, so its gradient is NaN, and so is that of a floor or ceiling that may take two values on the box.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from flint import arb

from profiles.programs import Program, Step
from profiles.terms import Term, free_symbols
from proofs_check.enclosures import Enclosure
from proofs_check.enclosures.lines import lines_of

#: None stands for the exact derivative 0.
Gradient = list[arb | None]


class Dual(Program):
    """A term compiled for evaluation with gradients in ``names``; equal subterms are evaluated once per box."""

    __slots__ = ("_names",)

    def __init__(self, term: Term, names: Sequence[str]) -> None:
        self._names = tuple(names)
        super().__init__(term)

    def _step(self, term: Term) -> Step:
        if term[0] != "sym" and not free_symbols(term) & set(self._names):
            return "constant", (), Enclosure(term)
        return super()._step(term)

    def evaluate(self, box: Mapping[str, arb]) -> tuple[arb, Gradient]:
        """Return a ball around the term's values on ``box`` and balls around its partial derivatives there."""
        values: list[arb] = []
        gradients: list[Gradient] = []
        zero: Gradient = [None] * len(self._names)
        for head, arguments, payload in self._steps:
            if head == "constant":
                value, gradient = payload.evaluate(box), zero
            elif head == "sym":
                value, gradient = box[payload], [arb(1) if name == payload else None for name in self._names]
            elif head == "piecewise":
                value, gradient = _piecewise(arguments, payload, values, gradients)
            else:
                value, gradient = _apply(head, [values[i] for i in arguments], [gradients[i] for i in arguments], payload)
            values.append(value)
            gradients.append(gradient)
        return values[-1], gradients[-1]


def _scaled(factor: arb, gradient: Gradient) -> Gradient:
    return [None if entry is None else factor * entry for entry in gradient]


def _added(left: Gradient, right: Gradient) -> Gradient:
    return [b if a is None else a if b is None else a + b for a, b in zip(left, right, strict=True)]


def _hull(left: Gradient, right: Gradient) -> Gradient:
    return [None if a is None and b is None else (a or arb(0)).union(b or arb(0)) for a, b in zip(left, right, strict=True)]


def _unknown(gradient: Gradient) -> Gradient:
    return [None if entry is None else arb.nan() for entry in gradient]


def _apply(head: str, values: list[arb], gradients: list[Gradient], payload: Any) -> tuple[arb, Gradient]:
    value, gradient = values[0], gradients[0]
    match head:
        case "add":
            for other, slope in zip(values[1:], gradients[1:], strict=True):
                value, gradient = value + other, _added(gradient, slope)
            return value, gradient
        case "mul":
            for other, slope in zip(values[1:], gradients[1:], strict=True):
                value, gradient = value * other, _added(_scaled(other, gradient), _scaled(value, slope))
            return value, gradient
        case "neg":
            return -value, _scaled(arb(-1), gradient)
        case "div":
            bottom, slope = values[1], gradients[1]
            quotient = value / bottom
            return quotient, _scaled(1 / bottom, _added(gradient, _scaled(-quotient, slope)))
        case "pow":
            return _power(values, gradients, payload)
        case "exp":
            result = value.exp()
            return result, _scaled(result, gradient)
        case "log":
            return value.log(), _scaled(1 / value, gradient)
        case "sqrt":
            return _plain("sqrt", value), (_scaled(1 / (2 * value.sqrt()), gradient) if value > 0 else _unknown(gradient))
        case "sin":
            return value.sin(), _scaled(value.cos(), gradient)
        case "cos":
            return value.cos(), _scaled(-value.sin(), gradient)
        case "tan":
            result = value.tan()
            return result, _scaled(1 + result * result, gradient)
        case "abs":
            sign = arb(1) if value >= 0 else arb(-1) if value <= 0 else arb(-1).union(arb(1))
            return abs(value), _scaled(sign, gradient)
        case "table":
            lines = lines_of(payload)
            return lines.value(value), _scaled(lines.slope(value), gradient)
        case "floor" | "ceiling":
            result = value.floor() if head == "floor" else value.ceil()
            return result, ([None] * len(gradient) if result.is_exact() else _unknown(gradient))
        case "min" | "max":
            for other, slope in zip(values[1:], gradients[1:], strict=True):
                value, gradient = _extreme(head, value, other, gradient, slope)
            return value, gradient
    return arb.nan(), _unknown(gradient)


def _extreme(head: str, left: arb, right: arb, left_slope: Gradient, right_slope: Gradient) -> tuple[arb, Gradient]:
    low, high = (left, right) if head == "min" else (right, left)
    result = left.min(right) if head == "min" else left.max(right)
    if low <= high:
        return result, left_slope
    if low > high:
        return result, right_slope
    return result, _hull(left_slope, right_slope)


_ARGUMENT: Term = ("sym", "x")


def _plain(head: str, value: arb, exponent: Fraction | None = None) -> arb:
    term: Term = (head, _ARGUMENT) if exponent is None else (head, _ARGUMENT, ("num", exponent))
    return Enclosure(term).evaluate({"x": value})


def _power(values: list[arb], gradients: list[Gradient], exponent: Fraction | None) -> tuple[arb, Gradient]:
    base, slope = values[0], gradients[0]
    if exponent is None:
        if not base > 0:
            return arb.nan(), _unknown(_added(slope, gradients[1]))
        logarithm = base.log()
        result = (values[1] * logarithm).exp()
        return result, _scaled(result, _added(_scaled(logarithm, gradients[1]), _scaled(values[1] / base, slope)))
    if exponent == 0:
        return arb(1), [None] * len(slope)
    result = _plain("pow", base, exponent)
    if exponent.denominator != 1 and not base > 0 and exponent < 1:
        return result, _unknown(slope)
    factor = arb(int(exponent.numerator)) / int(exponent.denominator)
    return result, _scaled(factor * _plain("pow", base, exponent - 1), slope) if exponent != 1 else slope


def _piecewise(arguments: Sequence[int], tests: Sequence[Any], values: list[arb], gradients: list[Gradient]) -> tuple[arb, Gradient]:
    result: arb | None = None
    for index, test in zip(arguments, tests, strict=True):
        holds = True if test is None else _decide(test[0], values[test[1]], values[test[2]])
        if holds is False:
            continue
        if holds is True and result is None:
            return values[index], gradients[index]
        result = values[index] if result is None else result.union(values[index])
        if holds is True:
            break
    slopes = gradients[arguments[0]]
    return (arb.nan() if result is None else result), [arb.nan()] * len(slopes)


def _decide(relation: str, left: arb, right: arb) -> bool | None:
    if relation in (">", ">="):
        relation, left, right = ("<" if relation == ">" else "<="), right, left
    if relation == "<":
        return True if left < right else False if left >= right else None
    return True if left <= right else False if left > right else None
