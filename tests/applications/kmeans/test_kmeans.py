"""DPLloyd: scikit-learn's conventions, certified guarantees, and nothing that looks at the data but the mechanism."""

from __future__ import annotations

import importlib.util
import math
import os
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.utils.estimator_checks import check_estimator

from accountant import DPKMeans, DPLloyd
from accountant.applications.kmeans.certifying import GIVEN_ROW
from accountant.applications.kmeans.estimator import _norms_above
from accountant.applications.kmeans.planning import pack_centres
from accountant.applications.sklearn_guards import make_generator
from accountant.guarantees import Losses, Notion
from profiles import Infeasible, InvalidArgument, InvalidData, InvalidNumber, PDPError, to_exact
from profiles.hypotheses import (
    ARITHMETIC,
    EXACT_REALS,
    FIXED_IN_ADVANCE,
    IN_RANGE,
    INDEPENDENT,
    OF_SAMPLES,
    ONE_ANALYSIS,
    ONE_RECORD_EACH,
    ONLY_OUTPUT,
    ONLY_RELEASE,
    PUBLIC_CENTRES,
    RANDOMNESS,
    SECURE_BITS,
    SEEDED_BITS,
    STATISTICS,
    WEIGHT_AS_GIVEN,
    name_range,
)
from profiles.mechanisms import Arithmetic
from profiles.mechanisms.interface import EXACT_MODE
from profiles.mechanisms.nearest import label_by_definition
from profiles.mechanisms.quantised import MOST_RATIO

EXPECTED_FAILURES = {
    "check_clustering": "labels_ of the training records are not private, so that there are none",
    "check_estimators_empty_data_messages": "an empty data set is legal: refusing it would tell that it is empty",
    "check_sample_weight_equivalence_on_dense_data": "weights are at least 1, and a record of weight 2 is not two records",
    "check_transformer_data_not_an_array": "there is no fit_transform: distances of the training records are not private",
    "check_transformer_general": "there is no fit_transform: distances of the training records are not private",
    "check_transformer_preserve_dtypes": "there is no fit_transform: distances of the training records are not private",
}
_UNDECLARED = "without a declared largest_weight no weights are taken, whatever they are"
#: What fails besides where no bound of the weights is declared, which is the default.
EXPECTED_FAILURES_WITHOUT_WEIGHTS = {
    f"check_{name}": _UNDECLARED
    for name in (
        "sample_weights_not_an_array",
        "sample_weights_list",
        "all_zero_sample_weights_error",
        "sample_weights_shape",
        "sample_weights_not_overwritten",
    )
}
if importlib.util.find_spec("pandas"):
    EXPECTED_FAILURES_WITHOUT_WEIGHTS["check_sample_weights_pandas_series"] = _UNDECLARED


def make_blobs(rows=3000, seed=0):
    rng = np.random.default_rng(seed)
    means = np.array([[0.6, 0.6], [-0.6, 0.6], [0.0, -0.7]])
    return means[rng.integers(0, 3, rows)] + rng.normal(size=(rows, 2)) / 20


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("largest", "expected", "least"),
    [(100, EXPECTED_FAILURES, 47), (None, EXPECTED_FAILURES | EXPECTED_FAILURES_WITHOUT_WEIGHTS, 42)],
    ids=["weights declared", "without weights"],
)
def test_scikit_learn_checks(largest, expected, least):
    model = DPLloyd(epsilon=10**4, radius=100, outside="project", largest_weight=largest, random_state=0)
    results = check_estimator(model, expected_failed_checks=expected, on_skip=None)
    failed = {result["check_name"] for result in results if result["status"] == "xfail"}
    assert failed == set(expected)  # what is listed does fail
    assert {result["status"] for result in results} <= {"passed", "xfail", "skipped"}
    assert sum(result["status"] == "passed" for result in results) > least


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")  # a fit of few records says that its centres may be of little use
@pytest.mark.parametrize("delta", [None, pytest.param("1e-6", marks=pytest.mark.slow)])
def test_scikit_learn_checks_of_the_private_estimator(delta):
    expected = EXPECTED_FAILURES | EXPECTED_FAILURES_WITHOUT_WEIGHTS  # weights of records are DPLloyd's
    results = check_estimator(DPKMeans(2, epsilon=1, radius=20, delta=delta, random_state=0), expected_failed_checks=expected, on_skip=None)
    assert {result["check_name"] for result in results if result["status"] == "xfail"} == set(expected)  # what is listed does fail
    assert {result["status"] for result in results} <= {"passed", "xfail", "skipped"}
    assert sum(result["status"] == "passed" for result in results) > 40


