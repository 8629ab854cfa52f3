"""Exact numbers: everything that enters the toolkit becomes a :class:`fractions.Fraction` without rounding."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import isqrt
from numbers import Complex, Integral, Rational, Real
from typing import Any, SupportsFloat, TypeVar

from profiles.errors import InvalidArgument, InvalidNumber, InvalidTarget, PDPError

#: What a caller may pass for an exact number. A float stands for its exact binary value, a string for the decimal that is written.
ExactLike = int | float | str | Fraction | Decimal | Rational | SupportsFloat

#: A type of numbers with an order.
N = TypeVar("N", int, float, Fraction)

MAX_DIGITS = 1000
MAX_EXPONENT = 4000
#: The largest binary64 number, 2^1024 − 2^971.
MAX_FLOAT = sys.float_info.max

_DECIMAL = re.compile(r"([+-]?)(\d+(?:_\d+)*)?(?:\.(\d*))?(?:[eE]([+-]?\d{1,6}))?\Z", re.ASCII)


def to_exact(value: object, what: str = "the number") -> Fraction:
    """Return ``value`` as an exact fraction.

    Integers, fractions and :class:`~decimal.Decimal` are taken as they are; a string is an integer, a decimal (``"0.1"`` is one
    tenth) or a fraction ``"p/q"``; a Python or NumPy float stands for its exact binary value. Numbers of other libraries are
    accepted where a float holds them exactly, and refused where they would have to be rounded.

    Raises :class:`InvalidNumber` for anything else: NaN, infinities, booleans, more than 1000 digits, exponents above 4000.

    >>> to_exact("0.1"), to_exact(0.5), to_exact("3/4")
    (Fraction(1, 10), Fraction(1, 2), Fraction(3, 4))
    """
    if isinstance(value, bool) or type(value).__name__ in ("bool", "bool_"):
        raise InvalidNumber(f"{what} must be a number, but the boolean {value} was found; write 0 or 1 if that is what you mean")
    if type(value).__name__ == "timedelta64" or (isinstance(value, Complex) and not isinstance(value, Real)):
        raise InvalidNumber(f"{what} must be a real number, but {value!r:.60} was found; give a number without a unit or imaginary part")
    if isinstance(value, str):
        return _from_text(value, what)
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise InvalidNumber(f"{what} must be finite, but {value} was found; give a finite number")
        exponent = value.as_tuple().exponent
        if not isinstance(exponent, int) or abs(exponent) > MAX_EXPONENT or len(value.as_tuple().digits) > MAX_DIGITS:
            raise InvalidNumber(f"{what} has more digits or a larger exponent than is accepted; give a shorter number")
        return Fraction(value)
    if isinstance(value, (Integral, Rational)):
        result = Fraction(int(value)) if isinstance(value, Integral) else Fraction(int(value.numerator), int(value.denominator))
        if max(result.numerator.bit_length(), result.denominator.bit_length()) > 4 * MAX_EXPONENT:
            raise InvalidNumber(f"{what} has more digits than is accepted; give a shorter number")
        return result
    if isinstance(value, Real) or hasattr(value, "__float__"):
        return _from_float(value, what)
    raise InvalidNumber(f"{what} must be a number, but an object of type {type(value).__name__} was found; give a number")


def to_integer(
    value: object,
    what: str,
    least: int | None = None,
    most: int | None = None,
    *,
    hint: str = "give one",
    any_form: bool = False,
    error: type[PDPError] = InvalidArgument,
) -> int:
    """Return ``value``, an integer of Python, NumPy or another library, with least ≤ value ≤ most where those are given.

    Booleans, texts and binary numbers are refused, 2.0 and NaN too. ``any_form``: whatever :func:`to_exact` reads as a whole number is
    taken, such as ``"1e6"`` and 2.0. ``what`` and ``hint`` begin and end the message.

    Raises ``error``; with ``any_form`` also :class:`InvalidNumber`.

    >>> to_integer(3, "k", 1), to_integer("1e6", "the number of samples", 10, 10**9, any_form=True)
    (3, 1000000)
    """
    exact = to_exact(value, what) if any_form else value
    if isinstance(exact, (Integral, Fraction)) and not isinstance(exact, bool) and (any_form or not isinstance(exact, Fraction)):
        whole = int(exact)
        if whole == exact and (least is None or whole >= least) and (most is None or whole <= most):
            return whole
    wanted = "" if least is None else f" of at least {least}" if most is None else f" from {least} to {most}"
    shown = exact_text(exact) if isinstance(exact, Fraction) else integer_text(exact) if isinstance(exact, int) else str(value)
    raise error(f"{what} must be an integer{wanted}, but {shown[:40]!r} was found; {hint}")


def to_number(value: object, what: str, within: str, hint: str = "correct it", error: type[PDPError] = InvalidArgument) -> Fraction:
    """Return ``value`` as an exact number of the interval ``within``, which is written as ``(0, 1]`` or ``[1, inf)``.

    ``what`` and ``hint`` begin and end the message. Raises ``error`` outside of it, and :class:`InvalidNumber` for what is not a number.

    >>> to_number("1/3", "delta", "[0, 1)", "give a probability")
    Fraction(1, 3)
    """
    exact = to_exact(value, what)
    low, high = _read_interval(within)
    if (exact > low or (exact == low and within[0] == "[")) and (high is None or exact < high or (exact == high and within[-1] == "]")):
        return exact
    least = within[1:].partition(",")[0]
    beyond = "be positive" if low == 0 and within[0] == "(" else f"be {'at least' if within[0] == '[' else 'above'} {least}"
    wanted = f"lie in {within}" if high is not None else beyond
    text = exact_text(exact)
    raise error(f"{what} must {wanted}, but {text if len(text) <= 40 else shorten(exact)} was found; {hint}")


def to_target(value: object, within: str = "[1e-300, 1000000]") -> Fraction:
    """Return a target ε* > 0 in nats that lies in the interval ``within``. Raises :class:`InvalidTarget` for anything else.

    >>> to_target("0.5")
    Fraction(1, 2)
    """
    try:
        positive = to_number(value, "the target epsilon", "(0, inf)", "give a number above 0 (in nats)", InvalidTarget)
    except InvalidNumber as error:
        raise InvalidTarget(str(error)) from None
    return to_number(positive, "the target epsilon", within, "give a number of nats in that range", InvalidTarget)


@lru_cache(maxsize=256)
def _read_interval(within: str) -> tuple[Fraction, Fraction | None]:
    """Return the ends of an interval, None for one that has no upper end."""
    low, high = (end.strip() for end in within[1:-1].split(","))
    return to_exact(low), None if high == "inf" else to_exact(high)


def _from_float(value: object, what: str) -> Fraction:
    number: Any = value
    if getattr(value, "shape", ()) != ():
        raise InvalidNumber(f"{what} must be one number, but an array of shape {number.shape} was found; give a number")
    try:
        as_float = float(number)
        exact = bool(number == as_float)
    except (TypeError, ValueError, OverflowError):
        raise InvalidNumber(f"{what} must be a real number, but {value!r:.60} was found; give a number") from None
    if not math.isfinite(as_float):
        raise InvalidNumber(f"{what} must be finite, but {as_float} was found; give a finite number")
    if not exact:
        raise InvalidNumber(
            f"{what} must be exact, but {value!r:.60} would have to be rounded; give an integer, a fraction or a decimal string"
        )
    return Fraction(as_float)


def _from_text(text: str, what: str) -> Fraction:
    shown = text if len(text) <= 40 else text[:37] + "..."
    stripped = text.strip()
    if "/" in stripped:
        numerator, _, denominator = stripped.partition("/")
        bottom = Fraction(0) if "/" in denominator else _from_text(denominator, what)
        if bottom == 0:
            raise InvalidNumber(f"{what} must be a number, but {shown!r} was found; write it as an integer, a decimal or p/q")
        return _from_text(numerator, what) / bottom
    match = _DECIMAL.match(stripped)
    if match is None or not (match[2] or match[3]):
        raise InvalidNumber(f"{what} must be a finite number, but {shown!r} was found; write it as an integer, a decimal or p/q")
    if len(stripped) > MAX_DIGITS or abs(int(match[4] or 0)) > MAX_EXPONENT:
        raise InvalidNumber(f"{what} has more digits or a larger exponent than is accepted; give a shorter number")
    whole, part = (match[2] or "").replace("_", ""), match[3] or ""
    digits = int((whole + part) or "0")
    scale = int(match[4] or 0) - len(part)
    if abs(scale) > MAX_EXPONENT:
        raise InvalidNumber(f"{what} has more digits or a larger exponent than is accepted; give a shorter number")
    value = Fraction(digits * 10**scale) if scale >= 0 else Fraction(digits, 10**-scale)
    return -value if match[1] == "-" else value


def exact_text(value: Fraction) -> str:
    """Return ``value`` exactly: as a terminating decimal where there is a short one, else as ``p/q``.

    Numbers that are too long for :func:`to_exact` that way are written as ``1e4000`` or ``1e-4000`` where they can be.

    >>> exact_text(Fraction(3, 2)), exact_text(Fraction(1, 3)), exact_text(Fraction(-7))
    ('1.5', '1/3', '-7')
    """
    numerator, denominator = value.numerator, value.denominator
    if denominator == 1:
        return _shorter(value, integer_text(numerator))
    twos = (denominator & -denominator).bit_length() - 1
    odd, fives = denominator >> twos, 0
    while odd % 5 == 0:
        odd, fives = odd // 5, fives + 1
    places = max(twos, fives)
    if odd != 1:
        return f"{exact_text(Fraction(numerator))}/{exact_text(Fraction(denominator))}"
    if places > 60:
        return _shorter(value, f"{integer_text(numerator)}/{integer_text(denominator)}")
    digits = integer_text(abs(numerator) * 10**places // denominator).rjust(places + 1, "0")
    sign = "-" if numerator < 0 else ""
    return f"{sign}{digits[:-places]}.{digits[-places:]}"


def integer_text(value: int) -> str:
    """Return all decimal digits of an integer, also of one beyond the length that ``str`` accepts."""
    if value.bit_length() < 10_000:
        return str(value)
    if value < 0:
        return "-" + integer_text(-value)
    places = value.bit_length() * 3 // 20
    head, tail = divmod(value, 10**places)
    return integer_text(head) + integer_text(tail).rjust(places, "0")


def _shorter(value: Fraction, text: str) -> str:
    """Return ``text``, or a terminating decimal in scientific notation where ``text`` is longer than :func:`to_exact` accepts."""
    if max(map(len, text.split("/"))) <= MAX_DIGITS:
        return text
    twos = (value.denominator & -value.denominator).bit_length() - 1
    fives, odd = 0, value.denominator >> twos
    while odd % 5 == 0:
        odd, fives = odd // 5, fives + 1
    places = max(twos, fives)
    digits = integer_text(abs(value.numerator) * 10**places // value.denominator)
    stripped = digits.rstrip("0")
    exponent = min(len(digits) - len(stripped) - places, MAX_EXPONENT)
    mantissa = digits[: len(digits) - places - exponent]
    short = f"{'-' if value < 0 else ''}{mantissa}e{exponent}"
    return short if len(short) < len(text) else text


def decimal_text(value: Fraction, digits: int, *, round_up: bool) -> str:
    """Return ``value`` with ``digits`` significant decimal digits, rounded towards +∞ (``round_up``) or −∞, exactly on that side.

    Large and small values are printed in scientific notation. There is no default side: the caller must know which one is safe.

    >>> decimal_text(Fraction(2, 3), 4, round_up=True), decimal_text(Fraction(2, 3), 4, round_up=False)
    ('0.6667', '0.6666')
    """
    if value == 0:
        return "0"
    if digits < 1:
        raise InvalidNumber(f"at least 1 digit is needed to print a number, but {digits} was asked for")
    negative, magnitude = value < 0, abs(value)
    exponent = _decimal_exponent(magnitude)
    shift = digits - 1 - exponent
    scaled = magnitude * 10**shift if shift >= 0 else magnitude / 10**-shift
    floor = scaled.numerator // scaled.denominator
    away = round_up != negative
    mantissa = floor + 1 if away and scaled.denominator != 1 else floor
    text = integer_text(mantissa)
    if len(text) > digits:
        exponent, text = exponent + 1, text[:digits]
    return ("-" if negative else "") + _layout(text, exponent)


def decimal_above(value: Fraction, digits: int) -> Fraction:
    """Return the least decimal of ``digits`` significant digits that is at least ``value``."""
    return Fraction(decimal_text(value, digits, round_up=True))


def decimal_below(value: Fraction, digits: int) -> Fraction:
    """Return the largest decimal of ``digits`` significant digits that is at most ``value``."""
    return Fraction(decimal_text(value, digits, round_up=False))


def shorten(value: Fraction) -> str:
    """Return a fraction as at most 40 characters, for a message; a longer one ends with dots. Binary64 numbers are written as given.

    >>> shorten(Fraction(1, 3)), len(shorten(Fraction(10**5000))), shorten(Fraction(1.2))
    ('1/3', 40, '1.2')
    """
    text = integer_text(value.numerator) + ("" if value.denominator == 1 else f"/{integer_text(value.denominator)}")
    given = nearest(value)
    if math.isfinite(given) and Fraction(given) == value:
        text = min(text, repr(given), key=len)
    return text if len(text) <= 40 else text[:37] + "..."


def log_fraction(value: Fraction) -> float:
    """Return about the natural logarithm of a positive number, also of one that no binary64 number holds."""
    return math.log(value.numerator) - math.log(value.denominator)


def nearest(value: Fraction) -> float:
    """Return the binary64 number nearest to ``value``, ±inf where it is too large."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def round_down(value: Fraction) -> float:
    """Return the largest binary64 number that is at most ``value`` (−inf below all of them).

    >>> round_down(Fraction(1, 10)), round_up(Fraction(1, 10))
    (0.09999999999999999, 0.1)
    """
    close = nearest(value)
    if close == math.inf:
        return MAX_FLOAT
    return close if close == -math.inf or Fraction(close) <= value else math.nextafter(close, -math.inf)


