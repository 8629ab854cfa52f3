"""Lower bounds of terms over boxes with exact, possibly infinite, ends, by mpmath's outward-rounded intervals."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from mpmath import iv
from mpmath.libmp import ComplexResult

from profiles.terms import Term, constant_value

_FUNCTIONS = {"exp": iv.exp, "log": iv.log, "sqrt": iv.sqrt, "sin": iv.sin, "cos": iv.cos}


def lower_bound(term: Term, box: Mapping[str, tuple[Fraction, Fraction | None]]) -> Fraction | None:
    """Return a number below a defined term over a box (``None`` as upper end is +∞); None where there is none or no rule for a term."""
    try:
        value = _evaluate(term, {name: _interval(*ends) for name, ends in box.items()})
    except (ArithmeticError, ValueError, NotImplementedError, ComplexResult):
        return None
    sign, mantissa, exponent, _ = iv.mpf(value)._mpi_[0]
    if not mantissa and exponent:  # how mpmath stores infinities and NaN
        return None
    return (-1 if sign else 1) * Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def _interval(lo: Fraction, hi: Fraction | None) -> Any:
    below = iv.mpf(lo.numerator) / lo.denominator
    above = iv.inf if hi is None else iv.mpf(hi.numerator) / hi.denominator
    return iv.mpf([below.a, above if hi is None else above.b])


def _evaluate(term: Term, box: Mapping[str, Any]) -> Any:
    head = term[0]
    if head == "num":
        return _interval(term[1], term[1])
    if head == "sym":
        return box[term[1]]
    if head == "pi":
        return iv.pi
    if head == "pow":
        return _power(_evaluate(term[1], box), term[2], box)
    if head in _FUNCTIONS:
        return _FUNCTIONS[head](_evaluate(term[1], box))
    if head not in ("add", "mul", "neg", "div"):
        raise NotImplementedError(head)
    values = [_evaluate(part, box) for part in term[1:]]
    if head == "neg":
        return -values[0]
    if head == "div":
        return values[0] / values[1]
    result = values[0]
    for value in values[1:]:
        result = result + value if head == "add" else result * value
    return result


def _power(base: Any, exponent: Term, box: Mapping[str, Any]) -> Any:
    known = constant_value(exponent)
    if known is not None and known.denominator == 1:
        return base ** int(known)
    if not base.a > 0:
        raise NotImplementedError("a power of a base that may be 0")
    return iv.exp(_evaluate(exponent, box) * iv.log(base))
