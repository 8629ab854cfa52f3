"""DPSGDClassifier: scikit-learn's conventions, a certified (ε, δ), and nothing that looks at the data but the steps."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from accountant.applications.dpsgd import DPSGDClassifier, capped
from accountant.applications.dpsgd.certifying import GIVEN_ROW, PUBLIC_CLASSES
from accountant.applications.dpsgd.noise import compose_steps
from accountant.compositions.queries import point_at_epsilon
from accountant.guarantees import Notion, render
from accountant.interop import read_guarantee, replay, write_guarantee
from profiles import NotPrivate, PDPError
from profiles.hypotheses import (
    DECLARED_EVENTS,
    EXACT_REALS,
    FIXED_IN_ADVANCE,
    FRESH_SAMPLES,
    INDEPENDENT,
    ONE_ANALYSIS,
    ONE_RECORD_EACH,
    ONLY_OUTPUT,
    ONLY_RELEASE,
    RANDOMNESS,
    SECURE_BITS,
    SEEDED_BITS,
    SENSITIVITY_ONE,
)
from profiles.mechanisms.interface import EXACT_MODE

EXPECTED_FAILURES = {"check_estimators_empty_data_messages": "an empty data set is legal: refusing it would tell that it is empty"}


def make_rows(rows: int = 300, classes: int = 2, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, classes, rows)
    return rng.normal(size=(rows, 3)) / 2 + 2 * np.eye(max(classes, 3))[labels][:, :3], labels


def make_model(**changes: object) -> DPSGDClassifier:
    """A step of little noise: its closed form is quick to certify."""
    usual = {"noise": "1/2", "delta": "1e-5", "size": 300, "rate": "1/2", "steps": 1, "clip": 2, "learning_rate": 3, "random_state": 1}
    return DPSGDClassifier(**(usual | changes))


def ids(guarantee: object) -> set[str]:
    return {item.id for item in guarantee.hypotheses}


@pytest.mark.thorough
@pytest.mark.parametrize("changes", [{"sampling": "uniform", "rate": 1, "noise": "1/20"}, {"sampling": "norm", "noise": 1}])
def test_scikit_learn_checks(changes):
    model = make_model(**({"size": 100, "steps": 40, "learning_rate": 1, "clip": 10, "random_state": 0} | changes))
    results = check_estimator(model, expected_failed_checks=EXPECTED_FAILURES, on_skip=None)
    assert {result["check_name"] for result in results if result["status"] == "xfail"} == set(EXPECTED_FAILURES)
    assert {result["status"] for result in results} <= {"passed", "xfail", "skipped"}
    assert sum(result["status"] == "passed" for result in results) > 45


@pytest.mark.thorough
@pytest.mark.parametrize("sampling", ["uniform", "norm", "coreset", capped(3)])
@pytest.mark.parametrize("statistic", ["gradient", "bound"])
@pytest.mark.parametrize("classes", [2, 3])
def test_it_learns_and_keeps_the_target(sampling, statistic, classes):
    points, labels = make_rows(2000, classes)
    model = DPSGDClassifier(
        epsilon=4,
        delta="1e-5",
        size=2000,
        rate="1/10",
        steps=40,
        clip=2,
        learning_rate=3,
        sampling=sampling,
        statistic=statistic,
        random_state=2,
    ).fit(points, labels)
    fresh, truth = make_rows(2000, classes, seed=9)
    assert model.score(fresh, truth) > LogisticRegression().fit(points, labels).score(fresh, truth) - 0.05
    bound = model.guarantee_.bound
    assert bound.epsilon == 4
    assert bound.delta <= Fraction("1e-5")
    event = model.plan_
    again = point_at_epsilon(compose_steps(event.noise, event.rate, 40), Fraction(4), Fraction(1, 100))
    assert again.lower <= Fraction("1e-5")
    assert model.guarantee_.notion is Notion.APPROXIMATE_DP


def test_shapes_and_predictions():
    for classes, shape in ((2, (1, 3)), (3, (3, 3))):
        points, labels = make_rows(classes=classes)
        model = make_model().fit(points, labels)
        assert (model.coef_.shape, model.intercept_.shape) == (shape, shape[:1])
        chances = model.predict_proba(points)
        assert chances.shape == (300, classes)
        assert np.allclose(chances.sum(axis=1), 1)
        assert (model.classes_[chances.argmax(axis=1)] == model.predict(points)).all()
        assert model.decision_function(points).shape == ((300,) if classes == 2 else (300, 3))
    names = np.array(["no", "yes"])[make_rows()[1]]
    named = make_model(fit_intercept=False, classes=["yes", "no"]).fit(make_rows()[0], names)
    assert named.classes_.tolist() == ["no", "yes"]
    assert named.intercept_.tolist() == [0]
    assert set(named.predict(make_rows()[0])) <= {"no", "yes"}


def test_what_a_fit_makes_true_and_what_stays_open():
    model = make_model(random_state=None).fit(*make_rows())
    open_ids = ids(model.guarantee_)
    assert open_ids == {
        *(item.id for item in (FIXED_IN_ADVANCE, ONE_RECORD_EACH, ONLY_OUTPUT, ONLY_RELEASE, SECURE_BITS, *EXACT_MODE)),
        GIVEN_ROW.id,
        PUBLIC_CLASSES.id,
    }
    assert {GIVEN_ROW, PUBLIC_CLASSES} <= set(model.guarantee_.hypotheses)
    closed = {item.hypothesis.id for item in model.guarantee_.discharged}
    assert {item.id for item in (DECLARED_EVENTS, SENSITIVITY_ONE, EXACT_REALS, INDEPENDENT, ONE_ANALYSIS, RANDOMNESS)} <= closed
    assert PUBLIC_CLASSES.id not in ids(make_model(classes=[0, 1]).fit(*make_rows()).guarantee_)
    assert SEEDED_BITS.id in ids(make_model().fit(*make_rows()).guarantee_)
    assert "docs/dp-sgd.md" in render(model.guarantee_)


def test_binary_arithmetic_keeps_its_hypothesis():
    model = make_model(arithmetic="binary64").fit(*make_rows())
    assert EXACT_REALS.id in ids(model.guarantee_)
    assert not {item.id for item in EXACT_MODE} & ids(model.guarantee_)


def test_of_a_class_of_ones_own_nothing_is_known():
    own = type("Own", (DPSGDClassifier,), {"__init__": DPSGDClassifier.__init__, "__module__": "mine"})
    found = ids(own(**make_model().get_params()).fit(*make_rows()).guarantee_)
    assert {item.id for item in (DECLARED_EVENTS, SENSITIVITY_ONE, EXACT_REALS, INDEPENDENT)} <= found


@pytest.mark.thorough
def test_several_steps_need_fresh_samples_which_the_run_draws_and_the_file_says_so():
    model = make_model(steps=3, noise=2).fit(*make_rows())
    assert FRESH_SAMPLES in {item.hypothesis for item in model.guarantee_.discharged}
    again = replay(read_guarantee(write_guarantee(model.guarantee_)))
    assert again.bound == model.guarantee_.bound
    assert set(again.hypotheses) > set(model.guarantee_.hypotheses)  # what ran is not believed on the word of a file


def test_the_guarantee_and_plan_do_not_depend_on_the_records():
    one, other = (make_model(classes=[0, 1]).fit(*make_rows(rows, seed=rows)) for rows in (300, 11))
    empty = make_model(classes=[0, 1]).fit(np.zeros((0, 3)), np.zeros(0, dtype=int))
    assert render(one.guarantee_) == render(other.guarantee_) == render(empty.guarantee_)
    assert one.plan_.noise_std == empty.plan_.noise_std
    assert set(vars(one)) - set(one.get_params()) == {"classes_", "coef_", "guarantee_", "intercept_", "n_features_in_", "plan_"}
    assert pickle.loads(pickle.dumps(one)).coef_.tolist() == one.coef_.tolist()


def test_seeds_repeat_and_the_secure_source_does_not():
    rows = make_rows()
    assert (make_model().fit(*rows).coef_ == make_model().fit(*rows).coef_).all()
    secure = [make_model(random_state=None).fit(*rows).coef_ for _ in range(2)]
    assert (secure[0] != secure[1]).any()


@pytest.mark.parametrize(
    "changes",
    [
        {"epsilon": 1},
        {"noise": None},
        {"noise": 0},
        {"noise": "x"},
        {"delta": 0},
        {"delta": 1},
        {"delta": None},
        {"size": 0},
        {"size": "many"},
        {"size": -3},
        {"rate": 0},
        {"rate": 1.5},
        {"steps": 0},
        {"steps": 2.5},
        {"steps": 10**9},
        {"clip": 0},
        {"clip": math.inf},
        {"sampling": "pps"},
        {"sampling": len},
        {"statistic": "loss"},
        {"statistic": None},
        {"learning_rate": 0},
        {"learning_rate": math.nan},
        {"penalty": -1},
        {"arithmetic": "float"},
        {"classes": []},
        {"classes": [0]},
        {"classes": [0, 2]},
        {"noise": None, "epsilon": 0},
        {"noise": None, "epsilon": -1},
    ],
)
def test_what_cannot_be_used_is_refused_in_one_sentence_and_leaves_the_last_fit(changes):
    model = make_model().fit(*make_rows())
    before = model.coef_
    with pytest.raises(PDPError) as refused:
        model.set_params(**changes).fit(*make_rows())
    assert "\n" not in str(refused.value)
    assert model.coef_ is before


@pytest.mark.parametrize(
    ("points", "labels"),
    [
        ([[np.nan, 1.0]], [0]),
        ([[np.inf, 1.0]], [0]),
        ([1.0, 2.0], [0, 1]),
        ([[1.0, 2.0]], [0, 1]),
        ([[1.0, 2.0]], None),
        ([["x", "y"]], [0]),
        ([[1.0 + 2j, 0.0]], [0]),
        (np.zeros((2, 0)), [0, 1]),
        ([[1.0, 2.0], [3.0, 4.0]], [0.25, 1.75]),
        ([[1.0, 2.0]], [[0, 1]]),
        ([[10**400, 1]], [0]),
    ],
)
def test_what_are_no_records_is_refused_without_showing_them(points, labels):
    with pytest.raises((PDPError, ValueError, TypeError)) as refused:
        make_model().fit(points, labels)
    assert not any(text in str(refused.value) for text in ("1.75", "'x'", "2j"))


def test_records_beyond_all_reason_are_clipped_like_others():
    points, labels = make_rows()
    points[:3] = [[1e308, -1e308, 1e308], [1e-320, 0, 0], [0, 0, 0]]
    for changes in ({}, {"statistic": "bound"}, {"sampling": "uniform"}, {"sampling": "coreset"}):
        model = make_model(**changes).fit(points, labels)
        assert np.isfinite(model.coef_).all()
        assert np.isfinite(model.predict_proba(points)).all()


def test_searches_and_pipelines_that_learn_are_refused():
    points, labels = make_rows()
    with pytest.raises((NotPrivate, ValueError), match="every fit there is a separate release"):
        GridSearchCV(make_model(), {"clip": [1, 2]}, cv=2, error_score="raise").fit(points, labels)
    with pytest.raises((NotPrivate, ValueError), match="every fit there is a separate release"):
        cross_val_score(make_model(), points, labels, error_score="raise")
    with pytest.raises(NotPrivate, match="on the same records"):
        make_pipeline(StandardScaler(), make_model()).fit(points, labels)
    assert make_pipeline(FunctionTransformer(), make_model()).fit(points, labels)[-1].coef_.shape == (1, 3)


def test_clone_has_the_parameters_and_nothing_fitted():
    model = make_model(sampling=capped("3/2"), clip="0.9").fit(*make_rows())
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "coef_")
