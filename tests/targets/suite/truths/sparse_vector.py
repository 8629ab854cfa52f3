"""Truths of the sparse vector techniques: bits by closed forms, released numbers by suprema of log-concave ratios."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import combinations

from flint import arb

from profiles.balls import ball
from profiles.errors import InvalidArgument
from tests.targets.suite.noise import STEP
from tests.targets.suite.numeric_svt import AdaptiveSVT, NumericalSVT
from tests.targets.suite.sparse_vector import Answer, SparseVector
from tests.targets.suite.truths.exponentials import Piecewise, product
from tests.targets.suite.truths.families import Gap, Search, Value, make_threshold, run_searches
from tests.targets.suite.truths.sides import Directions, Side, largest, of_table

Answers = tuple[Fraction, ...]


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


def probability(mechanism: SparseVector, answers: Answers, pattern: Pattern) -> arb:
    """Return the probability of a pattern, for query noise and a threshold that is drawn once."""
    scale = _query_scale(mechanism)
    noise = make_threshold(mechanism.threshold, mechanism.threshold_scale, scale)
    factors = [noise.density()]
    factors += [noise.below(answers[i], scale) for i in pattern.below]
    factors += [noise.above(answers[i], scale) for i in pattern.above]
    return product(noise.unit, factors).integrate()


def _query_scale(mechanism: SparseVector) -> Fraction:
    if mechanism.query_scale is None:
        raise InvalidArgument("this truth needs noise on the queries, but there is none; give a query scale")
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


def _cap(top: Answers, bottom: Answers, below: Iterable[int], above: Iterable[int], scale: Fraction) -> Fraction:
    """Return what the factors of a density can change at most.

    For Laplace noise log F(r − x)/F(r − y) ≤ max(0, y − x)/scale, and the log ratio of the densities is at most |x − y|/scale.
    """
    falling = sum((max(Fraction(0), bottom[i] - top[i]) for i in below), Fraction(0))
    return (falling + sum((abs(top[i] - bottom[i]) for i in above), Fraction(0))) / scale


def of_numbers(mechanism: SparseVector, first: Answers, second: Answers) -> Directions:
    """Return the directions where the value that was compared is released, or (with a limit of 1) the gap."""
    scale = _query_scale(mechanism)
    noise = make_threshold(mechanism.threshold, mechanism.threshold_scale, scale)
    limit = len(first) if mechanism.limit is None else mechanism.limit
    if mechanism.answer is Answer.GAP and limit != 1:
        raise InvalidArgument("truths of released gaps are known for a limit of 1 only")

    def below(answers: Answers, pattern: Pattern) -> Piecewise:
        return product(noise.unit, [noise.density(), *(noise.below(answers[i], scale) for i in pattern.below)])

    def search(top: Answers, bottom: Answers, pattern: Pattern) -> Side:
        weights = below(top, pattern), below(bottom, pattern)
        if not pattern.above:
            return Side.of_ball((weights[0].integrate() / weights[1].integrate()).log())
        sides = []
        for i in pattern.above:
            pair = (weights[0], top[i]), (weights[1], bottom[i])
            others = tuple((top[j], bottom[j]) for j in pattern.above if j != i)
            gap = mechanism.answer is Answer.GAP
            one = Gap(noise, scale, Fraction(0), *pair) if gap else Value(noise, scale, Fraction(0), *pair, others)
            sides.append(one.supremum())
        return largest(sides)

    def one(top: Answers, bottom: Answers) -> Side:
        classes = {_class_of(p, top, bottom): p for p in list_patterns(len(top), mechanism.limit)}
        searches = [Search(_cap(top, bottom, p.below, p.above, scale), partial(search, top, bottom, p)) for p in classes.values()]
        return run_searches(searches).reduced(_grid_loss(len(top) + 2, min(noise.scale, scale), limit))

    return Directions(one(first, second), one(second, first))


def _grid_loss(factors: int, least: Fraction, numbers: int) -> Fraction:
    """Return 2L·2⁻³⁰ per released number (see ``noise.release``): a log density has slopes of at most L = factors/least scale."""
    return 2 * STEP * numbers * factors / least


def of_adaptive(mechanism: AdaptiveSVT, first: Answers, second: Answers) -> Directions:
    """Return the directions of the adaptive technique with a limit of 1: everything below, or the first query above, in either branch."""
    if mechanism.limit != 1:
        raise InvalidArgument("truths of adaptive sparse vectors are known for a limit of 1 only")
    middle, top_scale, margin = mechanism.middle_scale, mechanism.top_scale, mechanism.margin
    noise = make_threshold(mechanism.threshold, mechanism.threshold_scale, middle, top_scale)

    def weight(answers: Answers, count: int, *, missed: bool) -> Piecewise:
        """The first ``count`` queries are below in both branches, the next one in the top branch where ``missed`` is set."""
        factors = [noise.density()]
        for answer in answers[:count]:
            factors += [noise.below(answer, top_scale, margin), noise.below(answer, middle)]
        if missed:
            factors.append(noise.below(answers[count], top_scale, margin))
        return product(noise.unit, factors)

    def nothing(top: Answers, bottom: Answers) -> Side:
        n = len(top)
        return Side.of_ball((weight(top, n, missed=False).integrate() / weight(bottom, n, missed=False).integrate()).log())

    def in_top(top: Answers, bottom: Answers, i: int) -> Side:
        pair = ((weight(top, i, missed=False), top[i]), (weight(bottom, i, missed=False), bottom[i]))
        return (Value if mechanism.leak else Gap)(noise, top_scale, margin, *pair).supremum()

    def in_middle(top: Answers, bottom: Answers, i: int) -> Side:
        pair = ((weight(top, i, missed=True), top[i]), (weight(bottom, i, missed=True), bottom[i]))
        return Gap(noise, middle, Fraction(0), *pair).supremum()

    def one(top: Answers, bottom: Answers) -> Side:
        queries = range(len(top))
        searches = [
            Search(sum((_cap(top, bottom, queries, (), s) for s in (middle, top_scale)), Fraction(0)), partial(nothing, top, bottom))
        ]
        for i in queries:
            below = sum((_cap(top, bottom, range(i), (), s) for s in (middle, top_scale)), Fraction(0))
            searches.append(Search(below + _cap(top, bottom, (), (i,), top_scale), partial(in_top, top, bottom, i)))
            in_both = _cap(top, bottom, (i,), (), top_scale) + _cap(top, bottom, (), (i,), middle)
            searches.append(Search(below + in_both, partial(in_middle, top, bottom, i)))
        return run_searches(searches).reduced(_grid_loss(2 * len(top) + 2, min(noise.scale, middle, top_scale), 1))

    return Directions(one(first, second), one(second, first))
