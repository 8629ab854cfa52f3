"""The runner is the sampler of the theorem: selection laws, fresh samples, and claims at 50 digits."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from accountant.rules import make_rule
from accountant.selection.select import Selection
from profiles.errors import InvalidArgument
from profiles.mechanisms import KNormSum, LaplaceSum
from proofs_check.audit import Claim
from tests.targets.catalogue import (
    PoissonSampled,
    ShippedSelection,
    Together,
    base_claim,
    repeat,
    sampled_claim,
    times_claim,
)
from tests.targets.catalogue.correct import select_constrained


def total(dataset, rng, size):
    """The sum of the weights of what was selected: shows the sample, has no noise."""
    return np.full(size, dataset[1].sum())


def fixed(points: np.ndarray) -> Selection:
    return Selection(np.array([0.5, 0.25])[: len(points)], np.array([1.0, 10.0])[: len(points)])


def test_each_subset_has_its_probability() -> None:
    outputs = PoissonSampled(total, fixed)(np.zeros((2, 1)), np.random.default_rng(1), 100_000)
    for value, chance in ((0.0, 3 / 8), (1.0, 3 / 8), (10.0, 1 / 8), (11.0, 1 / 8)):
        assert abs(float((outputs == value).mean()) - chance) < 5 * math.sqrt(chance / 100_000)


def test_every_output_has_a_sample_of_its_own() -> None:
    outputs = PoissonSampled(total, fixed)(np.zeros((1, 1)), np.random.default_rng(2), 100_000)
    assert abs(float(np.corrcoef(outputs[1:], outputs[:-1])[0, 1])) < 0.02
    twice = repeat(PoissonSampled(total, fixed), 2)(np.zeros((1, 1)), np.random.default_rng(3), 100_000)
    assert abs(float(np.corrcoef(twice.T)[0, 1])) < 0.02
    reused = PoissonSampled(repeat(total, 2), fixed)(np.zeros((1, 1)), np.random.default_rng(3), 1_000)
    assert (reused[:, 0] == reused[:, 1]).all()


def test_shapes_follow_the_mechanism_and_the_empty_data_set_is_legal() -> None:
    mechanism = KNormSum(beta_sum=1, dimension=2)
    rule = make_rule("uniform", mechanism.profile, {"rate": "1/3"})
    sampled = PoissonSampled(mechanism, ShippedSelection(mechanism, rule))
    assert sampled(np.zeros((0, 2)), np.random.default_rng(1), 7).shape == (7, 2)
    assert sampled(np.ones((3, 2)), np.random.default_rng(1), 7).shape == (7, 2)
    assert Together((sampled, LaplaceSum(b=1, dimension=2)))((np.ones((3, 2))), np.random.default_rng(1), 5).shape == (5, 4)


def test_too_many_records_and_no_outputs_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="12 records"):
        PoissonSampled(total, fixed)(np.zeros((13, 1)), np.random.default_rng(1), 5)
    with pytest.raises(InvalidArgument, match="at least one output"):
        PoissonSampled(total, fixed)(np.zeros((1, 1)), np.random.default_rng(1), 0)
    with pytest.raises(InvalidArgument, match="positive integer"):
        repeat(total, 0)


def test_sampled_claim_is_psi_at_50_digits() -> None:
    mechanism = KNormSum(beta_sum=3, p=2, dimension=2)
    rule = make_rule("coreset-l2", mechanism.profile, {"m": 1, "n": 20, "lam": "1/2", "mean": 1})
    record = np.array([3.0, 0.0])
    with mpmath.workdps(60):
        q = mpmath.mpf(1) / 40 + mpmath.mpf(9) / 40
        psi = mpmath.log(1 + q * (mpmath.exp(3 / q / 3) - 1))
        claim = sampled_claim(mechanism, rule, record).epsilon
        found = mpmath.mpf(claim.numerator) / claim.denominator
        assert psi <= found <= psi * (1 + mpmath.mpf(2) ** -52)
    selection = ShippedSelection(mechanism, rule)(record[np.newaxis])
    assert selection.probabilities.tolist() == [0.25]
    assert selection.weights.tolist() == [4.0]


def test_base_and_repeated_claims() -> None:
    mechanism = LaplaceSum(b=10)
    assert base_claim(mechanism, np.array([2.0]), 10.0).epsilon == 2
    assert times_claim(base_claim(mechanism, np.array([2.0]), 10.0), 3).epsilon == 6
    with pytest.raises(InvalidArgument):
        times_claim(Claim(1, "0.1"), 2)


def test_constrained_weights_satisfy_the_target_exactly() -> None:
    mechanism = LaplaceSum(b=4, radius=2)
    selection = select_constrained(mechanism)(np.array([[2.0], [0.7], [-1.3]]))
    for x, q, w in zip((2.0, 0.7, 1.3), selection.probabilities.tolist(), selection.weights.tolist(), strict=True):
        assert Fraction(q) * Fraction(w) <= 1
        with mpmath.workdps(60):
            assert mpmath.log(1 + mpmath.mpf(q) * (mpmath.exp(mpmath.mpf(w) * mpmath.mpf(x) / 4) - 1)) <= 2
