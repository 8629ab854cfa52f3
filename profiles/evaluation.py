"""How terms are evaluated: exactly at a point, or by a straight-line program for balls, slopes and arrays.

Exact evaluation keeps three outcomes apart: a value; ``UNDEFINED``, where a subterm certainly has no real value, so that
``0*(1/(w - 2))`` is undefined at w = 2 and not 0; and ``NOT_RATIONAL``, where arithmetic does not tell: a symbol without a number, an
irrational number, one too long. There, balls (``proofs_check.enclosures``) take over, by the same :class:`Program` that NumPy arrays use.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from fractions import Fraction
from typing import Any

from profiles.numbers import exact_root
from profiles.terms import MAX_BITS, Term, is_long_power, spell_out


class NoValue(Enum):
    """Why a term has no exact rational value at a point."""

    UNDEFINED = "certainly undefined, or not a real number"
    NOT_RATIONAL = "not seen to be a rational number of moderate length"


Value = Fraction | NoValue

_MOST_ROOT = 1_000
_ARITHMETIC = frozenset({"neg", "add", "mul", "div", "pow"})
_HOLDS: dict[str, Callable[[Fraction, Fraction], bool]] = {
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
}


def evaluate(term: Term, point: Mapping[str, Fraction], *, defined: bool = False) -> Value:
    """Return the exact value of ``term`` where the symbols have the numbers of ``point``, or the reason why there is none.

    All branches of a Piecewise but the one that holds are left alone. Tables go on with their outer lines, as the Piecewise does that they
    abbreviate. ``defined``: ``term`` is known to have a real value for all numbers of the missing symbols; then a product with a zero
    factor is zero whatever they are.

    >>> from profiles import parse_expression
    >>> evaluate(parse_expression("sqrt(w + 1/4)"), {"w": Fraction(2)})
    Fraction(3, 2)
    >>> evaluate(parse_expression("0*(1/(w - 2))"), {"w": Fraction(2)}).name
    'UNDEFINED'
    >>> evaluate(parse_expression("z*exp(w)"), {"z": Fraction(0)}, defined=True)
    Fraction(0, 1)
    """
    head = term[0]
    match head:
        case "num":
            value: Fraction = term[1]
            return value
        case "sym":
            return point.get(term[1], NoValue.NOT_RATIONAL)
        case "pi":
            return NoValue.NOT_RATIONAL
        case "piecewise":
            return _evaluate_branch(term, point, defined=defined)
        case "table":
            at = evaluate(term[2], point, defined=defined)
            return term[1].value(at) if isinstance(at, Fraction) else at
    parts = [evaluate(part, point, defined=defined) for part in term[1:]]
    values = [part for part in parts if isinstance(part, Fraction)]
    if len(values) == len(parts):
        result = operate(head, values, literal=defined or head != "pow" or constant_value(term[2]) is not None)
        return NoValue.NOT_RATIONAL if isinstance(result, Fraction) and is_long(result) else result
    if NoValue.UNDEFINED in parts:
        return NoValue.UNDEFINED
    vanishes = defined and ((head == "mul" and 0 in values) or (head == "div" and parts[0] == 0))
    return Fraction(0) if vanishes else NoValue.NOT_RATIONAL


def exact_value(term: Term, point: Mapping[str, Fraction], *, defined: bool = False) -> Fraction | None:
    """Return :func:`evaluate` where it is a number, None for either reason why it is none."""
    value = evaluate(term, point, defined=defined)
    return value if isinstance(value, Fraction) else None


def constant_value(term: Term) -> Fraction | None:
    """Return the number that a term without symbols and functions is by + - * / and whole powers, None where it is none or a power is long.

    Exponents with such a value are *literal*: on a base that is not positive, only powers with a literal exponent are defined.
    """
    if term[0] == "num":
        value: Fraction = term[1]
        return value
    if term[0] not in _ARITHMETIC:
        return None
    values = [part for part in map(constant_value, term[1:]) if part is not None]
    if len(values) != len(term) - 1 or (term[0] == "pow" and values[1].denominator != 1):
        return None
    result = operate(term[0], values)
    return result if isinstance(result, Fraction) else None


def operate(head: str, values: Sequence[Fraction], *, literal: bool = True) -> Value:
    """Return one operation on exact numbers. ``literal``: the exponent of a power is a number as written (:func:`constant_value`)."""
    first = values[0]
    match head:
        case "add":
            return sum(values, Fraction(0))
        case "mul":
            return math.prod(values, start=Fraction(1))
        case "neg":
            return -first
        case "div":
            return first / values[1] if values[1] else NoValue.UNDEFINED
        case "pow":
            return _power(first, values[1], literal=literal)
        case "sqrt":
            return _power(first, Fraction(1, 2), literal=True)
        case "abs":
            return abs(first)
        case "floor" | "ceiling":
            return Fraction(math.floor(first) if head == "floor" else math.ceil(first))
        case "min" | "max":
            return min(values) if head == "min" else max(values)
        case "log" if first <= 0:
            return NoValue.UNDEFINED
        case "log" if first == 1:
            return Fraction(0)
        case "exp" | "cos" | "cosh" if first == 0:
            return Fraction(1)
        case "sin" | "tan" | "sinh" | "tanh" if first == 0:
            return Fraction(0)
    return NoValue.NOT_RATIONAL


def _evaluate_branch(term: Term, point: Mapping[str, Fraction], *, defined: bool) -> Value:
    for value, condition in term[1:]:
        if condition[0] == "true":
            return evaluate(value, point, defined=defined)
        left, right = (evaluate(side, point, defined=defined) for side in condition[1:])
        if not isinstance(left, Fraction) or not isinstance(right, Fraction):
            return NoValue.UNDEFINED if NoValue.UNDEFINED in (left, right) else NoValue.NOT_RATIONAL
        if _HOLDS[condition[0]](left, right):
            return evaluate(value, point, defined=defined)
    return NoValue.NOT_RATIONAL


def _power(base: Fraction, exponent: Fraction, *, literal: bool) -> Value:
    if not literal and base <= 0:  # it is exp(exponent*log(base))
        return NoValue.UNDEFINED
    if base == 0:
        return NoValue.UNDEFINED if exponent < 0 else Fraction(int(exponent == 0))
    degree = exponent.denominator
    if base < 0 and degree != 1:
        return NoValue.UNDEFINED
    root = base if degree == 1 or base == 1 else None if degree > _MOST_ROOT else exact_root(base, degree)
    if root is None or is_long_power(root, Fraction(exponent.numerator)):
        return NoValue.NOT_RATIONAL
    return root**exponent.numerator


def is_long(value: Fraction) -> bool:
    """Tell whether a number has more digits than exact evaluation goes on with; balls are faster then."""
    return max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_BITS


#: What is done, the indices of the steps whose results it takes, and what else it needs (a name, a number, the tests of a Piecewise).
Step = tuple[str, tuple[int, ...], Any]


class Program:
    """A term's steps in the order of evaluation, in which equal subterms stand once; the last one gives the term's value.

    Who evaluates says in ``_step`` what it needs beyond the usual.
    """

    __slots__ = ("_slots", "_steps")

    def __init__(self, term: Term) -> None:
        self._steps: list[Step] = []
        self._slots: dict[Term, int] = {}
        self._compile(term)

    def _compile(self, term: Term) -> int:
        """Return the index of the step that gives ``term``, after adding what is not there yet; tanh and the like by exponentials."""
        term = spell_out(term)
        known = self._slots.get(term)
        if known is not None:
            return known
        self._steps.append(self._step(term))
        self._slots[term] = len(self._steps) - 1
        return len(self._steps) - 1

    def _step(self, term: Term) -> Step:
        """Return the step of a term's head: the payload is a number's or symbol's, an exponent or None, or a Piecewise's tests."""
        head = term[0]
        match head:
            case "num" | "sym":
                return head, (), term[1]
            case "table":
                return head, (self._compile(term[2]),), term[1]
            case "pi":
                return head, (), None
            case "piecewise":
                values = tuple(self._compile(value) for value, _ in term[1:])
                return head, values, [None if c[0] == "true" else (c[0], self._compile(c[1]), self._compile(c[2])) for _, c in term[1:]]
        return head, tuple(self._compile(part) for part in term[1:]), constant_value(term[2]) if head == "pow" else None
