"""Every meta-estimator and every function of scikit-learn that takes an estimator, over the private ones: refused, or why it is harmless.

What a newer scikit-learn adds fails here until it is classified; that it is refused until then is tested with one of no package.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from sklearn import inspection, model_selection
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.experimental import enable_halving_search_cv, enable_iterative_imputer  # noqa: F401
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.discovery import all_displays, all_estimators, all_functions

import accountant.applications.dpsgd.estimator as dpsgd
import accountant.applications.kmeans.estimator as lloyd
import accountant.applications.kmeans.private as kmeans
from accountant import DPKMeans, DPLloyd, DPSGDClassifier
from profiles import NotOffered, NotPrivate

ROWS = np.random.default_rng(0).uniform(-0.5, 0.5, size=(60, 2))
LABELS = (ROWS[:, 0] > 0).astype(int)
CLASSES: dict[str, Any] = dict(all_estimators())
FUNCTIONS: dict[str, Any] = dict(all_functions())
PRIVATE: dict[str, Callable[[], Any]] = {
    "DPSGDClassifier": lambda: DPSGDClassifier(noise=2, delta="1e-5", size=60, rate="1/5", steps=1),
    "DPLloyd": lambda: DPLloyd(2, epsilon=1, radius=1, iterations=1),
    "DPKMeans": lambda: DPKMeans(2, epsilon=1, radius=1),
}

#: Refused, whatever estimator of ours is inside: parameters beside that.
REFUSED: dict[str, dict[str, Any]] = {
    **{name: {} for name in ("AdaBoostClassifier", "AdaBoostRegressor", "CalibratedClassifierCV", "ClassifierChain", "RegressorChain")},
    **{name: {"oob_score": True} for name in ("BaggingClassifier", "BaggingRegressor")},
    **{name: {} for name in ("FixedThresholdClassifier", "IterativeImputer", "MultiOutputClassifier", "MultiOutputRegressor")},
    "RANSACRegressor": {"min_samples": 2},
    **{name: {} for name in ("OneVsOneClassifier", "OneVsRestClassifier", "RFE", "RFECV")},
    "OutputCodeClassifier": {"random_state": 0},  # one random code book of two classes in eight tells them nowhere apart, and fits nothing
    **{name: {} for name in ("SelectFromModel", "SelfTrainingClassifier", "TransformedTargetRegressor", "TunedThresholdClassifierCV")},
    **{name: {"param_grid": {"random_state": [1, 2]}} for name in ("GridSearchCV", "HalvingGridSearchCV")},
    **{name: {"param_distributions": {"random_state": range(1, 99)}} for name in ("RandomizedSearchCV", "HalvingRandomSearchCV")},
    **{name: {"init": ...} for name in ("GradientBoostingClassifier", "GradientBoostingRegressor")},
    **{name: {"covariance_estimator": ..., "solver": "lsqr"} for name in ("LinearDiscriminantAnalysis",)},
    **{name: {"covariance_estimator": ..., "solver": "eigen"} for name in ("QuadraticDiscriminantAnalysis",)},
    **{name: {"estimators": ...} for name in ("StackingClassifier", "StackingRegressor", "VotingClassifier", "VotingRegressor")},
    "Birch": {"n_clusters": ...},
    "ColumnTransformer": {"transformers": ...},
    "SequentialFeatureSelector": {"n_features_to_select": 1},
}
#: Not refused, and why that is right.
HARMLESS = {
    "Pipeline": "fits its last step once; steps that learn before it are refused (tests/applications/kmeans/test_with_scikit_learn.py)",
    "FeatureUnion": "fits each of its parts once and shows them nothing else; two private ones are two releases, as only-release says",
    "FrozenEstimator": "fits nothing: what a released model says of records is as private as these are, as only-release says",
    **dict.fromkeys(("AgglomerativeClustering", "FeatureAgglomeration", "OPTICS"), "its parameter memory is a cache, and no estimator"),
    **dict.fromkeys(("CountVectorizer", "TfidfVectorizer"), "its parameter vocabulary is a mapping, and no estimator"),
}

#: Functions and displays that fit, with what they are given.
FITTING: dict[str, Callable[[Any], Any]] = {
    **{
        name: lambda model, name=name: FUNCTIONS[name](model, ROWS, LABELS, scoring=_score, error_score="raise")
        for name in ("cross_val_score", "cross_validate", "learning_curve")
    },
    "cross_val_predict": lambda model: model_selection.cross_val_predict(model, ROWS, LABELS),
    "permutation_test_score": lambda model: model_selection.permutation_test_score(model, ROWS, LABELS, scoring=_score),
    "validation_curve": lambda model: model_selection.validation_curve(
        model, ROWS, LABELS, param_name="random_state", param_range=[1, 2], scoring=_score, error_score="raise"
    ),
    "LearningCurveDisplay": lambda model: model_selection.LearningCurveDisplay.from_estimator(
        model, ROWS, LABELS, scoring=_score, error_score="raise"
    ),
    "ValidationCurveDisplay": lambda model: model_selection.ValidationCurveDisplay.from_estimator(
        model, ROWS, LABELS, param_name="random_state", param_range=[1, 2], scoring=_score, error_score="raise"
    ),
}
_ASKS = "it fits nothing: what a released model says of records is as private as these are, as only-release says"
FITTING_NOTHING = {
    **dict.fromkeys(("partial_dependence", "permutation_importance", "check_scoring", "clone"), _ASKS),
    **dict.fromkeys(("is_classifier", "is_clusterer", "is_outlier_detector", "is_regressor", "has_fit_parameter", "get_tags"), _ASKS),
    **dict.fromkeys(("check_X_y", "check_array", "check_cv", "check_is_fitted", "check_same_namespace", "estimator_html_repr"), _ASKS),
    **dict.fromkeys(("CalibrationDisplay", "ConfusionMatrixDisplay", "DecisionBoundaryDisplay", "DetCurveDisplay"), _ASKS),
    **dict.fromkeys(("PartialDependenceDisplay", "PrecisionRecallDisplay", "PredictionErrorDisplay", "RocCurveDisplay"), _ASKS),
}


#: What says that nothing is fitted: this package's sentences, and those of scikit-learn about what it does not take.
SAID = (
    "every fit there is a separate release|each fitted record|doesn't support sample_weight|should be a (regressor|classifier)|"
    "parameter of .* must be|should implement fit and transform|missing 1 required positional argument"
)


class ReleasedError(Exception):
    """A private estimator would have released something."""


@pytest.fixture
def releases(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was released; nothing is computed for it."""
    seen: list[str] = []

    def release(*_: object, **__: object) -> Any:
        seen.append("a release")
        raise ReleasedError

    for module, name in ((dpsgd, "release_once"), (lloyd, "release_once"), (kmeans, "fit_rows")):
        monkeypatch.setattr(module, name, release)
    return seen


