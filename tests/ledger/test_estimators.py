"""Estimators that take ``ledger=``: what each record is charged, what is refused, what is served, and what nobody may see."""

from __future__ import annotations

from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest

from accountant.applications import DPKMeans, DPLloyd, DPSGDClassifier
from accountant.applications.kmeans import charging
from accountant.ledger import ledger as ledgers
from accountant.ledger import opened
from accountant.ledger.report import report_public
from profiles import InvalidArgument, OtherNotion
from profiles.errors import ReleaseUsed
from profiles.hypotheses import FIXED_IN_ADVANCE, ONE_RECORD_EACH, ONLY_RELEASE
from profiles.mechanisms import WeightedLloyd
from tests.ledger.conftest import rounding
from tests.ledger.test_analyses import Death, open_ledger

#: What 300 records say of their clusters under so much noise may be little, by chance.
pytestmark = pytest.mark.filterwarnings("ignore::accountant.applications.kmeans.private.UtilityWarning")

POINTS = np.random.default_rng(5).uniform(-1, 1, size=(300, 2))
IDS = [f"p{number}" for number in range(300)]
LLOYD = {"n_clusters": 2, "epsilon": "1/2", "radius": 2, "iterations": 2}
MEANS = {"n_clusters": 2, "epsilon": "1/2", "radius": 2, "method": "lloyd"}


@pytest.fixture
def ledger(tmp_path):
    with open_ledger(tmp_path, IDS) as made:
        yield made


@pytest.fixture
def normal(tmp_path):
    with open_ledger(tmp_path, IDS, name="normal", notion="zcdp") as made:
        yield made


def spent(ledger, row):
    return Fraction(ledger.account(IDS[row])["spent"])


@pytest.mark.thorough
def test_private_centres_are_charged_published_and_served(ledger):
    first = DPKMeans(**MEANS).fit(POINTS, ledger=ledger.analysis("a", IDS))
    assert spent(ledger, 0) == Fraction(1, 2)
    assert first.guarantee_.bound.epsilon == 2
    assert ONLY_RELEASE in {item.hypothesis for item in first.guarantee_.discharged}
    again = DPKMeans(**MEANS).fit(POINTS[::-1], ledger=ledger.analysis("a", IDS))
    assert again.charged_.served
    assert not first.charged_.served
    assert spent(ledger, 0) == Fraction(1, 2)
    for name in ("cluster_centers_", "cluster_counts_", "statistics_", "releases_", "choices_", "profile_"):
        assert str(getattr(first, name)) == str(getattr(again, name)), name
    assert np.array_equal(first.predict(POINTS), again.predict(POINTS))
    alone = again.fit(POINTS)
    assert not hasattr(alone, "charged_")
    assert alone.guarantee_.bound.upper == Fraction(1, 2)


@pytest.mark.thorough
@pytest.mark.parametrize("more", [{}, {"sample": "uniform", "sample_size": 100}, {"method": "auto"}])
def test_what_a_fit_rests_on_was_charged_for_it(ledger, more):
    model = DPKMeans(**MEANS | more).fit(POINTS, ledger=ledger.analysis("a", IDS))
    alone = DPKMeans(**MEANS | more).fit(POINTS)
    # the ledger charges every release, and its accounts are of units and not of rows
    assert {*alone.guarantee_.hypotheses} - {*model.guarantee_.hypotheses} == {ONLY_RELEASE, ONE_RECORD_EACH}
    assert model.cluster_centers_.shape == alone.cluster_centers_.shape


def test_a_cost_for_each_record_follows_its_norm(ledger):
    model = DPLloyd(**LLOYD).fit(POINTS, ledger=ledger.analysis("a", IDS))
    mechanism = model.mechanism_
    for row in (0, 1, 17):
        norm = float(np.linalg.norm(POINTS[row]))
        exact = 2 * (1 / float(mechanism.beta_count) + norm / float(mechanism.beta_sum))
        assert exact <= float(spent(ledger, row)) <= exact * (1 + 1e-8 + rounding(ledger))
    again = DPLloyd(**LLOYD).fit(POINTS, ledger=ledger.analysis("a", IDS))
    assert np.array_equal(again.mechanism_.initial_centres, model.mechanism_.initial_centres)
    assert np.array_equal(again.cluster_centers_, model.cluster_centers_)
    assert FIXED_IN_ADVANCE in model.guarantee_.hypotheses