def round_up(value: Fraction) -> float:
    """Return the smallest binary64 number that is at least ``value`` (inf above all of them)."""
    return 0.0 - round_down(-value)  # 0 and not −0


def round_down_finite(value: Fraction) -> float:
    """Return :func:`round_down` of ``value``. Raises :class:`InvalidNumber` above the largest binary64 number."""
    _refuse_overflow(value)
    return round_down(value)


def round_up_finite(value: Fraction) -> float:
    """Return :func:`round_up` of ``value``. Raises :class:`InvalidNumber` above the largest binary64 number."""
    _refuse_overflow(value)
    return round_up(value)


def root_below(value: Fraction | int, unit: int) -> Fraction:
    """Return the largest multiple of 1/``unit`` that is at most √``value``.

    >>> root_below(2, 100), root_above(2, 100), root_above(Fraction(9, 4), 100)
    (Fraction(141, 100), Fraction(71, 50), Fraction(3, 2))
    """
    return Fraction(isqrt(math.floor(value * unit * unit)), unit)


def root_above(value: Fraction | int, unit: int) -> Fraction:
    """Return the least multiple of 1/``unit`` that is at least √``value``."""
    scaled = math.ceil(value * unit * unit)
    return Fraction(isqrt(scaled - 1) + 1 if scaled else 0, unit)


