"""Densities of what a sparse vector technique releases for one query, and the suprema of their log ratios.

Every factor of such a density is log-concave in the threshold noise r and in what is released (Laplace densities, distribution
functions and tails are), products of log-concave functions are, and integrals over r of jointly log-concave ones too (Prékopa).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from profiles.balls import ball
from tests.targets.suite.truths.exponentials import (
    Piecewise,
    common_unit,
    exponential,
    laplace_above,
    laplace_below,
    laplace_density,
)
from tests.targets.suite.truths.sides import Side, largest
from tests.targets.suite.truths.suprema import TOLERANCE, Point, find_supremum

#: How far beyond the last kink a search goes, in units of 1/u: e^{−60} is far below the tolerance.
_FAR = 60


@dataclass(frozen=True, slots=True)
class Threshold:
    """The noisy threshold t + ρ and the common rate of all noise of a mechanism."""

    unit: Fraction
    level: Fraction
    scale: Fraction

    def rate(self, scale: Fraction) -> int:
        """Return the rate of Laplace noise of this scale, as a multiple of the unit."""
        return int(1 / (scale * self.unit))

    def density(self) -> Piecewise:
        """Return the density of ρ."""
        return laplace_density(self.unit, self.rate(self.scale), Fraction(0))

    def below(self, answer: Fraction, scale: Fraction, margin: Fraction = Fraction(0)) -> Piecewise:
        """Return r ↦ P(answer + ν < t + r + margin)."""
        return laplace_below(self.unit, self.rate(scale), answer - self.level - margin)

    def above(self, answer: Fraction, scale: Fraction) -> Piecewise:
        """Return r ↦ P(answer + ν ≥ t + r)."""
        return laplace_above(self.unit, self.rate(scale), answer - self.level)


def make_threshold(level: Fraction, scale: Fraction, *others: Fraction) -> Threshold:
    """Return the threshold with the largest unit that all scales of a mechanism have in common."""
    return Threshold(common_unit(1 / each for each in (scale, *others)), level, scale)


@dataclass(frozen=True, slots=True)
class Value:
    """Released: the value v of the one answer that was compared; density f_ν(v − x)·∫_{r ≤ v − t − margin} w(r) dr."""

    noise: Threshold
    scale: Fraction
    margin: Fraction
    top: tuple[Piecewise, Fraction]
    bottom: tuple[Piecewise, Fraction]
    others: tuple[tuple[Fraction, Fraction], ...] = ()

    def supremum(self) -> Side:
        """Return bounds of the supremum over all real v of log top/bottom.

        Left of all kinks every factor is one exponential, so that the ratio is constant. On the right, from ``far`` on, the f_ν have a
        constant ratio, and ∫ top ≤ its limit, ∫ bottom ≥ its value at ``far``.

        ``others`` are the answers (x, x′) of further values that are released and at least v: each adds the larger one of its log ratio
        at v and beyond all kinks, which are its extremes.
        """
        kinks = {b + self.noise.level + self.margin for b in (*self.top[0].breaks, *self.bottom[0].breaks)}
        kinks |= {x for pair in ((self.top[1], self.bottom[1]), *self.others) for x in pair}
        far = max(kinks) + Fraction(_FAR) / self.noise.unit
        found = find_supremum(self._at, [*sorted(kinks), far])
        limit = self._linear(far)
        whole = self.top[0].integrate()
        beyond = ball(limit) + (whole / self.bottom[0].integrate(None, far - self.noise.level - self.margin)).log()
        at_infinity = ball(limit) + (whole / self.bottom[0].integrate()).log()
        return largest((found, Side(Side.of_ball(at_infinity).lower, Side.of_ball(beyond).upper)))

    def _linear(self, v: Fraction) -> Fraction:
        own = abs(v - self.bottom[1]) - abs(v - self.top[1])
        rest = sum((max(abs(v - y) - abs(v - x), x - y) for x, y in self.others), Fraction(0))
        return (own + rest) / self.scale

    def _at(self, v: Fraction) -> Point:
        s = v - self.noise.level - self.margin
        top, bottom = self.top[0].integrate(None, s), self.bottom[0].integrate(None, s)
        return Point(self._linear(v), (top / bottom).log(), self.top[0].evaluate(s) / top, self.bottom[0].evaluate(s) / bottom)


@dataclass(frozen=True, slots=True)
class Gap:
    """Released: the gap g ≥ margin; density ∫ w(r) f_ν(g + t + r − x) dr."""

    noise: Threshold
    scale: Fraction
    margin: Fraction
    top: tuple[Piecewise, Fraction]
    bottom: tuple[Piecewise, Fraction]

    def supremum(self) -> Side:
        """Return bounds of the supremum over g ≥ margin of log top/bottom.

        With k the rate of ν, f_ν(y) ≤ (k/2) e^{−k y} for all y, with equality for y ≥ 0. So density(g) ≤ e^{−k g} K with
        K = ∫ w(r) (k/2) e^{−k(t + r − x)} dr, and for g ≥ far it is at least e^{−k g} times the part of K on r ≥ x − t − far.
        """
        ends = [self.margin, self.margin + 1 / self.noise.unit, self.margin + Fraction(_FAR) / self.noise.unit]
        found = find_supremum(self._at, ends)
        whole, other = self._tail(self.top, None), self._tail(self.bottom, None)
        beyond = (whole / self._tail(self.bottom, ends[-1])).log()
        return largest((found, Side(Side.of_ball((whole / other).log()).lower, Side.of_ball(beyond).upper)))

    def _tail(self, side: tuple[Piecewise, Fraction], far: Fraction | None) -> arb:
        weight, x = side
        rate = self.noise.rate(self.scale)
        start = None if far is None else x - self.noise.level - far
        return (weight * exponential(self.noise.unit, -rate, self.noise.level - x)).integrate(start)

    def _at(self, g: Fraction) -> Point:
        (top, rise_top), (bottom, rise_bottom) = self._density(self.top, g), self._density(self.bottom, g)
        return Point(Fraction(0), (top / bottom).log(), rise_top, rise_bottom)

    def _density(self, side: tuple[Piecewise, Fraction], g: Fraction) -> tuple[arb, arb]:
        """Return the density at g and its logarithmic derivative: f_ν′ = ∓k·f_ν."""
        weight, x = side
        rate = self.noise.rate(self.scale)
        centre = x - self.noise.level - g
        joint = weight * laplace_density(self.noise.unit, rate, centre)
        left, right = joint.integrate(None, centre), joint.integrate(centre)
        return left + right, ball(rate * self.noise.unit) * (left - right) / (left + right)


@dataclass(frozen=True, slots=True)
class Search:
    """A supremum that is at most ``most`` by an argument of its own; ``run`` finds out more."""

    most: Fraction
    run: Callable[[], Side]


def run_searches(searches: Iterable[Search]) -> Side:
    """Return bounds of the largest of several suprema; those that cannot exceed what others have by more than the tolerance are not run."""
    best = Side(Fraction(0), Fraction(0))
    for search in sorted(searches, key=lambda each: each.most, reverse=True):
        if search.most <= best.lower + TOLERANCE:
            found = Side(best.lower, search.most)
        else:
            found = search.run()
            found = Side(found.lower, min(found.upper, search.most))
        best = largest((best, found))
    return best