@pytest.mark.thorough
def test_weights_of_records_are_charged(ledger):
    weights = np.linspace(1, 2, 300)
    model = DPLloyd(**LLOYD, largest_weight=2).fit(POINTS, sample_weight=weights, ledger=ledger.analysis("a", IDS))
    mechanism = model.mechanism_
    cost = 2 * weights[299] * (1 / float(mechanism.beta_count) + float(np.linalg.norm(POINTS[299])) / float(mechanism.beta_sum))
    assert cost <= float(spent(ledger, 299)) <= cost * (1 + 1e-8 + rounding(ledger))


@pytest.mark.thorough
def test_normal_noise_is_charged_by_its_rho(normal, ledger):
    model = DPLloyd(**LLOYD, noise="gaussian", delta="1e-6").fit(POINTS, ledger=normal.analysis("lloyd", IDS))
    mechanism = model.mechanism_
    norm = float(np.linalg.norm(POINTS[3]))
    rho = (1 / float(mechanism.sigma_count) ** 2 + norm**2 / float(mechanism.sigma_sum) ** 2) * 2 / 2
    before = spent(normal, 3)
    assert rho <= float(before) <= rho * (1 + 1e-6 + rounding(normal))
    model = DPKMeans(**MEANS, delta="1e-6").fit(POINTS, ledger=normal.analysis("means", IDS))
    assert sum(charge.cost for charge in model.releases_) / 2 <= spent(normal, 3) - before
    assert not hasattr(model, "privacy_curve_")
    with pytest.raises(OtherNotion, match="zcdp"):
        DPLloyd(**LLOYD, noise="gaussian", delta="1e-6").fit(POINTS, ledger=ledger.analysis("a", IDS))
    with pytest.raises(InvalidArgument, match="notion zcdp"):
        DPKMeans(**MEANS, delta="1e-6").fit(POINTS, ledger=ledger.analysis("a", IDS))
    with pytest.raises(InvalidArgument, match="L3"):
        DPLloyd(**LLOYD, noise="gaussian", delta="1e-6").fit_sampled(POINTS, ledger=normal.analysis("b", IDS))
    assert not ledger.journal.charges
    assert len(normal.journal.charges) == 2


@pytest.mark.thorough
def test_samples_are_charged_whether_or_not_a_record_is_drawn(ledger):
    model = DPLloyd(**LLOYD).fit_sampled(POINTS, target_epsilon="3/4", ledger=ledger.analysis("a", IDS))
    assert all(Fraction(3, 4) <= spent(ledger, row) < Fraction("0.7501") for row in range(20))
    again = DPLloyd(**LLOYD).fit_sampled(POINTS, target_epsilon="0.75", ledger=ledger.analysis("a", IDS))
    assert np.array_equal(again.cluster_centers_, model.cluster_centers_)
    with pytest.raises(ReleaseUsed):
        DPLloyd(**LLOYD).fit(POINTS, ledger=ledger.analysis("a", IDS))


@pytest.mark.thorough
def test_training_on_all_records_is_charged_and_on_samples_refused(normal, ledger):
    labels = POINTS[:, 0] > 0
    options = {"noise": 4, "delta": "1e-5", "size": 300, "steps": 2, "classes": [False, True]}
    with pytest.raises(InvalidArgument, match="rate of 1"):
        DPSGDClassifier(**options, rate="1/5").fit(POINTS, labels, ledger=normal.analysis("a", IDS))
    with pytest.raises(InvalidArgument, match="notion zcdp"):
        DPSGDClassifier(**options, rate=1).fit(POINTS, labels, ledger=ledger.analysis("a", IDS))
    model = DPSGDClassifier(**options, rate=1).fit(POINTS, labels, ledger=normal.analysis("a", IDS))
    assert Fraction(2, 32) <= spent(normal, 0) < Fraction("0.0626")
    again = DPSGDClassifier(**options, rate="1").fit(POINTS, labels, ledger=normal.analysis("a", IDS))
    assert np.array_equal(again.coef_, model.coef_)
    assert np.array_equal(again.predict(POINTS), model.predict(POINTS))
    assert again.charged_.served