def _score(model: Any, rows: Any, labels: Any = None) -> float:
    return 0.0


#: Parameters whose constraints do not say that estimators are in them.
_HOLDING = {"estimator", "estimators", "transformers", "transformer_list", "steps", "regressor", "classifier", "base_estimator"}


def _takes_estimators(kind: Any) -> Iterator[str]:
    constraints = getattr(kind, "_parameter_constraints", {})
    for name in inspect.signature(kind).parameters:
        told = constraints.get(name, [])
        for item in told if isinstance(told, list) else ():
            if isinstance(item, HasMethods) or (isinstance(item, type) and item.__name__.endswith(("Mixin", "Estimator"))):
                yield name
        if name in _HOLDING:
            yield name


def _make(name: str, model: Any) -> Any:
    kind = CLASSES[name]
    named = [("a", model, [0, 1])] if name == "ColumnTransformer" else [("a", model), ("b", clone(model))]
    told = {
        key: (named if key.endswith("s") and key != "n_clusters" else model) if value is ... else value
        for key, value in REFUSED[name].items()
    }
    if not any(value is ... for value in REFUSED[name].values()):
        told |= {"regressor" if name == "TransformedTargetRegressor" else "estimator": model}
    return kind(**told)


def _fit(made: Any) -> Any:
    """Fit it on what makes it ask for the fit of its part: labels that are missing, or several of them, or a gap."""
    rows, labels = ROWS.copy(), LABELS
    if isinstance(made, CLASSES["SelfTrainingClassifier"]):
        labels = np.where(np.arange(len(LABELS)) % 3 == 0, -1, LABELS)
    if isinstance(made, CLASSES["IterativeImputer"]):
        rows[3, 1] = np.nan
    if type(made).__module__ == "sklearn.multioutput":
        labels = np.column_stack([LABELS, 1 - LABELS])
    return made.fit(rows, labels)


