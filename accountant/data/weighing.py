"""Weights for a data file: checked whole, then weighed and written batch by batch, in memory that does not grow with the file."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.ipc

from accountant.columns.domain import as_columns, clip_norms, describe_outside, name_fault, outside
from accountant.columns.values import Column, Columns, Decimals
from accountant.data.frames import Batch, Source
from accountant.data.opening import BATCH_ROWS, open_dataset
from accountant.data.specs import StatisticSpec, describe_spec
from accountant.data.writers import open_writer, output_format
from accountant.files import check_not_input
from accountant.guarantees import ARITHMETIC, EXACT_REALS, STATISTICS, Hypothesis
from accountant.guarantees.rules import gather_hypotheses
from accountant.rules import make_rule
from accountant.weights.fast import ProvedConvexity, WeightsResult, prepare_solver, probabilities
from accountant.weights.fast.size import epsilon_for_size
from profiles import Declaration, InvalidArgument, InvalidData, Profile, UnwritableOutput, to_exact
from profiles.arrays import Floats
from profiles.hypotheses import RECORD_STATISTICS, TARGET_FIXED, TARGET_FROM_DATA
from profiles.private import SHOWN
from profiles.suggestions import suggest

#: Called with the number of rows weighed so far and the number of all rows.
Progress = Callable[[int, int], None]
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class WeightsSummary:
    """What was computed for a data set: n, ε*, the expected sample size Σ q (nats, counts), weights' range, and how rows were certified."""

    rows: int = field(repr=False)
    target_epsilon: Fraction = field(repr=False)
    expected_size: float = field(repr=False)
    min_weight: float = field(repr=False)
    max_weight: float = field(repr=False)
    infinite_rows: int = field(repr=False)
    saturated_rows: int = field(repr=False)
    fast_rows: int = field(repr=False)
    refined_rows: int = field(repr=False)
    out: Path | None


def complete_specs(profile: Profile, specs: Sequence[StatisticSpec]) -> tuple[StatisticSpec, ...]:
    """Return one spec for each statistic of the profile, by default the column of its name. Raises :class:`InvalidArgument`."""
    names = [statistic.name for statistic in profile.record]
    given: dict[str, StatisticSpec] = {}
    for spec in specs:
        if spec.name not in names:
            hint = suggest(spec.name, names)
            raise InvalidArgument(
                f"the statistic {spec.name!r} was given, but {profile.name!r} has {', '.join(names) or 'none'}; use one of them{hint}"
            )
        if spec.name in given:
            raise InvalidArgument(f"the statistic {spec.name!r} was given twice; give it once")
        given[spec.name] = spec
    return tuple(given.get(name) or StatisticSpec(name, column=name) for name in names)


def check_range(profile: Profile, source: Source, specs: Sequence[StatisticSpec], spill: IO[bytes] | None = None) -> int:
    """Read the whole data set and return n; raise :class:`InvalidData` for records outside the declared ranges.

    The statistics are also written to ``spill``, as an Arrow stream, for passes that need nothing else.
    """
    counts = {statistic.name: 0 for statistic in profile.record}
    first: dict[str, list[tuple[int, float]]] = {statistic.name: [] for statistic in profile.record}
    kinds: dict[str, set[str]] = {statistic.name: set() for statistic in profile.record}
    rows, stream = 0, None
    for batch in source.batches(specs):
        rows = batch.first_row + batch.size
        columns = as_columns(batch.statistics, tuple(counts))
        if spill is not None:
            table = _to_table(clip_norms(profile, columns))
            stream = pa.ipc.new_stream(spill, table.schema) if stream is None else stream
            stream.write_batch(table)
        for statistic in profile.record:
            column = columns.original(statistic.name)
            outliers = outside(statistic, column)
            counts[statistic.name] += int(outliers.size)
            room = SHOWN - len(first[statistic.name])
            first[statistic.name] += [(batch.first_row + int(row), float(column[int(row)])) for row in outliers[:room]]
            kinds[statistic.name] |= {name_fault(statistic, column, int(row)) for row in outliers[:room]}
    for statistic in profile.record:
        if counts[statistic.name]:
            raise describe_outside(statistic, counts[statistic.name], first[statistic.name], kinds[statistic.name])
    if stream is not None:
        stream.close()
    return rows


