"""Numbers in explanations: decimals rounded to the side on which the sentence stays true."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from flint import arb

from profiles.balls import interval, lower_fraction, upper_fraction, working_precision
from profiles.numbers import decimal_above, decimal_below, exact_text
from profiles.terms import Term, number
from profiles.variables import Variable
from proofs_check.enclosures import Enclosure
from proofs_check.prover.pointwise import UndefinedAtPoint, as_ball, value_at

DIGITS = 8
BITS = 192


def enclose(term: Term, point: Mapping[str, Fraction]) -> tuple[Fraction, Fraction] | None:
    """Return exact numbers below and above the value of a term at a point (equal where it is rational), None if it is not finite."""
    try:
        value = value_at(term, point, BITS)
    except UndefinedAtPoint:
        return None
    return (value, value) if isinstance(value, Fraction) else _ends(as_ball(value))


def enclose_over(term: Term, box: Sequence[Variable]) -> tuple[Fraction, Fraction] | None:
    """Return exact numbers below and above a defined term over a bounded box, None if they are not finite."""
    if not box:
        return enclose(term, {})
    with working_precision(BITS):
        return _ends(Enclosure(term).evaluate({v.name: interval(v.lo, v.lo if v.hi is None else v.hi) for v in box}))


def _ends(value: arb) -> tuple[Fraction, Fraction] | None:
    with working_precision(BITS):
        lower, upper = lower_fraction(value), upper_fraction(value)
    return None if lower is None or upper is None else (lower, upper)


def is_short(value: Fraction) -> bool:
    """Tell whether a number is written exactly in a few digits."""
    return len(exact_text(value)) <= 2 * DIGITS


def compare(larger: Term, smaller: Term, box: Sequence[Variable] = ()) -> tuple[tuple[str, Term], tuple[str, Term]] | None:
    """Return (sign, number) for both terms, with larger sign number > number sign smaller on a bounded box; None if not certain.

    A short rational value is given exactly, any other as a decimal rounded down (``>=``) for the larger term, up (``<=``) for the smaller.
    """
    ends = enclose_over(larger, box), enclose_over(smaller, box)
    if ends[0] is None or ends[1] is None or ends[0][0] <= ends[1][1]:
        return None
    for digits in (DIGITS, 2 * DIGITS, 5 * DIGITS):
        low = ends[0][0] if _is_exact(ends[0]) else decimal_below(ends[0][0], digits)
        high = ends[1][1] if _is_exact(ends[1]) else decimal_above(ends[1][1], digits)
        if low > high:
            return ("=" if low == ends[0][1] else ">=", number(low)), ("=" if high == ends[1][0] else "<=", number(high))
    return None


def _is_exact(ends: tuple[Fraction, Fraction]) -> bool:
    return ends[0] == ends[1] and is_short(ends[0])
