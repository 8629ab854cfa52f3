"""What scikit-learn's users do with an estimator: it adds up, keeps its word, or is refused in one sentence before any release."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, cross_val_predict, cross_val_score, cross_validate, learning_curve
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, Normalizer, StandardScaler

from accountant import DPLloyd, render
from accountant.applications.kmeans.certifying import GIVEN_ROW
from profiles import NotOffered, NotPrivate, PDPError
from profiles.hypotheses import FIXED_IN_ADVANCE, ONLY_RELEASE, PUBLIC_CENTRES, SEEDED_BITS
from profiles.mechanisms import WeightedLloyd


def make_rows(rows: int = 60) -> np.ndarray:
    return np.random.default_rng(0).uniform(-0.5, 0.5, size=(rows, 2))


def make_model(**changes: object) -> DPLloyd:
    return DPLloyd(**({"n_clusters": 2, "epsilon": 1, "radius": 1, "iterations": 2} | changes))


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of records of every run of the mechanism: what is released."""
    seen: list[int] = []
    real = WeightedLloyd.run

    def run(self: WeightedLloyd, data: object, weights: object, rng: np.random.Generator) -> object:
        seen.append(len(data))  # type: ignore[arg-type]
        return real(self, data, weights, rng)

    monkeypatch.setattr(WeightedLloyd, "run", run)
    return seen


def distance_score(model: DPLloyd, rows: np.ndarray, y: object = None) -> float:
    return -float(model.transform(rows).min(axis=1).sum())


