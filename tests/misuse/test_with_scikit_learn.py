"""Habits of scikit-learn's users, as they write them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import PCA
from sklearn.ensemble import BaggingClassifier
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier

from accountant import DPLloyd, DPSGDClassifier, compose
from profiles import InvalidArgument, InvalidData, NotOffered, NotPrivate
from tests.misuse.reading import ids

POINTS = np.random.default_rng(0).uniform(-0.5, 0.5, size=(300, 2))


def make_model(**changes):
    return DPLloyd(**({"n_clusters": 3, "epsilon": 1, "radius": 1, "iterations": 2} | changes))


def test_a_grid_search_fits_thirteen_times():
    """GridSearchCV(cv=4) over three numbers of clusters, and the best one once more."""
    with pytest.raises(NotPrivate, match="every fit there is a separate release, their epsilons add up"):
        GridSearchCV(make_model(), {"n_clusters": [2, 3, 4]}, cv=4).fit(POINTS)
    with pytest.raises(NotPrivate, match="every fit there is a separate release"):
        cross_val_score(make_model(), POINTS)


def test_a_calibrator_fits_three_times():
    """CalibratedClassifierCV, and its kin, of a private classifier: three fits, and scores of private records without noise."""
    labels = (POINTS[:, 0] > 0).astype(int)
    model = DPSGDClassifier(noise=2, delta="1e-5", size=300, rate="1/5", steps=1)
    unlabeled = np.where(np.arange(300) % 3, labels, -1)
    for made in (CalibratedClassifierCV(model, cv=3), BaggingClassifier(model, oob_score=True), RFE(model), SelectFromModel(model)):
        with pytest.raises(NotPrivate, match=f"to be fitted by {type(made).__name__}, but every fit there is a separate release"):
            made.fit(POINTS, labels)
    with pytest.raises(NotPrivate, match="every fit there is a separate release"):
        SelfTrainingClassifier(model).fit(POINTS, unlabeled)


def test_the_number_of_clusters_is_chosen_in_a_loop():
    """The same by hand, which no program sees: every fit says that it is one of several, and they add up."""
    fits = [make_model(n_clusters=k).fit(POINTS) for k in (2, 3, 4)]
    assert all({"only-release", "fixed-in-advance"} <= ids(model.guarantee_) for model in fits)
    assert compose(*(model.guarantee_ for model in fits)).bound.epsilon > 2.99


def test_a_pipeline_learns_from_the_records_first():
    """make_pipeline(StandardScaler(), PCA(), DPLloyd(...)).fit(X)."""
    for step in (StandardScaler(), PCA(1)):
        with pytest.raises(NotPrivate, match="fitted on the same records"):
            make_pipeline(step, make_model()).fit(POINTS)


def test_labels_of_the_training_records_are_published():
    """labels_, fit_predict, score, and the distances of fit_transform."""
    model = make_model().fit(POINTS)
    for name in ("labels_", "inertia_", "score", "fit_predict", "fit_transform"):
        with pytest.raises(NotOffered, match="not private"):
            getattr(model, name)


def test_survey_weights_are_taken_for_weights_of_a_sample():
    """fit(X, sample_weight=w) with weights up to 50, then a rule of rate 1: 1 was claimed, and 50 is true."""
    weights = np.random.default_rng(1).uniform(1, 50, size=300)
    with pytest.raises(InvalidArgument, match="the epsilon is that of the heaviest record"):
        make_model().fit(POINTS, sample_weight=weights)
    with pytest.raises(InvalidData, match="largest_weight"):
        make_model(largest_weight=20).fit(POINTS, sample_weight=weights)
    model = make_model(largest_weight=50).fit(POINTS, sample_weight=weights)
    mechanism = model.mechanism_
    heaviest = 2 * 50 * (1 / mechanism.beta_count + mechanism.radius / mechanism.beta_sum)
    assert heaviest <= model.guarantee_.bound.upper <= 1
    assert "own-weights" in ids(model.guarantee_)


def test_a_generator_is_copied_with_its_state():
    """clone(DPLloyd(random_state=rng)): the same noise for two data sets, so that their difference shows the record."""
    model = make_model(random_state=np.random.default_rng(2)).fit(POINTS)
    assert "seeded-bits" in ids(model.guarantee_)
    assert "secure-bits" in ids(make_model().fit(POINTS).guarantee_)
