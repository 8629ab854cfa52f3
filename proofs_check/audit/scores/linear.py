"""Linear scores of bounded features: the discriminant direction, from all learning outputs in closed form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from profiles.arrays import Floats
from proofs_check.audit.outputs import Outputs
from proofs_check.audit.runs import LabelledBatch
from proofs_check.audit.scores.features import Design
from proofs_check.audit.scores.interface import BLOCK, Score, at_threshold

#: With more features than this, correlations between them are left out.
_FULL = 300


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Mean features over D and over D′, and their covariance, from every learning output; the variances alone where features are many."""

    first: Floats
    second: Floats
    covariance: Floats
    outputs: int

    def select(self, features: np.ndarray) -> Moments:
        """Return what is known of some of the features alone: a mask, or their places."""
        covariance = self.covariance[features] if self.covariance.ndim == 1 else self.covariance[np.ix_(features, features)]
        return Moments(self.first[features], self.second[features], covariance, self.outputs)


def find_moments(batch: LabelledBatch, design: Design) -> Moments | None:
    """Return the moments of a design's features, computed block by block; None where one of the data sets has no output."""
    n, firsts = len(batch.is_first), int(batch.is_first.sum())
    if firsts in (0, n):
        return None
    rows = max(1_000, BLOCK // max(1, batch.outputs.width))
    total_first: Any = 0.0
    total: Any = 0.0
    products: Any = 0.0
    for start in range(0, n, rows):
        part = slice(start, start + rows)
        features = design(batch.outputs.take(part))
        total_first = total_first + batch.is_first[part].astype(np.float64) @ features
        total = total + features.sum(axis=0)
        products = products + (features.T @ features if features.shape[1] <= _FULL else np.square(features).sum(axis=0))
    mean = np.asarray(total) / n
    covariance = np.asarray(products) / n - (np.outer(mean, mean) if len(mean) <= _FULL else np.square(mean))
    first = np.asarray(total_first) / firsts
    return Moments(first, (np.asarray(total) - np.asarray(total_first)) / (n - firsts), covariance, n)


def discriminant_score(moments: Moments, design: Design, name: str, features: np.ndarray | None = None) -> Score:
    """Return Fisher's discriminant (C + λ)⁻¹(mean over D − mean over D′): the logistic direction where differences are small.

    The ridge λ is min(1, f/n + 1/1000) times each variance, for f features and n outputs: it matters when n is small only.
    ``features`` are the ones that are used, None for all.
    """
    if features is None:
        return linear_score(find_direction(moments), design, f"discriminant of {name}")
    direction = np.zeros(len(moments.first))
    direction[features] = find_direction(moments.select(features))
    return linear_score(direction, design, f"discriminant of {name}")


def find_direction(moments: Moments) -> Floats:
    """Return the direction of :func:`discriminant_score`; features are scaled to unit variance for the ridge."""
    f = len(moments.first)
    if moments.covariance.ndim == 1:
        return np.asarray((moments.first - moments.second) / np.maximum(moments.covariance, 1e-12), dtype=np.float64)
    scale = np.sqrt(np.maximum(np.diag(moments.covariance), 1e-12))
    correlation = moments.covariance / np.outer(scale, scale) + min(1.0, f / moments.outputs + 1e-3) * np.eye(f)
    return np.asarray(np.linalg.solve(correlation, (moments.first - moments.second) / scale) / scale, dtype=np.float64)


def pooled_score(moments: Moments, design: Design, groups: Callable[[int], int], name: str, features: np.ndarray) -> Score:
    """Return the discriminant among directions that treat equal features at all places of a group alike.

    A handful of numbers is learned then in place of one for each place, which finds many small differences of one kind. ``groups``
    gives the group of a place, ``features`` the features that are used.
    """
    used = set(features.tolist())
    labels = [(groups(place), kind) if k in used else None for k, (place, kind) in enumerate(design.kinds())]
    distinct = {label: k for k, label in enumerate(dict.fromkeys(label for label in labels if label is not None))}
    pooling = np.zeros((len(labels), len(distinct)))
    for k, label in enumerate(labels):
        if label is not None:
            pooling[k, distinct[label]] = 1.0
    full = moments.covariance.ndim == 2
    pooled = Moments(
        np.asarray(moments.first @ pooling, dtype=np.float64),
        np.asarray(moments.second @ pooling, dtype=np.float64),
        np.asarray(pooling.T @ (moments.covariance @ pooling if full else moments.covariance[:, np.newaxis] * pooling), dtype=np.float64),
        moments.outputs,
    )
    return linear_score(np.asarray(pooling @ find_direction(pooled), dtype=np.float64), design, name)


def linear_score(direction: Floats, design: Design, name: str) -> Score:
    """Return the score u · features(y), for a unit vector u."""
    length = float(np.linalg.norm(direction))
    unit = direction / length if length > 0 else direction

    def evaluate(outputs: Outputs) -> Floats:
        return np.asarray(design.features(outputs) @ unit)

    return Score(name, evaluate, at_threshold(name))
