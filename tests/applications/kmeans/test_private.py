"""Private k-means from records to centres: what it releases, what it costs, and what is left open (docs/private-kmeans.md)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from accountant import DPKMeans, compose, read_guarantee, replay, write_guarantee
from accountant.applications.budget.protocols import Cells
from accountant.applications.budget.records import Domain, PrivateRecords, check_labels, square_norms
from accountant.applications.budget.rows import ArrayRows
from accountant.applications.budget.spending import NormalNoise, Payment, PricedNoise, PureNoise, Purpose, Spending, round_cost
from accountant.applications.kmeans import UtilityWarning
from accountant.applications.kmeans.composed_guarantee import describe_path
from accountant.applications.kmeans.fitting import FitSettings, certify_fit
from accountant.applications.kmeans.lloyd import nearest_to
from accountant.applications.kmeans.statistics import Public, release_statistics, share_of_mean, share_of_spread, shrink_mean
from accountant.guarantees import Run, keep_within_budget
from accountant.guarantees.rules import GIVEN_ROW
from profiles import InvalidArgument, InvalidData, NotOffered, NotPrivate
from profiles.hypotheses import PHYSICS, PUBLIC_CONSTANTS, SECURE_BITS, SEEDED_BITS
from profiles.mechanisms.ball import SLACK
from profiles.randomness.bits import open_bits

ABOUT_DATA = {"fixed-in-advance", "one-record-each", "record-statistics"}
OPEN = {*ABOUT_DATA, "only-release", "only-output", "ieee-rounding", "balls-enclose", "secure-bits"}


def make_blobs(rows: int = 4000, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.array([[-1.0, 0.0], [1.0, 1.0], [0.5, -1.0]])[rng.integers(0, 3, rows)] + rng.normal(size=(rows, 2)) / 10


@pytest.fixture(autouse=True)
def _quiet() -> object:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UtilityWarning)
        yield


def fit(**changes: object) -> DPKMeans:
    return DPKMeans(**({"n_clusters": 3, "epsilon": 1, "radius": 5} | changes)).fit(make_blobs())  # type: ignore[arg-type]


def test_a_fit_leaves_open_what_is_true_of_the_data_and_physics() -> None:
    model = fit()
    assert {item.id for item in model.guarantee_.hypotheses} == OPEN
    assert GIVEN_ROW in model.guarantee_.hypotheses
    assert not model.guarantee_.is_unconditional
    assert model.guarantee_.bound.upper == 1
    assert sum(charge.cost for charge in model.releases_) <= 1
    assert model.cluster_centers_.shape == (3, 2)
    assert model.cluster_counts_.shape == (3,)
    assert abs(model.statistics_.count - 4000) < 50 * 25
    assert not hasattr(model, "privacy_curve_")
    with pytest.raises(NotOffered):
        _ = model.labels_


def test_the_statistics_are_near_the_truth_where_privacy_is_cheap() -> None:
    rows = make_blobs()
    model = DPKMeans(3, epsilon=200, radius=5, center=[0.1, -0.1]).fit(rows)
    assert abs(model.statistics_.count - 4000) < 50
    assert np.linalg.norm(model.statistics_.mean - rows.mean(axis=0)) < 0.02
    assert abs(model.statistics_.rms - np.sqrt(np.square(rows - rows.mean(axis=0)).sum(axis=1).mean())) < 0.02


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("names", [("n",), ("n", "mean", "rms"), ("mean",), ("radius",)])
def test_what_is_public_is_taken_as_it_is_and_stays_a_hypothesis(names: tuple[str, ...]) -> None:
    model = fit(public=names, radius=None if "radius" in names else 5)
    (found,) = [item for item in model.guarantee_.hypotheses if item.id == PUBLIC_CONSTANTS.id]
    assert found.sentence.endswith("public")
    rows = make_blobs()
    if "n" in names:
        assert model.statistics_.count == 4000
        assert not [charge for charge in model.releases_ if charge.part is Purpose.RECORDS]
    if "mean" in names:
        assert np.allclose(model.statistics_.mean, rows.mean(axis=0))
    if "rms" in names:
        assert np.isclose(model.statistics_.rms, np.sqrt(np.square(rows - rows.mean(axis=0)).sum(axis=1).mean()))
    if "radius" in names:
        assert np.isclose(model.statistics_.radius, np.linalg.norm(rows, axis=1).max())


@pytest.mark.thorough
def test_normal_noise_keeps_epsilon_and_delta() -> None:
    model = fit(delta="1e-6")
    bound = model.guarantee_.bound
    assert bound.epsilon == 1
    assert 0 < bound.delta <= Fraction(1, 10**6)
    assert {item.id for item in model.guarantee_.hypotheses} == OPEN
    assert {item.id for item in model.privacy_curve_.hypotheses} == OPEN
    assert not hasattr(model.set_params(delta=None).fit(make_blobs()), "privacy_curve_")


def test_a_seed_is_no_physics() -> None:
    one, two = fit(random_state=1), fit(random_state=1)
    assert (one.cluster_centers_ == two.cluster_centers_).all()
    assert SEEDED_BITS in one.guarantee_.hypotheses
    assert SECURE_BITS not in one.guarantee_.hypotheses
    assert SECURE_BITS in PHYSICS
    assert SEEDED_BITS not in PHYSICS


def test_empty_and_hostile_data_are_data_sets() -> None:
    for rows in (np.zeros((0, 2)), np.full((3, 2), 1e300), np.full((5, 2), -1e-310), np.zeros((1, 2))):
        model = DPKMeans(2, epsilon=1, radius=1).fit(rows)
        assert np.isfinite(model.cluster_centers_).all()
        assert (np.linalg.norm(model.cluster_centers_, axis=1) <= 1 + 1e-9).all()


@pytest.mark.thorough
@pytest.mark.parametrize("scale", [0.0, 1e-300, 1e-100, 1e-60, 1e59])
def test_a_public_largest_norm_may_be_any_number_with_squares(scale: float) -> None:
    for delta in (None, "1e-6"):
        model = DPKMeans(2, epsilon=1, delta=delta, public=("radius",)).fit(make_blobs(200) * scale)
        assert np.isfinite(model.cluster_centers_).all()
    assert DPKMeans(2, epsilon=1, public=("radius",)).fit(np.zeros((0, 2))).cluster_centers_.shape == (2, 2)
    for large in (1e70, 1e200, 1e307):
        with pytest.raises(InvalidData, match="norm"):
            DPKMeans(2, epsilon=1, public=("radius",)).fit(make_blobs(20) * large)


@pytest.mark.thorough
@pytest.mark.parametrize("more", [{}, {"sample": "uniform", "sample_size": 50}])
def test_an_epsilon_that_no_account_can_charge_is_refused_as_such(more: dict[str, object]) -> None:
    with pytest.raises(InvalidArgument, match="larger epsilon"):
        fit(epsilon="1e-24", **more)


@pytest.mark.thorough
@pytest.mark.parametrize("radius", ["1e-60", "1e60"])
@pytest.mark.parametrize("more", [{}, {"delta": "1e-6"}, {"sample": "coreset", "sample_size": 50}])
def test_the_smallest_and_the_largest_ball_are_served(radius: str, more: dict[str, object]) -> None:
    for epsilon in ("1e-12", 1000):
        model = fit(radius=radius, epsilon=epsilon, **more)
        assert np.isfinite(model.cluster_centers_).all()


@pytest.mark.parametrize(
    "changes",
    [
        {"radius": None}, {"public": ("radius",)}, {"public": "n"}, {"public": ("k",)}, {"epsilon": 0}, {"epsilon": 10**6}, {"radius": -1},
        {"radius": "1e61"}, {"radius": "1e-61"}, {"radius": "1e100"}, {"radius": "1e400"}, {"radius": "1e-300"},
        {"n_clusters": 0}, {"n_clusters": 10**9}, {"center": [1.0]}, {"center": [np.nan, 0]},
        {"center": "ab"}, {"center": [1, [2]]}, {"center": [1j, 2]}, {"center": [10**400, 0]}, {"center": [1e200, 0]},
        {"center": [1, None]},
        {"method": "packing"},
        {"method": "lloyd", "iterations": 0},
    ],
)  # fmt: skip
def test_bad_arguments_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises((InvalidArgument, InvalidData)):
        fit(**changes)


def test_scikit_learns_conventions_and_refusals() -> None:
    rows = make_blobs(200)
    model = DPKMeans(2, epsilon=1, radius=5)
    assert clone(model).get_params() == model.get_params()
    with pytest.raises(NotPrivate):
        cross_val_score(model, rows)
    with pytest.raises(NotPrivate):
        make_pipeline(StandardScaler(), model).fit(rows)
    with pytest.raises(InvalidArgument):
        model.fit(rows, sample_weight=np.ones(200))
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.array([[np.nan, 1.0]]))
    assert not hasattr(model, "cluster_centers_")
    model.fit(rows)
    assert model.predict(rows).shape == (200,)
    assert model.transform(rows).shape == (200, 2)
    assert model.get_feature_names_out().tolist() == ["dpkmeans0", "dpkmeans1"]
    assert compose(model.guarantee_, model.guarantee_).bound.epsilon == 2


def test_a_warning_says_that_one_cluster_has_nearly_everything() -> None:
    with pytest.warns(UtilityWarning, match="one cluster holds"):
        DPKMeans(2, epsilon=50, radius=1, iterations=1).fit(np.full((5000, 2), 0.3) + np.arange(10000).reshape(5000, 2) * 1e-9)


def test_a_guarantee_is_replayed_from_a_file_with_its_budget() -> None:
    made = fit().guarantee_
    again = replay(read_guarantee(write_guarantee(made)))
    assert (again.bound.lower, again.bound.upper) == (made.bound.lower, 1)
    assert {"within-budget", *ABOUT_DATA} <= {item.id for item in again.hypotheses}
    assert set(made.hypotheses) <= set(again.hypotheses)


# --- the account ---------------------------------------------------------------------------------------------------------------------


@given(st.lists(st.fractions(Fraction(1, 1000), 1), min_size=1, max_size=12), st.fractions(Fraction(1, 50), 30))
def test_no_shares_of_what_is_left_exceed_the_budget(shares: list[Fraction], epsilon: Fraction) -> None:
    spending = Spending(PureNoise(epsilon))
    for share in shares:
        if spending.left > 0 and round_cost(share * spending.left) > 0:
            spending.charge(Purpose.CELL_COUNTS, share * spending.left, Fraction(1))
    assert spending.left >= 0
    assert spending.spent <= epsilon * (1 - Fraction(2, 10**9))
    assert all(round_cost(charge.cost) == charge.cost for charge in spending)


def test_what_the_budget_does_not_have_is_refused() -> None:
    spending = Spending(PureNoise(Fraction(1)))
    spending.charge(Purpose.RECORDS, spending.left, Fraction(1))
    for cost in (Fraction(1, 10**20), Fraction(0), Fraction(-1)):
        with pytest.raises(InvalidArgument):
            spending.charge(Purpose.RECORDS, cost, Fraction(1))
    assert len(spending.charges) == 1


@given(st.fractions(Fraction(1, 10**9), 10**3), st.fractions(Fraction(1, 10**3), 10**6))
def test_noise_is_what_its_cost_buys(cost: Fraction, reach: Fraction) -> None:
    charge = Payment(Purpose.SUM, cost, reach)
    assert PureNoise(Fraction(10**4)).scale(charge) * cost == reach
    assert NormalNoise(Fraction(10**4)).scale(charge) ** 2 * cost >= reach**2


@pytest.mark.thorough
def test_costs_above_the_budget_are_no_guarantee() -> None:
    settings = FitSettings.of(2, 1, radius=1)
    with pytest.raises(InvalidArgument, match="may be spent"):
        certify_fit((Payment(Purpose.RECORDS, Fraction(2), Fraction(1)),), settings, dimension=2, run=Run(noise=SECURE_BITS))
    settings = FitSettings.of(2, 1, delta="1e-6", radius=1)
    assert isinstance(settings.law, NormalNoise)
    charge = Payment(Purpose.RECORDS, settings.law.mu**2 * 2, Fraction(1))
    with pytest.raises(InvalidArgument, match="may be spent"):
        certify_fit((charge,), settings, dimension=2, run=Run(noise=SECURE_BITS))
    with pytest.raises(InvalidArgument):
        keep_within_budget(fit(delta="1e-6").guarantee_, Fraction(1))


def test_the_profile_has_every_release() -> None:
    one = Fraction(1)
    charges = [Payment(part, one, one) for part in Purpose]
    assert describe_path(charges, PureNoise(one), "all").text == "w*(c1 + c2*z + c3*z**2 + c4 + c5*t)"


# --- what is released ----------------------------------------------------------------------------------------------------------------


def open_records(rows: np.ndarray, epsilon: int = 900) -> PrivateRecords:
    domain = Domain(np.zeros(rows.shape[1]), Fraction(5))
    records = PrivateRecords(ArrayRows(rows), domain, Spending(PureNoise(Fraction(epsilon))), open_bits(0))
    release_statistics(records, ArrayRows(rows), 3, Public.of(()))
    return records


def test_cells_have_the_totals_of_clipped_rows() -> None:
    rows = make_blobs(300)
    records = open_records(rows)
    records.clip(0.8)
    centres = np.array([[0.5, 0.0], [-0.5, 0.0]])
    found = records.release(nearest_to(centres), Fraction(1, 2), 2)
    moved = rows - records.statistics.mean
    norms = np.linalg.norm(moved, axis=1, keepdims=True)
    moved *= np.minimum(1, 0.8 / norms)
    labels = np.square(moved[:, np.newaxis] - centres).sum(axis=2).argmin(axis=1)
    assert isinstance(found, Cells)
    assert found.sums is not None
    assert np.abs(found.counts - np.bincount(labels, minlength=2)).max() < 1
    for cell in (0, 1):
        assert np.linalg.norm(found.sums[cell] - moved[labels == cell].sum(axis=0)) < 1
    alone = records.release(nearest_to(centres), 1, 2, sums=False)
    assert alone.sums is None
    assert np.abs(alone.counts - np.bincount(labels, minlength=2)).max() < 1
    assert records.left < Fraction(1, 10**20)
    with pytest.raises(InvalidArgument):
        records.release(nearest_to(centres), 1, 2)


@given(st.integers(0, 40), st.integers(0, 2**32 - 1))
def test_what_a_row_adds_is_a_function_of_the_row_alone(cut: int, seed: int) -> None:
    rows = np.random.default_rng(seed).normal(size=(41, 3)) * 10.0 ** np.random.default_rng(seed).integers(-3, 4, size=(41, 1))
    domain = Domain(np.array([1.0, -2.0, 0.5]), Fraction(7, 2))
    whole = domain.enter(rows)
    assert (whole[cut] == domain.enter(rows[cut : cut + 1])[0]).all()
    assert square_norms(whole, 12.25)[cut] == square_norms(whole[cut : cut + 1], 12.25)[0]
    exact = sum(Fraction(float(value)) ** 2 for value in whole[cut])
    assert exact <= domain.reach**2
    assert Fraction(float(square_norms(whole, 12.25)[cut])) <= min(Fraction(49, 4), exact * (1 + SLACK))


@pytest.mark.parametrize("labels", [np.zeros(3), np.array([0, 1, 2]), np.array([0, -1, 1]), np.zeros(2, dtype=int), "ab"])
def test_cells_that_are_none_are_refused(labels: object) -> None:
    with pytest.raises(InvalidArgument):
        check_labels(labels, 3, 2)


@pytest.mark.parametrize(
    ("law", "part"),
    [*((PureNoise(Fraction(1)), part) for part in (0.002, 0.03)), *((NormalNoise(Fraction(1, 2)), part) for part in (0.006, 0.07))],
)
def test_the_mean_gets_what_its_noise_needs(law: PricedNoise, part: float) -> None:
    count = law.sum_noise(22) / part
    share = share_of_mean(law, 22, count)
    noise = law.energy(Payment(Purpose.SUM, share * law.budget, Fraction(3)), 22) ** 0.5 / 3 / count
    assert share != Fraction(1, 10)
    assert noise == pytest.approx(0.05 if share < Fraction(1, 10) else 0.2, rel=0.05)


@pytest.mark.parametrize("law", [PureNoise(Fraction(1)), NormalNoise(Fraction(1, 2))])
def test_the_spread_gets_what_its_noise_needs(law: PricedNoise) -> None:
    assert share_of_spread(law, 1e8) == Fraction(1, 200)
    assert share_of_spread(law, 1.0) == Fraction(1, 25)
    share = share_of_spread(law, 5e3 if isinstance(law, PureNoise) else 1e3)
    assert Fraction(1, 200) < share < Fraction(1, 25)
    noise = law.energy(Payment(Purpose.SQUARES, share * law.budget, Fraction(9)), 1) ** 0.5 / 9
    assert noise / (5e3 if isinstance(law, PureNoise) else 1e3) == pytest.approx(0.02, rel=1e-3)


def test_both_moments_of_one_pass_are_those_of_two(monkeypatch: pytest.MonkeyPatch) -> None:
    points = np.random.default_rng(3).normal(size=(50, 2))
    passes: list[int] = []
    read = ArrayRows.blocks

    def count(rows: ArrayRows) -> Iterator[Any]:
        passes.append(1)
        return read(rows)

    monkeypatch.setattr(ArrayRows, "blocks", count)

    def make() -> PrivateRecords:
        return PrivateRecords(
            ArrayRows(points), Domain(np.zeros(2), Fraction(3)), Spending(PureNoise(Fraction(1))), open_bits(np.random.default_rng(1))
        )

    share = Fraction(1, 10)
    both, apart = make(), make()
    summed, squared = both.add_both(share, share)
    assert sum(passes) == 1
    total, charge = apart.add_up(share)
    square, other = apart.add_squares(share)
    assert sum(passes) == 3
    assert (summed[0] == total).all()
    assert squared[0] == square
    assert (summed[1], squared[1]) == (charge, other) == both.charges == apart.charges


def test_shares_of_the_mean_and_its_shrinking() -> None:
    assert share_of_mean(PureNoise(Fraction(1)), 200, 100.0) == Fraction(3, 5)
    assert shrink_mean(np.array([0.1, 0.0]), 1.0, Fraction(1)).tolist() == [0.0, 0.0]
    assert shrink_mean(np.zeros(2), 1.0, Fraction(1)).tolist() == [0.0, 0.0]
    assert np.linalg.norm(shrink_mean(np.array([1e9, 0.0]), 0.0, Fraction(2))) == 2.0


# --- where Q promises nothing --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("delta", [None, "1e-6"])
def test_a_mean_that_is_mostly_noise_gets_all_there_is(delta: str | None) -> None:
    rows = np.random.default_rng(4).normal(size=(60, 30)) / 6
    model = DPKMeans(4, epsilon="0.3", delta=delta, radius=2, random_state=0)
    with pytest.warns(UtilityWarning, match="promises nothing"):
        model.fit(rows)
    assert [charge.part for charge in model.releases_] == [Purpose.RECORDS, Purpose.SUM, Purpose.SQUARES]
    assert (model.cluster_centers_ == model.cluster_centers_[0]).all()
    assert model.choices_["method"] == "one private mean"


def test_one_mean_is_not_taken_where_a_sample_or_lloyd_was_asked_for() -> None:
    rows = np.random.default_rng(4).normal(size=(60, 30)) / 6
    for more in ({"sample": "uniform", "sample_size": 30}, {"method": "lloyd"}):
        model = DPKMeans(4, epsilon="0.3", radius=2, random_state=0, **more)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UtilityWarning)
            model.fit(rows)
        assert Purpose.CELL_SUMS in {charge.part for charge in model.releases_}
