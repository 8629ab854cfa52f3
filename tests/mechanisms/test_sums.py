"""The weighted sums and the weighted count: outputs against their stated densities, profiles, statistics."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
import sympy
from scipy import stats

from profiles import InvalidArgument
from profiles.hypotheses import BALLS_ENCLOSE, IEEE_ROUNDING
from profiles.mechanisms import Arithmetic, KNormSum, LaplaceSum, Mechanism, WeightedCount, k_norm_sum, laplace_sum, weighted_count
from profiles.mechanisms.interface import noise_scale
from tests.mechanisms.data import ALARM, DATA, DRAWS, TOTAL, WEIGHTS


@pytest.mark.parametrize("arithmetic", Arithmetic)
@pytest.mark.parametrize("b", [1, "2.5"])
def test_laplace_sum_has_its_density(b, arithmetic):
    mechanism = LaplaceSum(b=b, dimension=2, arithmetic=arithmetic)
    outputs = mechanism.sample((DATA, WEIGHTS), np.random.default_rng(1), DRAWS)
    assert outputs.shape == (DRAWS, 2)
    for column, centre in zip(outputs.T, TOTAL, strict=True):
        assert stats.kstest(column, stats.laplace(centre, float(Fraction(mechanism.b))).cdf).pvalue > ALARM
    assert stats.spearmanr(outputs[:, 0], outputs[:, 1]).pvalue > ALARM


@pytest.mark.parametrize("arithmetic", Arithmetic)
def test_a_wrong_scale_is_caught(arithmetic):
    outputs = LaplaceSum(b=1.1, dimension=2, arithmetic=arithmetic).sample((DATA, WEIGHTS), np.random.default_rng(2), DRAWS)
    assert stats.kstest(outputs[:, 0], stats.laplace(TOTAL[0], 1).cdf).pvalue < ALARM


@pytest.mark.parametrize("arithmetic", Arithmetic)
def test_count_has_its_density(arithmetic):
    outputs = WeightedCount(beta_count=3, arithmetic=arithmetic)((DATA, WEIGHTS), np.random.default_rng(3), DRAWS)
    assert outputs.shape == (DRAWS,)
    assert stats.kstest(outputs, stats.laplace(9.5, 3).cdf).pvalue > ALARM


@pytest.mark.parametrize(("p", "arithmetic"), [*((p, kind) for p in (1, 2, math.inf) for kind in Arithmetic), (3.0, Arithmetic.BINARY64)])
def test_k_norm_sum_has_its_radius_law_around_the_true_sum(p, arithmetic):
    outputs = KNormSum(beta_sum="1.5", p=p, dimension=2, arithmetic=arithmetic)((DATA, WEIGHTS), np.random.default_rng(4), DRAWS)
    radii = np.linalg.norm(outputs - TOTAL, ord=p, axis=1)
    assert stats.kstest(radii, stats.gamma(a=2, scale=1.5).cdf).pvalue > ALARM


@pytest.mark.parametrize(
    ("mechanism", "empty", "output"),
    [
        (LaplaceSum(b=1), [], (1,)),
        (LaplaceSum(b=1, dimension=3), np.zeros((0, 3)), (3,)),
        (WeightedCount(beta_count=1), [], ()),
        (KNormSum(beta_sum=1, dimension=3), [], (3,)),
    ],
)
def test_an_empty_data_set_has_sum_zero(mechanism, empty, output):
    outputs = mechanism(empty, np.random.default_rng(5), 2000)
    assert outputs.shape == (2000, *output)
    assert np.abs(np.median(outputs, axis=0)).max() < 0.5
    assert np.shape(mechanism.run(empty, [], np.random.default_rng(5))) == output
    assert all(len(values) == 0 for values in mechanism.statistic(empty).values())


def test_adding_a_record_shifts_by_its_weight_and_the_noise_does_not_depend_on_the_data():
    for mechanism in (KNormSum(beta_sum=1, p=3, dimension=2, arithmetic="binary64"), KNormSum(beta_sum=1, dimension=2)):
        with_record = mechanism((np.vstack([DATA, [[1.0, 2.0]]]), [*WEIGHTS, 2.5]), np.random.default_rng(6), 5)
        without = mechanism((DATA, WEIGHTS), np.random.default_rng(6), 5)
        assert with_record - without == pytest.approx(np.tile([2.5, 5.0], (5, 1)))


def test_one_dimensional_arrays_are_records_of_dimension_1_and_a_pair_is_a_tuple():
    rng = np.random.default_rng
    assert (LaplaceSum(b=1)([1.0, 2.0], rng(0), 3) == LaplaceSum(b=1)(np.array([[1.0], [2.0]]), rng(0), 3)).all()
    assert (LaplaceSum(b=1)(([1.0, 2.0], [1, 1]), rng(0), 3) == LaplaceSum(b=1)([1.0, 2.0], rng(0), 3)).all()
    assert LaplaceSum(b=1).run([1.0], None, rng(0)) == LaplaceSum(b=1)([1.0], rng(0), 1)[0]
    assert isinstance(WeightedCount(beta_count=1).run([1.0], None, rng(0)), float)


def test_profiles():
    w, z, b = sympy.Symbol("w", positive=True), sympy.Symbol("z", nonnegative=True), sympy.Symbol("b", positive=True)
    assert LaplaceSum().profile.expression() == w * z / b
    assert LaplaceSum(b="0.1", radius="2.5").profile.parameters[0].value == Fraction(1, 10)
    assert LaplaceSum(b="0.1", radius="2.5").profile.record[0].hi == Fraction(5, 2)
    assert WeightedCount(beta_count=20.5).profile.expression() == w / sympy.Rational(41, 2)
    assert WeightedCount().profile.record == ()
    assert KNormSum(beta_sum=30).profile.expression() == w * z / 30


def test_statistics_are_the_norms_of_the_profile():
    points = [[3.0, -0.5], [0.0, 0.0]]
    assert LaplaceSum(dimension=2).statistic(points)["z"].tolist() == [3.5, 0.0]
    assert KNormSum(p=math.inf).statistic(points)["z"].tolist() == [3.0, 0.0]
    assert KNormSum(p=2).statistic(points)["z"] == pytest.approx([math.hypot(3, 0.5), 0])
    assert KNormSum(p=3).statistic(points)["z"] == pytest.approx([(27 + 0.125) ** (1 / 3), 0])
    assert WeightedCount().statistic(points) == {}


def test_norms_survive_extreme_powers():
    tiny, huge = [[1e-200, 1e-200]], [[2e200, 1e200]]
    assert KNormSum(p=2).statistic(tiny)["z"] == pytest.approx([math.sqrt(2) * 1e-200])
    assert KNormSum(p=1000).statistic([[0.5, 0.5]])["z"] == pytest.approx([0.5 * 2 ** (1 / 1000)])
    assert KNormSum(p=2, radius="1e201").statistic(huge)["z"] == pytest.approx([math.sqrt(5) * 1e200])


def test_the_sampler_never_uses_less_noise_than_the_profile_charges_for():
    for text in ("0.1", "1/3", "20.5", "1e-4000"):
        exact = LaplaceSum(b=text).profile.parameters[0].value
        assert Fraction(noise_scale(text, "b")) >= exact
    assert noise_scale(0.1, "b") == 0.1


def test_noise_scales_near_the_end_of_the_floats_are_refused():
    assert noise_scale(2**1000, "b") == 2.0**1000
    for large in (2**1000 + 1, "1e302", "1e4000"):
        with pytest.raises(InvalidArgument, match=r"b must be at most 2\*\*1000"):
            noise_scale(large, "b")


@pytest.mark.parametrize("module", [laplace_sum, weighted_count, k_norm_sum])
def test_module_objects_are_mechanisms(module):
    for mechanism in (module.default, module.general):
        assert isinstance(mechanism, Mechanism)
        assert mechanism.hypotheses == (IEEE_ROUNDING, BALLS_ENCLOSE)
        assert mechanism.profile.name == mechanism.name
        assert mechanism.profile.source == mechanism.source
        assert pickle.loads(pickle.dumps(mechanism)) == mechanism
        assert hash(mechanism) is not None
