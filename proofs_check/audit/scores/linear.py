"""Linear scores of bounded features: the discriminant direction, from all learning outputs in closed form, and logistic regression."""

from __future__ import annotations

import numpy as np

from profiles.errors import InvalidArgument
from proofs_check.audit.outputs import Outputs
from proofs_check.audit.scores.features import Design
from proofs_check.audit.scores.interface import Floats, Score, number_text

_LOGISTIC_ROWS = 100_000


def discriminant_score(features: Floats, is_first: np.ndarray, design: Design, name: str) -> Score | None:
    """Return Fisher's discriminant (C + λ)⁻¹(mean over D − mean over D′): the logistic direction where differences are small.

    The ridge λ is the mean variance times min(1, 1/10 + f/n) for f features and n outputs, which matters when n is small only.
    """
    n, f = features.shape
    if not is_first.any() or is_first.all():
        return None
    difference = features[is_first].mean(axis=0) - features[~is_first].mean(axis=0)
    centred = features - features.mean(axis=0)
    covariance = centred.T @ centred / n
    ridge = max(float(np.trace(covariance)) / f, 1e-12) * min(1.0, f / n + 1e-3)
    direction = np.linalg.solve(covariance + ridge * np.eye(f), difference)
    return linear_score(direction, design, f"discriminant of {name}")


def common_sign_score(features: Floats, is_first: np.ndarray, design: Design, name: str) -> Score:
    """Return the mean of all features as a score: the direction for places that all move alike, with nothing to learn but its sign."""
    total = features.mean(axis=1)
    sign = 1.0 if total[is_first].sum() * (~is_first).sum() >= total[~is_first].sum() * is_first.sum() else -1.0
    return linear_score(np.full(features.shape[1], sign / features.shape[1]), design, f"mean of {name}")


def logistic_score(features: Floats, is_first: np.ndarray, design: Design, name: str) -> Score:
    """Return the linear predictor of a ridge-regularised logistic regression (scikit-learn) on at most 100,000 outputs.

    Raises :class:`InvalidArgument` where scikit-learn is not installed.
    """
    try:
        from sklearn.linear_model import LogisticRegression  # noqa: PLC0415
    except ImportError:
        raise InvalidArgument("auditing vectors needs scikit-learn, which is not installed; pip install 'pdp-accountant[audit]'") from None
    rows = slice(0, _LOGISTIC_ROWS)
    model = LogisticRegression(C=1.0, solver="newton-cholesky", max_iter=30).fit(features[rows], is_first[rows])
    return linear_score(np.asarray(model.coef_[0], dtype=np.float64), design, f"logistic regression on {name}")


def linear_score(direction: Floats, design: Design, name: str) -> Score:
    """Return the score u · features(y), for a unit vector u."""
    length = float(np.linalg.norm(direction))
    unit = direction / length if length > 0 else direction

    def evaluate(outputs: Outputs) -> Floats:
        return np.asarray(design(outputs) @ unit)

    def describe(threshold: float, above: bool) -> str:  # noqa: FBT001
        return f"{name} {'at least' if above else 'at most'} {number_text(threshold)}"

    return Score(name, evaluate, describe)
