"""What an integrand is written in: affine functions of the variable, and noise laws that find their kinks by themselves.

An integrand of the sparse vector technique or of report noisy max is a product of distribution functions F(r − x), analytic between
their kinks. It is called with a :class:`Line`, which knows the piece [a, b] of the range that is integrated over. A law that is asked for
at a line that changes its sign inside the piece reports the zero, takes the branch of the piece's sample point, and the
integrator throws the result away and splits the piece there. So each result that is kept comes from one analytic function on its piece.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from flint import acb, arb, arb_series, fmpq

from profiles.errors import InvalidArgument
from profiles.numbers import to_exact


class Stretch:
    """One piece a ≤ r ≤ b of the range (None: no end), the complex point at which the integrand is asked for, and kinks found."""

    __slots__ = ("analytic", "high", "kinks", "low", "point", "sample")

    def __init__(self, low: fmpq | None, high: fmpq | None) -> None:
        self.low, self.high = low, high
        self.sample = sample_point(low, high)
        self.point: acb = acb(arb(self.sample))
        self.analytic = False
        self.kinks: set[Fraction] = set()


def sample_point(low: fmpq | None, high: fmpq | None) -> fmpq:
    """Return a number inside (low, high), None standing for an infinite end."""
    if low is None:
        return fmpq(0) if high is None else high - 1
    return low + 1 if high is None else (low + high) / 2


class Line:
    """s·r + c for the variable r of an integrand, with exact s and c.

    Lines are added to exact numbers, multiplied and divided by them, and subtracted from each other. ``value`` is the complex ball for
    any further analytic function, such as ``r.value.exp()``; one with branch cuts (sqrt, log) must be given ``analytic=r.analytic``,
    as for ``flint.acb.integral``. :meth:`is_negative` decides between branches.
    """

    __slots__ = ("_intercept", "_slope", "_stretch")

    def __init__(self, stretch: Stretch, slope: fmpq, intercept: fmpq) -> None:
        self._stretch, self._slope, self._intercept = stretch, slope, intercept

    def __add__(self, other: object) -> Line:
        if isinstance(other, Line):
            self._check_same(other)
            return Line(self._stretch, self._slope + other._slope, self._intercept + other._intercept)
        return Line(self._stretch, self._slope, self._intercept + to_fmpq(other))

    __radd__ = __add__

    def __neg__(self) -> Line:
        return Line(self._stretch, -self._slope, -self._intercept)

    def __sub__(self, other: object) -> Line:
        if isinstance(other, Line):
            return self + (-other)
        return Line(self._stretch, self._slope, self._intercept - to_fmpq(other))

    def __rsub__(self, other: object) -> Line:
        return Line(self._stretch, -self._slope, to_fmpq(other) - self._intercept)

    def __mul__(self, other: object) -> Line:
        factor = to_fmpq(other)
        return Line(self._stretch, self._slope * factor, self._intercept * factor)

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> Line:
        divisor = to_fmpq(other)
        if divisor == 0:
            raise InvalidArgument("a line was divided by 0; divide by another number")
        return Line(self._stretch, self._slope / divisor, self._intercept / divisor)

    def _check_same(self, other: Line) -> None:
        if self._stretch is not other._stretch:
            raise InvalidArgument("lines of two integrals were added; use only the variable that the integrand is called with")

    @property
    def value(self) -> acb:
        """The ball of values at the point that is asked for."""
        return self._stretch.point * self._slope + self._intercept

    @property
    def analytic(self) -> bool:
        """Whether the integrand must return a ball that is not finite where it is not analytic; see ``flint.acb.integral``."""
        return self._stretch.analytic

    def is_negative(self) -> bool:
        """Return whether s·r + c < 0 inside the present piece of the range; where the sign changes, the piece is split there."""
        stretch, slope, intercept = self._stretch, self._slope, self._intercept
        if slope == 0:
            return bool(intercept < 0)
        zero = -intercept / slope
        if (stretch.low is None or stretch.low < zero) and (stretch.high is None or zero < stretch.high):
            stretch.kinks.add(as_fraction(zero))
        return bool(stretch.sample < zero) if slope > 0 else bool(zero < stretch.sample)


def to_fmpq(value: object) -> fmpq:
    """Return an exact number as a rational of flint. Raises :class:`InvalidNumber`."""
    if isinstance(value, fmpq):
        return value
    if type(value) is int:
        return fmpq(value)
    exact = value if isinstance(value, Fraction) else to_exact(value)
    return fmpq(exact.numerator, exact.denominator)


def as_ball(value: Any) -> Any:
    """Return balls and power series as they are, and a ball around an exact number. Raises :class:`InvalidNumber`."""
    return value if isinstance(value, (acb, arb, arb_series)) else arb(to_fmpq(value))


def as_fraction(value: fmpq) -> Fraction:
    """Return a rational of flint as a fraction."""
    return Fraction(int(value.p), int(value.q))


def _scaled(x: Line, scale: object) -> Line:
    if not isinstance(x, Line):
        raise InvalidArgument(f"a law needs a line, but {type(x).__name__} was found; write it in the variable of the integrand")
    divisor = to_fmpq(scale)
    if not divisor > 0:
        raise InvalidArgument("the scale of a noise law must be positive, but another number was found; give a positive one")
    return x if divisor == 1 else x / divisor


def laplace_pdf(x: Line, scale: object = 1) -> acb:
    """Return the density e^(−|x|/b)/(2b) of Laplace(0, b) at a line; b = ``scale`` > 0 is exact. Raises :class:`InvalidArgument`."""
    u = _scaled(x, scale)
    return (u if u.is_negative() else -u).value.exp() / (2 * to_fmpq(scale))


def laplace_cdf(x: Line, scale: object = 1) -> acb:
    """Return P(Z ≤ x) = ½e^(x/b) for x < 0 and 1 − ½e^(−x/b) for x ≥ 0, Z ~ Laplace(0, b), at a line. Raises :class:`InvalidArgument`."""
    u = _scaled(x, scale)
    return u.value.exp() / 2 if u.is_negative() else 1 - (-u).value.exp() / 2


def laplace_sf(x: Line, scale: object = 1) -> acb:
    """Return P(Z > x) for Z ~ Laplace(0, b), at a line. Raises :class:`InvalidArgument`."""
    return laplace_cdf(-x, scale)


def exponential_pdf(x: Line, scale: object = 1) -> acb:
    """Return the density e^(−x/b)/b for x ≥ 0, else 0, at a line. Raises :class:`InvalidArgument`."""
    u = _scaled(x, scale)
    return acb(0) if u.is_negative() else (-u).value.exp() / to_fmpq(scale)


def exponential_cdf(x: Line, scale: object = 1) -> acb:
    """Return P(Z ≤ x) = 1 − e^(−x/b) for x ≥ 0, else 0, at a line. Raises :class:`InvalidArgument`."""
    u = _scaled(x, scale)
    return acb(0) if u.is_negative() else -(-u).value.expm1()


def exponential_sf(x: Line, scale: object = 1) -> acb:
    """Return P(Z > x) = e^(−x/b) for x ≥ 0, else 1, at a line. Raises :class:`InvalidArgument`."""
    u = _scaled(x, scale)
    return acb(1) if u.is_negative() else (-u).value.exp()


def gaussian_pdf(x: Line, sigma: object = 1) -> acb:
    """Return the density e^(−x²/(2σ²))/(σ√(2π)) at a line; σ = ``sigma`` > 0 is exact. Raises :class:`InvalidArgument`."""
    u = _scaled(x, sigma).value
    return (-u * u / 2).exp() / ((2 * arb.pi()).sqrt() * to_fmpq(sigma))


def gaussian_cdf(x: Line, sigma: object = 1) -> acb:
    """Return P(Z ≤ x) = ½erfc(−x/(σ√2)), Z ~ N(0, σ²), at a line. Raises :class:`InvalidArgument`."""
    u: Any = _scaled(x, sigma).value
    return (-u / arb(2).sqrt()).erfc() / 2


def gaussian_sf(x: Line, sigma: object = 1) -> acb:
    """Return P(Z > x) for Z ~ N(0, σ²), at a line. Raises :class:`InvalidArgument`."""
    return gaussian_cdf(-x, sigma)
