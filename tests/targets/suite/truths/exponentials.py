"""Closed forms: integrals of products of Laplace densities, distribution functions and tails, enclosed in ball arithmetic.

Claim: every function that is built here is, between consecutive breaks, a sum Σ_m a_m e^{m u (r − c)} with integers m, and its integral
is the sum of the elementary integrals of its terms: no quadrature, no truncation. Rounding is enclosed (Arb).

Symbols: u is the common rate (1 over the unit of r), so that a Laplace law of scale 1/(k·u) has *rate* k; r is real.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import pairwise

from flint import arb

from profiles.balls import ball

#: A sum Σ a_m e^{m u r}: power m → coefficient a_m.
Terms = dict[int, arb]

_HALF = Fraction(1, 2)


@dataclass(frozen=True, slots=True)
class Piecewise:
    """A function of r ∈ R: ``pieces[i]`` holds between ``breaks[i − 1]`` and ``breaks[i]``; there is one piece more than breaks.

    ``unit`` is the common rate u > 0.
    """

    unit: Fraction
    breaks: tuple[Fraction, ...]
    pieces: tuple[Terms, ...]

    def __mul__(self, other: Piecewise) -> Piecewise:
        """Return the product; both functions must have the same unit."""
        breaks = tuple(sorted({*self.breaks, *other.breaks}))
        pieces = tuple(_multiply(self._left_of(b), other._left_of(b)) for b in (*breaks, None))
        return Piecewise(self.unit, breaks, pieces)

    def _left_of(self, point: Fraction | None) -> Terms:
        """Return the piece that ends at or after ``point``; None stands for +∞."""
        for stop, piece in zip(self.breaks, self.pieces, strict=False):
            if point is not None and point <= stop:
                return piece
        return self.pieces[-1]

    def evaluate(self, point: Fraction) -> arb:
        """Return the value at a point."""
        pieces = self._left_of(point).items()
        return sum((coefficient * ball(power * self.unit * point).exp() for power, coefficient in pieces), arb(0))

    def integrate(self, start: Fraction | None = None, stop: Fraction | None = None) -> arb:
        """Return ∫ from ``start`` to ``stop`` (None: −∞ and +∞), for start ≤ stop; the integral must converge."""
        inner = [b for b in self.breaks if (start is None or b > start) and (stop is None or b < stop)]
        ends = [start, *inner, stop]
        total = arb(0)
        for a, b in pairwise(ends):
            for power, coefficient in self._left_of(b).items():
                total += coefficient * self._elementary(power, a, b)
        return total

    def _elementary(self, power: int, a: Fraction | None, b: Fraction | None) -> arb:
        """Return ∫_a^b e^{m u r} dr; a diverging one is infinite, so that nothing is concluded from it."""
        if power == 0:
            return arb("inf") if a is None or b is None else ball(b - a)
        rate = power * self.unit
        if (a is None and rate < 0) or (b is None and rate > 0):
            return arb("inf")
        upper = arb(0) if b is None else ball(rate * b).exp()
        lower = arb(0) if a is None else ball(rate * a).exp()
        return (upper - lower) / ball(rate)


def _multiply(left: Terms, right: Terms) -> Terms:
    result: Terms = {}
    for m, a in left.items():
        for n, b in right.items():
            result[m + n] = result.get(m + n, arb(0)) + a * b
    return result


def constant(unit: Fraction) -> Piecewise:
    """Return the function 1."""
    return Piecewise(unit, (), ({0: arb(1)},))


def laplace_density(unit: Fraction, rate: int, centre: Fraction) -> Piecewise:
    """Return r ↦ (k u/2) exp(−k u |r − centre|), the density of a Laplace law of scale 1/(k u)."""
    rising, falling = _sides(unit, rate, centre)
    height = ball(_HALF * rate * unit)
    return Piecewise(unit, (centre,), ({rate: height * rising}, {-rate: height * falling}))


def laplace_below(unit: Fraction, rate: int, centre: Fraction) -> Piecewise:
    """Return r ↦ P(centre + Lap(1/(k u)) < r)."""
    rising, falling = _sides(unit, rate, centre)
    half = ball(_HALF)
    return Piecewise(unit, (centre,), ({rate: half * rising}, {0: arb(1), -rate: -half * falling}))


def laplace_above(unit: Fraction, rate: int, centre: Fraction) -> Piecewise:
    """Return r ↦ P(centre + Lap(1/(k u)) ≥ r)."""
    rising, falling = _sides(unit, rate, centre)
    half = ball(_HALF)
    return Piecewise(unit, (centre,), ({0: arb(1), rate: -half * rising}, {-rate: half * falling}))


def exponential_density(unit: Fraction, rate: int, start: Fraction) -> Piecewise:
    """Return the density of ``start`` + Exp(scale 1/(k u))."""
    _, falling = _sides(unit, rate, start)
    return Piecewise(unit, (start,), ({}, {-rate: ball(rate * unit) * falling}))


def exponential_below(unit: Fraction, rate: int, start: Fraction) -> Piecewise:
    """Return r ↦ P(start + Exp(scale 1/(k u)) < r)."""
    _, falling = _sides(unit, rate, start)
    return Piecewise(unit, (start,), ({}, {0: arb(1), -rate: -falling}))


def _sides(unit: Fraction, rate: int, centre: Fraction) -> tuple[arb, arb]:
    """Return e^{−k u c} and e^{k u c}."""
    exponent = ball(rate * unit * centre)
    return (-exponent).exp(), exponent.exp()


def product(unit: Fraction, factors: Iterable[Piecewise]) -> Piecewise:
    """Return the product of the factors; 1 where there are none."""
    return reduce(lambda a, b: a * b, factors, constant(unit))


def exponential(unit: Fraction, power: int, shift: Fraction) -> Piecewise:
    """Return r ↦ e^{m u (r + shift)}."""
    return Piecewise(unit, (), ({power: ball(power * unit * shift).exp()},))


def common_unit(rates: Iterable[Fraction]) -> Fraction:
    """Return the largest u of which all rates are integer multiples."""
    unit = Fraction(0)
    for rate in rates:
        unit = Fraction(math.gcd(unit.numerator * rate.denominator, rate.numerator * unit.denominator), unit.denominator * rate.denominator)
    return unit
