"""Error bounds and the approximate-DP analysis: values by hand, and never exceeded on small instances."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant.applications.submodular import (
    CoverageInstance,
    OneSidedGreedy,
    PrivateGreedy,
    approximate_dp,
    approximate_guarantee,
    bound_one_sided,
    bound_utility,
    epsilon0_for,
    lazy_greedy,
    selection_value,
)
from profiles import InvalidArgument
from profiles.hypotheses import TWO_VALUES
from profiles.randomness.bits import open_bits
from tests.applications.submodular.test_coverage import covered, plain_law


def test_one_sided_bound_by_hand():
    # k = 1: c = 1, every round: ln(m/beta) = ln 1000; together: ln 10 + 1 + sqrt(2 L) + L is larger
    bound = bound_one_sided(10, 1, "0.5", "0.01")
    assert bound.ratio == 1
    assert bound.error == pytest.approx(2 * math.log(1000), rel=1e-12)
    # k = 2: c = 3/4, v = 1 + 1/4, L = ln 2
    bound = bound_one_sided(7, 2, 1, "0.5")
    every = 1.5 * math.log(28)
    together = 1.5 * (math.log(7) + 1) + math.sqrt(2.5 * math.log(2)) + math.log(2)
    assert bound.ratio == 0.75
    assert bound.error == pytest.approx(min(every, together), rel=1e-12)


def test_bounds_have_a_side():
    with mpmath.workdps(50):
        c, L = 1 - mpmath.mpf("0.9") ** 10, mpmath.log(300)
        v = (1 - mpmath.mpf("0.9") ** 20) / (1 - mpmath.mpf("0.81"))
        plan = PrivateGreedy(10, 1, "optimal").plan
        spent, p = mpmath.mpf(plan.epsilon0.numerator) / plan.epsilon0.denominator, mpmath.mpf(plan.p)
        inner = (10 * c * (mpmath.log(1000) + 1) + mpmath.sqrt(2 * v * L) + L) / spent
        ratio = 1 - mpmath.exp(-1) - mpmath.mpf("0.1")
        growth = c / ratio
        truth = (mpmath.log(growth) * inner + mpmath.log(mpmath.binomial(1000, 10)) + (1 + c) * L) / (p * (growth - 1))
        bound = bound_utility(1000, 10, 1, beta="0.01", eta="0.1")
        assert 0 <= bound.error - truth < 1e-12
        assert 0 <= ratio - bound.ratio < 1e-15
        assert bound.value(10_000) == pytest.approx(float(ratio * 10_000 - truth))
        assert bound.value(1) == 0


@settings(max_examples=12, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 3), max_size=3), min_size=1, max_size=12),
    st.integers(1, 3),
    st.sampled_from(["0.5", "2", "6"]),
    st.sampled_from(["0.01", "0.3"]),
)
def test_the_one_sided_bound_holds_for_the_exact_law(sets, k, epsilon0, beta):
    law = plain_law(sets, 4, k, math.exp(float(epsilon0)))
    best = max(covered(sets, chosen) for chosen in itertools.combinations(range(4), k))
    bound = bound_one_sided(4, k, epsilon0, beta)
    assert sum(mass for chosen, mass in law.items() if covered(sets, chosen) < bound.value(best)) <= float(beta)


def test_the_bound_holds_where_it_is_not_vacuous():
    # a planted optimum of 4 candidates with 3,000 users each among 50; the bound fails with probability at most 1e-9 a run
    rng = np.random.default_rng(4)
    items = np.concatenate([np.repeat(np.arange(4), 3000), rng.integers(0, 50, 2000)])
    instance = CoverageInstance.from_pairs(np.arange(len(items)), items, candidates=50)
    bound = bound_utility(50, 4, 1, beta="1e-9", eta="0.2")
    best = float(selection_value(instance, lazy_greedy(instance, 4)))
    assert bound.value(best) > 4000
    for seed in range(5):
        assert selection_value(instance, PrivateGreedy(4, 1).run(instance, seed, bits=seed + 100).selected) >= bound.value(best)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: bound_one_sided(3, 4, 1, "0.1"), "lower k"),
        (lambda: bound_one_sided(3, 0, 1, "0.1"), "k must be"),
        (lambda: bound_one_sided(3, 1, 0, "0.1"), "epsilon0 must be positive"),
        (lambda: bound_one_sided(3, 1, 1, 1), r"beta must lie in \(0, 1\)"),
        (lambda: bound_utility(3, 1, 1, beta="0.1", eta="0.64"), "below 1 - 1/e"),
        (lambda: bound_utility(3, 1, 1, beta="0.1", eta="0.1", calibration="none"), "calibration"),
        (lambda: approximate_dp(1, 0), "delta must be positive"),
        (lambda: approximate_dp(1, 1), r"delta must lie in \(0, 1\)"),
    ],
)
def test_what_is_refused(call, match):
    with pytest.raises(InvalidArgument, match=match):
        call()


def test_the_predecessor_by_hand():
    assert approximate_dp(1, "1e-6", coverage=True) == pytest.approx((math.e - 1) * 6 * math.log(10), rel=1e-13)
    t = mpmath.findroot(lambda t: t * mpmath.exp(1 - t) - mpmath.mpf("1e-6"), 18)
    assert approximate_dp(1, "1e-6") == pytest.approx(float((math.e - 1) * t - 1), rel=1e-9)
    assert approximate_dp(1, "0.9999", coverage=True) == 1  # removing a user costs epsilon0 in any case
    for coverage in (False, True):
        spent = epsilon0_for(1, "1e-6", coverage=coverage)
        assert approximate_dp(spent, "1e-6", coverage=coverage) <= 1
        assert approximate_dp(spent * (1 + 1e-9), "1e-6", coverage=coverage) > 1


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 3), max_size=3), min_size=1, max_size=4),
    st.integers(1, 4),
    st.sampled_from([0.2, 1.0, 3.0]),
    st.sampled_from(["0.5", "0.1", "0.01"]),
)
def test_the_predecessor_keeps_delta(sets, k, epsilon0, delta):
    full, less = plain_law(sets, 4, k, math.exp(epsilon0)), plain_law(sets[1:], 4, k, math.exp(epsilon0))
    for coverage in (False, True):
        bound = math.exp(approximate_dp(epsilon0, delta, coverage=coverage))
        for one, other in ((full, less), (less, full)):
            assert sum(max(0.0, mass - bound * other[chosen]) for chosen, mass in one.items()) <= float(Fraction(delta)) + 1e-12


def test_the_guarantee_without_sampling_has_two_directions():
    mechanism = OneSidedGreedy(3, epsilon0_for(1, "1e-6", coverage=True))
    bound = approximate_guarantee(mechanism, "1e-6", coverage=True).bound
    assert bound.remove == mechanism.epsilon0
    assert bound.add <= 1
    assert (bound.delta_remove, bound.delta_add) == (0, Fraction(1, 10**6))
    assert TWO_VALUES in approximate_guarantee(mechanism, "1e-6", coverage=True).hypotheses
    assert TWO_VALUES not in approximate_guarantee(mechanism, "1e-6").hypotheses


def test_without_sampling_the_other_direction_is_lost():
    # Appendix C: one user whom all but the last k candidates satisfy; the output is those k
    m, k, epsilon0 = 12, 3, 1.0
    sets = [list(range(m - k))]
    outcome = tuple(range(m - k, m))
    ratio = math.log(plain_law([], m, k, math.exp(epsilon0))[outcome] / plain_law(sets, m, k, math.exp(epsilon0))[outcome])
    assert 2.5 * epsilon0 < ratio < k * epsilon0
    assert OneSidedGreedy(k, epsilon0).guarantee.bound.add == k
    assert OneSidedGreedy(k, epsilon0).select(CoverageInstance.from_sets(sets, candidates=m), open_bits(1))
