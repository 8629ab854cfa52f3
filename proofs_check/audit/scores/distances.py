"""Scores of vectors from distances: how far an output is from the point where outputs of either data set are densest."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from profiles.arrays import Booleans, Floats
from proofs_check.audit.outputs import Outputs
from proofs_check.audit.scores.interface import Score, at_threshold, number_text
from proofs_check.audit.scores.one_dimension import bin_score

_LEAST, _NEAREST, _MODE_ROWS = 3, 12, 100_000
_TINY = 1e-300


def find_mode(values: Floats) -> Floats:
    """Return a point near the highest density: the median of the nearest half of the points, again and again, down to 12 points.

    For a density with a pole at the true answer (a wrong radius law) this finds the pole far more exactly than a mean.
    """
    values = values[:_MODE_ROWS]
    centre = np.median(values, axis=0)
    while len(values) > _NEAREST:
        distances = np.linalg.norm(values - centre, axis=1)
        keep = max(_NEAREST, len(values) // 2)
        values = values[np.argpartition(distances, keep - 1)[:keep]]
        centre = np.median(values, axis=0)
    return np.asarray(centre)


def distance_scores(outputs: Outputs, is_first: Booleans) -> list[Score]:
    """Return three scores of purely numeric vectors: log distance ratio to the two modes, and each distance in bins."""
    values = outputs.values
    if not np.isfinite(values).all() or min(is_first.sum(), (~is_first).sum()) < _LEAST:
        return []
    first, second = find_mode(values[is_first]), find_mode(values[~is_first])

    def ratio(rows: Outputs) -> Floats:
        return np.asarray(np.log(_distance(rows, second) + _TINY) - np.log(_distance(rows, first) + _TINY))

    words = f"log of (distance to {_point(second)} / distance to {_point(first)})"
    made = [Score("distance ratio", ratio, at_threshold(words))]
    for centre in (first, second):
        feature = _to(centre)
        made.append(bin_score(feature, f"distance to {_point(centre)}", feature(outputs), is_first))
    return made


def _to(centre: Floats) -> Callable[[Outputs], Floats]:
    return lambda rows: _distance(rows, centre)


def _distance(outputs: Outputs, centre: Floats) -> Floats:
    values = outputs.values
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.linalg.norm(values - centre, axis=1)
    return np.asarray(np.nan_to_num(lengths, nan=np.inf, posinf=np.finfo(np.float64).max))


def _point(centre: Floats) -> str:
    shown = ", ".join(number_text(float(entry)) for entry in centre[:3])
    return f"({shown}{', ...' if len(centre) > 3 else ''})"
