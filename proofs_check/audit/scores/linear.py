"""Linear scores of bounded features: the discriminant direction, from all learning outputs in closed form, and logistic regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from profiles.errors import InvalidArgument
from proofs_check.audit.outputs import Outputs
from proofs_check.audit.runs import Batch
from proofs_check.audit.scores.features import Design
from proofs_check.audit.scores.interface import Floats, Score, number_text

_LOGISTIC_ROWS = 40_000
#: Numbers in one block of features: small enough for the processor's cache.
_BLOCK = 1 << 18


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Mean features over D and over D′, and the covariance of all features, from every learning output."""

    first: Floats
    second: Floats
    covariance: Floats
    outputs: int

    def select(self, features: np.ndarray) -> Moments:
        """Return the moments of some of the features."""
        return Moments(self.first[features], self.second[features], self.covariance[np.ix_(features, features)], self.outputs)


def find_moments(batch: Batch, design: Design) -> Moments | None:
    """Return the moments of a design's features, computed block by block; None where one of the data sets has no output."""
    n, firsts = len(batch.is_first), int(batch.is_first.sum())
    if firsts in (0, n):
        return None
    rows = max(1_000, _BLOCK // max(1, batch.outputs.width))
    total_first: Any = 0.0
    total: Any = 0.0
    products: Any = 0.0
    for start in range(0, n, rows):
        part = slice(start, start + rows)
        features = design(batch.outputs.take(part))
        total_first = total_first + batch.is_first[part].astype(np.float64) @ features
        total = total + features.sum(axis=0)
        products = products + features.T @ features
    mean = np.asarray(total) / n
    covariance = np.asarray(products) / n - np.outer(mean, mean)
    first = np.asarray(total_first) / firsts
    return Moments(first, (np.asarray(total) - np.asarray(total_first)) / (n - firsts), covariance, n)


def discriminant_score(moments: Moments, design: Design, name: str) -> Score:
    """Return Fisher's discriminant (C + λ)⁻¹(mean over D − mean over D′): the logistic direction where differences are small.

    The ridge λ is the mean variance times min(1, f/n + 1/1000) for f features and n outputs, which matters when n is small only.
    """
    f = len(moments.first)
    ridge = max(float(np.trace(moments.covariance)) / f, 1e-12) * min(1.0, f / moments.outputs + 1e-3)
    direction = np.linalg.solve(moments.covariance + ridge * np.eye(f), moments.first - moments.second)
    return linear_score(np.asarray(direction, dtype=np.float64), design, f"discriminant of {name}")


def common_sign_score(moments: Moments, design: Design, name: str) -> Score:
    """Return the mean of all features as a score: the direction for places that all move alike, with nothing to learn but its sign."""
    f = len(moments.first)
    sign = 1.0 if float((moments.first - moments.second).sum()) >= 0 else -1.0
    return linear_score(np.full(f, sign / f, dtype=np.float64), design, f"mean of {name}")


def logistic_score(batch: Batch, design: Design, name: str) -> Score:
    """Return the linear predictor of a ridge-regularised logistic regression (scikit-learn) on at most 40,000 outputs.

    Raises :class:`InvalidArgument` where scikit-learn is not installed.
    """
    try:
        from sklearn.linear_model import LogisticRegression  # noqa: PLC0415
    except ImportError:
        raise InvalidArgument("auditing vectors needs scikit-learn, which is not installed; pip install 'pdp-accountant[audit]'") from None
    part = batch.take(slice(0, _LOGISTIC_ROWS))
    model = LogisticRegression(C=1.0, solver="newton-cholesky", max_iter=30).fit(design(part.outputs), part.is_first)
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