def test_every_meta_estimator_and_function_of_scikit_learn_is_classified() -> None:
    """One that is new in scikit-learn fails here: say in this file what becomes of a private estimator in it."""
    assert {name for name, kind in CLASSES.items() if any(_takes_estimators(kind))} == REFUSED.keys() | HARMLESS.keys()
    displays = {name for name, kind in all_displays() if hasattr(kind, "from_estimator")}
    taking = {name for name, item in FUNCTIONS.items() if {"estimator", "classifier", "clf"} & inspect.signature(item).parameters.keys()}
    assert taking | displays == FITTING.keys() | FITTING_NOTHING.keys()
    for module in (model_selection, inspection):
        assert set(module.__all__) & FUNCTIONS.keys() <= FITTING.keys() | FITTING_NOTHING.keys() | {"train_test_split"}


@pytest.mark.parametrize("private", PRIVATE)
@pytest.mark.parametrize("name", sorted(REFUSED))
def test_a_meta_estimator_releases_nothing_and_a_sentence_says_why(name: str, private: str, releases: list[str]) -> None:
    """By this package's sentence, or by scikit-learn's, where it takes no such estimator at all."""
    with pytest.raises((NotPrivate, NotOffered, ValueError, TypeError), match=SAID):
        _fit(_make(name, PRIVATE[private]()))
    assert releases == []


@pytest.mark.parametrize("private", PRIVATE)
@pytest.mark.parametrize("name", FITTING)
def test_a_function_that_fits_releases_nothing(name: str, private: str, releases: list[str]) -> None:
    with pytest.raises((NotPrivate, ValueError), match="every fit there is a separate release"):
        FITTING[name](PRIVATE[private]())
    assert releases == []


class Twice(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """A meta-estimator of no package that this one knows."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any) -> Twice:
        self.fitted_ = [clone(self.estimator).fit(X, y) for _ in range(2)]
        return self


class Around(ClassifierMixin, BaseEstimator):
    """An estimator that has a private one inside, and no estimator among its parameters."""

    def fit(self, X: Any, y: Any) -> Around:
        self.model_ = PRIVATE["DPSGDClassifier"]().fit(X, y)
        return self


@pytest.mark.parametrize("private", PRIVATE)
def test_a_meta_estimator_that_nobody_has_heard_of_is_refused(private: str, releases: list[str]) -> None:
    with pytest.raises(NotPrivate, match="to be fitted by Twice, but every fit there is a separate release"):
        Twice(PRIVATE[private]()).fit(ROWS, LABELS)
    assert releases == []


def test_what_fits_once_fits() -> None:
    model = PRIVATE["DPSGDClassifier"]
    assert Around().fit(ROWS, LABELS).model_.coef_.shape == (1, 2)
    assert CLASSES["Pipeline"]([("a", model())]).fit(ROWS, LABELS)[-1].coef_.shape == (1, 2)
    assert CLASSES["FeatureUnion"]([("a", PRIVATE["DPLloyd"]())]).fit(ROWS).transform(ROWS).shape == (60, 2)


@pytest.mark.parametrize("name", ["CalibratedClassifierCV", "FixedThresholdClassifier", "SelfTrainingClassifier", "VotingClassifier"])
def test_a_frozen_one_goes_where_it_is_sent_and_releases_nothing_more(name: str) -> None:
    """A calibration on public records is a use of a released model; a sentence of only-release speaks of private ones."""
    frozen = FrozenEstimator(PRIVATE["DPSGDClassifier"]().fit(ROWS, LABELS))
    kept = frozen.coef_.copy()
    made = _fit(_make(name, frozen))
    assert made.predict(ROWS).shape == (60,)
    assert (frozen.coef_ == kept).all()


def test_the_sentence_names_what_was_asked() -> None:
    for name, said in (("OneVsRestClassifier", "OneVsRestClassifier"), ("CalibratedClassifierCV", "CalibratedClassifierCV")):
        with pytest.raises(NotPrivate, match=f"DPSGDClassifier was to be fitted by {said}, "):
            _make(name, PRIVATE["DPSGDClassifier"]()).fit(ROWS, LABELS)
    with pytest.raises(NotPrivate, match="by cross_val_predict, "):
        FITTING["cross_val_predict"](PRIVATE["DPSGDClassifier"]())
    assert LogisticRegression().fit(ROWS, LABELS).coef_.shape == (1, 2)


@pytest.mark.thorough
def test_a_worker_process_refuses_as_well() -> None:
    with pytest.raises(NotPrivate, match="every fit there is a separate release"):
        CLASSES["OneVsRestClassifier"](PRIVATE["DPSGDClassifier"](), n_jobs=2).fit(ROWS, LABELS + (ROWS[:, 1] > 0))
