"""Which scores are learned for which outputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import numpy as np

from profiles.arrays import Booleans
from proofs_check.audit.outputs import Outputs, Reader
from proofs_check.audit.runs import LabelledBatch
from proofs_check.audit.scores.coincidences import bit_scores, grid_scores, tie_scores
from proofs_check.audit.scores.columns import Column, look_at
from proofs_check.audit.scores.distances import distance_scores
from proofs_check.audit.scores.features import Design, innovations
from proofs_check.audit.scores.interface import Score
from proofs_check.audit.scores.learned import boosting_score, logistic_score
from proofs_check.audit.scores.linear import Moments, discriminant_score, find_moments, pooled_score
from proofs_check.audit.scores.one_dimension import bin_score, monotone_scores, place
from proofs_check.audit.scores.patterns import has_few_patterns, pattern_scores

_LEAST_FOR_MODELS = 2_000
_WIDEST_DISTANCES, _WIDEST_MODELS = 1_000, 150


class Effort(Enum):
    """How much is spent on learning: ``FAST`` leaves out boosted trees, ``THOROUGH`` gives them all learning outputs."""

    FAST = "fast"
    NORMAL = "normal"
    THOROUGH = "thorough"


@dataclass(frozen=True, slots=True, eq=False)
class Learner:
    """How scores are learned: the reader that knows the symbols, randomness for subsamples, effort, and whether bits are looked at.

    ``bits`` adds what floating point gives away. It is off unless asked for, because guarantees about continuous noise take exact
    arithmetic for granted, and nearly every sampler in binary64 fails without it.
    """

    reader: Reader
    rng: np.random.Generator
    effort: Effort = Effort.NORMAL
    bits: bool = False


def learn_scores(batch: LabelledBatch, learner: Learner) -> list[Score]:
    """Return every score that the kind of output allows, learned from these labelled outputs. They must not be used again."""
    reader, rng, effort = learner.reader, learner.rng, learner.effort
    outputs, is_first = batch.outputs, batch.is_first
    columns = look_at(outputs, rng)
    made = pattern_scores(outputs, is_first, columns, reader)
    if made and has_few_patterns(outputs, columns):
        return made
    if learner.bits:
        made += bit_scores(outputs, is_first)
    made += grid_scores(outputs, is_first, columns) + tie_scores(outputs, is_first)
    if outputs.width == 1:
        return made + (_number_scores(outputs, is_first) if not columns[0].symbols else [])
    made += _vector_scores(batch, columns)
    for j in _best_places(outputs, is_first, columns):
        made.append(bin_score(place(j), f"place {j + 1}", outputs.values[:, j], is_first))
    if len(outputs) >= _LEAST_FOR_MODELS and outputs.width <= _WIDEST_MODELS:
        design = Design(columns, signs=True, clipped=True)
        if design(outputs.take(slice(0, 1))).shape[1]:  # there are none where every place has one value
            made.append(logistic_score(batch, design, "bounded places"))
        if effort is not Effort.FAST:
            rows, iterations = (len(outputs), 150) if effort is Effort.THOROUGH else (20_000, 30)
            seed = int(rng.integers(2**31))
            made.append(boosting_score(outputs, is_first, rows=rows, iterations=iterations, seed=seed))
    return made


def learn_quick_scores(batch: LabelledBatch, learner: Learner) -> list[Score]:
    """Return the scores that a few outputs suffice for and that cost little: what the sequential mode learns again and again."""
    reader, rng = learner.reader, learner.rng
    outputs, is_first = batch.outputs, batch.is_first
    columns = look_at(outputs, rng)
    made = pattern_scores(outputs, is_first, columns, reader)[-1:]
    if learner.bits:
        made += bit_scores(outputs, is_first)
    if outputs.width == 1:
        return made + (_number_scores(outputs, is_first)[::2] if not columns[0].symbols else [])
    if _is_plain(columns):
        made += distance_scores(outputs, is_first)[:1]
    return made + _discriminants(
        batch, {"clipped": Design(columns, signs=False, clipped=True), "innovation": innovations(outputs, columns)}
    )


def _number_scores(outputs: Outputs, is_first: Booleans) -> list[Score]:
    feature = place(0)
    return [*monotone_scores(feature, "output"), bin_score(feature, "output", outputs.values[:, 0], is_first)]


def _vector_scores(batch: LabelledBatch, columns: tuple[Column, ...]) -> list[Score]:
    """Return linear scores in closed form: signs, clipped places and both at once from one pass over the outputs, then innovations."""
    both = Design(columns, signs=True, clipped=True)
    moments = find_moments(batch, both)
    if moments is None:
        return []
    places, count = both.numbers, len(moments.first)
    kinds = {"both": np.arange(count)}
    if places:
        kinds["sign"] = np.concatenate((np.arange(places), np.arange(2 * places, count)))
        kinds["clipped"] = np.arange(places, count)
    made = [discriminant_score(moments, both, f"{name} places", features) for name, features in kinds.items()]
    made += _pooled(moments, both, "both", kinds["both"]) + (_pooled(moments, both, "sign", kinds["sign"]) if places else [])
    made += _discriminants(batch, {"innovation": innovations(batch.outputs, columns)}, pooled=True)
    return made + (distance_scores(batch.outputs, batch.is_first) if _is_plain(columns) else [])


def _discriminants(batch: LabelledBatch, designs: dict[str, Design | None], *, pooled: bool = False) -> list[Score]:
    made = []
    for name, design in designs.items():
        moments = find_moments(batch, design) if design is not None else None
        if design is not None and moments is not None:
            made.append(discriminant_score(moments, design, f"{name} places"))
            made += _pooled(moments, design, name, np.arange(len(moments.first))) if pooled else []
    return made


def _pooled(moments: Moments, design: Design, name: str, features: np.ndarray) -> list[Score]:
    """Return the discriminants that pool all places, the halves, and all but the first: how neighboring queries usually differ."""
    half = len(design.columns) // 2
    groupings: dict[str, Callable[[int], int]] = {
        "pooled": lambda _: 0,
        "half-pooled": lambda place: int(place >= half),
        "first and pooled": lambda place: int(place > 0),
    }
    return [pooled_score(moments, design, groups, f"discriminant of {kind} {name} places", features) for kind, groups in groupings.items()]


def _is_plain(columns: tuple[Column, ...]) -> bool:
    """Tell whether outputs are vectors of continuous numbers, so that distances mean something."""
    return len(columns) <= _WIDEST_DISTANCES and all(c.continuous and not len(c.atoms) and not c.symbols for c in columns)


def _best_places(outputs: Outputs, is_first: Booleans, columns: tuple[Column, ...], most: int = 2) -> list[int]:
    """Return the places whose medians differ most between the data sets, in units of their spread."""
    rows = slice(0, 20_000)
    values, labels = outputs.values[rows], is_first[rows]
    if not labels.any() or labels.all():
        return []
    spreads = np.array([column.spread if column.continuous else np.inf for column in columns])
    with np.errstate(invalid="ignore"):
        gaps = np.abs(np.median(values[labels], axis=0) - np.median(values[~labels], axis=0)) / spreads
    return [int(j) for j in np.argsort(-np.nan_to_num(gaps))[:most] if columns[int(j)].continuous]
