"""The Gaussian weighted sum and Gaussian DP-Lloyd: profiles, laws, exact totals, and the loss of all iterations together."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from profiles import InvalidArgument, InvalidData, InvalidNumber, OtherNotion, load
from profiles.hypotheses import BALLS_ENCLOSE, EXACT_REALS, IEEE_ROUNDING, PUBLIC_CENTRES
from profiles.mechanisms import Arithmetic, GaussianLloyd, GaussianSum, Mechanism, gaussian_lloyd, gaussian_sum
from profiles.randomness import open_bits
from profiles.randomness.rounded import NORMAL, Grid, draw_rounded
from profiles.terms import to_text
from proofs_check.prover.pointwise import as_ball, value_at
from proofs_check.results import Verdict
from proofs_check.verify_notion import verify_notion
from tests.mechanisms.data import ALARM, DATA, DRAWS, TOTAL, WEIGHTS, make_data, total


@pytest.mark.parametrize("arithmetic", Arithmetic)
def test_the_sum_has_its_density(arithmetic):
    outputs = GaussianSum(sigma="2.5", dimension=2, arithmetic=arithmetic)((DATA, WEIGHTS), np.random.default_rng(1), DRAWS)
    assert outputs.shape == (DRAWS, 2)
    for column, centre in zip(outputs.T, TOTAL, strict=True):
        assert stats.kstest(column, stats.norm(centre, 2.5).cdf).pvalue > ALARM
        assert stats.kstest(column, stats.norm(centre, 2.3).cdf).pvalue < ALARM  # a wrong scale is caught
    assert stats.spearmanr(np.abs(outputs - TOTAL)).pvalue > ALARM


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["1/3", "12.5"]))
def test_an_exact_sum_is_the_noisy_exact_total(seed, sigma):
    points, weights = make_data(seed)
    grid, size = Grid.of(Fraction(sigma)), 3
    expected = np.array([total(points.tolist(), weights.tolist(), grid)] * size)
    found = GaussianSum(sigma=sigma, dimension=3)((points, weights), seed, size)
    assert (found == draw_rounded(expected, NORMAL, grid, open_bits(seed))).all()


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([None, 1.0]), st.integers(1, 3), st.integers(0, 25))
def test_an_exact_run_is_algorithm_2_on_exact_totals(seed, min_count, iterations, rows):
    points, weights = make_data(seed, rows, 2)
    centres = np.random.default_rng(seed + 1).normal(size=(3, 2))
    mechanism = GaussianLloyd(initial_centres=centres, iterations=iterations, sigma_count="0.7", sigma_sum="1/3", min_count=min_count)
    found = mechanism.run(points, weights, seed)
    bits, counting, summing = open_bits(seed), Grid.of(Fraction(7, 10)), Grid.of(Fraction(1, 3))
    for _ in range(iterations):
        labels = ((points[:, np.newaxis] - centres) ** 2).sum(axis=-1).argmin(axis=1)
        members = [labels == j for j in range(3)]
        counts = [total([[1.0]] * int(chosen.sum()), weights[chosen].tolist(), counting) or [0] for chosen in members]
        noisy = draw_rounded(np.array(counts).T, NORMAL, counting, bits)[0]
        sums = [total(points[chosen].tolist(), weights[chosen].tolist(), summing) or [0, 0] for chosen in members]
        moved = draw_rounded(np.array(sums), NORMAL, summing, bits)
        with np.errstate(divide="ignore", invalid="ignore"):
            quotients = moved / noisy[:, np.newaxis]
        usable = np.isfinite(quotients).all(axis=1) & (True if min_count is None else noisy >= min_count)
        centres = np.where(usable[:, np.newaxis], quotients, centres)
    assert (found == centres).all()


def test_exact_and_binary64_centres_have_one_law():
    data = make_data(4, 40, 2)
    constants = {"initial_centres": [[0.5, 0.0], [-0.5, 0.1]], "iterations": 2, "sigma_count": 6, "sigma_sum": 4, "confine": True}
    exact, plain = (
        GaussianLloyd(**constants, arithmetic=kind)(data, np.random.default_rng(seed), 6000).reshape(6000, -1)
        for kind, seed in ((Arithmetic.EXACT, 1), (Arithmetic.BINARY64, 2))
    )
    for one, other in zip(exact.T, plain.T, strict=True):
        assert stats.ks_2samp(one, other).pvalue > ALARM
    wrong = GaussianLloyd(**{**constants, "sigma_sum": 5})(data, 3, 6000).reshape(6000, -1)
    assert min(stats.ks_2samp(one, other).pvalue for one, other in zip(wrong.T, plain.T, strict=True)) < ALARM


def losses_of_all_iterations(runs, rounds, sigma_count, sigma_sum, seed):
    """The log ratio of the densities of all noisy counts and sums with and without the last record, on outputs with it: on the line, k = 2.

    An implementation of its own, in which the two data sets have clusters of their own: nothing of the proof is put in.
    """
    rng = np.random.default_rng(seed)
    points, weights = np.array([-1.0, -0.2, 0.3, 1.2, 0.1]), np.array([1.0, 2.0, 1.0, 1.5, 3.0])
    found = np.zeros(runs)
    for run in range(runs):
        centres = np.array([-0.5, 0.5])
        for _ in range(rounds):
            labels = np.abs(points[:, np.newaxis] - centres).argmin(axis=1)
            counts, sums = (np.array([(weights * values)[labels == j].sum() for j in (0, 1)]) for values in (np.ones(5), points))
            fewer = [np.array([(weights * values)[:4][labels[:4] == j].sum() for j in (0, 1)]) for values in (np.ones(5), points)]
            noisy_counts, noisy_sums = counts + rng.normal(0, sigma_count, 2), sums + rng.normal(0, sigma_sum, 2)
            for noisy, whole, less, sigma in ((noisy_counts, counts, fewer[0], sigma_count), (noisy_sums, sums, fewer[1], sigma_sum)):
                found[run] += (((noisy - less) ** 2 - (noisy - whole) ** 2) / (2 * sigma**2)).sum()
            centres = np.where(noisy_counts >= 1, noisy_sums / np.where(noisy_counts >= 1, noisy_counts, 1), centres)
    return found


@pytest.mark.thorough
def test_the_loss_of_all_iterations_is_that_of_the_gaussian_pair():
    # Theorem 3 with equality: under the law with the record the log ratio is N(μ²/2, μ²), although its cluster changes from run to run
    rounds, count, total_scale = 3, 4.0, 2.0
    found = losses_of_all_iterations(4000, rounds, count, total_scale, 5)
    mu = 3.0 * math.sqrt(rounds * (1 / count**2 + 0.1**2 / total_scale**2))
    assert stats.kstest(found, stats.norm(mu**2 / 2, mu).cdf).pvalue > ALARM
    for wrong in (mu / math.sqrt(rounds), mu * math.sqrt(2), 3.0 * rounds / count):
        assert stats.kstest(found, stats.norm(wrong**2 / 2, wrong).cdf).pvalue < ALARM


@pytest.mark.thorough
@settings(max_examples=25, deadline=None)
@given(st.integers(1, 50), st.integers(1, 10**6), st.integers(1, 10**6), st.integers(0, 400), st.integers(100, 10**5))
def test_mu_of_lloyd_at_60_digits(rounds, count, total_scale, z, w):
    mechanism = GaussianLloyd(initial_centres=[0.0], iterations=rounds, sigma_count=Fraction(count, 7), sigma_sum=Fraction(total_scale, 9))
    at = {"w": Fraction(w, 100), "z": Fraction(z, 100)}
    found = as_ball(value_at(mechanism.profile.stand_in().numeric_epsilon(), at, 300))
    with mpmath.workdps(70):
        square = rounds * ((mpmath.mpf(7) / count) ** 2 + (9 * mpmath.mpf(z) / (100 * total_scale)) ** 2)
        expected = mpmath.mpf(w) / 100 * mpmath.sqrt(square)
        middle = mpmath.mpf(found.mid().str(75, radius=False))
        assert abs(middle - expected) <= expected * mpmath.mpf(10) ** -60


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("module", [gaussian_sum, gaussian_lloyd], ids=lambda module: module.__name__)
def test_profiles_are_homogeneous_and_no_epsilon(module):
    for mechanism in (module.default, module.general):
        assert isinstance(mechanism, Mechanism)
        assert pickle.loads(pickle.dumps(mechanism)) == mechanism
        found = verify_notion(mechanism.profile).decisions["homogeneous"]
        assert found.verdict is Verdict.PROVED
        assert found.checked
        with pytest.raises(OtherNotion):
            mechanism.profile.text  # noqa: B018 - it refuses
    assert load(f"{module.__name__}:default").profile == module.default.profile
    with pytest.raises(InvalidArgument, match="needs a number"):
        module.general.sample([], np.random.default_rng(0), 1)


def test_hypotheses():
    assert gaussian_sum.default.hypotheses == (IEEE_ROUNDING, BALLS_ENCLOSE)
    assert gaussian_lloyd.default.hypotheses == (IEEE_ROUNDING, BALLS_ENCLOSE, PUBLIC_CENTRES)
    assert replace(gaussian_lloyd.default, arithmetic="binary64").hypotheses == (EXACT_REALS, PUBLIC_CENTRES)


def test_statistics_are_euclidean_norms():
    points = [[3.0, -2.0], [0.0, 1.0]]
    for mechanism in (GaussianSum(sigma=1, dimension=2), GaussianLloyd(initial_centres=[[0, 0]])):
        assert mechanism.statistic(points)["z"] == pytest.approx([math.sqrt(13), 1.0], rel=1e-15)


def test_post_processing_changes_no_profile():
    constants = {"initial_centres": [[-1.0, 0.0], [1.0, 0.0]], "iterations": 3, "sigma_count": 4, "sigma_sum": 5}
    plain, confined = GaussianLloyd(**constants), GaussianLloyd(**constants, confine=True, min_count=None)
    assert plain.profile == confined.profile
    assert np.linalg.norm(confined(DATA, 1, 200), axis=-1).max() <= 4 * (1 + 1e-12)


@pytest.mark.parametrize("bad", [0, -1, "0"])
def test_deviations_must_be_positive(bad):
    for make in (lambda s: GaussianSum(sigma=s), lambda s: GaussianLloyd(initial_centres=[0.0], sigma_count=s),
                 lambda s: GaussianLloyd(initial_centres=[0.0], sigma_sum=s)):  # fmt: skip
        with pytest.raises(InvalidArgument, match=r"standard deviation .* must be positive"):
            make(bad)
    for make in (lambda s: GaussianSum(sigma=s), lambda s: GaussianLloyd(initial_centres=[0.0], sigma_sum=s)):
        with pytest.raises(InvalidNumber):
            make("wide")


@pytest.mark.parametrize(
    "constants", [{"iterations": 0}, {"iterations": 1.5}, {"radius": 0}, {"min_count": 0}, {"arithmetic": "float"}], ids=str
)
def test_other_constants_are_refused(constants):
    with pytest.raises(InvalidArgument):
        GaussianLloyd(initial_centres=[0.0], **constants)


def test_runs_that_would_not_end_and_records_that_are_too_large_are_refused():
    with pytest.raises(InvalidArgument, match="at most 100000 iterations"):
        GaussianLloyd(initial_centres=[0.0], iterations=10**6, sigma_count=1, sigma_sum=1).run([], None, 1)
    for mechanism in (GaussianSum(sigma="1/1000"), GaussianLloyd(initial_centres=[0.0], iterations=1, sigma_count=1, sigma_sum="1/1000")):
        with pytest.raises(InvalidData, match="2048 times the noise scale"):
            mechanism.run([1.0, 3.0], None, 1)


def test_the_formula_is_what_is_declared():
    assert to_text(gaussian_sum.general.profile.promise) == "w*z/sigma"
    assert to_text(gaussian_lloyd.general.profile.promise) == "w*sqrt(T*(1/sigma_count**2 + z**2/sigma_sum**2))"
