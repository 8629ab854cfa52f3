"""Scores by scikit-learn's classifiers, loaded when they are first needed: boosted trees, and logistic regression on bounded features."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from profiles.arrays import Booleans, Floats
from profiles.errors import InvalidArgument
from proofs_check.audit.outputs import Outputs
from proofs_check.audit.runs import LabelledBatch
from proofs_check.audit.scores.features import Design
from proofs_check.audit.scores.interface import Score, at_threshold, one_thread
from proofs_check.audit.scores.linear import linear_score

_LOGISTIC_ROWS = 40_000


def logistic_score(batch: LabelledBatch, design: Design, name: str) -> Score:
    """Return the linear predictor of a ridge-regularised logistic regression (scikit-learn) on at most 40,000 outputs.

    Raises :class:`InvalidArgument` where scikit-learn is not installed.
    """
    models = _load_models()
    part = batch.take(slice(0, _LOGISTIC_ROWS))
    model = models.logistic(C=1.0, solver="newton-cholesky", max_iter=30).fit(design(part.outputs), part.is_first)
    return linear_score(np.asarray(model.coef_[0], dtype=np.float64), design, f"logistic regression on {name}")


def boosting_score(outputs: Outputs, is_first: Booleans, *, rows: int, iterations: int, seed: int) -> Score:
    """Return the log odds of a histogram gradient boosting classifier on at most ``rows`` outputs.

    Beside each number is a column that says which symbol stands there. Symbols that were not learned on all look the same: their numbers
    come from the order of reading, which knows the labels. Raises :class:`InvalidArgument` where scikit-learn is missing.
    """
    models = _load_models()
    used = outputs.take(slice(0, rows))
    width = outputs.width
    known = np.unique(used.symbols) if used.symbols is not None else np.zeros(1, dtype=np.int32)
    with one_thread():  # loaded by now, so that its threads are known
        model = models.boosting(
            max_iter=iterations,
            learning_rate=0.1,
            max_leaf_nodes=15,
            min_samples_leaf=max(20, len(used) // 400),
            early_stopping=False,
            random_state=seed,
        ).fit(_table(used, width, known), is_first[:rows])

    def evaluate(new: Outputs) -> Floats:
        return np.asarray(model.decision_function(_table(new, width, known)), dtype=np.float64)

    return Score("boosted trees", evaluate, at_threshold("log odds of boosted trees"))


def _table(outputs: Outputs, width: int, known: np.ndarray) -> Floats:
    """Return the numbers, and beside them the positions of symbols among the known ones (−1 for others): ``2 · width`` columns."""
    values = np.clip(outputs.values[:, :width], -1e300, 1e300)
    if outputs.symbols is None:
        return np.concatenate((values, np.zeros(values.shape)), axis=1)
    symbols = outputs.symbols[:, :width]
    positions = np.minimum(np.searchsorted(known, symbols), len(known) - 1)
    return np.concatenate((values, np.where(known[positions] == symbols, positions, -1).astype(np.float64)), axis=1)


@dataclass(frozen=True, slots=True)
class _Models:
    """The classifiers that are used."""

    logistic: Any
    boosting: Any


@cache
def _load_models() -> _Models:
    """Return the classifiers. Raises :class:`InvalidArgument` where scikit-learn is not installed."""
    try:
        from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: PLC0415
        from sklearn.linear_model import LogisticRegression  # noqa: PLC0415
    except ImportError:
        raise InvalidArgument(
            "auditing vectors needs scikit-learn, which is not installed; pip install 'pdp-accountant[scikit-learn]'"
        ) from None
    return _Models(LogisticRegression, HistGradientBoostingClassifier)