@pytest.mark.thorough(quick=9)
@pytest.mark.parametrize("epsilon", ["0.001", "0.1", 1, 10.3, Fraction(1000, 3), 2000])
@pytest.mark.parametrize(("norm", "iterations"), [(2, 10), (1, 1), (math.inf, 3)])
def test_the_certified_epsilon_keeps_what_was_asked_for(epsilon, norm, iterations):
    model = DPLloyd(3, epsilon=epsilon, radius="1.5", norm=norm, iterations=iterations, random_state=1).fit(make_blobs(50))
    bound = model.guarantee_.bound
    assert isinstance(bound, Losses)
    assert model.guarantee_.notion is Notion.ADD_REMOVE_DP
    assert bound.evidence.checked_by_kernel
    asked = Fraction(epsilon)
    assert asked * (1 - Fraction(1, 10**8)) < bound.lower <= bound.upper <= asked
    mechanism = model.mechanism_
    assert iterations * (1 / mechanism.beta_count + mechanism.radius / mechanism.beta_sum) <= bound.upper
    assert mechanism.p == norm
    assert mechanism.radius > Fraction("1.5")


def test_hypotheses_that_stay_open():
    blobs = make_blobs(50)
    always = {*EXACT_MODE, FIXED_IN_ADVANCE, ONE_RECORD_EACH, ONLY_RELEASE, ONLY_OUTPUT, GIVEN_ROW}
    asked = DPLloyd(3, epsilon=1, radius=2).fit(blobs)
    in_range = name_range(asked.profile_)
    assert in_range.sentence.startswith("the declared range contains every record: z in [0, 2.0000")
    assert set(asked.guarantee_.hypotheses) == {*always, in_range, SECURE_BITS}
    projected = DPLloyd(3, epsilon=1, radius=2, outside="project").fit(blobs).guarantee_
    assert set(projected.hypotheses) == {*always, SECURE_BITS}
    assert {item.hypothesis for item in projected.discharged} >= {in_range, PUBLIC_CENTRES, RANDOMNESS, WEIGHT_AS_GIVEN, *OF_SAMPLES}
    given = DPLloyd(3, epsilon=1, radius=2, outside="project", init=np.eye(3, 2), random_state=1).fit(blobs).guarantee_
    assert set(given.hypotheses) == {*always, PUBLIC_CENTRES, SEEDED_BITS}


def test_only_the_mechanism_looks_at_the_data():
    blobs = make_blobs(300)
    one, other = (DPLloyd(3, epsilon=1, radius=2, random_state=5).fit(data) for data in (blobs, blobs[:17] / 3))
    assert one.mechanism_ == other.mechanism_  # noise scales, initial centres
    assert one.guarantee_ == other.guarantee_
    assert set(vars(one)) - set(one.get_params()) == {"cluster_centers_", "guarantee_", "mechanism_", "profile_", "n_features_in_"}
    assert (one.cluster_centers_ != other.cluster_centers_).any()


def test_the_mechanism_runs_with_what_the_guarantee_says():
    blobs, (generator, _) = make_blobs(), make_generator(6)
    model = DPLloyd(3, epsilon=1, radius=2, random_state=6).fit(blobs)
    again = DPLloyd(3, epsilon=1, radius=2, random_state=generator)
    points = again._bound(again._read(blobs, reset=True))
    mechanism = again._prepare(again._check_geometry(), 2, generator, Fraction(1)).mechanism
    assert mechanism == model.mechanism_
    assert (mechanism.run(points, None, generator) == model.cluster_centers_).all()
    assert model.profile_ == mechanism.profile


def test_centres_are_found_where_privacy_is_cheap():
    blobs = make_blobs()
    model = DPLloyd(3, epsilon=20, radius=1, outside="project", random_state=7).fit(blobs)
    best = KMeans(3, n_init=3, random_state=0).fit(blobs)
    cost = np.square(model.transform(blobs).min(axis=1)).sum()
    assert cost < 1.5 * best.inertia_
    labels = model.predict(blobs)
    assert (labels == label_by_definition(blobs, model.cluster_centers_)).all()
    assert model.get_feature_names_out().tolist() == ["dplloyd0", "dplloyd1", "dplloyd2"]
    assert (clone(model).fit(blobs).predict(blobs) == labels).all()