def iter_weights(
    profile: Profile, target_epsilon: object, source: Source, specs: Sequence[StatisticSpec], *, convexity: ProvedConvexity
) -> Iterator[tuple[Batch, WeightsResult]]:
    """Yield each batch with its weights: for every one ψ ≤ ε* holds in exact arithmetic. Raises :class:`InvalidData` with the row."""
    solver = prepare_solver(profile, target_epsilon, convexity=convexity)
    for batch in source.batches(specs):
        yield batch, solver.solve(batch.statistics, first_row=batch.first_row)


def compute_weights_file(
    profile: Profile,
    data: Any,
    out: str | os.PathLike[str] | None,
    *,
    convexity: ProvedConvexity,
    target_epsilon: object = None,
    target_size: object = None,
    specs: Sequence[StatisticSpec] = (),
    format: str | None = None,  # noqa: A002
    batch_rows: int = BATCH_ROWS,
    progress: Progress | None = None,
) -> WeightsSummary:
    """Compute the optimal weights of all records of ``data`` and write them to ``out`` (nowhere where it is None).

    Claim: ``out`` holds for every record a weight w with ψ(w) ≤ ε* and w ≥ w*(1 − 1e-12), and q = 1/w rounded down; or nothing is
    written and an error says why. Give either ``target_epsilon`` or ``target_size`` (see :func:`epsilon_for_size`).

    The data is read twice in batches of ``batch_rows``; memory does not grow with the number of records. For ``target_size`` the statistics
    are kept in a temporary file in between.

    Raises :class:`UnreadableFile`, :class:`InvalidData`, :class:`Infeasible`, :class:`InvalidTarget`, :class:`InvalidArgument`,
    :class:`UnwritableOutput`.
    """
    if (target_epsilon is None) == (target_size is None):
        raise InvalidArgument("either a target epsilon or a target size is needed, not both; give one of them")
    path = None if out is None else Path(out)
    if path is not None:
        output_format(path)
        check_not_input(path, data, "input")
    source, chosen = open_dataset(data, format=format, batch_rows=batch_rows), complete_specs(profile, specs)
    if target_epsilon is not None:
        target = to_exact(target_epsilon, "the target epsilon")
        prepare_solver(profile, target, convexity=convexity)  # refuse an unusable target before the data is read
        rows = check_range(profile, source, chosen)
    else:
        rows, target = find_target(profile, source, chosen, target_size, convexity=convexity)
    stream = iter_weights(profile, target, source, chosen, convexity=convexity)
    weighed = ((batch, result, probabilities(result.weights)) for batch, result in stream)
    totals = write_weighed(source, path, rows, weighed, progress)
    return totals.summary(target, path)


def write_weighed(
    source: Source, path: Path | None, rows: int, weighed: Iterable[tuple[Batch, WeightsResult, Floats]], progress: Progress | None
) -> WeightTotals:
    """Write batches with their weights and probabilities to ``path``, atomically (nowhere where it is None); return the totals.

    Raises :class:`InvalidData` where there are not ``rows`` rows, as the first pass over the data found.
    """
    totals = WeightTotals()
    if path is None:
        for _, result, q in weighed:
            totals.add(result, q, rows, progress)
        return totals
    with open_writer(path, rows) as write:
        for batch, result, q in weighed:
            write(batch.table, result.weights, q)
            totals.add(result, q, rows, progress)
        if totals.rows != rows:
            raise InvalidData(
                f"{source.label} changed while it was read: it had another number of rows at first; run again on a stable file",
                private=f"{rows} rows, then {totals.rows}",
            )
    return totals


def find_target(
    profile: Profile,
    source: Source,
    specs: Sequence[StatisticSpec],
    size: object,
    *,
    convexity: ProvedConvexity,
) -> tuple[int, Fraction]:
    """Return n and the target ε* whose expected sample size on this data set is ``size`` (see :func:`epsilon_for_size`).

    The statistics are kept in a temporary file meanwhile. Raises what :func:`check_range` and :func:`epsilon_for_size` raise.
    """
    return search_statistics(profile, source, specs, lambda batches: epsilon_for_size(profile, size, batches, convexity=convexity).epsilon)


