"""Differentially private logistic regression as a scikit-learn estimator: DP-SGD with importance sampling, and one certified (ε, δ)."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from accountant.weights.gaussian.target import to_steps
from profiles.numbers import to_number

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d, validate_data
except ModuleNotFoundError as error:
    if error.name is not None and error.name.startswith("sklearn"):
        raise ModuleNotFoundError("estimators need scikit-learn, which is not installed; install pdp-accountant[scikit-learn]") from error
    raise

from accountant.applications.charging import Promise, release_once
from accountant.applications.dpsgd.certifying import PUBLIC_CLASSES, certify_training
from accountant.applications.dpsgd.losses import RecordColumns, residuals
from accountant.applications.dpsgd.noise import to_noise_target, to_rate
from accountant.applications.dpsgd.plan import DPSGDPlan, dp_sgd_plan, plan_for_target, to_clip, to_noise
from accountant.applications.dpsgd.rules import GradientRule, to_rule
from accountant.applications.dpsgd.training import MOST_ENTRIES, Schedule, Trainer, open_noise
from accountant.applications.sklearn_guards import describe_parameters, make_generator, refuse_search, release_of, without_quotes
from accountant.deltas import DeltaWarning, warn_of_delta
from accountant.guarantees import Run, ships
from accountant.progress import show_progress
from profiles import InvalidArgument, InvalidData
from profiles.arrays import Booleans, Floats
from profiles.mechanisms.interface import to_arithmetic
from profiles.numbers import ExactLike, round_down
from profiles.randomness.bernoulli import PoissonSampler

if TYPE_CHECKING:
    from accountant.ledger import Analysis

_MOST_CLASSES = 10**4


class DPSGDClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Claim: ``coef_`` and ``intercept_`` are (ε, δ)-differentially private (add/remove of one record) under ``guarantee_.hypotheses``.

    Logistic regression, binary or multinomial, by T steps of DP-SGD: in each of them every record is selected by an exact coin, and the
    sum of the selected records' clipped gradients, each divided by its probability, is released with exact normal noise. Probabilities
    follow the norms of the gradients (importance sampling), which costs no privacy: docs/dp-sgd.md. The guarantee is certified before the
    data are used.

    Parameters
    ----------
    epsilon : exact number or None
        The ε to keep, in nats; None where ``noise`` is given. Text such as ``"0.1"`` is one tenth.
    delta : exact number
        The δ to keep.
    size : exact number
        A public guess of the number of records, which the sum is divided by. It must not be counted in the data; privacy does not depend
        on it.
    rate : exact number
        q₀, the largest probability of a record in one step, in (0, 1].
    steps : int
        Number of steps, T; fixed in advance.
    clip : exact number
        The norm C that the gradient of each record is clipped to.
    sampling : "norm", "uniform", "coreset" or rule
        How probabilities follow the clipped norm t C: q₀ t, q₀, q₀ (1 + t²)/2, or :func:`~accountant.applications.dpsgd.rules.capped`.
    statistic : "gradient" or "bound"
        Whether t is that of the gradient at the present coefficients, which takes a pass over all records in each step, or of a bound by
        the norm of the record alone.
    learning_rate, penalty : exact numbers
        η and λ of Θ ← Θ − η (sum/size + λ Θ). The result is the mean over the second half of the steps.
    fit_intercept : bool
        Whether records get a last entry of 1.
    classes : sequence or None
        The classes, publicly known. None takes those of the labels, and the guarantee assumes that they are public.
    noise : exact number or None
        The noise multiplier (the standard deviation over C/q₀) in place of ``epsilon``.
    arithmetic : "exact" or "binary64"
        Exact noise, or noise in binary64 for studies, whose guarantee keeps the hypothesis of exact real arithmetic.
    random_state : None, int, numpy.random.Generator or RandomState
        None draws from the operating system's secure source. An int is for tests: a guarantee rests on a secret seed, and says so.

    Attributes
    ----------
    coef_, intercept_ : arrays
        The private result, of shapes (1, d) and (1,) for two classes, else (K, d) and (K,).
    classes_ : array
        The classes, sorted.
    guarantee_ : Guarantee
        (ε, δ)-DP of all steps together, with its hypotheses.
    plan_ : DPSGDPlan
        Noise, probabilities and weights; public.
    charged_ : Charged
        Where the fit was charged to a ledger alone: its name, entry and cost.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Notes
    -----
    Each fit is a release. ``score`` is for records that are public or stay with you: that of private records is not private. Searches and
    pipelines that learn from the same records are refused.

    Source: docs/dp-sgd.md. Raises :class:`InvalidArgument`, :class:`InvalidNumber`, :class:`InvalidData`, :class:`Infeasible`,
    :class:`NotPrivate`, and ValueError where scikit-learn's own checks fail.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 2))
    >>> y = X[:, 0] > 0
    >>> model = DPSGDClassifier(noise=2, delta="1e-5", size=500, rate="1/5", steps=1, classes=[False, True], random_state=0).fit(X, y)
    >>> model.coef_.shape, float(model.guarantee_.bound.epsilon) < 1
    ((1, 2), True)

    """

    def __init__(
        self,
        *,
        epsilon: ExactLike | None = None,
        delta: ExactLike,
        size: ExactLike,
        rate: ExactLike = "0.01",
        steps: int = 100,
        clip: ExactLike = 1,
        sampling: str | GradientRule = "norm",
        statistic: str = "gradient",
        learning_rate: ExactLike = 1,
        penalty: ExactLike = 0,
        fit_intercept: bool = True,
        classes: ArrayLike | None = None,
        noise: ExactLike | None = None,
        arithmetic: str = "exact",
        random_state: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.size = size
        self.rate = rate
        self.steps = steps
        self.clip = clip
        self.sampling = sampling
        self.statistic = statistic
        self.learning_rate = learning_rate
        self.penalty = penalty
        self.fit_intercept = fit_intercept
        self.classes = classes
        self.noise = noise
        self.arithmetic = arithmetic
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, *, ledger: Analysis | None = None) -> DPSGDClassifier:  # noqa: N803
        """Train on the records ``X``, shape (n, d), with labels ``y``, shape (n,); n may be 0 where ``classes`` is given.

        ``ledger``: an analysis with the unit of each record, ``ledger.analysis(name, ids)``, of a mixed ledger with a menu that has these
        steps (docs/ledger.md, Theorem R), or with ``rate`` 1 in zcdp, because samples have no useful ρ. ``guarantee_`` is then that of
        the ledger, for a unit with all of its records, and ``charged_`` says under which entry. Asked for again with these parameters, the
        coefficients are served.
        """
        with release_of(self):
            schedule, by_bound = self._schedule(), self._by_bound()
            arithmetic = to_arithmetic(self.arithmetic)
            self._check_plan()
            points, labels = self._read_all(X, y)
            classes, supposed = self._classes(labels)
            codes = _encode(labels, classes)
            plan = self._plan()
            generator, source = make_generator(self.random_state)
            sampler = PoissonSampler(None if self.random_state is None else generator)
            run = Run(noise=source, draws=sampler.source.hypothesis, known=ships(self))
            promised = certify_training(plan.guarantee, run, arithmetic, supposed)
            curve = None if ledger is None else certify_training(plan.curve, run, arithmetic, supposed)
            if points.shape[1] * len(classes) > MOST_ENTRIES:
                raise InvalidArgument(f"features times classes must be at most {MOST_ENTRIES}, but more were found; take fewer features")
            trainer = Trainer(plan, schedule, len(classes), by_bound)

            def train(active: Booleans | None) -> Floats:
                rows = slice(None) if active is None else active
                records = RecordColumns.of(points[rows], codes[rows], intercept=bool(self.fit_intercept))
                with show_progress("training", "steps") as report:
                    return trainer.run(records, sampler, open_noise(plan, arithmetic, generator), report)

            arguments = (self, describe_parameters(self), points.shape[1], classes)
            released, guarantee, charged = release_once(ledger, Promise(promised, curve), len(points), train, arguments=arguments)
            coefficients: Floats = released
            self.__dict__.pop("charged_", None)  # of an earlier fit
            if charged is not None:
                self.charged_ = charged
            self.classes_ = classes
            self.coef_, self.intercept_ = (
                (coefficients[:, :-1], coefficients[:, -1]) if self.fit_intercept else (coefficients, np.zeros(len(coefficients)))
            )
            self.plan_ = plan
            self.guarantee_ = guarantee
        return self

    def decision_function(self, X: ArrayLike) -> Floats:  # noqa: N803
        """Return the scores of records, shape (n,) for two classes, else (n, K)."""
        check_is_fitted(self)
        scores: Floats = self._read(X) @ self.coef_.T + self.intercept_
        return scores[:, 0] if len(self.classes_) <= 2 else scores

    def predict_proba(self, X: ArrayLike) -> Floats:  # noqa: N803
        """Return the probabilities of the classes, shape (n, K)."""
        check_is_fitted(self)
        points = self._read(X)
        whole = np.column_stack([self.coef_, self.intercept_])
        differences = residuals(RecordColumns.of(points, np.full(len(points), -1), intercept=True), whole)
        if len(self.classes_) == 1:
            return np.ones((len(points), 1))
        return np.column_stack([1.0 - differences[0], differences[0]]) if len(whole) == 1 else differences.T

    def predict(self, X: ArrayLike) -> NDArray[Any]:  # noqa: N803
        """Return the most probable class of each record, shape (n,)."""
        scores = self.decision_function(X)
        chosen = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[np.minimum(chosen, len(self.classes_) - 1)])  # one class is always right

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:  # noqa: N803
        """Return the share of right predictions on records that are public or stay with you: on private ones it is not private."""
        refuse_search(type(self).__name__)
        return float(super().score(X, y, sample_weight))

    def _read(self, X: ArrayLike) -> Floats:  # noqa: N803
        with without_quotes():
            points: Floats = validate_data(self, X, reset=False, dtype=np.float64)
        return points

    def _read_all(self, X: ArrayLike, y: ArrayLike) -> tuple[Floats, NDArray[Any]]:  # noqa: N803
        if y is None:
            raise ValueError("DPSGDClassifier requires y to be passed, but the target y is None")
        with without_quotes():
            points: Floats = validate_data(self, X, reset=True, dtype=np.float64, order="C", ensure_min_samples=0)
            labels = column_or_1d(y, warn=True)
            check_consistent_length(points, labels)
            if len(labels):
                check_classification_targets(labels)
        return points, np.asarray(labels)

    def _classes(self, labels: NDArray[Any]) -> tuple[NDArray[Any], tuple[Any, ...]]:
        given = self.classes is not None
        with without_quotes():
            classes = np.unique(np.asarray(self.classes) if given else labels)
        if not 1 <= len(classes) <= _MOST_CLASSES:
            raise InvalidData(f"a classifier needs from 1 to {_MOST_CLASSES} classes, but another number was found; give classes=[...]")
        return classes, () if given else (PUBLIC_CLASSES,)

    def _check_plan(self) -> None:
        """Refuse, before the data are looked at, what would be refused for all of them."""
        if (self.epsilon is None) == (self.noise is None):
            raise InvalidArgument("either epsilon or noise is needed, and not both; give one of the two")
        for text in warn_of_delta(self.delta, self.size):
            warnings.warn(text, DeltaWarning, stacklevel=3)
        to_rule(self.sampling), to_rate(self.rate), to_steps(self.steps), to_clip(self.clip)
        if self.noise is not None:
            to_noise(self.noise)
        else:
            to_noise_target(self.epsilon, self.delta, self.steps, self.rate)

    def _plan(self) -> DPSGDPlan:
        rule = to_rule(self.sampling)
        if self.noise is not None:
            return dp_sgd_plan(self.noise, self.steps, rule, rate=self.rate, delta=self.delta, clip=self.clip)
        if self.epsilon is None:
            raise InvalidArgument("either epsilon or noise is needed; give one of the two")
        return plan_for_target(self.epsilon, self.delta, self.steps, rule, rate=self.rate, clip=self.clip)

    def _schedule(self) -> Schedule:
        numbers = []
        for name, value in (("learning_rate", self.learning_rate), ("penalty", self.penalty), ("size", self.size)):
            numbers.append(round_down(to_number(value, name, "[0, 1e15]" if name == "penalty" else "[1e-15, 1e15]")))
        return Schedule(*numbers)

    def _by_bound(self) -> bool:
        if self.statistic not in ("gradient", "bound"):
            raise InvalidArgument(
                f"statistic must be 'gradient' or 'bound', but {str(self.statistic)[:40]!r} was found; give one of the two"
            )
        return self.statistic == "bound"


def _encode(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
    """Return the number of the class of each label. Raises :class:`InvalidData` for a label that is no class."""
    if not len(labels):
        return np.zeros(0, dtype=np.intp)
    try:
        codes = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
        same = classes[codes] == labels
    except TypeError:
        same = np.zeros(1, dtype=np.bool_)
    if not np.all(same):
        raise InvalidData("every label must be one of the declared classes, but another one was found; drop such records, each by itself")
    return np.asarray(codes, dtype=np.intp)