def select_exactly(q, rng):
    """Bernoulli(q) for every binary64 q ≥ 2^-53·k: 1074 bits would do for all; here the first 53 and then a tie break with 53 more."""
    first = rng.integers(0, 2**53, len(q))
    scaled = q * 2.0**53
    whole = np.floor(scaled)
    return (first < whole) | ((first == whole) & (rng.random(len(q)) < scaled - whole))


def test_fitting_a_privacy_constrained_sample():
    blobs, seen = make_blobs(5000), {}

    def select(q, rng):
        seen["q"] = q
        return select_exactly(q, rng)

    model = DPLloyd(3, epsilon=3, radius=1, outside="project", random_state=9).fit_sampled(blobs, select=select, target_epsilon=12)
    assert model.guarantee_.bound.upper == 12
    assert model.guarantee_.notion is Notion.ADD_REMOVE_DP
    assert EXACT_REALS not in model.guarantee_.hypotheses
    assert set(EXACT_MODE) <= set(model.guarantee_.hypotheses)
    assert not any(item.id == IN_RANGE.id for item in model.guarantee_.hypotheses)
    assert 0.05 < seen["q"].mean() < 0.3
    # Problem 7 for the norms over the reals, at 60 digits
    points = model._bound(model._read(blobs, reset=True))
    mechanism = model.mechanism_
    with mpmath.workdps(60):
        for record, q in list(zip(points, seen["q"], strict=True))[::100]:
            norm = mpmath.sqrt(mpmath.fsum(mpmath.mpf(value) ** 2 for value in record.tolist()))
            rate = 10 * (mpmath.mpf(1) / to_mpf(mechanism.beta_count) + norm / to_mpf(mechanism.beta_sum))
            psi = mpmath.log1p(mpmath.mpf(float(q)) * mpmath.expm1(rate / mpmath.mpf(float(q))))
            assert 12 * (1 - mpmath.mpf(10) ** -8) < psi <= 12
    cost = np.square(model.transform(blobs).min(axis=1)).sum()
    assert cost < 3 * KMeans(3, n_init=3, random_state=0).fit(blobs).inertia_


def to_mpf(value):
    return mpmath.mpf(value.numerator) / value.denominator


def test_sampling_for_free_and_sampling_too_cheap():
    blobs = make_blobs(500)
    model = DPLloyd(3, epsilon=3, radius=2, random_state=10)
    assert model.fit_sampled(blobs, select=select_exactly).guarantee_.bound.upper == 3
    with pytest.raises(Infeasible):
        model.fit_sampled(blobs, select=select_exactly, target_epsilon="2.9")
    for wrong in (lambda q, rng: q, lambda q, rng: np.ones(3, dtype=bool)):
        with pytest.raises(InvalidArgument, match="one boolean per record"):
            model.fit_sampled(blobs, select=wrong)


def test_noise_scales_in_place_of_epsilon():
    model = DPLloyd(3, epsilon=None, noise_scales=("20.5", 30), radius=4, random_state=11).fit(make_blobs(100))
    assert model.mechanism_.beta_count == Fraction("20.5")
    exact = 10 * (1 / Fraction("20.5") + Fraction(4) * (1 + Fraction(1, 2**30)) / 30)
    assert exact <= model.guarantee_.bound.upper <= exact * (1 + Fraction(2, 10**9))
    assert model.fit_sampled(make_blobs(100), select=select_exactly).guarantee_.bound.upper <= exact * (1 + Fraction(2, 10**9))


def test_an_empty_data_set_gives_centres_from_noise_alone():
    for fit in (lambda model, X: model.fit(X), lambda model, X: model.fit_sampled(X, select=select_exactly)):
        model = fit(DPLloyd(3, epsilon=1, radius=2, random_state=12), np.zeros((0, 4)))
        assert model.cluster_centers_.shape == (3, 4)
        assert np.isfinite(model.cluster_centers_).all()


