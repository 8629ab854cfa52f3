"""The machinery of the truths against integrals at 40 digits, certified quadrature, and searches on grids."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import arb
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from profiles.balls import ball, working_precision
from proofs_check.exact import expectation_over_laplace, laplace_cdf, laplace_pdf
from tests.targets.suite import standard_suite
from tests.targets.suite.numeric_svt import AdaptiveSVT
from tests.targets.suite.sparse_vector import SparseVector
from tests.targets.suite.truths import compute_directions, suprema
from tests.targets.suite.truths import sparse_vector as truths
from tests.targets.suite.truths.exponentials import (
    common_unit,
    exponential,
    exponential_below,
    exponential_density,
    laplace_above,
    laplace_below,
    laplace_density,
    product,
)
from tests.targets.suite.truths.families import Gap, Search, Value, make_threshold, run_searches
from tests.targets.suite.truths.sides import Side, of_table
from tests.targets.suite.truths.suprema import TOLERANCE, Point, find_supremum

CASES = {case.name: case for case in standard_suite()}
UNIT = Fraction(1, 7)
HALVES = st.integers(-6, 6).map(lambda n: Fraction(n, 2))


@pytest.fixture(autouse=True)
def _precise():
    with working_precision(192), mpmath.workdps(40):
        yield


def mp(value):
    return mpmath.mpf(value.numerator) / value.denominator


def laplace_at(kind, rate, centre, r):
    x = rate * mp(UNIT) * (r - mp(centre))
    below = mpmath.exp(x) / 2 if x < 0 else 1 - mpmath.exp(-x) / 2
    return {"density": rate * mp(UNIT) * mpmath.exp(-abs(x)) / 2, "below": below, "above": 1 - below}[kind]


KINDS = {"density": laplace_density, "below": laplace_below, "above": laplace_above}


@pytest.mark.thorough
@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(sorted(KINDS)), st.integers(1, 3), HALVES), min_size=1, max_size=4), HALVES, st.integers(0, 9))
def test_integrals_of_products_have_their_values(factors, start, length):
    function = product(UNIT, [laplace_density(UNIT, 2, Fraction(0)), *(KINDS[kind](UNIT, rate, centre) for kind, rate, centre in factors)])

    def integrand(r):
        return laplace_at("density", 2, Fraction(0), r) * mpmath.fprod(laplace_at(*factor, r) for factor in factors)

    stop = start + length
    kinks = sorted(
        {mp(start), mp(stop), *(mp(c) for _, _, c in factors if start < c < stop), *([mpmath.mpf(0)] if start < 0 < stop else [])}
    )
    inside = mpmath.quad(integrand, kinks) if length else mpmath.mpf(0)
    assert float(function.integrate(start, stop)) == pytest.approx(float(inside), rel=1e-15, abs=1e-25)
    assert float(function.evaluate(start)) == pytest.approx(float(integrand(mp(start))), rel=1e-15)
    whole = function.integrate(None, start) + function.integrate(start, stop) + function.integrate(stop)
    assert whole.overlaps(function.integrate())


def test_laws_have_mass_one_and_add_up():
    for rate, centre in ((1, Fraction(0)), (3, Fraction(-5, 2))):
        assert laplace_density(UNIT, rate, centre).integrate().overlaps(arb(1))
        assert exponential_density(UNIT, rate, centre).integrate().overlaps(arb(1))
        for r in (Fraction(-9), centre, Fraction(4)):
            both = laplace_below(UNIT, rate, centre).evaluate(r) + laplace_above(UNIT, rate, centre).evaluate(r)
            assert both.overlaps(arb(1))
            assert exponential_density(UNIT, rate, centre).integrate(None, r).overlaps(exponential_below(UNIT, rate, centre).evaluate(r))
            assert laplace_density(UNIT, rate, centre).integrate(None, r).overlaps(laplace_below(UNIT, rate, centre).evaluate(r))


def test_diverging_integrals_conclude_nothing():
    assert not exponential(UNIT, 1, Fraction(0)).integrate(Fraction(0)).is_finite()
    assert not exponential(UNIT, -1, Fraction(0)).integrate(None, Fraction(0)).is_finite()
    assert not product(UNIT, []).integrate().is_finite()
    assert float(product(UNIT, []).integrate(Fraction(1), Fraction(3))) == 2


def test_the_common_unit_divides_all_rates():
    assert common_unit([Fraction(1, 40), Fraction(3, 40)]) == Fraction(1, 40)
    assert common_unit([Fraction(1, 20), Fraction(1, 80), Fraction(1, 30)]) == Fraction(1, 240)


@pytest.mark.parametrize("name", ["svt-1", "svt-4", "svt-6"])
def test_patterns_by_quadrature(name):
    mechanism = CASES[name].mechanism
    answers = tuple(map(Fraction, (2, 0, 1, 1)))
    for pattern in truths.list_patterns(4, mechanism.limit):

        def integrand(r, pattern=pattern):
            level = r + mechanism.threshold
            factors = [laplace_cdf(level - answers[i], mechanism.query_scale) for i in pattern.below]
            factors += [laplace_cdf(answers[i] - level, mechanism.query_scale) for i in pattern.above]
            return math.prod(factors, start=1 + 0 * r.value)

        enclosed = expectation_over_laplace(mechanism.threshold_scale, integrand)
        value = truths.probability(mechanism, answers, pattern)
        assert float(value) == pytest.approx(float(enclosed.lower), rel=1e-12)


def test_all_patterns_are_listed_once():
    assert len(list(truths.list_patterns(10, None))) == 2**10
    assert len(list(truths.list_patterns(10, 1))) == 11
    two = list(truths.list_patterns(5, 2))
    assert len(two) == len(set(two)) == 1 + 5 + 10
    mechanism = SparseVector(Fraction(1), Fraction(20), Fraction(40), 2)
    total = sum((truths.probability(mechanism, (Fraction(1), Fraction(0), Fraction(3)), p) for p in truths.list_patterns(3, 2)), arb(0))
    assert total.overlaps(arb(1))


def quadratic(v, top, bottom, slope):
    """ℓ = slope·v + log A − log B with log A = −a(v − m)² and log B = −b(v − n)²."""
    (a, m), (b, n) = top, bottom
    logs = ball(-a * (v - m) ** 2 + b * (v - n) ** 2)
    return Point(slope * v, logs, ball(-2 * a * (v - m)), ball(-2 * b * (v - n)))


@settings(max_examples=40, deadline=None)
@given(*(st.integers(0, 8).map(lambda n: Fraction(n, 4)) for _ in range(5)), HALVES)
def test_suprema_of_quadratics(a, b, m, n, width, slope):
    assume(a != b or slope + 2 * a * (m - n))  # where ℓ is constant nothing can be left out of the search
    ends = [Fraction(-1), Fraction(0), Fraction(1, 2) + width]
    found = find_supremum(lambda v: quadratic(v, (a, m), (b, n), slope), ends)

    def value(v):
        return slope * v - a * (v - m) ** 2 + b * (v - n) ** 2

    candidates = [*ends]
    if a > b:
        vertex = (slope + 2 * a * m - 2 * b * n) / (2 * (a - b))
        candidates.append(min(max(vertex, ends[0]), ends[-1]))
    best = max(map(value, candidates))
    assert found.lower <= best + Fraction(1, 10**40)
    assert found.upper >= best - Fraction(1, 10**40)
    assert found.upper - found.lower <= TOLERANCE + Fraction(1, 10**40)


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["svt-3", "bad-gap-svt"])
def test_no_released_value_has_more_than_the_truth(name):
    """Log ratios at many values, from certified quadrature with the kink at r = v − t made by a limit of integration."""
    case = CASES[name]
    mechanism, pair = case.mechanism, [[Fraction(x) for x in data.tolist()] for data in (case.dataset, case.neighbor)]
    best = -math.inf
    for k in (4, 5, 9):
        for v in map(Fraction, (-7, 1, 5)):
            logs, weights = [], []
            for answers in pair:
                noise = make_threshold(mechanism.threshold, mechanism.threshold_scale, mechanism.query_scale)
                weight = product(noise.unit, [noise.density(), *(noise.below(x, mechanism.query_scale) for x in answers[:k])])
                inside = mpmath.quad(
                    lambda r, k=k, answers=answers: (
                        mpmath.exp(-abs(r) / mp(mechanism.threshold_scale))
                        * mpmath.fprod(_below(r + mp(mechanism.threshold) - mp(x), mp(mechanism.query_scale)) for x in answers[:k])
                    ),
                    sorted(
                        {mpmath.mpf(-900), *(mpmath.mpf(c) for c in (-1, 0, 1) if c < v - mechanism.threshold), mp(v - mechanism.threshold)}
                    ),
                )
                assert float(weight.integrate(None, v - mechanism.threshold)) * 2 * float(mechanism.threshold_scale) == pytest.approx(
                    float(inside), rel=1e-9
                )
                logs.append(mpmath.log(inside) - abs(mp(v) - mp(answers[k])) / mp(mechanism.query_scale))
                weights.append((weight, answers[k]))
            point = Value(noise, mechanism.query_scale, Fraction(0), weights[0], weights[1])._at(v)
            assert float(point.value) == pytest.approx(float(logs[0] - logs[1]), abs=1e-12)
            best = max(best, abs(logs[0] - logs[1]))
    assert best <= mp(case.truth.upper) + mpmath.mpf(10) ** -8
    assert best >= mp(case.truth.lower) - mpmath.mpf(10) ** -6


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(HALVES, HALVES), min_size=1, max_size=3), HALVES)
def test_further_values_are_chosen_best(pairs, v):
    """Each further value is at least v and adds its largest log ratio, searched for on a grid that has all kinks."""
    noise, scale = make_threshold(Fraction(1), Fraction(20), Fraction(10)), Fraction(10)
    weight = noise.density()
    (x, y), *others = pairs

    def log_ratio(value, top, bottom):
        return (abs(value - bottom) - abs(value - top)) / scale

    grid = [Fraction(n, 2) for n in range(-40, 41) if Fraction(n, 2) >= v]
    best = log_ratio(v, x, y) + sum(max(log_ratio(value, *pair) for value in grid) for pair in others)
    assert Value(noise, scale, Fraction(0), (weight, x), (weight, y), tuple(others))._linear(v) == best


def _below(x, scale):
    return mpmath.exp(x / scale) / 2 if x < 0 else 1 - mpmath.exp(-x / scale) / 2


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["gap-svt", "adaptive-svt"])
def test_no_gap_has_more_than_the_truth(name):
    """Log ratios of the densities of gaps at many places, by certified quadrature."""
    case = CASES[name]
    mechanism, pair = case.mechanism, [[Fraction(x) for x in data.tolist()] for data in (case.dataset, case.neighbor)]
    adaptive = isinstance(mechanism, AdaptiveSVT)
    scale = mechanism.middle_scale if adaptive else mechanism.query_scale
    best = 0.0
    for k in (0, 4, 5, 6, 9):
        for g in map(Fraction, (0, 1, 16, 50, 240, 600)):
            densities = []
            for answers in pair:

                def integrand(r, k=k, g=g, answers=answers):
                    level = r + mechanism.threshold
                    factors = [laplace_cdf(level - x, scale) for x in answers[:k]]
                    if adaptive:
                        factors += [laplace_cdf(level + mechanism.margin - x, mechanism.top_scale) for x in answers[: k + 1]]
                    return math.prod(factors, start=laplace_pdf(level + g - answers[k], scale))

                densities.append(expectation_over_laplace(mechanism.threshold_scale, integrand))
            best = max(best, abs(math.log(densities[0].lower / densities[1].lower)))
    assert best <= case.truth.upper + Fraction(1, 10**9)
    assert best >= case.truth.lower - Fraction(1, 10**8)


def test_slopes_of_log_densities_are_their_derivatives():
    noise, scale, step = make_threshold(Fraction(1), Fraction(20), Fraction(40)), Fraction(40), Fraction(1, 10**12)
    weights = [product(noise.unit, [noise.density(), *(noise.below(Fraction(x), scale) for x in answers)]) for answers in ((1, 2), (0, 1))]
    sides = (weights[0], Fraction(1)), (weights[1], Fraction(0))
    for family in (Gap(noise, scale, Fraction(0), *sides), Value(noise, scale, Fraction(0), *sides)):
        for v in map(Fraction, ("0.25", "1.5", "37", "90")):
            here, there = family._at(v), family._at(v + step)
            change = (there.logs - here.logs) / ball(step)
            assert float(here.rise_top - here.rise_bottom) == pytest.approx(float(change), abs=1e-9)
            assert float(here.rise_top) != pytest.approx(0, abs=1e-6)


@pytest.mark.thorough
def test_parallel_parts_add_up():
    case = CASES["parallel-svt"]
    parts = [compute_directions(replace(case, mechanism=part)) for part in case.mechanism.parts]
    assert float(parts[0].toward.lower) == pytest.approx(7 / 40, abs=1e-8)
    assert float(parts[1].toward.lower) == pytest.approx(0.31244638, abs=1e-8)


def test_lloyd_with_one_iteration_approaches_its_profile():
    """One cluster in one dimension: P(c ≤ −R) on one record over that on two, both at 1, tends to e^(1/20 + 1/20)."""

    def log_chance(records, far):
        # n ≥ 1 is the noisy count, the noisy sum is at most −R·n
        return mpmath.log(
            mpmath.quad(
                lambda n: mpmath.exp(-abs(n - records) / 20) * mpmath.exp((-far * n - records) / mpmath.mpf(20)), [1, 2, 3, mpmath.inf]
            )
        )

    ratios = [log_chance(1, far) - log_chance(2, far) for far in (1, 10, 100, 1000, 10**5)]
    assert ratios == sorted(ratios)
    assert 0.0999 < ratios[-1] < 0.1


def test_a_pole_gives_any_ratio():
    """P(‖y‖ ≤ t) for the exponential radius around 0, over its largest value around a record at distance 1: grows like t^(1 − d)."""
    scale, dimension = 10, 3

    def ratio(t):
        near = -mpmath.expm1(-mpmath.mpf(t) / scale)
        # around the other sum the density is at most (1 − t)^(1 − d) e^{−(1 − t)/scale} / (scale · area of the sphere)
        area = 2 * mpmath.pi ** (mpmath.mpf(dimension) / 2) / mpmath.gamma(mpmath.mpf(dimension) / 2)
        volume = area * mpmath.mpf(t) ** dimension / dimension
        return mpmath.log(near / (volume * (1 - mpmath.mpf(t)) ** (1 - dimension) / (scale * area)))

    values = [ratio(t) for t in ("0.1", "0.01", "0.001")]
    assert np.all(np.diff([float(value) for value in values]) > 4)


def test_searches_that_cannot_win_are_not_run():
    def forbidden():
        raise AssertionError

    done = Search(Fraction(3), lambda: Side(Fraction(2), Fraction(5)))
    assert run_searches([Search(Fraction(2), forbidden), done]) == Side(Fraction(2), Fraction(3)), "the cap of a search holds as well"
    assert run_searches([]) == Side(0, 0)


def test_searches_that_run_out_of_cells_still_bound(monkeypatch):
    monkeypatch.setattr(suprema, "_MOST_CELLS", 50)
    curved = Fraction(1), Fraction(0)
    found = find_supremum(lambda v: quadratic(v, curved, curved, Fraction(0)), [Fraction(-1), Fraction(1)])
    assert found.lower == 0 < found.upper < Fraction(1, 10)


def test_tables_have_both_directions():
    directions = of_table([(arb(1), arb(2)), (arb(3), arb(2))])
    assert float(directions.toward.upper) == pytest.approx(math.log(1.5))
    assert float(directions.away.lower) == pytest.approx(math.log(2))
    assert Side.of_ball(arb("nan")) == Side(-math.inf, math.inf)
