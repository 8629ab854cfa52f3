from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant.applications.submodular.matroids import OracleMatroid, UniformMatroid, swap_round
from tests.targets.laws.matroids import rounding_law

from .instances import MATROIDS, covers, multilinear, random_base, subsets


def expect_marginals(law, sets, size):
    assert sum(law.values()) == 1
    for u in range(size):
        marginal = sum((share for members, share in law.items() if u in members), Fraction(0))
        assert marginal == Fraction(sum(u in base for base in sets), len(sets))


@pytest.mark.parametrize("matroid", MATROIDS)
def test_marginals_are_kept_exactly_and_results_are_bases(matroid):
    rng = np.random.default_rng(1)
    for count in (1, 2, 3, 5):
        sets = [random_base(matroid, rng) for _ in range(count)]
        law = rounding_law(matroid, sets)
        expect_marginals(law, sets, matroid.size)
        assert all(matroid.is_independent(members) and len(members) == matroid.rank for members in law)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(MATROIDS), st.integers(0, 2**32), st.integers(1, 4))
def test_the_mean_value_is_at_least_the_multilinear_extension(matroid, seed, count):
    """E F(S) ≥ F^mult(y) (Definition D.5), in exact rationals: equality would be Lemma D.6's slip, which needs only the inequality."""
    rng = np.random.default_rng(seed)
    sets = [random_base(matroid, rng) for _ in range(count)]
    value = covers([np.flatnonzero(rng.random(matroid.size) < 0.5).tolist() for _ in range(4)])
    y = [Fraction(sum(u in base for base in sets), count) for u in range(matroid.size)]
    mean = sum((share * value(members) for members, share in rounding_law(matroid, sets).items()), Fraction(0))
    assert mean >= multilinear(value, y)


def test_the_mean_value_can_exceed_the_multilinear_extension():
    """Lemma D.6 writes E F(S) = F^mult(y); for one user who is covered by either of two elements and k = 1 it is 1 against 3/4."""
    law = rounding_law(UniformMatroid(2, 1), [frozenset({0}), frozenset({1})])
    value = covers([(0, 1)])
    assert sum(share * value(members) for members, share in law.items()) == 1
    assert multilinear(value, [Fraction(1, 2)] * 2) == Fraction(3, 4)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 4), st.randoms(use_true_random=False), st.integers(1, 4))
def test_without_the_axioms_results_stay_independent_and_marginals_exact(size, source, count):
    """Any family that has the empty set: no exchange may exist, sizes may differ."""
    family = {members for members in subsets(range(size)) if source.random() < 0.5} | {frozenset()}
    matroid = OracleMatroid(size, lambda members: members in family, check="none")
    sets = [source.choice(sorted(family, key=sorted)) for _ in range(count)]
    law = rounding_law(matroid, sets)
    expect_marginals(law, sets, size)
    assert set(law) <= family


@pytest.mark.thorough
def test_draws_follow_the_law():
    """Each frequency of 5,000 draws within 5.5 standard deviations: a false alarm has a probability below 1e-6 for 16 sets."""
    matroid = MATROIDS[7]
    rng = np.random.default_rng(8)
    sets = [random_base(matroid, rng) for _ in range(3)]
    law, draws = rounding_law(matroid, sets), 5_000
    assert 2 <= len(law) <= 16
    found = Counter(swap_round(matroid, sets, rng) for _ in range(draws))
    assert set(found) <= set(law)
    for members, share in law.items():
        p = float(share)
        assert abs(found[members] - draws * p) <= 5.5 * (draws * p * (1 - p)) ** 0.5
