"""Numbers with two sides: exact ends for probabilities, outward-rounded binary64 ends for nats."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from profiles.balls import ball, lower_fraction, upper_fraction, working_precision
from profiles.errors import InvalidArgument, InvalidNumber, Undecided
from profiles.numbers import decimal_text, round_down, round_up, to_exact

_LOG_BITS = 128
_ZERO = Fraction(0)
#: Ends of balls that are closer to 0 are not kept exactly: their fractions would fill the memory.
_SMALLEST_EXPONENT = 60_000
_SMALLEST = Fraction(1, 2**_SMALLEST_EXPONENT)


@dataclass(frozen=True, slots=True)
class Bounds:
    """Binary64 numbers with lower ≤ the number ≤ upper; ±∞ is a value (``lower == inf``: the number is infinite) or an open side."""

    lower: float
    upper: float

    def __post_init__(self) -> None:
        if not self.lower <= self.upper:
            raise InvalidNumber(f"a lower end must not exceed the upper one, but {self.lower} and {self.upper} were found; swap them")


@dataclass(frozen=True, slots=True, repr=False)
class Enclosed:
    """A number known as lower ≤ number ≤ upper, both ends exact.

    Ends are fractions and not floats, so that the quotient of two tiny probabilities keeps its relative accuracy.

    >>> Enclosed(Fraction(1, 3), Fraction(1, 2)).bounds()
    Bounds(lower=0.3333333333333333, upper=0.5)
    """

    lower: Fraction
    upper: Fraction

    def __post_init__(self) -> None:
        if not self.lower <= self.upper:
            raise InvalidNumber("the lower end of an enclosure must not exceed the upper one, but it does; swap them")

    @classmethod
    def exactly(cls, value: object) -> Enclosed:
        """Return the enclosure of one exact number. Raises :class:`InvalidNumber`."""
        exact = to_exact(value)
        return cls(exact, exact)

    def __repr__(self) -> str:
        """Show short fractions exactly, and other ends rounded outward to 17 digits."""
        if all(len(f"{abs(end.numerator):x}{end.denominator:x}") <= 40 for end in (self.lower, self.upper)):
            return f"Enclosed(lower={self.lower!r}, upper={self.upper!r})"
        lower, upper = decimal_text(self.lower, 17, round_up=False), decimal_text(self.upper, 17, round_up=True)
        return f"<Enclosed between {lower} and {upper}>"

    @property
    def is_exact(self) -> bool:
        return self.lower == self.upper

    def bounds(self) -> Bounds:
        """Return the ends as binary64 numbers, rounded outward."""
        return Bounds(round_down(self.lower), round_up(self.upper))

    def within(self, lowest: Fraction, highest: Fraction) -> Enclosed:
        """Return the part in [lowest, highest], for a number known to lie there. Raises :class:`InvalidNumber` where none is left."""
        return Enclosed(max(self.lower, lowest), min(self.upper, highest))


def to_enclosed(value: object, what: str) -> Enclosed:
    """Return ``value`` itself where it is an enclosure, else the enclosure of the exact number. Raises :class:`InvalidNumber`."""
    if isinstance(value, Enclosed):
        return value
    # products of many probabilities are longer than what to_exact accepts
    exact = value if isinstance(value, Fraction) else to_exact(value, what)
    return Enclosed(exact, exact)


def enclose_ball(value: arb) -> Enclosed:
    """Return a ball's ends, exactly where they are at least 2^−60000 in size, else moved outward to 0 or ±2^−60000.

    Raises :class:`Undecided` for a ball that is not finite.
    """
    tiny = arb(2) ** -_SMALLEST_EXPONENT
    low, high = value.lower(), value.upper()
    lower = lower_fraction(low) if not abs(low) < tiny else _ZERO if low >= 0 else -_SMALLEST
    upper = upper_fraction(high) if not abs(high) < tiny else _ZERO if high <= 0 else _SMALLEST
    if lower is None or upper is None:
        raise Undecided("the number could not be enclosed in finite bounds; check that it is defined, or make it simpler")
    return Enclosed(lower, upper)


def log_bounds(ratio: Fraction) -> Bounds:
    """Return outward-rounded bounds of log(ratio) in nats for an exact ratio ≥ 0; log 0 = −∞.

    >>> log_bounds(Fraction(3))
    Bounds(lower=1.0986122886681096, upper=1.0986122886681098)
    """
    return _log_between(ratio, ratio)


def log_ratio(p: object, q: object) -> Bounds:
    """Return bounds of log(p/q) in nats, for exact numbers or :class:`Enclosed` ones, p and q ≥ 0.

    log(p/0) = ∞ for p > 0, and log(0/q) = −∞, also for q = 0: an event of probability 0 says nothing. An end of an enclosure
    below 0 is taken as 0. Raises :class:`InvalidArgument` for negative numbers and :class:`InvalidNumber` for what is not one.

    >>> log_ratio("0.3", "0.1") == log_bounds(Fraction(3))
    True
    """
    top, bottom = to_enclosed(p, "p"), to_enclosed(q, "q")
    if top.upper < 0 or bottom.upper < 0:
        raise InvalidArgument("the log of a ratio needs two numbers that are at least 0, but a negative one was found; give probabilities")
    lowest, low_end = max(top.lower, Fraction(0)), max(bottom.lower, Fraction(0))
    lower = _log_between(_quotient(lowest, bottom.upper), None).lower
    upper = _log_between(None, _quotient(top.upper, low_end)).upper
    return Bounds(lower, upper)


def _quotient(p: Fraction, q: Fraction) -> Fraction | float:
    if p == 0:
        return Fraction(0)
    return p / q if q else math.inf


def _log_between(low: Fraction | float | None, high: Fraction | float | None) -> Bounds:
    """Return the lower bound of log(low) and the upper bound of log(high); None leaves that side open."""
    return Bounds(-math.inf if low is None else _log_end(low, up=False), math.inf if high is None else _log_end(high, up=True))


def _log_end(ratio: Fraction | float, *, up: bool) -> float:
    if isinstance(ratio, float):
        return ratio
    if ratio == 0:
        return -math.inf
    with working_precision(_LOG_BITS):
        # log1p keeps the relative accuracy where the ratio is close to 1
        near = Fraction(1, 2) < ratio < 2
        enclosed = enclose_ball(ball(ratio - 1).log1p() if near else ball(ratio).log())
    return round_up(enclosed.upper) if up else round_down(enclosed.lower)