def exact_root(value: Fraction, degree: int = 2) -> Fraction | None:
    """Return the rational number whose power ``degree`` is ``value`` > 0, None where there is none."""
    from flint import fmpz  # noqa: PLC0415 - reading a profile needs no roots, and flint takes a tenth of a second to load

    top, bottom = fmpz(value.numerator).root(degree), fmpz(value.denominator).root(degree)
    return Fraction(int(top), int(bottom)) if (top**degree, bottom**degree) == (value.numerator, value.denominator) else None


def bisect(holds: Callable[[N], bool], low: N, high: N, enough: Callable[[N, N], bool] | None = None) -> tuple[N, N]:
    """Narrow low < high, where an increasing condition fails at the first and holds at the second, to two such numbers.

    They are neighbors (no number of their type lies strictly between), or the first pair that is ``enough``. The ends are not looked at.

    >>> bisect(lambda n: n * n >= 50, 0, 50)
    (7, 8)
    """
    while enough is None or not enough(low, high):
        middle = (low + high) // 2 if isinstance(low, int) else (low + high) / 2
        if not low < middle < high:
            break
        low, high = (low, middle) if holds(middle) else (middle, high)
    return low, high


def _refuse_overflow(value: Fraction) -> None:
    if value > MAX_FLOAT:
        raise InvalidNumber("the bound is above the largest binary64 number; give a smaller epsilon")


def _decimal_exponent(magnitude: Fraction) -> int:
    """Return e with 10^e ≤ magnitude < 10^(e + 1); the float guess from the bit lengths is corrected exactly."""
    exponent = math.floor((magnitude.numerator.bit_length() - magnitude.denominator.bit_length()) * math.log10(2))
    while magnitude < Fraction(10) ** exponent:
        exponent -= 1
    while magnitude >= Fraction(10) ** (exponent + 1):
        exponent += 1
    return exponent


def _layout(digits: str, exponent: int) -> str:
    stripped = digits.rstrip("0") or "0"
    if 0 <= exponent < 21:
        padded = stripped.ljust(exponent + 1, "0")
        whole, part = padded[: exponent + 1], padded[exponent + 1 :]
        return f"{whole}.{part}" if part else whole
    if -7 < exponent < 0:
        return "0." + "0" * (-exponent - 1) + stripped
    mantissa = stripped[0] + ("." + stripped[1:] if len(stripped) > 1 else "")
    return f"{mantissa}e{exponent}"