GRID = {"n_clusters": [2, 3], "iterations": [1, 2]}
SEARCHES = {
    "grid search": lambda model, rows: GridSearchCV(model, GRID, cv=3).fit(rows),
    "random search": lambda model, rows: RandomizedSearchCV(model, GRID, n_iter=2, cv=3).fit(rows),
    "cross_val_score": lambda model, rows: cross_val_score(model, rows, cv=3),
    "cross_validate": lambda model, rows: cross_validate(model, rows, cv=3),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_is_refused_in_one_sentence_before_anything_runs(name: str, runs: list[int]) -> None:
    """Was: a grid search of 13 fits, each of which said ε ≤ 1, or scikit-learn's sentence that a score method is missing."""
    with pytest.raises(NotPrivate, match=r"every fit .* is a separate release, .* add up") as refused:
        SEARCHES[name](make_model(), make_rows())
    assert "\n" not in str(refused.value)
    assert runs == []


def test_a_search_of_a_pipeline_is_refused_by_scikit_learn_itself(runs: list[int]) -> None:
    """A pipeline says that it has no score without saying why; nothing is fitted, and with a score of one's own the reason is told."""
    with pytest.raises(TypeError, match="'score' method"):
        GridSearchCV(make_pipeline(make_model()), {"dpkmeans__n_clusters": [2, 3]}).fit(make_rows())
    assert runs == []


WITH_A_SCORE_OF_ONES_OWN = {
    "grid search": lambda model, rows: GridSearchCV(model, GRID, cv=3, scoring=distance_score).fit(rows),
    "grid search in processes": lambda model, rows: GridSearchCV(model, GRID, cv=3, scoring=distance_score, n_jobs=2).fit(rows),
    "errors raised": lambda model, rows: GridSearchCV(model, GRID, scoring=distance_score, error_score="raise").fit(rows),
    "cross_val_score": lambda model, rows: cross_val_score(model, rows, scoring=distance_score),
    "learning curve": lambda model, rows: learning_curve(model, rows, np.zeros(len(rows)), scoring=distance_score),
    "cross_val_predict": cross_val_predict,
    "pipeline": lambda model, rows: cross_val_score(make_pipeline(Normalizer(), model), rows, scoring=distance_score),
}


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("name", WITH_A_SCORE_OF_ONES_OWN)
def test_a_search_with_a_score_of_ones_own_fits_nothing(name: str, runs: list[int]) -> None:
    with pytest.raises((NotPrivate, ValueError), match="every fit there is a separate release"):
        WITH_A_SCORE_OF_ONES_OWN[name](make_model(), make_rows())
    assert runs == []


@pytest.mark.parametrize(
    ("earlier", "named"),
    [
        ([StandardScaler()], "StandardScaler"),
        ([PCA(1)], "PCA"),
        ([FunctionTransformer(), MinMaxScaler()], "MinMaxScaler"),
        ([make_pipeline(SimpleImputer())], "Pipeline"),
        ([ColumnTransformer([("scale", StandardScaler(), [0])])], "ColumnTransformer"),
    ],
)
def test_what_is_fitted_on_the_same_records_before_it_is_refused(earlier: list[object], named: str, runs: list[int]) -> None:
    """Was: StandardScaler on private data, then ε ≤ 1."""
    with pytest.raises(NotPrivate, match=f"{named} .* on the same records") as refused:
        make_pipeline(*earlier, make_model()).fit(make_rows())
    assert "public constants" in str(refused.value)
    assert runs == []


def halve(rows: np.ndarray) -> np.ndarray:
    return rows / 2


def test_a_pipeline_that_maps_each_record_by_itself_fits() -> None:
    rows = make_rows()
    half = make_pipeline(FunctionTransformer(halve), "passthrough", make_model(random_state=1)).fit(rows)
    alone = make_model(random_state=1).fit(rows / 2)
    assert (half[-1].cluster_centers_ == alone.cluster_centers_).all()
    assert (half.predict(rows) == alone.predict(rows / 2)).all()
    assert make_pipeline(Normalizer(), make_model(radius=2)).fit(rows)[-1].guarantee_.bound.upper <= 1


class Classifier(BaseEstimator):
    def fit(self, X: object, y: object = None) -> Classifier:
        return self


@pytest.mark.parametrize(
    "fit",
    [
        lambda model, rows: make_pipeline(model, Classifier()).fit(rows),
        lambda model, rows: make_pipeline(model, "passthrough").fit(rows),
        lambda model, rows: FeatureUnion([("distances", model), ("same", "passthrough")]).fit_transform(rows),
        lambda model, rows: ColumnTransformer([("distances", model, [0, 1])]).fit_transform(rows),
        lambda model, rows: Pipeline([("model", model)], memory=None).fit_transform(rows),
        lambda model, rows: make_pipeline(model).fit_predict(rows),
        lambda model, rows: model.fit_transform(rows),
        lambda model, rows: model.fit_predict(rows),
    ],
)
def test_outputs_about_each_fitted_record_are_refused(fit: object, runs: list[int]) -> None:
    with pytest.raises((NotPrivate, AttributeError)) as refused:
        fit(make_model(), make_rows())  # type: ignore[operator]
    told = [str(refused.value), str(refused.value.__cause__)]
    assert any("each fitted record" in text for text in told)
    assert runs == []


def test_a_frozen_model_is_a_public_function_that_any_pipeline_and_search_may_use() -> None:
    rows = make_rows()
    frozen = FrozenEstimator(make_model(n_clusters=3).fit(rows))
    kept = frozen.cluster_centers_.copy()
    target = rows[:, 0] > 0
    found = GridSearchCV(make_pipeline(frozen, LogisticRegression()), {"logisticregression__C": [1, 10]}, cv=2).fit(rows, target)
    assert found.predict(rows).shape == (60,)
    assert (frozen.cluster_centers_ == kept).all()


def test_centres_of_one_fit_may_start_the_next() -> None:
    first = make_model().fit(make_rows())
    second = make_model(init=first.cluster_centers_).fit(make_rows())
    assert PUBLIC_CENTRES in second.guarantee_.hypotheses
    assert ONLY_RELEASE in second.guarantee_.hypotheses


@pytest.mark.parametrize("name", ["score", "labels_", "inertia_", "fit_predict", "fit_transform"])
def test_what_is_not_offered_says_why_and_what_to_do(name: str) -> None:
    model = make_model().fit(make_rows())
    assert not hasattr(model, name)
    with pytest.raises(NotOffered, match=f"DPLloyd has no {name}: .* not private.*; ") as refused:
        getattr(model, name)
    assert isinstance(refused.value, (NotPrivate, AttributeError))
    assert isinstance(refused.value, PDPError)
    with pytest.raises(TypeError, match="score"):
        permutation_importance(model, make_rows(), None)


def test_every_fit_names_the_hypotheses_of_its_use() -> None:
    for model in (make_model().fit(make_rows()), make_model().fit_sampled(make_rows())):
        assert {FIXED_IN_ADVANCE, GIVEN_ROW, ONLY_RELEASE} <= set(model.guarantee_.hypotheses)
        printed = " ".join(render(model.guarantee_).split())
        for words in ("all other parameters were fixed without", "each row that is given to fit", "the epsilons of several add up"):
            assert words in printed


def test_nothing_about_the_records_is_kept_but_the_centres() -> None:
    """A pickled model goes where the centres go: no row count, no labels, no fingerprint of the data."""
    one, other = (make_model(random_state=3).fit(rows) for rows in (make_rows(60), make_rows(59)))
    assert set(vars(one)) - set(one.get_params()) == {"cluster_centers_", "guarantee_", "mechanism_", "profile_", "n_features_in_"}
    again = pickle.loads(pickle.dumps(one))
    assert (again.cluster_centers_ == one.cluster_centers_).all()
    one.cluster_centers_ = other.cluster_centers_
    one.mechanism_ = other.mechanism_
    assert pickle.dumps(vars(one)["profile_"]) == pickle.dumps(vars(other)["profile_"])
    assert render(one.guarantee_) == render(other.guarantee_)


def test_clone_has_the_parameters_and_nothing_fitted() -> None:
    model = make_model(radius="0.9", random_state=4).fit(make_rows())
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "cluster_centers_")
    assert not hasattr(copy, "guarantee_")


