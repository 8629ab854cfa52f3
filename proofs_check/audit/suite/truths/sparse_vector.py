"""Truths of the sparse vector techniques: bits by closed forms, released numbers by suprema of log-concave ratios.

Every factor of an output's density is log-concave in the threshold noise r and in what is released (Laplace densities, distribution
functions and tails are), products of log-concave functions are, and integrals over r of jointly log-concave ones too (Prékopa).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from flint import arb

from proofs_check.audit.suite.noise import STEP
from proofs_check.audit.suite.numeric_svt import AdaptiveSVT, NumericalSVT
from proofs_check.audit.suite.sparse_vector import Answer, SparseVector
from proofs_check.audit.suite.truths.exponentials import (
    Piecewise,
    common_unit,
    exponential,
    laplace_above,
    laplace_below,
    laplace_density,
    product,
)
from proofs_check.audit.suite.truths.sides import Directions, Side, largest, of_table
from proofs_check.audit.suite.truths.suprema import Point, find_supremum
from proofs_check.enclosures import ball

Answers = tuple[Fraction, ...]

#: How far beyond the last kink a search goes, in units of 1/u: e^{−60} is far below the tolerance.
_FAR = 60


@dataclass(frozen=True, slots=True)
class Pattern:
    """Which queries are below and above; the last one asked is the last of both."""

    below: tuple[int, ...]
    above: tuple[int, ...]


def list_patterns(queries: int, limit: int | None) -> Iterator[Pattern]:
    """Yield the patterns that are possible where asking stops at the ``limit``-th query above."""
    most = queries if limit is None else limit
    for count in range(most + 1):
        for above in combinations(range(queries), count):
            asked = above[-1] + 1 if limit is not None and count == limit else queries
            yield Pattern(tuple(i for i in range(asked) if i not in above), above)


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


def _threshold(level: Fraction, scale: Fraction, *others: Fraction) -> Threshold:
    return Threshold(common_unit(1 / each for each in (scale, *others)), level, scale)


def probability(mechanism: SparseVector, answers: Answers, pattern: Pattern) -> arb:
    """Return the probability of a pattern, for query noise and a threshold that is drawn once."""
    scale = _query_scale(mechanism)
    noise = _threshold(mechanism.threshold, mechanism.threshold_scale, scale)
    factors = [noise.density()]
    factors += [noise.below(answers[i], scale) for i in pattern.below]
    factors += [noise.above(answers[i], scale) for i in pattern.above]
    return product(noise.unit, factors).integrate()


def _query_scale(mechanism: SparseVector) -> Fraction:
    if mechanism.query_scale is None:
        raise NotImplementedError
    return mechanism.query_scale


def of_bits(mechanism: SparseVector, first: Answers, second: Answers) -> Directions:
    """Return the directions where bits are released; each class of patterns with equal probabilities is computed once."""
    classes = {_class_of(pattern, first, second): pattern for pattern in list_patterns(len(first), mechanism.limit)}
    return of_table((probability(mechanism, first, p), probability(mechanism, second, p)) for p in classes.values())


def _class_of(pattern: Pattern, first: Answers, second: Answers) -> tuple[tuple[tuple[Fraction, Fraction], ...], ...]:
    return tuple(tuple(sorted((first[i], second[i]) for i in part)) for part in (pattern.below, pattern.above))


def of_numerical(mechanism: NumericalSVT, first: Answers, second: Answers) -> Directions:
    """Return the directions for bits with fresh noisy answers: log ratio of the bits plus Σ |x − x′|/answer_scale over those above."""
    toward, away = [], []
    for pattern in list_patterns(len(first), mechanism.bits.limit):
        bits = (probability(mechanism.bits, first, pattern) / probability(mechanism.bits, second, pattern)).log()
        numbers = ball(sum((abs(first[i] - second[i]) for i in pattern.above), Fraction(0)) / mechanism.answer_scale)
        toward.append(Side.of_ball(numbers + bits))
        away.append(Side.of_ball(numbers - bits))
    return Directions(largest(toward), largest(away))


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


def of_numbers(mechanism: SparseVector, first: Answers, second: Answers) -> Directions:
    """Return the directions where the value that was compared is released, or (with a limit of 1) the gap."""
    scale = _query_scale(mechanism)
    noise = _threshold(mechanism.threshold, mechanism.threshold_scale, scale)

    def below(answers: Answers, pattern: Pattern) -> Piecewise:
        return product(noise.unit, [noise.density(), *(noise.below(answers[i], scale) for i in pattern.below)])

    def one(top: Answers, bottom: Answers) -> Side:
        classes = {_class_of(p, top, bottom): p for p in list_patterns(len(top), mechanism.limit)}
        sides = []
        for pattern in classes.values():
            weights = below(top, pattern), below(bottom, pattern)
            if not pattern.above:
                sides.append(Side.of_ball((weights[0].integrate() / weights[1].integrate()).log()))
            for i in pattern.above:
                pair = (weights[0], top[i]), (weights[1], bottom[i])
                if mechanism.answer is Answer.GAP:
                    sides.append(Gap(noise, scale, Fraction(0), *pair).supremum())
                else:
                    others = tuple((top[j], bottom[j]) for j in pattern.above if j != i)
                    sides.append(Value(noise, scale, Fraction(0), *pair, others).supremum())
        return largest(sides).reduced(_grid_loss(len(top) + 2, min(noise.scale, scale), mechanism.limit or len(top)))

    return Directions(one(first, second), one(second, first))


def _grid_loss(factors: int, least: Fraction, numbers: int) -> Fraction:
    """Return 2L·2⁻³⁰ per released number (see ``noise.release``): a log density has slopes of at most L = factors/least scale."""
    return 2 * STEP * numbers * factors / least


def of_adaptive(mechanism: AdaptiveSVT, first: Answers, second: Answers) -> Directions:
    """Return the directions of the adaptive technique with a limit of 1: everything below, or the first query above, in either branch."""
    middle, top_scale, margin = mechanism.middle_scale, mechanism.top_scale, mechanism.margin
    noise = _threshold(mechanism.threshold, mechanism.threshold_scale, middle, top_scale)

    def weight(answers: Answers, count: int, *, missed: bool) -> Piecewise:
        """The first ``count`` queries are below in both branches, the next one in the top branch where ``missed`` is set."""
        factors = [noise.density()]
        for answer in answers[:count]:
            factors += [noise.below(answer, top_scale, margin), noise.below(answer, middle)]
        if missed:
            factors.append(noise.below(answers[count], top_scale, margin))
        return product(noise.unit, factors)

    def one(top: Answers, bottom: Answers) -> Side:
        n = len(top)
        nothing = (weight(top, n, missed=False).integrate() / weight(bottom, n, missed=False).integrate()).log()
        sides = [Side.of_ball(nothing)]
        for i in range(n):
            by_top, by_middle = (
                ((weight(top, i, missed=missed), top[i]), (weight(bottom, i, missed=missed), bottom[i])) for missed in (False, True)
            )
            leaked = Value if mechanism.leak else Gap
            sides.append(leaked(noise, top_scale, margin, by_top[0], by_top[1]).supremum())
            sides.append(Gap(noise, middle, Fraction(0), by_middle[0], by_middle[1]).supremum())
        return largest(sides).reduced(_grid_loss(2 * n + 2, min(noise.scale, middle, top_scale), 1))

    return Directions(one(first, second), one(second, first))
