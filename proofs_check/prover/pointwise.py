"""The value of a term at one exact point, with definedness decided exactly where the subterms are rational."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from flint import arb

from profiles.balls import ball, working_precision
from profiles.evaluation import NoValue, constant_value, is_long, operate
from profiles.terms import Term, to_text
from proofs_check.enclosures import Enclosure
from proofs_check.prover.effort import spend

#: An exact :class:`~fractions.Fraction`, or a ball (whose library has no types that a checker could use).
Value: TypeAlias = Any

#: What a step of an evaluation costs.
STEP = 20


class UndefinedAtPoint(Exception):
    """The term is certainly undefined (or not real) at the point; the message names the subterm."""


def value_at(term: Term, point: Mapping[str, Fraction], bits: int = 256) -> Value:
    """Return the value of ``term`` at ``point``: an exact fraction where all steps are rational, else a ball.

    Raises :class:`UndefinedAtPoint` where the value certainly does not exist as a real number. A ball that is not finite means
    undecided.
    """
    with working_precision(bits):
        return _value(term, point)


def as_ball(value: Value) -> arb:
    """Return a value as a ball at the working precision."""
    return ball(value) if isinstance(value, Fraction) else value


@dataclass(frozen=True, slots=True)
class Counterexample:
    """Where a term fails to be defined and not negative: it is undefined at a point for a ``reason``, or negative there without one; or it
    divides by a ``divisor`` that changes its sign between two points.
    """

    at: Mapping[str, Fraction]
    reason: str | None = None
    divisor: Term | None = None
    until: Mapping[str, Fraction] | None = None


def counterexample_at(term: Term, point: Mapping[str, Fraction]) -> Counterexample | None:
    """Return that a term is undefined or certainly negative at a point, None where it is neither."""
    try:
        negative = as_ball(value_at(term, point)) < 0
    except UndefinedAtPoint as error:
        return Counterexample(point, reason=str(error))
    return Counterexample(point) if negative else None


def first_counterexample(term: Term, points: Iterable[Mapping[str, Fraction]]) -> Counterexample | None:
    """Return the same for the first of ``points`` at which a term is undefined or certainly negative."""
    return next(filter(None, (counterexample_at(term, point) for point in points)), None)


def find_sign_change(divisors: Iterable[Term], points: Sequence[Mapping[str, Fraction]]) -> Counterexample | None:
    """Return two of ``points`` at which the first divisor that has such points has opposite certain signs, so that it vanishes between."""
    for divisor in divisors:
        negative = positive = None
        for point in points:
            try:
                value = as_ball(value_at(divisor, point))
            except UndefinedAtPoint:
                continue
            negative = point if negative is None and value < 0 else negative
            positive = point if positive is None and value > 0 else positive
            if negative is not None and positive is not None:
                return Counterexample(negative, divisor=divisor, until=positive)
    return None


def _value(term: Term, point: Mapping[str, Fraction]) -> Value:
    head = term[0]
    spend(STEP)
    if head == "num":
        return Fraction(term[1])
    if head == "sym":
        return point[term[1]]
    if head == "piecewise":
        return _branch(term, point)
    if head == "table":
        at = _value(term[2], point)
        return term[1].value(at) if isinstance(at, Fraction) else Enclosure((head, term[1], ("sym", "x"))).evaluate({"x": at})
    arguments = [_value(part, point) for part in term[1:]]
    exponent = constant_value(term[2]) if head == "pow" else None
    if arguments and all(isinstance(argument, Fraction) for argument in arguments):
        value = operate(head, arguments, literal=head != "pow" or exponent is not None)
        if value is NoValue.UNDEFINED:
            divides = head == "div" or (head == "pow" and arguments[0] == 0 and arguments[1] < 0)
            raise UndefinedAtPoint(f"{to_text(term)} {'divides by zero' if divides else 'is not a real number'}")
        if isinstance(value, Fraction) and not is_long(value):
            return value
    if _is_outside(head, arguments, exponent):
        raise UndefinedAtPoint(f"{to_text(term)} is not a real number")
    return _evaluate(head, arguments)


def _evaluate(head: str, arguments: list[Value]) -> arb:
    names = [f"x{index}" for index in range(len(arguments))]
    parts: list[Term] = [("sym", name) for name in names]
    if head == "pow" and isinstance(arguments[1], Fraction):  # of a negative base there are powers with integer exponents only
        parts[1] = ("num", arguments[1])
    flat: Term = (head, *parts)
    return Enclosure(flat).evaluate({name: as_ball(value) for name, value in zip(names, arguments, strict=True)})


def _branch(term: Term, point: Mapping[str, Fraction]) -> Value:
    for value, condition in term[1:]:
        if condition[0] == "true":
            return _value(value, point)
        gap = as_ball(_value(condition[1], point)) - as_ball(_value(condition[2], point))
        left, right = _value(condition[1], point), _value(condition[2], point)
        if isinstance(left, Fraction) and isinstance(right, Fraction):
            holds: bool | None = {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[condition[0]]
        else:
            holds = (condition[0] in ("<", "<=")) if gap < 0 else (condition[0] in (">", ">=")) if gap > 0 else None
        if holds is None:
            return arb.nan()
        if holds:
            return _value(value, point)
    return arb.nan()


def _is_outside(head: str, arguments: list[Value], exponent: Fraction | None) -> bool:
    """Tell whether an operation certainly has no real value; ``exponent``: of a power, where it is a number as written."""
    first = as_ball(arguments[0]) if arguments else arb(0)
    if head != "pow":
        return bool((head == "log" and first <= 0) or (head == "sqrt" and first < 0))
    whole = exponent is not None and exponent.denominator == 1
    return bool(
        (first < 0 and not _is_integer(arguments[1]))
        or (as_ball(arguments[1]) < 0 and (first == 0 if whole else first <= 0))
        or (isinstance(arguments[0], Fraction) and arguments[0] <= 0 and exponent is None)
    )


def _is_integer(value: Value) -> bool:
    return isinstance(value, Fraction) and value.denominator == 1
