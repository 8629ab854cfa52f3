"""Every unusable input of a mechanism is a named error with one sentence, whichever mechanism gets it."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from profiles import InvalidArgument, InvalidData, InvalidNumber
from profiles.mechanisms import (
    GaussianLloyd,
    GaussianSum,
    KNormSum,
    LaplaceSum,
    WeightedCount,
    WeightedLloyd,
    k_norm_sum,
    laplace_sum,
    lloyd,
    weighted_count,
)
from profiles.numbers import round_down
from profiles.randomness.bits import open_bits
from profiles.randomness.system import system_generator

PLANE = [
    LaplaceSum(b=1, dimension=2),
    WeightedCount(beta_count=1),
    KNormSum(beta_sum=1),
    WeightedLloyd(initial_centres=[[0, 0], [1, 1]], iterations=2, beta_count=1, beta_sum=1),
    GaussianSum(sigma=1, dimension=2),
    GaussianLloyd(initial_centres=[[0, 0], [1, 1]], iterations=2, sigma_count=1, sigma_sum=1),
]
GOOD = [[1.0, 0.5], [0.0, -1.0]]


def named(mechanism):
    return mechanism.name


@pytest.fixture(params=PLANE, ids=named)
def mechanism(request):
    return request.param


def fails_cleanly(error, mechanism, data, weights=None):
    with pytest.raises(error) as caught:
        mechanism.run(data, weights, np.random.default_rng(0))
    text = str(caught.value)
    assert "\n" not in text
    assert ";" in text
    assert len(text) < 300
    with pytest.raises(error):
        mechanism.sample((data, weights), np.random.default_rng(0), 2)


@pytest.mark.parametrize(
    "data",
    [
        [[1.0, math.nan], [0.0, 0.0]],
        [[math.inf, 0.0]],
        [["a", "b"]],
        [[1.0], [1.0, 2.0]],
        [[True, False]],
        [[1j, 0]],
        [[None, 1.0]],
        np.ma.masked_greater(np.array([[1.0, 9.0]]), 5),
        np.zeros((2, 2, 2)),
        np.zeros((3, 0)),
        3.0,
        None,
        "text",
        object(),
        [[10**400, 0]],
    ],
    ids=lambda value: repr(value)[:20],
)
def test_unusable_records(mechanism, data):
    fails_cleanly(InvalidData, mechanism, data)
    with pytest.raises(InvalidData):
        mechanism.statistic(data)


@pytest.mark.parametrize("data", [[[1.0]], [[1.0, 2.0, 3.0]], [1.0, 2.0], np.zeros((0, 3))], ids=str)
def test_wrong_dimension(data):
    for mechanism in PLANE:
        if not isinstance(mechanism, WeightedCount):
            fails_cleanly(InvalidData, mechanism, data)


@pytest.mark.parametrize(
    "weights",
    [[1.0], [1.0, 1.0, 1.0], [1.0, 0.5], [1.0, math.nan], [1.0, math.inf], [-1.0, 1.0], [0, 1], [[1.0, 1.0]], "ab", 1.0, [True, True]],
    ids=str,
)
def test_unusable_weights(mechanism, weights):
    fails_cleanly(InvalidData, mechanism, GOOD, weights)


def test_weights_of_an_empty_data_set(mechanism):
    mechanism.run([], [], np.random.default_rng(0))
    fails_cleanly(InvalidData, mechanism, [], [1.0])


def test_a_sum_beyond_floats_is_named(mechanism):
    fails_cleanly(InvalidData, mechanism, [[1.0, 0.5], [1.0, 0.5]], [1.7e308, 1.7e308])


def test_records_outside_the_declared_domain():
    for mechanism in PLANE:
        if not isinstance(mechanism, WeightedCount):
            fails_cleanly(InvalidData, mechanism, [[0.0, 4.001]])
            fails_cleanly(InvalidData, mechanism, [[1e308, 1e308]])
            mechanism.run([[0.0, 4.0]], None, np.random.default_rng(0))


def test_the_domain_is_compared_exactly():
    # the double nearest to one tenth is above one tenth
    with pytest.raises(InvalidData):
        LaplaceSum(b=1, radius="0.1").statistic([0.1])
    assert LaplaceSum(b=1, radius=0.1).statistic([0.1])["z"].tolist() == [0.1]
    assert LaplaceSum(b=1, radius="0.3").statistic([0.3])["z"].tolist() == [0.3]
    assert Fraction(round_down(Fraction(1, 10))) <= Fraction(1, 10)
    assert round_down(Fraction(10) ** 400) < math.inf
    assert round_down(-(Fraction(10) ** 400)) == -math.inf


@pytest.mark.parametrize("scale", [0, -1, "0", "-2.5", 0.0])
def test_scales_must_be_positive(scale):
    for make in (lambda s: LaplaceSum(b=s), lambda s: WeightedCount(beta_count=s), lambda s: KNormSum(beta_sum=s)):
        with pytest.raises(InvalidArgument, match="must be positive"):
            make(scale)


@pytest.mark.parametrize("scale", [math.nan, math.inf, "wide", None, True, [1, 2], "nan"])
def test_scales_must_be_numbers(scale):
    for make in (lambda s: LaplaceSum(b=s), lambda s: WeightedCount(beta_count=s), lambda s: KNormSum(beta_sum=s)):
        with pytest.raises(InvalidNumber):
            make(scale)


def test_a_scale_beyond_floats_is_refused_when_it_runs():
    with pytest.raises(InvalidArgument, match="must be at most 2"):
        LaplaceSum(b="1e400").run([1.0], None, np.random.default_rng(0))


@pytest.mark.parametrize("p", [0.5, 0, -1, 0.999, math.nan, -math.inf, "2", None, True])
def test_p_must_make_a_norm(p):
    with pytest.raises(InvalidArgument, match="triangle inequality"):
        KNormSum(beta_sum=1, p=p)


@pytest.mark.parametrize("dimension", [0, -1, 1.0, "2", None, True])
def test_dimension_must_be_a_positive_integer(dimension):
    for make in (LaplaceSum, KNormSum):
        with pytest.raises(InvalidArgument, match="dimension"):
            make(dimension=dimension)


@pytest.mark.parametrize("radius", [0, -4, "-1"])
def test_radius_must_be_positive(radius):
    with pytest.raises(InvalidArgument, match="radius"):
        LaplaceSum(radius=radius)


@pytest.mark.parametrize("general", [laplace_sum.general, weighted_count.general, k_norm_sum.general, lloyd.general], ids=named)
def test_a_mechanism_over_all_scales_has_a_profile_but_does_not_run(general):
    assert general.profile.free_parameters
    with pytest.raises(InvalidArgument, match="needs a number"):
        general.sample([], np.random.default_rng(0), 1)


@pytest.mark.parametrize("rng", [None, 0, np.random.RandomState(0), np.random])
def test_the_generator_of_binary64_noise_is_a_generator(mechanism, rng):
    with pytest.raises(InvalidArgument, match="Generator"):
        replace(mechanism, arithmetic="binary64").sample(GOOD, rng, 1)


@pytest.mark.parametrize("rng", [-1, 1.5, "7", True, np.random.RandomState(0), np.random])
def test_exact_noise_refuses_what_is_no_source_of_bits(mechanism, rng):
    with pytest.raises(InvalidArgument, match=r"Generator|seed"):
        mechanism.sample(GOOD, rng, 1)


def test_exact_noise_takes_any_source_of_bits(mechanism):
    seeded = mechanism.sample(GOOD, 5, 3)
    for source in (np.int64(5), np.random.default_rng(5), open_bits(5)):
        assert (mechanism.sample(GOOD, source, 3) == seeded).all()
    mechanism.run(GOOD, None)
    # forty each: DP-Lloyd keeps its centres where the noisy counts are small, so that two single runs may agree by chance
    secure = [mechanism.sample(GOOD, source, 40) for source in (None, None, system_generator())]
    assert len({np.asarray(output).tobytes() for output in secure}) == 3


def test_one_generator_gives_new_noise_each_time(mechanism):
    rng = np.random.default_rng(1)
    outputs = [np.asarray(mechanism.run(GOOD, None, rng)) for _ in range(3)]
    assert len({output.tobytes() for output in outputs}) == 3


@pytest.mark.parametrize("size", [-1, 1.5, None, True, "3"])
def test_the_number_of_outputs_is_a_count(mechanism, size):
    with pytest.raises(InvalidArgument, match="number of outputs"):
        mechanism.sample(GOOD, np.random.default_rng(0), size)


def test_no_outputs_is_legal(mechanism):
    assert len(mechanism.sample(GOOD, np.random.default_rng(0), 0)) == 0


def test_inputs_are_not_changed(mechanism):
    data, weights = np.array(GOOD), np.array([1.0, 2.0])
    mechanism.sample((data, weights), np.random.default_rng(0), 3)
    assert data.tolist() == GOOD
    assert weights.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda number: LaplaceSum(b=number), "b"),
        (lambda number: LaplaceSum(b=1, radius=number), "radius"),
        (lambda number: WeightedCount(beta_count=number), "beta_count"),
        (lambda number: KNormSum(beta_sum=number), "beta_sum"),
        (lambda number: KNormSum(beta_sum=1, radius=number), "radius"),
        (lambda number: WeightedLloyd(initial_centres=[0, 1], iterations=number, beta_count=1, beta_sum=1), "iterations"),
        (lambda number: WeightedLloyd(initial_centres=[0, 1], iterations=1, beta_count=number, beta_sum=1), "beta_count"),
        (lambda number: WeightedLloyd(initial_centres=[0, 1], iterations=1, beta_count=1, beta_sum=number), "beta_sum"),
        (lambda number: WeightedLloyd(initial_centres=[0, 1], iterations=1, beta_count=1, beta_sum=1, radius=number), "radius"),
        (lambda number: WeightedLloyd(initial_centres=[0, 1], iterations=1, beta_count=1, beta_sum=1, min_count=number), "min_count"),
    ],
)
def test_numbers_of_a_mechanism_do_not_change_after_it_is_made(make, field):
    """A guarantee that was derived before the change would be one of another mechanism."""
    number = np.array(1000.0)
    mechanism, same = make(number), make(1000)
    number[...] = 1
    assert getattr(mechanism, field) == 1000
    assert (mechanism.profile, mechanism) == (same.profile, same)
    assert hash(mechanism) == hash(same)


@pytest.mark.parametrize("given", [3, 0.5, "0.1", "positive", Fraction(1, 3), Decimal("0.1")])
def test_numbers_that_cannot_change_are_kept_as_given(given):
    kept = LaplaceSum(b=given).b
    assert kept is given


def test_a_dimension_becomes_an_integer():
    assert type(LaplaceSum(b=1, dimension=np.int64(2)).dimension) is int
    assert type(KNormSum(beta_sum=1, dimension=np.int64(2)).dimension) is int
