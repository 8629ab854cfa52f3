"""Every case is complete, runs as it says, and its claim and truth agree with what it calls itself."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from profiles.errors import InvalidArgument
from tests.targets.suite import Truth, standard_suite
from tests.targets.suite.k_norm import ExponentialRadiusSum
from tests.targets.suite.noise import GRID, Blocks

CASES = standard_suite()
BY_NAME = {case.name: case for case in CASES}
IDS = [case.name for case in CASES]

DIMENSIONS = (1, 2, 5, 10, 50, 100)
EXPECTED = {
    "laplace": (), "parallel-laplace": (20,),
    "truncated-geometric": (), "truncated-geometric-natural-log": (), "truncated-geometric-base-2": (),
    "noisy-histogram-1": (5,), "noisy-histogram-2": (5,),
    "noisy-max-1": (), "noisy-max-2": (), "noisy-max-3": (), "noisy-max-4": (),
    "svt-1": (10,), "svt-2": (10,), "svt-3": (10,), "svt-4": (10,), "svt-5": (10,), "svt-6": (10,), "parallel-svt": (20,),
    "numerical-svt": (10,), "gap-svt": (10,), "bad-gap-svt": (10,), "adaptive-svt": (20,), "bad-adaptive-svt": (20,),
    "rappor": (20,), "one-time-rappor": (20,),
    "partial-sum": (), "bad-partial-sum": (),
    "prefix-sum": (10,), "prefix-sum-all-change": (10,), "smart-sum": (10,), "bad-smart-sum": (10,),
    "floating-point-laplace": (), "snapping-laplace": (),
    **{f"k-norm-{d}": (d,) for d in DIMENSIONS}, **{f"k-norm-exponential-{d}": (d,) for d in DIMENSIONS},
    "lloyd-one-iteration": (2, 2), "lloyd-ten-iterations": (1, 2), "lloyd-two-clusters": (2, 2), "bad-lloyd": (1, 5),
    "same-sample-twice": (2,), "fresh-samples": (2,),
    "exponential-up": (), "exponential-down": (), "subsampled-exponential": (), "subsampled-exponential-one-way": (),
    "gaussian-sum": (1,), "gaussian-sum-twice-the-sensitivity": (1,), "gaussian-sums-composed": (4,), "sampled-gaussian": (1,),
    "fixed-size-gaussian": (1,), "same-sample-gaussian": (100,),
}  # fmt: skip

BROKEN = {
    "truncated-geometric-natural-log", "noisy-histogram-2", "noisy-max-3", "noisy-max-4",
    "svt-3", "svt-4", "svt-5", "svt-6", "parallel-svt",
    "bad-gap-svt", "bad-adaptive-svt", "bad-partial-sum", "bad-smart-sum", "floating-point-laplace", "bad-lloyd", "same-sample-twice",
    "exponential-down", "subsampled-exponential-one-way",
    "gaussian-sum-twice-the-sensitivity", "fixed-size-gaussian", "same-sample-gaussian",
    *(f"k-norm-exponential-{d}" for d in DIMENSIONS if d > 1),
}  # fmt: skip


def test_the_catalogue_is_complete():
    assert len(IDS) == len(set(IDS))
    assert set(IDS) == set(EXPECTED)
    assert {case.name for case in CASES if not case.correct} == BROKEN


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_claim_and_truth_agree_with_what_is_called_correct(case):
    assert isinstance(case.claimed, Fraction)
    assert case.truth.derivation
    assert case.source
    if case.correct:
        assert case.truth.upper <= case.claimed
    else:
        assert case.truth.lower > case.claimed
        assert case.note, "what is wrong must be said"


@pytest.mark.thorough(quick=129)
@pytest.mark.parametrize("case", CASES, ids=IDS)
@pytest.mark.parametrize("size", [0, 1, 7])
def test_outputs_have_the_shape_and_are_usable(case, size):
    for dataset in (case.dataset, case.neighbor):
        outputs = case.mechanism(dataset, np.random.default_rng(3), size)
        assert isinstance(outputs, np.ndarray)
        assert outputs.shape == (size, *EXPECTED[case.name])
        assert outputs.dtype.kind in "iuf"
        assert np.isfinite(outputs).all()
        again = case.mechanism(dataset, np.random.default_rng(3), size)
        assert np.array_equal(outputs, again)
        if case.statistic is not None:
            assert case.statistic(outputs).shape[0] == size


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_data_sets_cannot_be_changed_by_a_mechanism(case):
    for dataset in (case.dataset, case.neighbor):
        assert not isinstance(dataset, np.ndarray) or not dataset.flags.writeable


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_finite_truths_are_about_numbers_on_the_grid(case):
    """Low bits must not refute what is right in exact arithmetic; where the truth is a pole, they must not be cut off."""
    unrounded = case.name == "floating-point-laplace" or "pole" in case.truth.derivation
    outputs = np.asarray(case.mechanism(case.dataset, np.random.default_rng(1), 1000), dtype=float)
    assert (np.rint(outputs * GRID) == outputs * GRID).all() != unrounded


@pytest.mark.thorough
def test_blocks_draw_as_many_outputs_as_asked_for():
    wide = Blocks(ExponentialRadiusSum(Fraction(10), 200_000), rounded=True)
    outputs = wide(np.zeros((0, 200_000)), np.random.default_rng(1), 25)
    assert outputs.shape == (25, 200_000)
    assert len({row.tobytes() for row in outputs}) == 25


def test_a_truth_has_its_ends_in_order():
    with pytest.raises(InvalidArgument):
        Truth.between("0.2", "0.1", "")
    with pytest.raises(InvalidArgument):
        Truth.between("-0.2", "0.1", "")
    assert Truth.infinite("").lower == math.inf


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("name", ["laplace", "svt-4", "svt-5", "bad-smart-sum", "rappor", "exponential-up", "exponential-down"])
def test_an_audit_accepts_the_cases_and_stays_below_the_truth(name):
    case = BY_NAME[name]
    result = case.run(np.random.default_rng(5), statistic=None, samples=2_000, confidence="0.9999", effort="fast")
    assert result.epsilon_lower <= case.truth.upper


@pytest.mark.thorough
def test_an_audit_with_the_statistic_of_the_case_finds_the_low_bits():
    case = BY_NAME["floating-point-laplace"]
    result = case.run(np.random.default_rng(6), bits=False, samples=4_000, effort="fast")
    assert result.epsilon_lower > case.claimed
