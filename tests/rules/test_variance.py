"""Variance-optimal sampling: feasible, never improvable, equal to an independent optimiser; and refused where a guarantee is asked for."""

import doctest
import itertools
import math
import time

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant import amplify, calibrate_noise, derive_epsilon, prepare_selection
from accountant.amplification import amplify_array
from accountant.guarantees import amplify_by_importance_sampling, bound_epsilon, derive_profile
from accountant.rules import make_rule, sampling_variance, variance, variance_optimal
from profiles import InvalidData, InvalidSampling, NotPrivate, declare

SUM = declare("sum", "w*z/b", record={"z": [0, 2]}, parameters={"b": 3})
norms = st.lists(st.one_of(st.just(0.0), st.floats(1e-3, 1e3)), min_size=1, max_size=12)


def test_examples():
    assert doctest.testmod(variance).failed == 0


@settings(max_examples=60, deadline=None)
@given(norms, st.floats(0.001, 1), st.data())
def test_feasible_and_never_improvable(a, share, data):
    """The problem is convex: a feasible q is optimal if no exchange of probability between two records improves it."""
    m = share * len(a)
    found = variance_optimal(a, m)
    q = found.probabilities
    assert np.all((q >= 0) & (q <= 1))
    assert math.isclose(math.fsum(q), m, rel_tol=1e-12)
    best = found.sampling_variance
    part = data.draw(st.floats(1e-3, 1))
    for i, j in itertools.permutations(range(len(a)), 2):
        step = part * min(1 - q[i], q[j])
        moved = q.copy()
        moved[i], moved[j] = moved[i] + step, moved[j] - step
        assert sampling_variance(a, np.clip(moved, 0, 1)) >= best * (1 - 1e-9) - 1e-12


@pytest.mark.thorough(quick=3)
@pytest.mark.parametrize("seed", range(4))
def test_an_independent_optimiser_finds_the_same(seed):
    rng = np.random.default_rng(seed)
    a = rng.gamma(0.5, size=12)
    m = rng.uniform(1, 10)
    found = variance_optimal(a, m)
    result = scipy.optimize.minimize(
        lambda q: np.sum(a**2 / q), np.full(12, m / 12), jac=lambda q: -(a**2) / q**2, method="trust-constr",
        bounds=[(1e-6, 1)] * 12, constraints=[scipy.optimize.LinearConstraint(np.ones(12), m, m)],
        options={"maxiter": 500, "gtol": 1e-10},
    )  # fmt: skip
    assert found.sampling_variance <= result.fun - np.sum(a**2) + 1e-6 * abs(result.fun)
    assert np.allclose(found.probabilities, result.x, atol=2e-3)
    assert found.capped == np.count_nonzero(a >= found.threshold)


def test_optimality_conditions_on_a_million_records():
    a = np.abs(np.random.default_rng(5).standard_cauchy(1_000_000))
    start = time.process_time()
    found = variance_optimal(a, 300_000)
    assert time.process_time() - start < 1
    assert abs(found.expected_size - 300_000) < 1e-6
    inside = found.probabilities < 1
    assert np.allclose(found.probabilities[inside] * found.threshold, a[inside], rtol=1e-12)
    assert a[~inside].min() >= found.threshold * (1 - 1e-12)
    assert found.capped == np.count_nonzero(~inside) > 0


def test_against_uniform_and_proportional_sampling():
    a = np.random.default_rng(1).gamma(2, size=200)
    found = variance_optimal(a, 20)
    assert found.sampling_variance <= sampling_variance(a, np.full(200, 0.1))
    assert found.sampling_variance <= sampling_variance(a, np.minimum(1, 20 * a / a.sum())) * (1 + 1e-12)


@pytest.mark.parametrize(
    ("a", "m", "expected"),
    [
        ([0, 0, 5], 2, [0.5, 0.5, 1]),
        ([0, 0], 1, [0.5, 0.5]),
        ([2, 2, 2, 2], 2, [0.5] * 4),
        ([1, 1], 2, [1, 1]),
        ([10, 1, 1], 2, [1, 0.5, 0.5]),
        ([1e300, 1e300, 0], 1, [0.5, 0.5, 0]),
        ([5], "1/4", [0.25]),
    ],
)
def test_cases_by_hand(a, m, expected):
    assert variance_optimal(a, m).probabilities.tolist() == expected


@pytest.mark.parametrize(("a", "m"), [([1, 2], 0), ([1, 2], 3), ([1, 2], -1)])
def test_sizes_that_no_sampling_has_are_refused(a, m):
    with pytest.raises(InvalidSampling, match="expected sample size in"):
        variance_optimal(a, m)


@pytest.mark.parametrize("a", [[], [-1.0], [math.nan], [math.inf], [[1.0]]])
def test_norms_that_are_none_are_refused(a):
    with pytest.raises(InvalidData):
        variance_optimal(a, 1)


def test_it_depends_on_the_whole_data_set():
    """Why it is not private: one more record changes the weight of every other one, by any factor."""
    few = variance_optimal([1.0] * 100, 10).weights[:100]
    more = variance_optimal([*[1.0] * 100, 900.0], 10).weights[:100]
    assert few.max() == 10
    assert more.min() > 11


ORACLE = variance_optimal([1.0, 2.0, 3.0], 1)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: make_rule("variance-optimal", SUM, {"m": 1, "n": 3}),
        lambda: make_rule(ORACLE, SUM),
        lambda: derive_epsilon(SUM, rule="variance-optimal"),
        lambda: derive_epsilon(SUM, rule=ORACLE),
        lambda: bound_epsilon(SUM, ORACLE),
        lambda: amplify_by_importance_sampling(derive_profile(SUM), ORACLE),
        lambda: amplify(1, ORACLE),
        lambda: amplify_array([1.0, 1.0, 1.0], ORACLE),
        lambda: prepare_selection(SUM, ORACLE),
        lambda: calibrate_noise(SUM, ORACLE, 1),
    ],
)
def test_no_guarantee_is_made_for_it(ask):
    with pytest.raises(NotPrivate, match="depend on the whole data set"):
        ask()