@pytest.mark.thorough
def test_nothing_is_public_of_the_rows_that_take_part(ledger, tmp_path):
    for names in (("n",), ("mean", "rms")):
        with pytest.raises(InvalidArgument, match="not even how many they are"):
            DPKMeans(**MEANS, public=names).fit(POINTS, ledger=ledger.analysis("a", IDS))
    assert not ledger.journal.charges
    with open_ledger(tmp_path, IDS, name="everybody", mode="public") as public:
        model = DPKMeans(**MEANS, public=("n",)).fit(POINTS, ledger=public.analysis("a", IDS))
        assert model.statistics_.count == 300
        assert "public-constants" in {item.id for item in model.guarantee_.hypotheses}


@pytest.mark.thorough
def test_records_without_room_are_not_seen(ledger):
    with patch.object(WeightedLloyd, "run", autospec=True, return_value=np.zeros((2, 2))) as run:
        for step in range(7):
            DPLloyd(**LLOYD).fit(POINTS, ledger=ledger.analysis(f"{step}", IDS))
    seen = [call.args[1] for call in run.call_args_list]
    sizes = [len(points) for points in seen]
    assert sizes[:4] == [300] * 4
    found = next(points for points in seen if len(points) < 300)
    assert len(found) > 0  # those near the center still have room
    cut = np.linalg.norm(found, axis=1).max()
    assert sum(np.linalg.norm(POINTS, axis=1) <= cut) == len(found)


@pytest.mark.thorough
def test_public_reports_do_not_tell_the_records(monkeypatch, tmp_path):
    monkeypatch.setattr(ledgers, "make_token", lambda: "0" * 32)
    monkeypatch.setattr(opened, "tell_time", lambda: "2026-01-01T00:00:00Z")
    monkeypatch.setattr(ledgers.secrets, "token_bytes", bytes)
    monkeypatch.setattr(WeightedLloyd, "run", lambda *_: np.zeros((2, 2)))
    told = []
    for name, points in (("one", POINTS), ("other", POINTS[:250] / 3)):
        ids = IDS[: len(points)]
        with open_ledger(tmp_path, ids, name=name) as ledger:
            models = [DPLloyd(**LLOYD, init=[[0, 0], [1, 1]]).fit(points, ledger=ledger.analysis(f"{step}", ids)) for step in range(6)]
            told.append((report_public(ledger), [(repr(model.charged_), repr(model.guarantee_)) for model in models]))
    assert told[0] == told[1]


@pytest.mark.thorough
def test_a_fit_that_fails_leaves_the_estimator_and_the_charge(monkeypatch, ledger):
    model = DPKMeans(**MEANS).fit(POINTS)
    before = model.cluster_centers_

    def die(*_, **__):
        raise Death

    monkeypatch.setattr(charging, "fit_rows", die)
    with pytest.raises(Death):
        model.fit(POINTS, ledger=ledger.analysis("a", IDS))
    assert model.cluster_centers_ is before
    assert spent(ledger, 0) == Fraction(1, 2)
    monkeypatch.undo()
    with pytest.raises(ReleaseUsed, match="not repeated"):
        model.fit(POINTS, ledger=ledger.analysis("a", IDS))


def test_bad_arguments_cost_nothing(ledger):
    analysis = ledger.analysis("a", IDS)
    for bad in ({"n_clusters": 0}, {"epsilon": 0}, {"radius": -1}, {"method": "best"}, {"radius": None}):
        with pytest.raises(Exception, match=r"\w"):
            DPKMeans(**MEANS | bad).fit(POINTS, ledger=analysis)
    with pytest.raises(ValueError, match="NaN"):
        DPKMeans(**MEANS).fit(np.full((300, 2), np.nan), ledger=analysis)
    with pytest.raises(InvalidArgument, match="takes one analysis"):
        DPKMeans(**MEANS).fit(POINTS, ledger=ledger)
    assert not ledger.journal.charges
    assert DPKMeans(**MEANS).fit(np.zeros((0, 2)), ledger=ledger.analysis("nobody", [])).cluster_centers_.shape == (2, 2)