def test_outside():
    far = np.array([[3.0, 4.0], [0.1, 0.2]])
    with pytest.raises(InvalidData, match="row 0 has a larger one"):
        DPLloyd(1, epsilon=1, radius="4.9").fit(far)
    DPLloyd(1, epsilon=1, radius=5).fit(far)
    model = DPLloyd(1, epsilon=10**4, radius=1, outside="project", random_state=0).fit(np.repeat(far[:1], 100, axis=0))
    assert model.cluster_centers_[0] == pytest.approx([0.6, 0.8], rel=1e-3)


def test_exact_arithmetic_is_the_default_and_binary64_keeps_its_hypothesis():
    blobs = make_blobs(50)
    constants = {"epsilon": 1, "radius": 2}
    model = DPLloyd(3, **constants).fit(blobs)
    assert (model.arithmetic, model.mechanism_.arithmetic) == ("exact", Arithmetic.EXACT)
    assert EXACT_REALS not in model.guarantee_.hypotheses
    plain = clone(model).set_params(arithmetic="binary64", random_state=1).fit(blobs)
    assert plain.mechanism_.arithmetic is Arithmetic.BINARY64
    assert EXACT_REALS in plain.guarantee_.hypotheses
    assert not set(EXACT_MODE) & set(plain.guarantee_.hypotheses)
    assert clone(plain).get_params() == plain.get_params()


class Untouchable:
    """Data that fail the test when they are looked at."""

    def __array__(self, *_, **__):
        pytest.fail("the data were looked at")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"norm": 3}, 'arithmetic="binary64"'),
        ({"arithmetic": "floating-point"}, "arithmetic must be 'exact' or 'binary64'"),
        ({"arithmetic": None}, "arithmetic must be 'exact' or 'binary64'"),
    ],
)
def test_what_is_not_offered_exactly_is_refused_before_the_data_are_looked_at(change, said):
    model = DPLloyd(3, epsilon=1, radius=2).set_params(**change)
    for fit in (model.fit, model.fit_sampled):
        with pytest.raises(InvalidArgument, match=said):
            fit(Untouchable())
    plain = DPLloyd(3, epsilon=1, radius=2, norm=3, arithmetic="binary64", random_state=1)
    assert np.isfinite(plain.fit(make_blobs(50)).cluster_centers_).all()


@pytest.mark.parametrize("change", [{"epsilon": 10**9}, {"epsilon": None, "noise_scales": (1, "1/2049")}])
def test_noise_that_protects_nobody_is_refused_whatever_the_data_are(change):
    model = DPLloyd(1, **{"epsilon": 1, "radius": 1, "outside": "project", **change})
    with pytest.raises(InvalidArgument, match="exceed 2048 times"):
        model.fit(np.zeros((0, 2)))
    assert np.isfinite(model.set_params(arithmetic="binary64").fit(np.ones((3, 2))).cluster_centers_).all()
    just = DPLloyd(1, epsilon=None, noise_scales=(1, "1/2047"), radius=1, outside="project")
    assert np.isfinite(just.fit(np.ones((3, 2))).cluster_centers_).all()


def test_runs_without_a_seed_read_the_operating_systems_source(monkeypatch):
    asked, urandom = [], os.urandom
    monkeypatch.setattr(os, "urandom", lambda count: asked.append(count) or urandom(count))
    model = DPLloyd(3, epsilon=1, radius=2, iterations=4, init=np.eye(3, 2)).fit(make_blobs(50))
    assert asked == [8 * count for _ in range(4) for count in (3, 3 * 4)]  # 3 counts; 3 sums of 2 numbers that take 2 + 2 words each
    assert SECURE_BITS in model.guarantee_.hypotheses


