"""DPLloyd with normal noise: calibrated for (ε, δ), certified, on samples, and with scikit-learn's conventions."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.utils.estimator_checks import check_estimator

from accountant import DPLloyd
from accountant.applications.budget.normal import largest_mu
from accountant.applications.budget.shares import normal_count_share
from accountant.applications.kmeans import gaussian
from accountant.applications.kmeans.certifying import GIVEN_ROW
from accountant.applications.kmeans.estimator import _norms_above
from accountant.applications.kmeans.gaussian import choose_deviations, tabulate_weights
from accountant.curves import curve_of
from accountant.guarantees import CurveBound, Losses, Notion, derive_mechanism, point_of_curve, point_of_weights, prove_run, render
from accountant.guarantees.gaussian import bound_mu, curve_of_profile
from accountant.guarantees.rules import base_profile
from accountant.interop import read_guarantee, replay, suppose, write_guarantee
from profiles import Infeasible, InvalidArgument, InvalidProfile, InvalidTarget, OtherNotion, PDPError, declare
from profiles.hypotheses import (
    ARITHMETIC,
    DECLARED_PROFILE,
    EXACT_REALS,
    IN_RANGE,
    INDEPENDENT,
    OWN_WEIGHTS,
    RECORD_STATISTICS,
    STATISTICS,
    WEIGHT_AS_GIVEN,
)
from profiles.mechanisms import Arithmetic, GaussianLloyd, GaussianSum
from profiles.mechanisms.interface import EXACT_MODE
from tests.applications.kmeans.test_kmeans import EXPECTED_FAILURES, make_blobs

GAUSSIAN = {"noise": "gaussian", "delta": "1e-6"}


def make_model(clusters=3, **changes):
    return DPLloyd(clusters, **{"epsilon": 1, "radius": "1.5", "outside": "project", "iterations": 5, **GAUSSIAN, **changes})


def delta_of(mu, epsilon):
    """δ(ε) of the Gaussian pair at 50 digits, by its closed form."""
    with mpmath.workdps(50):
        m, e = mpmath.mpf(mu.numerator) / mu.denominator, mpmath.mpf(epsilon.numerator) / epsilon.denominator
        return mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)


def sampled_delta(weight, zeta, epsilon, *, add=False):
    """δ(ε) of the sampled pair by the trapezoidal rule on its definition, without any closed form of the project."""
    q, mu = 1 / weight, weight * zeta
    x = np.linspace(-12, 12 + mu, 400_001)
    without, kept = np.exp(-(x**2) / 2), np.exp(-((x - mu) ** 2) / 2)
    mixed = (1 - q) * without + q * kept
    first, second = (without, mixed) if add else (mixed, without)
    return float(np.trapezoid(np.maximum(first - math.exp(epsilon) * second, 0), x) / math.sqrt(2 * math.pi))


@pytest.mark.thorough(quick=1)
@pytest.mark.filterwarnings("ignore::accountant.deltas.DeltaWarning")  # large deltas are told, and kept
@pytest.mark.parametrize(
    ("epsilon", "delta", "iterations"),
    [(1, "1e-6", 5), ("0.01", "1e-9", 1), (8, "1e-3", 30), ("1/3", "0.2", 2), (100, "1e-12", 10), ("2.5", "1e-30", 7)],
)
def test_the_certified_numbers_keep_what_was_asked_for(epsilon, delta, iterations):
    model = make_model(epsilon=epsilon, delta=delta, iterations=iterations).fit(make_blobs(50))
    bound, mechanism = model.guarantee_.bound, model.mechanism_
    assert isinstance(bound, Losses)
    assert model.guarantee_.notion is Notion.APPROXIMATE_DP
    assert bound.remove == bound.add == Fraction(epsilon)
    assert bound.delta <= Fraction(delta)
    square = iterations * (1 / mechanism.sigma_count**2 + mechanism.radius**2 / mechanism.sigma_sum**2)
    mu = Fraction(mpmath.mpf(mpmath.sqrt(mpmath.mpf(square.numerator) / square.denominator)).__float__())
    true = delta_of(mu, Fraction(epsilon))
    assert true <= mpmath.mpf(bound.delta.numerator) / bound.delta.denominator * (1 + mpmath.mpf(10) ** -9)
    assert true >= mpmath.mpf(str(float(Fraction(delta)))) * 0.97  # not more noise than needed
    assert isinstance(model.privacy_curve_.bound, CurveBound)


@pytest.mark.thorough
def test_the_whole_curve_is_there_from_both_sides():
    model = make_model().fit(make_blobs(100))
    for delta in ("1e-3", "1e-10"):
        found = curve_of(model.privacy_curve_).epsilon(delta, gap="1e-9")
        assert found.checked_by_kernel
        assert found.upper - found.lower < Fraction(1, 10**8)
        point = point_of_curve(model.privacy_curve_, at_delta=delta)
        assert point.bound.epsilon >= found.lower
        mu = bound_mu(model.profile_).upper
        assert float(delta_of(mu, found.upper)) == pytest.approx(float(delta), rel=1e-5)


@pytest.mark.thorough
def test_hypotheses_are_those_of_a_laplace_fit():
    blobs = make_blobs(100)
    options = {"epsilon": 1, "radius": 2, "iterations": 2}
    for arithmetic in ("exact", "binary64"):
        for outside in ("error", "project"):
            one = DPLloyd(3, **options, outside=outside, arithmetic=arithmetic).fit(blobs).guarantee_
            other = DPLloyd(3, **options, outside=outside, arithmetic=arithmetic, **GAUSSIAN).fit(blobs).guarantee_
            assert {item.id for item in one.hypotheses} == {item.id for item in other.hypotheses}
            assert (EXACT_REALS in other.hypotheses) == (arithmetic == "binary64")
            assert set(EXACT_MODE).isdisjoint(other.hypotheses) == (arithmetic == "binary64")
    assert GIVEN_ROW in other.hypotheses


@pytest.mark.thorough
def test_samples_have_those_of_a_laplace_sample_but_for_the_rounding_of_pairs():
    blobs = make_blobs(100)
    one = DPLloyd(3, epsilon=1, radius=2, outside="project", iterations=2).fit_sampled(blobs, target_epsilon=3).guarantee_
    other = DPLloyd(3, epsilon=1, radius=2, outside="project", iterations=2, **GAUSSIAN).fit_sampled(blobs, target_epsilon=3).guarantee_
    assert {item.id for item in one.hypotheses} == {item.id for item in other.hypotheses}
    assert {STATISTICS, ARITHMETIC} <= set(other.hypotheses)
    assert (other.bound.remove, other.bound.delta) == (3, Fraction(1, 10**6))
    for made in (one, other):
        assert EXACT_REALS in {item.hypothesis for item in made.discharged}
    own = make_model().fit_sampled(blobs, select=lambda q, rng: rng.random(len(q)) < q).guarantee_
    assert INDEPENDENT in own.hypotheses


@settings(max_examples=8, deadline=None)
@given(
    st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(4)]),
    st.sampled_from([Fraction(1, 10**4), Fraction(1, 10**6), Fraction(1, 10**8)]),
    st.integers(1, 20),
    st.sampled_from([1, 2, 8, 64]),
    st.sampled_from([1, 2, 5]),
)
@pytest.mark.thorough
def test_weights_of_samples_keep_the_target(epsilon, delta, iterations, dimension, factor):
    """The kernel accepts every row, records are served by rows above their ζ, and δ by its definition is at most the target."""
    noise = choose_deviations(epsilon, delta, radius=Fraction(2), iterations=iterations, dimension=dimension)
    mechanism = GaussianLloyd(
        initial_centres=np.zeros((1, dimension)), iterations=iterations, sigma_count=noise.sigma_count, sigma_sum=noise.sigma_sum, radius=2
    )
    target = epsilon * factor
    table = tabulate_weights(mechanism, target, delta)
    made = point_of_weights(mechanism.profile, at_epsilon=target, at_delta=delta, weight_pairs=table.pairs)
    assert (made.bound.remove, made.bound.delta) == (target, delta)
    norms = np.linspace(0, 2, 50)
    q, weights = table.select(norms)
    assert all(Fraction(float(chance)) * Fraction(float(weight)) <= 1 for chance, weight in zip(q, weights, strict=True))
    assert (np.diff(weights) <= 0).all()
    assert weights[0] > 1
    zetas = np.sqrt(iterations * (1 / float(noise.sigma_count) ** 2 + norms**2 / float(noise.sigma_sum) ** 2))
    for zeta, weight in list(zip(zetas, weights, strict=True))[::12]:
        for add in (False, True):
            assert sampled_delta(weight, zeta, float(target), add=add) <= float(delta) * (1 + 1e-6)
        if weight > 1.2:
            assert sampled_delta(weight * 1.2, zeta, float(target)) > float(delta)  # and they are not small


@pytest.mark.thorough
def test_a_row_that_is_too_large_is_refused_by_the_rule():
    mechanism = GaussianLloyd(initial_centres=[0.0], iterations=2, sigma_count=20, sigma_sum=20, radius=1)
    table = tabulate_weights(mechanism, Fraction(1), Fraction(1, 10**6))
    pairs = list(table.pairs)
    given = {"at_epsilon": 1, "at_delta": "1e-6"}
    point_of_weights(mechanism.profile, **given, weight_pairs=pairs)
    for wrong in (
        [(pairs[0][0], pairs[0][1] * Fraction(101, 100)), *pairs[1:]],
        [(Fraction(1, 2), Fraction(1))],
        [(pairs[0][0], Fraction(1, 2))],
    ):
        with pytest.raises(InvalidArgument):
            point_of_weights(mechanism.profile, **given, weight_pairs=wrong)
    for wrong in ([], pairs[1:]):  # the largest record has no row
        with pytest.raises(InvalidArgument, match="larger mu"):
            point_of_weights(mechanism.profile, **given, weight_pairs=wrong)
    with pytest.raises(InvalidArgument):
        point_of_weights(mechanism.profile, at_epsilon=1, at_delta="9e-7", weight_pairs=pairs)
    curved = declare("curved", notion="gaussian", mu="w**2*z/20", record={"z": [0, 1]})
    with pytest.raises(InvalidProfile, match="refuted"):
        point_of_weights(curved, **given, weight_pairs=pairs)


@pytest.mark.thorough
def test_records_beyond_the_table_have_no_weight():
    mechanism = GaussianLloyd(initial_centres=[0.0], iterations=2, sigma_count=20, sigma_sum=20, radius=1)
    table = tabulate_weights(mechanism, Fraction(1), Fraction(1, 10**6))
    table.select(np.array([0.0, 1.0]))
    with pytest.raises(Infeasible):
        table.select(np.array([1.01]))
    assert [len(part) for part in table.select(np.zeros(0))] == [0, 0]


@pytest.mark.thorough
def test_upper_bounds_of_norms_of_every_record_have_a_row():
    rows = np.array([[1.5, 0.0], [0.9, 1.2], [0.0, 0.0], [1e-320, 0.0], [1e-160, 1e-170]])
    model = make_model().fit_sampled(rows)
    table = tabulate_weights(model.mechanism_, Fraction(1), Fraction(1, 10**6))
    q, weights = table.select(_norms_above(rows, 2))
    assert (q > 0).all()
    assert (weights >= 1).all()
    assert weights[2] == weights[3] == weights[4] == weights.max()


@pytest.mark.thorough
def test_a_sampled_run_is_the_mechanism_on_the_sample():
    blobs = make_blobs(400)
    seen = []
    model = make_model(random_state=3).fit_sampled(
        blobs, target_epsilon=4, select=lambda q, rng: seen.append(q) or np.arange(len(q)) % 7 == 0
    )
    table = tabulate_weights(model.mechanism_, Fraction(4), Fraction(1, 10**6))
    assert (seen[0] == table.select(_norms_above(blobs, 2))[0]).all()
    assert not hasattr(model, "privacy_curve_")
    assert make_model().fit_sampled(np.zeros((0, 2))).cluster_centers_.shape == (3, 2)


@pytest.mark.thorough
def test_records_with_weights_of_their_own_cost_what_the_heaviest_costs():
    blobs = make_blobs(60)
    model = make_model(largest_weight=10).fit(blobs, sample_weight=np.full(60, 7.0))
    plain = make_model().fit(blobs)
    assert model.mechanism_.sigma_count == 10 * plain.mechanism_.sigma_count
    assert model.guarantee_.bound.delta <= Fraction(1, 10**6)
    assert OWN_WEIGHTS in model.guarantee_.hypotheses
    assert not any(item.id == DECLARED_PROFILE.id for item in model.guarantee_.hypotheses)
    assert EXACT_REALS not in model.guarantee_.hypotheses
    assert bound_mu(model.profile_).at["s"] == 10


@pytest.mark.thorough
def test_scales_in_place_of_epsilon():
    model = make_model(epsilon=None, noise_scales=(20, 30)).fit(make_blobs(50))
    assert (model.mechanism_.sigma_count, model.mechanism_.sigma_sum) == (20, 30)
    assert model.guarantee_.bound.delta == Fraction(1, 10**6)
    found = curve_of(model.privacy_curve_).epsilon("1e-6")
    assert found.lower <= model.guarantee_.bound.remove <= found.upper + Fraction(1, 1000)
    with pytest.raises(InvalidArgument, match="target_epsilon"):
        make_model(epsilon=None, noise_scales=(20, 30)).fit_sampled(make_blobs(50))
    assert make_model(epsilon=None, noise_scales=(20, 30)).fit_sampled(make_blobs(50), target_epsilon=3).guarantee_.bound.remove == 3


@pytest.mark.parametrize(
    "wrong",
    [
        {"delta": None}, {"delta": 0}, {"delta": 1}, {"delta": -1}, {"delta": "x"}, {"delta": "1e-200"}, {"noise": "normal"},
        {"noise": None}, {"noise": ["gaussian"]}, {"norm": 1}, {"norm": math.inf}, {"noise": "laplace"}, {"epsilon": 0},
        {"epsilon": 20_000}, {"epsilon": None}, {"noise_scales": (1, 2)}, {"epsilon": None, "noise_scales": 3},
        {"epsilon": None, "noise_scales": ("1/10000", 1)}, {"arithmetic": "float"},
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("rows", [50, 0])
def test_what_is_refused_is_refused_in_one_sentence_for_all_data(wrong, rows):
    with pytest.raises(PDPError) as caught:
        make_model(**wrong).fit(make_blobs(50)[:rows])
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 320


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        ({"rule": "uniform", "constants": {"rate": "0.1"}}, InvalidArgument), ({"rule": None}, InvalidArgument),
        ({"constants": {"rate": 1}}, InvalidArgument), ({"target_epsilon": "0.5"}, Infeasible), ({"target_epsilon": 0}, InvalidArgument),
        ({"target_epsilon": -1}, InvalidArgument),
    ],
    ids=str,
)  # fmt: skip
def test_samples_that_are_refused(call, kind):
    for rows in (50, 0):
        with pytest.raises(kind) as caught:
            make_model().fit_sampled(make_blobs(50)[:rows], **call)
        assert "\n" not in str(caught.value)


@pytest.mark.thorough
def test_less_noise_moves_centres_to_where_they_are_without():
    blobs = make_blobs()
    model = make_model(epsilon=20, radius=1, iterations=10, random_state=7).fit(blobs)
    best = KMeans(3, n_init=3, random_state=0).fit(blobs)
    assert np.square(model.transform(blobs).min(axis=1)).sum() < 1.5 * best.inertia_


@pytest.mark.thorough
def test_scikit_learn_checks():
    model = DPLloyd(epsilon=1000, radius=100, outside="project", largest_weight=100, random_state=0, **GAUSSIAN)
    results = check_estimator(model, expected_failed_checks=EXPECTED_FAILURES, on_skip=None)
    assert {result["check_name"] for result in results if result["status"] == "xfail"} == set(EXPECTED_FAILURES)
    assert {result["status"] for result in results} <= {"passed", "xfail", "skipped"}


def test_the_share_of_the_counts_has_the_least_first_order_error():
    for dimension in (1, 2, 22, 64):
        best = float(normal_count_share(dimension))
        error = lambda share: dimension / (1 - share) + 0.45**2 / share  # noqa: B023, E731 - used at once
        assert error(best) < min(error(best * 0.9), error(best * 1.1))


def test_the_largest_mu_is_close_to_the_optimum():
    assert float(largest_mu(Fraction(1), Fraction(1, 10**6))) == pytest.approx(0.236704, abs=2e-6)
    assert delta_of(largest_mu(Fraction(1), Fraction(1, 10**6)), Fraction(1)) <= mpmath.mpf(10) ** -6


# --- what a mechanism of the catalogue promises, and what a borrowed profile does not --------------------------------------------------

SUM = GaussianSum(sigma=10, radius=2, dimension=2)


def test_a_mechanism_of_the_catalogue_has_its_curve():
    made = derive_mechanism(SUM)
    assert isinstance(made.bound, CurveBound)
    ids = {item.id for item in made.hypotheses}
    assert {IN_RANGE.id, RECORD_STATISTICS.id, WEIGHT_AS_GIVEN.id, *(item.id for item in EXACT_MODE)} <= ids
    assert not {DECLARED_PROFILE.id, EXACT_REALS.id} & ids
    assert float(delta_of(Fraction(1, 5), curve_of(made).epsilon("1e-6", gap="1e-9").upper)) == pytest.approx(1e-6, rel=1e-4)
    assert "mu(1, x) <= 0.2" in render(made)


@pytest.mark.parametrize("thief", ["subclass", "wrapper", "binary64", "other sigma"])
def test_what_is_not_of_the_catalogue_keeps_its_hypotheses_open(thief):
    class Subclass(GaussianSum):
        __slots__ = ()

    class Wrapper:
        profile = SUM.profile

    mechanism = {"subclass": Subclass(sigma=10, radius=2, dimension=2), "wrapper": Wrapper(), "other sigma": GaussianSum(sigma=9, radius=2),
                 "binary64": GaussianSum(sigma=10, radius=2, dimension=2, arithmetic=Arithmetic.BINARY64)}[thief]  # fmt: skip
    made = prove_run(curve_of_profile(SUM.profile), mechanism)
    assert EXACT_REALS in made.hypotheses
    assert any(item.id == DECLARED_PROFILE.id for item in made.hypotheses) == (thief != "binary64")


def test_a_mu_is_never_proved_to_be_an_epsilon():
    """The stand-in of a profile has its name, and says that its ε is what is a μ: no mechanism runs that."""
    made = prove_run(base_profile(SUM.profile.stand_in()), SUM)
    assert any(item.id == DECLARED_PROFILE.id for item in made.hypotheses)
    assert EXACT_REALS in made.hypotheses
    with pytest.raises(OtherNotion):
        base_profile(SUM.profile)
    with pytest.raises(OtherNotion):
        curve_of_profile(declare("sum", "w*z", record={"z": [0, 1]}))


def test_numbers_are_needed_for_a_curve():
    for sigma in ("positive", None):
        profile = (
            GaussianSum().profile
            if sigma
            else declare("sum", notion="gaussian", mu="w*z/s", record={"z": [0, 1]}, parameters={"s": "positive"})
        )
        with pytest.raises(InvalidProfile, match="needs numbers"):
            curve_of_profile(profile)


def test_a_curve_from_a_file_is_made_again():
    for made in (make_model().fit(make_blobs(20)).guarantee_, point_of_curve(derive_mechanism(SUM), at_delta="1e-6")):
        read = read_guarantee(write_guarantee(made))
        found = replay(read)
        assert found.bound.remove == made.bound.remove == suppose(read).bound.remove
        assert EXACT_REALS in found.hypotheses
        assert set(made.hypotheses) <= set(found.hypotheses)
        believed = replay(read, accept_evidence=True)
        assert EXACT_REALS not in believed.hypotheses


@pytest.mark.thorough
def test_a_certified_delta_above_the_target_is_refused(monkeypatch):
    monkeypatch.setattr(gaussian, "largest_mu", lambda *_: Fraction("0.24"))  # the largest is 0.2367
    with pytest.raises(InvalidTarget, match="certified bound is larger"):
        make_model().fit(make_blobs(20))
