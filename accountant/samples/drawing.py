"""Drawing samples: into memory, or from file to file, batch by batch, in memory that does not grow with the data."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from accountant.data import check_range, complete_specs, find_size_scale, find_target, open_dataset
from accountant.data.frames import Batch, Source
from accountant.data.opening import BATCH_ROWS
from accountant.data.specs import StatisticSpec, describe_spec
from accountant.data.svmlight import SvmlightSource
from accountant.data.writers import output_format
from accountant.files import check_outputs, replace_files
from accountant.guarantees import Guarantee
from accountant.guarantees.gaussian_samples import table_of
from accountant.samples.certificate import PrivateFigures, to_certificate_text
from accountant.samples.once import Mechanisms
from accountant.samples.plan import SamplingPlan, plan_sample, plan_weights
from accountant.samples.sample import Records, Sample
from accountant.samples.writing import open_sample_writer
from accountant.weights.convexity import prove_convexity
from accountant.weights.gaussian.target import to_gaussian_target
from profiles import InvalidArgument, InvalidData
from profiles.arrays import Booleans, Floats, ignore_flags
from profiles.hypotheses import RECORD_STATISTICS, TARGET_FROM_DATA
from profiles.randomness.bernoulli import PoissonSampler

#: Called with the number of rows read so far.
Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class SampleSummary:
    """A sample that was written: its plan, guarantee and files, and figures of this data set that no guarantee covers (``private``)."""

    plan: SamplingPlan
    guarantee: Guarantee
    source: str
    out: Path
    certificate: Path
    private: PrivateFigures = field(repr=False)


@dataclass(frozen=True, slots=True)
class Drawn:
    """Selected rows of a batch with the weight w, the probability q and the statistics of each. Private, so that nothing prints them."""

    table: Any = field(repr=False)
    weights: Floats = field(repr=False)
    q: Floats = field(repr=False)
    statistics: dict[str, Floats] = field(repr=False)


@dataclass(frozen=True, slots=True)
class SampleFiles:
    """The files of a sample, the selected rows in a format (``kind``) and the certificate beside them: both are written, or none."""

    out: Path
    certificate: Path
    kind: str

    @classmethod
    def of(cls, out: str | os.PathLike[str], certificate: str | os.PathLike[str] | None, inputs: Mapping[str, object]) -> SampleFiles:
        """Return files that can be written and are none of the ``inputs``; the certificate is by default that of :func:`name_certificate`.

        Raises :class:`InvalidArgument`, :class:`profiles.UnwritableOutput`.
        """
        path = Path(out)
        kind = output_format(path)
        made = cls(path, name_certificate(path) if certificate is None else Path(certificate), kind)
        check_outputs(inputs, made.out, made.certificate)
        return made

    def write(self, drawn: Iterable[Drawn], certify: Callable[[], str], *, private: bool = False) -> None:
        """Write what is drawn, and then the certificate: ``certify`` is asked for it when everything is drawn. ``private``: it is."""
        with replace_files(self.out, self.certificate, private=(self.certificate,) if private else ()) as (stream, proof_stream):
            with open_sample_writer(stream, self.kind) as write:
                for part in drawn:
                    write(part.table, part.weights, part.q)
            proof_stream.write(certify().encode("ascii"))


def name_certificate(out: Path) -> Path:
    """Return the file of the certificate of a sample where none is named: ``out`` with ``.certificate.json`` behind it."""
    return out.parent / f"{out.name}.certificate.json"


@ignore_flags
def draw_sample(
    profiles: object,
    data: Any,
    *,
    specs: Sequence[StatisticSpec] = (),
    source: object = None,
    target_size: object | None = None,
    format: str | None = None,  # noqa: A002
    batch_rows: int = BATCH_ROWS,
    **options: Any,
) -> Sample:
    """Return a sample in memory, for one analysis by the mechanisms that it is planned for.

    ``profiles``: a :class:`SamplingPlan`, or what :func:`plan_sample` takes, with its ``options`` (``target_epsilon``; ``rule`` and
    ``constants``; ``q``), or ``target_size``. ``data``: a path, a NumPy array or an Arrow table; ``specs`` say how statistics are read.
    ``source`` of random bits: None for the secure one, a seed, or a :class:`numpy.random.Generator`.

    Raises what :func:`plan_sample` and reading raise: :class:`InvalidData`, :class:`UnreadableFile`, :class:`Infeasible`, ...
    """
    opened = _open(data, format, batch_rows)
    plan = _name_statistics(_plan(profiles, opened, specs, target_size, options), specs)
    sampler, figures = PoissonSampler(source), Figures()
    parts = list(draw_batches(plan, opened, complete_specs(plan.profile, specs), sampler, figures))
    names = [statistic.name for statistic in plan.profile.record]
    records = Records(
        pa.Table.from_batches([part.table for part in parts]),
        np.concatenate([part.weights for part in parts]),
        np.concatenate([part.q for part in parts]),
    )
    statistics = {name: np.concatenate([part.statistics[name] for part in parts]) for name in names}
    return Sample(plan, records, statistics, sampler.source)


@ignore_flags
def sample_file(
    profiles: object,
    data: str | os.PathLike[str] | Any,
    out: str | os.PathLike[str],
    *,
    certificate: str | os.PathLike[str] | None = None,
    specs: Sequence[StatisticSpec] = (),
    source: object = None,
    target_size: object | None = None,
    include_private: bool = False,
    active: Booleans | None = None,
    format: str | None = None,  # noqa: A002
    batch_rows: int = BATCH_ROWS,
    progress: Progress | None = None,
    **options: Any,
) -> SampleSummary:
    """Draw a sample of ``data`` and write the selected rows, ``weight`` and ``q`` to ``out``, with a certificate beside it.

    Claim: every row was selected with probability exactly its ``q``, independently, and ``weight`` and ``q`` are numbers for which the
    bound of the certificate holds in exact arithmetic; or nothing is written and an error says why.

    The data is read once, in batches (twice for ``target_size``); memory does not grow with the number of rows. ``certificate`` is by
    default ``out`` with ``.certificate.json`` behind it. It says nothing about this data set unless ``include_private``, which adds its
    number of rows, the sample's size and the seed: then it must not be published. ``active``: which rows take part, shape (n,), where a
    ledger leaves others out; all by default. Other arguments are those of :func:`draw_sample`.

    Raises what :func:`draw_sample` raises, and :class:`UnwritableOutput`.
    """
    files = SampleFiles.of(out, certificate, {"input": data, "profile": profiles})
    opened = _open(data, format, batch_rows)
    plan = _name_statistics(_plan(profiles, opened, specs, target_size, options), specs)
    sampler, figures = PoissonSampler(source), Figures(progress)
    guarantee = plan.drawn_guarantee(sampler.source)

    def certify() -> str:
        shown = figures.private(sampler.source.seed) if include_private else None
        return to_certificate_text(plan, guarantee, sampler.source.name, private=shown, publishable=target_size is None and shown is None)

    files.write(draw_batches(plan, opened, complete_specs(plan.profile, specs), sampler, figures, active), certify, private=include_private)
    return SampleSummary(plan, guarantee, sampler.source.name, files.out, files.certificate, figures.private(sampler.source.seed))


def draw_batches(
    plan: SamplingPlan,
    source: Source,
    specs: Sequence[StatisticSpec],
    sampler: PoissonSampler,
    figures: Figures | None = None,
    active: Booleans | None = None,
) -> Iterator[Drawn]:
    """Yield the selected rows of every batch, also where there are none. Raises :class:`InvalidData` where a record is out of range."""
    for batch in source.batches(specs):
        if batch.table is None:
            raise InvalidData(f"{source.label} has columns that no sample file can hold; convert it to Parquet")
        try:
            drawn = draw_batch(plan, batch, sampler, figures, active)
        except InvalidData:
            check_range(plan.profile, source, specs)  # where records are out of range, counts all of them, and raises
            raise
        yield drawn


@ignore_flags
def draw_batch(
    plan: SamplingPlan, batch: Batch, sampler: PoissonSampler, figures: Figures | None = None, active: Booleans | None = None
) -> Drawn:
    """Return the selected rows of one batch; of those that are ``active`` in the whole data set, where not all are."""
    selection = plan.selector.select(batch.statistics, first_row=batch.first_row)
    chosen = sampler.select(selection.probabilities)
    if active is not None:
        chosen &= take_part(active, batch.first_row, batch.size)
    rows = np.flatnonzero(chosen)
    if figures is not None:
        figures.add(batch.size, rows.size, float(selection.probabilities.sum()))
    statistics = {name: np.asarray(column)[rows] for name, column in batch.statistics.items()}
    return Drawn(batch.table.take(pa.array(rows)), selection.weights[rows], selection.probabilities[rows], statistics)


def take_part(active: Booleans, first_row: int, size: int) -> Booleans:
    """Return which of ``size`` rows from ``first_row`` on take part, of all rows that were charged.

    Raises :class:`InvalidData` where there are more rows than were charged.
    """
    if active.size < first_row + size:
        raise InvalidData("the data set has more rows than were charged to the ledger: it changed meanwhile; take another name")
    return active[first_row : first_row + size]


class Figures:
    """Running totals over batches. They depend on the data, and no guarantee covers them."""

    __slots__ = ("_progress", "_size", "_sums", "rows")

    def __init__(self, progress: Progress | None = None) -> None:
        self.rows = self._size = 0
        self._sums: list[float] = []
        self._progress = progress

    def add(self, rows: int, selected: int, expected: float) -> None:
        self.rows += rows
        self._size += selected
        self._sums.append(expected)
        if self._progress is not None:
            self._progress(self.rows)

    def private(self, seed: int | None) -> PrivateFigures:
        """Return the figures of the data set so far: rows, rows selected, Σ q and the seed. They are private."""
        return PrivateFigures(self.rows, self._size, math.fsum(self._sums), seed)


def _open(data: Any, format: str | None, batch_rows: int) -> Source:  # noqa: A002
    opened = open_dataset(data, format=format, batch_rows=batch_rows)
    if isinstance(opened, SvmlightSource):
        raise InvalidArgument(f"a sample holds whole rows of a table, but {opened.label} is svmlight; convert it to Parquet, CSV or NPY")
    return opened


def _plan(
    profiles: object, source: Source, specs: Sequence[StatisticSpec], target_size: object | None, options: dict[str, Any]
) -> SamplingPlan:
    if isinstance(profiles, SamplingPlan):
        if target_size is not None or any(value is not None for value in options.values()):
            raise InvalidArgument("a plan has its rule and target already; give either a plan, or profiles with a rule")
        return profiles
    if target_size is None:
        plan = plan_sample(profiles, **options)
        complete_specs(plan.profile, specs)
        return plan
    if options.get("target_delta") is not None:
        return _plan_size(profiles, source, specs, target_size, options)
    if {name for name, value in options.items() if value is not None and name != "relative_gap"}:
        raise InvalidArgument("a target size was given together with a rule or a target epsilon; give one of them")
    mechanisms = Mechanisms.of(profiles)
    profile, convexity = mechanisms.profile, prove_convexity(mechanisms.profile)
    _, target = find_target(profile, source, complete_specs(profile, specs), target_size, convexity=convexity)
    return plan_sample(mechanisms, target_epsilon=target, convexity=convexity, assumed=(TARGET_FROM_DATA,))


def _plan_size(
    profiles: object, source: Source, specs: Sequence[StatisticSpec], target_size: object, options: dict[str, Any]
) -> SamplingPlan:
    """Return the plan under Gaussian noise whose weights have the least variance for an expected size."""
    if {name for name, value in options.items() if value is not None} - {"relative_gap", "target_epsilon", "target_delta", "steps"}:
        raise InvalidArgument("a target size was given together with a rule; give one of them")
    mechanisms = Mechanisms.of(profiles)
    profile = mechanisms.profile
    steps = 1 if options.get("steps") is None else options["steps"]
    target = to_gaussian_target(options.get("target_epsilon"), options["target_delta"], steps)
    _, scale = find_size_scale(profile, source, complete_specs(profile, specs), target_size, table_of(profile, target, whole=True))
    return plan_weights(mechanisms, target, scale=scale.value)


def _name_statistics(plan: SamplingPlan, specs: Sequence[StatisticSpec]) -> SamplingPlan:
    """Return the plan with the columns that its statistics are read from in its hypotheses: a rank or a centred column is no statistic."""
    read = [describe_spec(spec) for spec in complete_specs(plan.profile, specs)]
    return replace(plan, assumed=tuple(dict.fromkeys((*plan.assumed, *(RECORD_STATISTICS.about(names=item) for item in read)))))
