"""A term compiled to NumPy, with or without a running bound on its rounding error (docs/rounding.md, section 2).

Claim: for exact inputs, :meth:`CompiledTerm.bounded` returns (v, e) with |v − value of the term| ≤ e in every row, under the stated
assumption on NumPy's functions; e is inf or NaN where nothing can be said. ``values`` is the same v without the cost of e.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from accountant.columns.values import Columns
from accountant.weights.fast.rounding import LIBRARY, TINY, U
from profiles.arrays import Floats
from profiles.evaluation import Program, Step, constant_value
from profiles.numbers import nearest
from profiles.tables import Table
from profiles.terms import Term

Operand = Any  # a float or an array of floats
Bounded = tuple[Operand, Operand]

#: Covers the roundings of the error bounds themselves: fewer than 5,000 operations of relative error U each, several a node.
_SLACK = 1.0 + 1e-9
_MOST_FACTORS = 64
_COMPARE = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}


class CompiledTerm(Program):
    """A term as straight-line NumPy code; equal subterms are evaluated once."""

    __slots__ = ()

    def _step(self, term: Term) -> Step:
        constant = constant_value(term)
        if constant is not None:
            return "num", (), constant
        return self._power(term) if term[0] == "pow" else super()._step(term)

    def _power(self, term: Term) -> Step:
        exponent = constant_value(term[2])
        if exponent is not None and (2 * exponent).denominator == 1 and abs(exponent) <= _MOST_FACTORS:
            whole = abs(exponent.numerator // exponent.denominator)
            base: Term = term[1]
            powered: Term | None = None
            while whole:
                if whole & 1:
                    powered = base if powered is None else ("mul", powered, base)
                whole >>= 1
                base = ("mul", base, base) if whole else base
            if exponent.denominator == 2:
                root: Term = ("sqrt", term[1])
                powered = root if powered is None else ("mul", powered, root)
            result: Term = ("num", Fraction(1)) if powered is None else powered
            return self._step(("div", ("num", Fraction(1)), result) if exponent < 0 else result)
        return self._step(("exp", ("mul", term[2], ("log", term[1]))))

    def values(self, inputs: Mapping[str, Floats]) -> Operand:
        """Return the term's values to about binary64 accuracy, without a bound."""
        computed: list[Operand] = []
        for head, arguments, payload in self._steps:
            computed.append(_value(head, [computed[index] for index in arguments], payload, computed, inputs))
        return computed[-1]

    def bounded(self, inputs: Mapping[str, Floats]) -> Bounded:
        """Return (values, error bounds). Inputs in :class:`Columns` that stand for decimals are known to a relative U."""
        computed: list[Bounded] = []
        inexact = inputs.inexact if isinstance(inputs, Columns) else frozenset()
        for head, arguments, payload in self._steps:
            if head == "sym" and payload in inexact:
                computed.append((inputs[payload], _written_error(inputs[payload])))
            else:
                computed.append(_bound(head, [computed[index] for index in arguments], payload, computed, inputs))
        value, error = computed[-1]
        return value, error * _SLACK


def _value(head: str, parts: list[Operand], payload: Any, computed: list[Operand], inputs: Mapping[str, Floats]) -> Operand:
    match head:
        case "num":
            return nearest(payload)
        case "sym":
            return inputs[payload]
        case "pi":
            return math.pi
        case "add" | "mul" | "min" | "max":
            combine = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}[head]
            result = parts[0]
            for part in parts[1:]:
                result = combine(result, part)
            return result
        case "div":
            return np.divide(parts[0], parts[1])
        case "neg":
            return np.negative(parts[0])
        case "piecewise":
            result = parts[-1]
            for value, condition in list(zip(parts, payload, strict=True))[-2::-1]:
                result = np.where(_COMPARE[condition[0]](computed[condition[1]], computed[condition[2]]), value, result)
            return result
        case "table":
            return _interpolate(payload, parts[0])[0]
        case "floor" | "ceiling":
            return (np.floor if head == "floor" else np.ceil)(parts[0])
    return getattr(np, head)(parts[0])


def _bound(head: str, parts: list[Bounded], payload: Any, computed: list[Bounded], inputs: Mapping[str, Floats]) -> Bounded:
    match head:
        case "num":
            value = nearest(payload)
            return value, (0.0 if math.isfinite(value) and Fraction(value) == payload else U * abs(value) + TINY)
        case "sym":
            return inputs[payload], 0.0
        case "pi":
            return math.pi, U * 4
        case "add" | "mul":
            result = parts[0]
            for part in parts[1:]:
                result = _add(result, part) if head == "add" else _multiply(result, part)
            return result
        case "min" | "max":
            result = parts[0]
            for part in parts[1:]:
                result = _extreme(head, result, part)
            return result
        case "div":
            return _divide(parts[0], parts[1])
        case "neg" | "abs":
            value, error = parts[0]
            return (np.negative(value) if head == "neg" else np.abs(value)), error
        case "piecewise":
            return _choose(parts, payload, computed)
        case "table":
            return _interpolated(payload, *parts[0])
        case "floor" | "ceiling":
            return _step_function(np.floor if head == "floor" else np.ceil, *parts[0])
    return _function(head, *parts[0])


def _written_error(values: Floats) -> Floats:
    """Return how far decimals are from the numbers nearest to them; 0 stands for 0."""
    return np.where(values == 0.0, 0.0, U * np.abs(values) + TINY)


