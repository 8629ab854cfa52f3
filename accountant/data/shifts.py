"""Weights for a data file under Gaussian noise, for a target (ε*, δ*) after some steps: from a table that is made without any record."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from accountant.data.frames import Batch, Source
from accountant.data.opening import BATCH_ROWS, open_dataset
from accountant.data.specs import StatisticSpec, describe_spec
from accountant.data.weighing import Progress, WeightsSummary, check_range, complete_specs, search_statistics, write_weighed
from accountant.data.writers import output_format
from accountant.files import check_not_input
from accountant.guarantees.derive_gaussian import DerivedDelta, derive_weights
from accountant.guarantees.gaussian_samples import table_of
from accountant.selection.scales import Scale, find_scale
from accountant.selection.select import Selector, prepare_tabulated
from accountant.weights.fast import WeightsResult
from accountant.weights.gaussian.table_format import TabulatedWeights
from accountant.weights.gaussian.target import to_gaussian_target
from profiles import Declaration, Profile
from profiles.arrays import Floats
from profiles.files import to_declaration
from profiles.hypotheses import ARITHMETIC, RECORD_STATISTICS, STATISTICS, Hypothesis


@dataclass(frozen=True, slots=True)
class WeighedFile:
    """Weights of a data set under Gaussian noise: figures of the data (``summary``), and the guarantee with the table of weights.

    The scale of ``derived`` is private where it was computed for a sample size.
    """

    summary: WeightsSummary
    derived: DerivedDelta
    specs: tuple[StatisticSpec, ...]

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """The assumptions of a sample that somebody draws with these weights."""
        read = [RECORD_STATISTICS.about(names=describe_spec(spec)) for spec in self.specs]
        named = [item for item in self.derived.guarantee.hypotheses if item.id != RECORD_STATISTICS.id]
        return (*named, *read, STATISTICS, ARITHMETIC)


def compute_gaussian_weights_file(
    reference: str | Profile | Declaration | Any,
    data: Any,
    out: str | os.PathLike[str] | None,
    *,
    target_epsilon: object,
    target_delta: object,
    steps: object = 1,
    target_size: object = None,
    specs: Sequence[StatisticSpec] = (),
    format: str | None = None,  # noqa: A002
    batch_rows: int = BATCH_ROWS,
    progress: Progress | None = None,
) -> WeighedFile:
    """Compute weights of all records of ``data`` and write them to ``out`` (nowhere where it is None).

    Claim: ``out`` holds for every record a weight w ≥ 1 and a probability q ≤ 1/w for which δ(ε*) ≤ δ* after ``steps`` steps on fresh
    samples; or nothing is written and an error says why. The weights are the largest ones of a table, or, for a ``target_size``, those that
    have the least variance for this expected size (docs/gaussian-weights.md, Theorems 9 and 11).

    The data is read twice in batches, and memory does not grow with it. Raises what :func:`derive_weights`, :func:`find_scale` and reading
    raise, and :class:`UnwritableOutput`.
    """
    path = None if out is None else Path(out)
    if path is not None:
        output_format(path)
        check_not_input(path, data, "input")
    declaration = to_declaration(reference)
    profile, target = declaration.profile, to_gaussian_target(target_epsilon, target_delta, steps)
    weights = table_of(profile, target, whole=target_size is not None)  # refuses an unusable target before the data is read
    source, chosen = open_dataset(data, format=format, batch_rows=batch_rows), complete_specs(profile, specs)
    scale: Fraction | None = None
    if target_size is None:
        rows = check_range(profile, source, chosen)
    else:
        rows, scaled = find_size_scale(profile, source, chosen, target_size, weights)
        scale = scaled.value
    derived = derive_weights(declaration, target.epsilon, target.delta, steps=target.steps, scale=scale)
    selector = prepare_tabulated(derived.weights.proved, derived.weights.table, derived.rule, scale)
    totals = write_weighed(source, path, rows, _weigh(selector, source, chosen), progress)
    return WeighedFile(totals.summary(target.epsilon, path), derived, chosen)


def _weigh(selector: Selector, source: Source, specs: Sequence[StatisticSpec]) -> Iterator[tuple[Batch, WeightsResult, Floats]]:
    for batch in source.batches(specs):
        selected = selector.select(batch.statistics, first_row=batch.first_row)
        infinite = int(np.isinf(selected.weights).sum())
        fast = batch.size - selected.refined
        yield batch, WeightsResult(selected.weights, fast, selected.refined - infinite, infinite, 0), selected.probabilities


def find_size_scale(
    profile: Profile, source: Source, specs: Sequence[StatisticSpec], size: object, weights: TabulatedWeights
) -> tuple[int, Scale]:
    """Return n and the scale of weights whose expected sample size on this data set is ``size`` (:func:`find_scale`).

    The statistics are kept in a temporary file meanwhile. Raises what :func:`check_range` and :func:`find_scale` raise.
    """
    return search_statistics(profile, source, specs, lambda batches: find_scale(weights, size, batches))