def test_large_data_are_clustered_alike_in_both_arithmetics():
    blobs = make_blobs(20_000)
    found = [
        DPLloyd(3, epsilon=100, radius=2, arithmetic=kind, random_state=3).fit(blobs).cluster_centers_ for kind in ("exact", "binary64")
    ]
    assert found[0] == pytest.approx(found[1], abs=0.01)
    assert (found[0] != found[1]).all()


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"n_clusters": 0}, InvalidArgument),
        ({"n_clusters": 2.5}, InvalidArgument),
        ({"iterations": 0}, InvalidArgument),
        ({"epsilon": 0}, InvalidArgument),
        ({"epsilon": -1}, InvalidArgument),
        ({"epsilon": "much"}, InvalidNumber),
        ({"epsilon": None}, InvalidArgument),
        ({"noise_scales": (1, 1)}, InvalidArgument),
        ({"epsilon": None, "noise_scales": (1, 0)}, InvalidArgument),
        ({"epsilon": None, "noise_scales": 3}, InvalidArgument),
        ({"radius": 0}, InvalidArgument),
        ({"radius": math.inf}, InvalidNumber),
        ({"norm": 0.5}, InvalidArgument),
        ({"init": "k-means++"}, InvalidArgument),
        ({"init": np.zeros((2, 2))}, InvalidData),
        ({"outside": "clip"}, InvalidArgument),
        ({"min_count": -1}, InvalidArgument),
        ({"random_state": "x"}, ValueError),
    ],
)
def test_unusable_parameters_are_refused_before_anything_is_released(change, error):
    model = DPLloyd(**({"n_clusters": 3, "epsilon": 1, "radius": 2} | change))
    with pytest.raises(error):
        model.fit(make_blobs(20))
    assert not hasattr(model, "cluster_centers_")


def test_random_states():
    blobs = make_blobs(50)
    fits = [DPLloyd(2, epsilon=1, radius=2).fit(blobs).cluster_centers_ for _ in range(2)]
    assert (fits[0] != fits[1]).all()
    for state in (3, np.int64(3), np.random.RandomState(3), np.random.default_rng(3)):
        generator, source = make_generator(state)
        assert isinstance(generator, np.random.Generator)
        assert source == SEEDED_BITS
    legacy = [make_generator(np.random.RandomState(3))[0].random() for _ in range(2)]
    assert legacy[0] == legacy[1]


def test_exact_draws_are_the_default_and_their_hypotheses_are_told():
    blobs = make_blobs(300)
    secure = DPLloyd(2, epsilon=3, radius=1, outside="project").fit_sampled(blobs, target_epsilon=6)
    seeded = DPLloyd(2, epsilon=3, radius=1, outside="project", random_state=4).fit_sampled(blobs, target_epsilon=6)
    again = DPLloyd(2, epsilon=3, radius=1, outside="project", random_state=4).fit_sampled(blobs, target_epsilon=6)
    assert (seeded.cluster_centers_ == again.cluster_centers_).all()
    for model, bits in ((secure, SECURE_BITS), (seeded, SEEDED_BITS)):
        assert model.guarantee_.bound.upper == 6
        assert bits in model.guarantee_.hypotheses
        assert INDEPENDENT not in model.guarantee_.hypotheses
        assert {INDEPENDENT, ONE_ANALYSIS} <= {item.hypothesis for item in model.guarantee_.discharged}


def test_subnormal_records_are_no_way_out_of_the_declared_ball():
    """sqrt(2) times the least positive number is that number again in binary64: the record is outside, and no norm would tell."""
    least = 5e-324
    for p, outside in ((2, "error"), (2, "project"), (3, "project")):
        with pytest.raises(InvalidArgument, match="radius"):
            DPLloyd(1, epsilon=1, radius=least, norm=p, outside=outside).fit(np.full((1, 2), least))
    norms = _norms_above(np.array([[least, least], [0.0, 0.0], [1.0, 1.0]]), 2)
    for norm, squared in zip(norms.tolist(), (2 * Fraction(least) ** 2, 0, 2), strict=True):
        assert Fraction(norm) ** 2 >= squared
    assert norms[1] == 0
    tiny = DPLloyd(1, epsilon=1, radius=2.0**-1000, random_state=0).fit_sampled(np.full((5, 2), 2.0**-1001), target_epsilon=2)
    assert tiny.guarantee_.bound.upper == 2


@pytest.mark.parametrize("target", ["0.5", 2 * 10**15])
def test_what_is_refused_does_not_depend_on_the_number_of_records(target):
    for rows in (0, 1):
        with pytest.raises(PDPError):
            DPLloyd(1, epsilon=1, radius=1).fit_sampled(np.zeros((rows, 2)), target_epsilon=target)


def test_public_centres_are_not_made_of_the_numbers_of_the_noise():
    model = DPLloyd(3, epsilon=1, radius=2, random_state=np.random.default_rng(5)).fit(make_blobs(20))
    replayed = pack_centres(3, 2, 2, float(model.mechanism_.radius), np.random.default_rng(5))
    assert (model.mechanism_.centres != replayed).all()