def _is_exact(error: Operand) -> bool:
    return isinstance(error, float) and error == 0.0


def _add(left: Bounded, right: Bounded) -> Bounded:
    value = left[0] + right[0]
    return value, left[1] + right[1] + U * np.abs(value)


def _extreme(head: str, left: Bounded, right: Bounded) -> Bounded:
    """Return the smaller (larger) one: with its own error where the two are clearly apart, else with the larger error."""
    (value, error), (other, its) = left, right
    first = np.less_equal(value, other) if head == "min" else np.greater_equal(value, other)
    apart = np.abs(value - other) * (1 - 4 * U) > (error + its) * _SLACK
    return np.where(first, value, other), np.where(apart, np.where(first, error, its), np.maximum(error, its))


def _multiply(left: Bounded, right: Bounded) -> Bounded:
    value = left[0] * right[0]
    error = U * np.abs(value) + TINY
    if not _is_exact(left[1]):
        error = error + left[1] * (np.abs(right[0]) + right[1])
    if not _is_exact(right[1]):
        error = error + np.abs(left[0]) * right[1]
    return value, error


def _divide(top: Bounded, bottom: Bounded) -> Bounded:
    value = np.divide(top[0], bottom[0])
    if _is_exact(bottom[1]):
        size = np.abs(bottom[0])
        error = top[1] / size * (1 + 4 * U) + U * np.abs(value) + TINY
        return value, (error if isinstance(bottom[0], float) and size > 0 else np.where(size > 0, error, np.inf))
    room = np.abs(bottom[0]) - bottom[1] * _SLACK
    error = (top[1] + np.abs(value) * bottom[1] * (1 + 4 * U)) / room + U * np.abs(value) + TINY
    return value, np.where(room > 0, error, np.inf)


def _choose(parts: list[Bounded], conditions: list[Any], computed: list[Bounded]) -> Bounded:
    value, error = parts[-1]
    for (other, its), condition in list(zip(parts, conditions, strict=True))[-2::-1]:
        (left, left_error), (right, right_error) = computed[condition[1]], computed[condition[2]]
        holds = _COMPARE[condition[0]](left, right)
        doubt = (left_error + right_error) * _SLACK
        gap = np.abs(left - right) * (1 - 4 * U)
        decided = (gap > doubt) | (doubt == 0.0)
        value = np.where(holds, other, value)
        error = np.where(decided, np.where(holds, its, error), np.inf)
    return value, error


@lru_cache(maxsize=64)
def _rounded(table: Table) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the table's knots, and of each line the first point and the slope, to nearest."""
    columns = (table.knots, [x for x, _ in table.points[:-1]], [y for _, y in table.points[:-1]], table.slopes)
    knots, x, y, slope = (np.array([nearest(value) for value in column], dtype=np.float64) for column in columns)
    return knots, x, y, slope


def _interpolate(table: Table, value: Operand) -> tuple[Operand, Operand]:
    """Return y + slope*(value - x) on the line that the value is on by its binary64 number, and |y| + |slope|*(|value| + |x|)."""
    knots, x, y, slope = _rounded(table)
    index = np.searchsorted(knots, value, side="left")
    size = np.abs(y[index]) + np.abs(slope[index]) * (np.abs(value) + np.abs(x[index]))
    return y[index] + slope[index] * (value - x[index]), size


def _interpolated(table: Table, value: Operand, error: Operand) -> Bounded:
    """Return values with error bounds: a line chosen wrongly, because its knot was rounded, is off by two slopes times that rounding."""
    knots, _, _, slope = _rounded(table)
    result, size = _interpolate(table, value)
    steepest = float(np.abs(slope).max()) * _SLACK
    farthest = float(np.abs(knots).max()) if knots.size else 0.0
    return result, (steepest * error * _SLACK + 8 * U * size + 2 * steepest * U * farthest) * _SLACK + TINY


def _step_function(rounding: Any, value: Operand, error: Operand) -> Bounded:
    """Return floors or ceilings, exact where the whole range value ± error has one, and without any bound where it may have two."""
    result = rounding(value)
    if _is_exact(error):
        return result, 0.0
    # the ends are rounded outward: a difference of binary64 numbers is off by at most half an ulp of it
    low = np.nextafter(value - error * _SLACK, -np.inf)
    high = np.nextafter(value + error * _SLACK, np.inf)
    return result, np.where(rounding(low) == rounding(high), 0.0, np.inf)


def _function(head: str, value: Operand, error: Operand) -> Bounded:
    error = error * _SLACK
    match head:
        case "exp":
            result = np.exp(value)
            return result, np.where(error < 0.5, result * (2.0 * error + 2 * LIBRARY) + TINY, np.inf)
        case "log":
            result = np.log(value)
            room = value - error
            return result, np.where(room > 0, error / room + LIBRARY * np.abs(result) + TINY, np.inf)
        case "sqrt":
            result = np.sqrt(value)
            if _is_exact(error):
                return result, U * result
            room = value - error
            inside = np.where(room > 0, error / np.sqrt(np.maximum(room, 0.0)) + U * result + TINY, np.inf)
            return result, np.where((np.equal(value, 0.0)) & (np.equal(error, 0.0)), 0.0, inside)
        case "sin" | "cos":
            return getattr(np, head)(value), np.where(np.abs(value) < 1e6, error + LIBRARY, np.inf)
    return getattr(np, head)(value), np.full_like(np.asarray(value, dtype=np.float64), np.inf)
