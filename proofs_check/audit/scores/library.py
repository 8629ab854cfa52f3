"""Which scores are learned for which outputs."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

import numpy as np

from proofs_check.audit.outputs import Outputs, Reader
from proofs_check.audit.runs import Batch
from proofs_check.audit.scores.bits import lowest_bit
from proofs_check.audit.scores.boosting import boosting_score
from proofs_check.audit.scores.columns import Column, look_at
from proofs_check.audit.scores.distances import distance_scores
from proofs_check.audit.scores.features import make_designs
from proofs_check.audit.scores.interface import Floats, Score
from proofs_check.audit.scores.linear import common_sign_score, discriminant_score, logistic_score
from proofs_check.audit.scores.one_dimension import bin_score, monotone_scores
from proofs_check.audit.scores.patterns import pattern_scores

_LEAST_FOR_MODELS = 2_000
_WIDEST_DISTANCES = 1_000


class Effort(Enum):
    """How much is spent on learning: ``FAST`` leaves out boosted trees, ``THOROUGH`` gives them all learning outputs."""

    FAST = "fast"
    NORMAL = "normal"
    THOROUGH = "thorough"


def learn_scores(batch: Batch, reader: Reader, rng: np.random.Generator, effort: Effort = Effort.NORMAL) -> list[Score]:
    """Return every score that the kind of output allows, learned from these labelled outputs. They must not be used again."""
    outputs, is_first = batch.outputs, batch.is_first
    columns = look_at(outputs, rng)
    made = pattern_scores(outputs, is_first, columns, reader)
    if any(column.continuous for column in columns):
        made += _bit_scores(outputs, is_first)
    if outputs.width == 1:
        return made + (_number_scores(outputs, is_first) if not columns[0].symbols else [])
    made += _vector_scores(outputs, is_first, columns)
    for j in _best_places(outputs, is_first, columns):
        made.append(bin_score(_place(j), f"place {j + 1}", outputs.values[:, j], is_first))
    if len(outputs) >= _LEAST_FOR_MODELS:
        design = make_designs(outputs, columns).get("both") or make_designs(outputs, columns)["clipped"]
        made.append(logistic_score(design(outputs.take(slice(0, 100_000))), is_first[:100_000], design, "bounded places"))
        if effort is not Effort.FAST:
            rows, iterations = (len(outputs), 150) if effort is Effort.THOROUGH else (50_000, 60)
            made.append(boosting_score(outputs, is_first, rows=rows, iterations=iterations, seed=int(rng.integers(2**31))))
    return made


def learn_quick_scores(batch: Batch, reader: Reader, rng: np.random.Generator) -> list[Score]:
    """Return the scores that a few outputs suffice for and that cost little: what the sequential mode learns again and again."""
    outputs, is_first = batch.outputs, batch.is_first
    columns = look_at(outputs, rng)
    made = pattern_scores(outputs, is_first, columns, reader)[:1]
    if any(column.continuous for column in columns):
        made += _bit_scores(outputs, is_first)
    if outputs.width == 1:
        return made + (_number_scores(outputs, is_first)[::2] if not columns[0].symbols else [])
    designs = make_designs(outputs, columns)
    for name in ("clipped", "innovations"):
        if name in designs:
            score = discriminant_score(designs[name](outputs), is_first, designs[name], f"{name} places")
            made += [score] if score is not None else []
    if all(column.continuous and not len(column.atoms) for column in columns) and outputs.width <= _WIDEST_DISTANCES:
        made += distance_scores(outputs, is_first)[:1]
    return made


def _bit_scores(outputs: Outputs, is_first: np.ndarray) -> list[Score]:
    return [bin_score(lowest_bit, "exponent of the lowest bit", lowest_bit(outputs), is_first)]


def _number_scores(outputs: Outputs, is_first: np.ndarray) -> list[Score]:
    feature = _place(0)
    return [*monotone_scores(feature, "output"), bin_score(feature, "output", outputs.values[:, 0], is_first)]


def _vector_scores(outputs: Outputs, is_first: np.ndarray, columns: tuple[Column, ...]) -> list[Score]:
    made: list[Score] = []
    for name, design in make_designs(outputs, columns).items():
        features = design(outputs)
        score = discriminant_score(features, is_first, design, f"{name} places")
        made += [score] if score is not None else []
        if name in ("signs", "innovations"):
            made.append(common_sign_score(features, is_first, design, f"{name} places"))
    if all(column.continuous and not len(column.atoms) for column in columns) and outputs.width <= _WIDEST_DISTANCES:
        made += distance_scores(outputs, is_first)
    return made


def _best_places(outputs: Outputs, is_first: np.ndarray, columns: tuple[Column, ...], most: int = 2) -> list[int]:
    """Return the places whose medians differ most between the data sets, in units of their spread."""
    rows = slice(0, 20_000)
    values, labels = outputs.values[rows], is_first[rows]
    if not labels.any() or labels.all():
        return []
    spreads = np.array([column.spread if column.continuous else np.inf for column in columns])
    with np.errstate(invalid="ignore"):
        gaps = np.abs(np.median(values[labels], axis=0) - np.median(values[~labels], axis=0)) / spreads
    return [int(j) for j in np.argsort(-np.nan_to_num(gaps))[:most] if columns[int(j)].continuous]


def _place(j: int) -> Callable[[Outputs], Floats]:
    def feature(outputs: Outputs) -> Floats:
        return np.asarray(outputs.values[:, j])

    return feature