@pytest.mark.parametrize("least", ["1.5", "3/2", Fraction(3, 2)])
def test_the_least_count_is_an_exact_number(least):
    given, number = (DPLloyd(3, epsilon=1, radius=2, min_count=value, random_state=3).fit(make_blobs(20)) for value in (least, 1.5))
    assert (given.cluster_centers_ == number.cluster_centers_).all()


def test_a_selector_of_ones_own_does_not_drop_the_hypotheses_of_the_weights():
    own, drawn = (DPLloyd(2, epsilon=1, radius=2).fit_sampled(make_blobs(20), select=select) for select in (select_exactly, None))
    assert {STATISTICS, ARITHMETIC} <= set(drawn.guarantee_.hypotheses)
    assert {STATISTICS, ARITHMETIC, INDEPENDENT} <= set(own.guarantee_.hypotheses)


def test_absurd_numbers_of_iterations_are_refused_before_any_work() -> None:
    with pytest.raises(InvalidArgument, match="iterations must be an integer from 1 to 100000"):
        DPLloyd(3, epsilon=2, radius="1.5", iterations=10**9, random_state=0).fit(make_blobs(50))


@pytest.mark.parametrize(
    ("clusters", "iterations", "match"),
    [
        (10**9, 3, "n_clusters must be an integer from 1 to 100000"),
        (10**5, 10**4, r"2000000000 noisy numbers .* and 100000000 numbers can be"),
    ],
)
def test_absurd_numbers_of_clusters_are_refused_before_any_work(clusters: int, iterations: int, match: str) -> None:
    with pytest.raises(InvalidArgument, match=match):
        DPLloyd(clusters, epsilon=2, radius="1.5", iterations=iterations, random_state=0).fit(make_blobs(50))


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("rows", [0, 3, 20_000])
def test_a_sample_whose_weights_exceed_exact_noise_is_refused_whatever_the_data_are(rows):
    """A refusal that only a selected record brings about would tell that there is one."""
    data = np.random.default_rng(3).uniform(-0.5, 0.5, size=(rows, 2))
    model = DPLloyd(2, epsilon=100, radius=1, iterations=2, random_state=1)
    with pytest.raises(InvalidArgument, match="weights of the sample may exceed 2048 times"):
        model.fit_sampled(data, rule="uniform", constants={"rate": "0.0003"})
    studied = DPLloyd(2, epsilon=100, radius=1, iterations=2, random_state=1, arithmetic="binary64")
    studied.fit_sampled(data, rule="uniform", constants={"rate": "0.0003"})


@pytest.mark.parametrize("rate", [Fraction(1, 30), Fraction(1, 40)])
def test_a_sample_that_is_not_refused_holds_no_record_that_exceeds_exact_noise(rate):
    """With T = 1 the bound of the largest ratio is close: 50/q nats at rate q, of which a count and a sum each are less than all."""
    model = DPLloyd(1, epsilon=50, radius=1, iterations=1, random_state=1)
    made = model.fit_sampled(np.full((2_000, 1), 0.999), rule="uniform", constants={"rate": str(rate)}).mechanism_
    heaviest = max(1 / to_exact(made.beta_count), to_exact(made.radius) / to_exact(made.beta_sum)) / rate
    assert heaviest <= MOST_RATIO


_HUGE = [[[10**400, 1]], np.array([[-(10**400), 1]], dtype=object), [[Fraction(10**400), 1]]]


@pytest.mark.parametrize("data", _HUGE, ids=["integer", "object", "fraction"])
def test_numbers_beyond_floats_are_a_named_error_without_the_number(data):
    model = DPLloyd(1, epsilon=1, radius=1, iterations=1, largest_weight=2, random_state=1)
    fitted = clone(model).fit([[0.0, 1.0]])
    sampled = clone(model).set_params(largest_weight=None)
    for attempt in (
        lambda: model.fit(data),
        lambda: model.fit([[0.0, 1.0]], sample_weight=[10**400]),
        lambda: sampled.fit_sampled(data, target_epsilon=2),
        lambda: fitted.predict(data),
        lambda: fitted.transform(data),
    ):
        with pytest.raises(InvalidData, match="within the range of floats") as caught:
            attempt()
        assert "00000" not in str(caught.value)
        assert caught.value.__cause__ is None