def test_a_copied_generator_draws_the_same_noise_and_the_guarantee_says_so() -> None:
    """scikit-learn's clone copies a generator with its state: two fits would differ by the record and by nothing else."""
    model = make_model(random_state=np.random.default_rng(5))
    rows = make_rows()
    one, other = (clone(model).fit(rows) for _ in range(2))
    assert (one.cluster_centers_ == other.cluster_centers_).all()
    assert SEEDED_BITS in one.guarantee_.hypotheses
    assert "nor has seen other numbers" in SEEDED_BITS.sentence
    first, second = (clone(make_model()).fit(rows) for _ in range(2))
    assert (first.cluster_centers_ != second.cluster_centers_).any()


def test_parameters_set_after_fit_change_no_guarantee_before_the_next_fit() -> None:
    model = make_model().fit(make_rows())
    centres, bound = model.cluster_centers_, model.guarantee_.bound.upper
    model.set_params(epsilon="0.01", n_clusters=5, radius=9)
    assert model.guarantee_.bound.upper == bound
    assert model.predict(make_rows()).max() < 2
    assert (model.cluster_centers_ == centres).all()
    assert model.fit(make_rows()).guarantee_.bound.upper <= 0.01
    assert model.cluster_centers_.shape == (5, 2)


def test_a_fit_starts_anew_and_each_is_a_release() -> None:
    """No warm start: the second fit starts from public centres again, with fresh noise, and has its own ε; the two add up."""
    model, rows = make_model(), make_rows()
    first = model.fit(rows)
    mechanism, centres, bound = first.mechanism_, first.cluster_centers_, first.guarantee_.bound.upper
    second = model.fit(rows)
    assert second is model
    assert (second.mechanism_.centres != mechanism.centres).any()
    assert (second.cluster_centers_ != centres).any()
    assert second.guarantee_.bound.upper == bound
    assert ONLY_RELEASE in second.guarantee_.hypotheses


@pytest.mark.parametrize(
    "spoil",
    [
        lambda model: model.set_params(radius="0.001").fit(np.ones((9, 3))),
        lambda model: model.fit(np.full((9, 3), np.nan)),
        lambda model: model.set_params(epsilon=-1).fit(np.ones((9, 3))),
        lambda model: model.set_params(epsilon=-1).fit_sampled(np.ones((9, 3))),
    ],
)
def test_a_fit_that_is_refused_leaves_the_last_one_whole(spoil: object) -> None:
    """Was: n_features_in_ of the refused data beside centres of the old ones."""
    model = make_model().fit(make_rows())
    before = {name: value for name, value in vars(model).items() if name.endswith("_")}
    with pytest.raises((PDPError, ValueError)):
        spoil(model)  # type: ignore[operator]
    assert {name: value for name, value in vars(model).items() if name.endswith("_")} == before
    assert model.predict(make_rows()).shape == (60,)


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csr_array, sparse.coo_matrix])
def test_sparse_records_are_refused(make: Callable[[np.ndarray], object]) -> None:
    with pytest.raises(TypeError, match=r"dense data is required. Use '.toarray\(\)'"):
        make_model().fit(make(make_rows()))


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_tables(library: str) -> None:
    frames, rows = pytest.importorskip(library), make_rows()
    table = frames.DataFrame({"x": rows[:, 0], "y": rows[:, 1]})
    model = make_model(random_state=6).fit(table)
    assert model.feature_names_in_.tolist() == ["x", "y"]
    assert (model.cluster_centers_ == make_model(random_state=6).fit(rows).cluster_centers_).all()
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frames.DataFrame({"x": rows[:, 0], "z": rows[:, 1]}))
    with pytest.raises(ValueError, match="NaN"):
        model.fit(frames.DataFrame({"x": [0.1, float("nan")], "y": [0.1, 0.2]}))
    weighted = make_model(largest_weight=2, random_state=6).fit(table, sample_weight=frames.Series(np.full(60, 2.0)))
    assert weighted.guarantee_.bound.upper <= 1
    model.set_output(transform=library)
    assert list(model.transform(table).columns) == ["dplloyd0", "dplloyd1"]


def test_what_users_of_scikit_learn_see_besides() -> None:
    model = make_model().fit(make_rows())
    assert "DPLloyd" in model._repr_html_()
    assert "DPLloyd" in make_pipeline(Normalizer(), model)._repr_html_()
    assert "n_clusters=2" in repr(model)
    assert isinstance(model, TransformerMixin)
    assert set(KMeans().get_params()) & set(model.get_params()) >= {"n_clusters", "init", "random_state"}