def search_statistics(
    profile: Profile,
    source: Source,
    specs: Sequence[StatisticSpec],
    search: Callable[[Callable[[], Iterator[Mapping[str, Column]]]], Found],
) -> tuple[int, Found]:
    """Return n, and what ``search`` finds in the statistics of all records, which it may go through as often as it likes.

    They are kept in a temporary file meanwhile. Raises what :func:`check_range` and ``search`` raise, and :class:`UnwritableOutput`.
    """
    try:
        with tempfile.TemporaryFile() as spill:
            rows, names = check_range(profile, source, specs, spill), [statistic.name for statistic in profile.record]
            return rows, search(lambda: _read_spill(spill, names))
    except OSError as error:
        raise UnwritableOutput(f"the temporary file for a target size could not be used ({str(error)[:100]}); set TMPDIR") from None


def _to_table(columns: Columns) -> Any:
    """Return the statistics as a record batch; those with decimals have the texts in a column of their own."""
    arrays = {f"v{index}": pa.array(column) for index, column in enumerate(columns.values())}
    for index, name in enumerate(columns):
        column = columns.original(name)
        if isinstance(column, Decimals):
            arrays[f"t{index}"] = column.texts
    return pa.RecordBatch.from_arrays(list(arrays.values()), names=[*arrays])


def _read_spill(spill: IO[bytes], names: Sequence[str]) -> Iterator[Mapping[str, Column]]:
    """Yield the statistics that :func:`check_range` spilled: formats that are slow to parse are parsed once, however many steps follow."""
    spill.seek(0)
    for table in pa.ipc.open_stream(spill):
        columns: dict[str, Column] = {}
        for index, name in enumerate(names):
            values = table.column(f"v{index}").to_numpy(zero_copy_only=False)
            columns[name] = Decimals(values, table.column(f"t{index}")) if f"t{index}" in table.schema.names else values
        yield columns


class WeightTotals:
    """Totals over batches, in the order of the rows: rows, Σ q, the least and largest weight, and how each was decided."""

    __slots__ = ("_fast", "_infinite", "_max", "_min", "_refined", "_saturated", "_sums", "rows")

    def __init__(self) -> None:
        self.rows = self._fast = self._refined = self._infinite = self._saturated = 0
        self._sums: list[float] = []
        self._min, self._max = math.inf, 1.0

    def add(self, result: WeightsResult, q: Floats, all_rows: int, progress: Progress | None) -> None:
        self.rows += result.weights.size
        self._fast += result.fast_rows
        self._refined += result.refined_rows
        self._infinite += result.infinite_rows
        self._saturated += result.saturated_rows
        self._sums.append(math.fsum(q.tolist()))
        self._min = min(self._min, float(np.min(result.weights)))
        self._max = max(self._max, float(np.max(result.weights)))
        if progress is not None:
            progress(self.rows, all_rows)

    def summary(self, target: Fraction, out: Path | None) -> WeightsSummary:
        return WeightsSummary(
            self.rows, target, math.fsum(self._sums), self._min, self._max, self._infinite, self._saturated, self._fast, self._refined, out
        )


def gather_weight_hypotheses(
    declaration: Declaration, specs: Sequence[StatisticSpec], target_epsilon: object, *, from_data: bool
) -> tuple[Hypothesis, ...]:
    """Return the hypotheses under which a sample with these weights, drawn by whoever has them, is private with the target ε*.

    Those of privacy-constrained sampling of the declared mechanism, with the columns that the statistics are read from; ``from_data``: the
    target was computed from the data set to reach a sample size. Raises what :func:`complete_specs` raises.
    """
    profile = declaration.profile
    rule = make_rule("privacy-constrained", profile, target_epsilon=target_epsilon)
    hypotheses = gather_hypotheses(profile, rule, tuple(dict.fromkeys((EXACT_REALS, *declaration.hypotheses))))
    read = [RECORD_STATISTICS.about(names=describe_spec(spec)) for spec in complete_specs(profile, specs)]
    named = [item for item in hypotheses if item.id != RECORD_STATISTICS.id]
    named = [TARGET_FROM_DATA if from_data and item == TARGET_FIXED else item for item in named]
    return (*named, *read, STATISTICS, ARITHMETIC)
