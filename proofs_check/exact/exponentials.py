"""Exact arithmetic with rational numbers and exponentials of rational numbers: probabilities of mechanisms whose ε is rational.

Statement: for a rational u > 0 the number e^u is transcendental (Hermite, Lindemann), so that Q(e^u) is the field of rational functions
of one variable: N(e^u)/D(e^u) = 0 if and only if the polynomial N is 0. Equality is therefore decided by normal forms, and the sign of
a number that is not 0 by ball arithmetic whose precision is raised until the ball leaves 0, which happens after finitely many steps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from flint import arb, fmpz_poly

from profiles.balls import ball, working_precision
from profiles.errors import InvalidArgument, InvalidNumber, Undecided
from profiles.numbers import ExactLike, exact_root, round_down, round_up, to_exact
from proofs_check.exact.enclosed import Bounds, Enclosed, enclose_ball, log_bounds

#: Polynomials of a higher degree are refused: exponents without a coarse common unit would fill the memory.
MAX_DEGREE = 20_000
_FIRST_BITS = 64
_KEPT_BITS = 128
_MOST_BITS = 2**20


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ExpRational:
    """A number N(e^u)/D(e^u) with integer polynomials N, D and a rational ``unit`` u > 0; made by :func:`exp` and arithmetic.

    Normal form: N and D are coprime, the leading coefficient of D is positive, not both are constant, and u is as large as it can be. Two
    numbers are equal if and only if these three are; a number that is rational is a :class:`~fractions.Fraction` and never one of these.

    >>> x = exp("1/2")
    >>> x * x == exp(1), (x - 1) * (x + 1) + 1 == exp(1), x / x
    (True, True, Fraction(1, 1))
    >>> 1 / (1 + exp(1)), exp(1) < Fraction("2.71828182845904523536028747135266249775724709369995"), 3 * exp("-1/2") > 1
    (1/(e^1 + 1), False, True)
    """

    unit: Fraction
    top: fmpz_poly
    bottom: fmpz_poly

    def __add__(self, other: object) -> Exact:
        if (right := _coerce(other)) is None:
            return NotImplemented
        unit, a, b, c, d = _together(self, right)
        return _make(unit, a * d + c * b, b * d)

    def __mul__(self, other: object) -> Exact:
        if (right := _coerce(other)) is None:
            return NotImplemented
        unit, a, b, c, d = _together(self, right)
        return _make(unit, a * c, b * d)

    def __truediv__(self, other: object) -> Exact:
        if (right := _coerce(other)) is None:
            return NotImplemented
        if right == 0:
            raise InvalidNumber("a number was to be divided by 0, which has no value; check the denominator first")
        unit, a, b, c, d = _together(self, right)
        return _make(unit, a * d, b * c)

    def __rtruediv__(self, other: object) -> Exact:
        if (left := _coerce(other)) is None:
            return NotImplemented
        return _make(self.unit, self.bottom, self.top) * left

    def __sub__(self, other: object) -> Exact:
        return NotImplemented if (right := _coerce(other)) is None else self + -right

    def __rsub__(self, other: object) -> Exact:
        return NotImplemented if (left := _coerce(other)) is None else -self + left

    __radd__ = __add__
    __rmul__ = __mul__

    def __neg__(self) -> ExpRational:
        return ExpRational(self.unit, -self.top, self.bottom)

    def __pow__(self, power: object) -> Exact:
        if isinstance(power, bool) or not isinstance(power, int):
            return NotImplemented
        if power == 0:
            return Fraction(1)
        _check_degree(abs(power) * max(self.top.degree(), self.bottom.degree()))
        top, bottom = (self.top, self.bottom) if power > 0 else (self.bottom, self.top)
        return _make(self.unit, top ** abs(power), bottom ** abs(power))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ExpRational):
            return bool(self.unit == other.unit and self.top == other.top and self.bottom == other.bottom)
        return False if isinstance(other, (int, Fraction)) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.unit, tuple(map(int, self.top.coeffs())), tuple(map(int, self.bottom.coeffs()))))

    def __lt__(self, other: object) -> bool:
        return NotImplemented if (right := _coerce(other)) is None else _compare(self, right) < 0

    def __gt__(self, other: object) -> bool:
        return NotImplemented if (right := _coerce(other)) is None else _compare(self, right) > 0

    def __le__(self, other: object) -> bool:
        return NotImplemented if (right := _coerce(other)) is None else _compare(self, right) <= 0

    def __ge__(self, other: object) -> bool:
        return NotImplemented if (right := _coerce(other)) is None else _compare(self, right) >= 0

    def __repr__(self) -> str:
        top, bottom = _show(self.top, self.unit), _show(self.bottom, self.unit)
        if self.bottom.is_one():
            return top
        return f"{f'({top})' if ' ' in top else top}/{f'({bottom})' if ' ' in bottom or '·' in bottom else bottom}"

    def enclose(self, bits: int = _KEPT_BITS) -> Enclosed:
        """Return exact ends around the number, of relative width about 2^−bits."""
        return enclose_ball(near(self, bits))

    def bounds(self) -> Bounds:
        """Return binary64 numbers around it, rounded outward."""
        enclosed = self.enclose()
        return Bounds(round_down(enclosed.lower), round_up(enclosed.upper))


#: A number that is known exactly.
Exact: TypeAlias = Fraction | ExpRational


@dataclass(frozen=True, slots=True)
class Log:
    """The number log(value) of nats, for an exact value > 0: e^(k·log(value)) is exact again for integers k.

    The calibration ε₀ = ln(1 + e^ε) is ``Log(1 + exp(epsilon))``. Raises :class:`InvalidArgument`, :class:`InvalidNumber`.

    >>> raise_to(Log(3), Fraction(-2)), raise_to(Log(4), Fraction(1, 2)), raise_to("1/2", Fraction(3))
    (Fraction(1, 9), Fraction(2, 1), e^3/2)
    """

    value: Exact

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", read_exact(self.value, "the argument of a logarithm"))
        if not self.value > 0:
            raise InvalidArgument("a logarithm needs a positive number, but one that is not was found; give e^ε")


#: A number of nats.
Nats: TypeAlias = ExactLike | Log


def exp(exponent: ExactLike) -> Exact:
    """Return e^exponent exactly, for an exact rational exponent. Raises :class:`InvalidNumber`."""
    exact = to_exact(exponent, "an exponent")
    if exact == 0:
        return Fraction(1)
    top, bottom = fmpz_poly([0, 1]), fmpz_poly([1])
    return ExpRational(exact, top, bottom) if exact > 0 else ExpRational(-exact, bottom, top)


def raise_to(epsilon: Nats, multiple: Fraction) -> Exact:
    """Return e^(ε·multiple) exactly.

    For ε = log(value) the multiple must be an integer, or value a rational number with that root. Raises :class:`InvalidArgument`.
    """
    if not isinstance(epsilon, Log):
        return exp(_unlimited(epsilon) * multiple) if multiple else Fraction(1)
    value = epsilon.value
    if multiple.denominator != 1:
        value = _root(value, multiple.denominator)
    return value**multiple.numerator


def read_exact(value: object, what: str) -> Exact:
    """Return an exact number as it is, and whatever :func:`~profiles.numbers.to_exact` accepts as a fraction."""
    # products of many probabilities are longer than what to_exact accepts
    return value if isinstance(value, (ExpRational, Fraction)) else to_exact(value, what)


def near(value: Exact, bits: int = _KEPT_BITS) -> arb:
    """Return a ball around the number whose radius is about 2^−bits of it. Raises :class:`Undecided` where that needs 2^20 bits."""
    working = max(bits, _FIRST_BITS) + 32
    while True:
        with working_precision(working):
            value_ = _ball(value)
        if isinstance(value, Fraction) or (value_.is_finite() and value_.rel_accuracy_bits() >= bits):
            return value_
        working *= 2
        if working > _MOST_BITS:
            raise Undecided("a sum of exponentials cancels in its first million bits; give shorter exponents")


def log_of(value: Exact) -> Bounds:
    """Return outward-rounded bounds of log(value) in nats, for an exact value ≥ 0.

    >>> log_of(exp(2)), log_of(Fraction(1, 2)).upper
    (Bounds(lower=2.0, upper=2.0), -0.6931471805599453)
    """
    if isinstance(value, Fraction):
        return log_bounds(value)
    if value.bottom.is_one() and value.top == _monomial(value.top.degree()):
        exponent = value.unit * value.top.degree()
        return Bounds(round_down(exponent), round_up(exponent))
    distance = value - 1
    with working_precision(_KEPT_BITS):
        logarithm = enclose_ball(near(distance).log1p() if abs(near(distance)) < 0.5 else near(value).log())
    return Bounds(round_down(logarithm.lower), round_up(logarithm.upper))


def _unlimited(value: object) -> Fraction:
    return value if isinstance(value, Fraction) else to_exact(value, "ε")


def _monomial(degree: int) -> fmpz_poly:
    return fmpz_poly([0] * degree + [1])


def _coerce(value: object) -> Exact | None:
    if isinstance(value, (ExpRational, Fraction)):
        return value
    return Fraction(value) if isinstance(value, int) and not isinstance(value, bool) else None


def _parts(value: Exact) -> tuple[fmpz_poly, fmpz_poly]:
    if isinstance(value, Fraction):
        return fmpz_poly([value.numerator]), fmpz_poly([value.denominator])
    return value.top, value.bottom


def _together(left: ExpRational, right: Exact) -> tuple[Fraction, fmpz_poly, fmpz_poly, fmpz_poly, fmpz_poly]:
    """Return a common unit and both quotients in it."""
    c, d = _parts(right)
    if isinstance(right, Fraction) or left.unit == right.unit:
        return left.unit, left.top, left.bottom, c, d
    one, other = left.unit, right.unit
    unit = Fraction(math.gcd(one.numerator * other.denominator, other.numerator * one.denominator), one.denominator * other.denominator)
    first, second = int(one / unit), int(other / unit)
    _check_degree(first * max(left.top.degree(), left.bottom.degree()) + second * max(c.degree(), d.degree()))
    return unit, _inflate(left.top, first), _inflate(left.bottom, first), _inflate(c, second), _inflate(d, second)


def _inflate(polynomial: fmpz_poly, factor: int) -> fmpz_poly:
    return polynomial if factor == 1 else polynomial.inflate(factor)


def _check_degree(degree: int) -> None:
    if degree > MAX_DEGREE:
        raise Undecided(
            f"exact exponentials would need polynomials of degree {degree}, more than {MAX_DEGREE}; "
            "choose exponents that are small multiples of one number, or give enclosures"
        )


def _make(unit: Fraction, top: fmpz_poly, bottom: fmpz_poly) -> Exact:
    """Return the normal form of top/bottom at e^unit; bottom is not 0."""
    if top.is_zero():
        return Fraction(0)
    common = top.gcd(bottom)
    if not common.is_one():
        top, bottom = top // common, bottom // common
    if bottom.leading_coefficient() < 0:
        top, bottom = -top, -bottom
    if top.degree() == 0 and bottom.degree() == 0:
        return Fraction(int(top[0]), int(bottom[0]))
    _check_degree(max(top.degree(), bottom.degree()))
    factor = math.gcd(*(int(part.deflation()[1]) for part in (top, bottom) if part.degree() > 0))
    if factor > 1:
        top, bottom, unit = _deflate(top, factor), _deflate(bottom, factor), unit * factor
    return ExpRational(unit, top, bottom)


def _deflate(polynomial: fmpz_poly, factor: int) -> fmpz_poly:
    return fmpz_poly(polynomial.coeffs()[::factor])


def _ball(value: Exact) -> arb:
    if isinstance(value, Fraction):
        return ball(value)
    point = ball(value.unit).exp()
    return value.top(point) / value.bottom(point)


def _compare(left: ExpRational, right: Exact) -> int:
    with working_precision(_FIRST_BITS):
        one, other = _ball(left), _ball(right)
    if one < other:
        return -1
    return 1 if one > other else _sign(left - right)


def _sign(value: Exact) -> int:
    if isinstance(value, Fraction):
        return (value > 0) - (value < 0)
    close = near(value, 8)
    return 1 if close > 0 else -1


def _root(value: Exact, degree: int) -> Exact:
    if isinstance(value, Fraction) and (root := exact_root(value, degree)) is not None:
        return root
    raise InvalidArgument(
        f"e^(ε·s) must be exact, but the root of degree {degree} of e^ε that a score asks for is not rational; "
        "let scores be integer multiples of the sensitivity, give ε as a rational number, or e^ε as a power"
    )


def _show(polynomial: fmpz_poly, unit: Fraction) -> str:
    terms: list[str] = []
    for power in range(polynomial.degree(), -1, -1):
        coefficient = int(polynomial[power])
        if coefficient:
            atom = f"e^{unit * power}" if power else ""
            size = "" if abs(coefficient) == 1 and atom else str(abs(coefficient))
            text = "·".join(part for part in (size, atom) if part)
            terms.append(("- " if coefficient < 0 else "+ " if terms else "") + text)
    return " ".join(terms)
