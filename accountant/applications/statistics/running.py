"""Releasing statistics, planning by them, and drawing or weighing, in one call, with one guarantee: docs/sampling.md."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from accountant.applications.charging import require_charged
from accountant.applications.statistics.certificate import to_certificate_text
from accountant.applications.statistics.concluding import conclude_within
from accountant.applications.statistics.planning import BudgetedPlan, PreparedStatistics, plan_within, prepare
from accountant.applications.statistics.releasing import ReleasedStatistics, release_statistics
from accountant.applications.statistics.requests import CONSTRAINED, SampleRequest
from accountant.data import WeightsSummary, complete_specs, compute_weights_file, open_dataset
from accountant.data.arrays import ArraySource
from accountant.data.clipping import ClippedSource, Table, clip_rows, is_clipped
from accountant.data.specs import StatisticSpec, describe_spec
from accountant.data.tables import TableSource
from accountant.data.weighing import Progress as WeightsProgress
from accountant.files import check_not_input
from accountant.guarantees import Guarantee
from accountant.samples.certificate import PrivateFigures
from accountant.samples.drawing import Figures, Progress, SampleFiles, draw_batches, draw_sample
from accountant.samples.once import Mechanisms
from accountant.samples.sample import Release, Sample
from accountant.weights.convexity import prove_convexity
from profiles import InvalidArgument
from profiles.arrays import ignore_flags
from profiles.hypotheses import RECORD_STATISTICS, Hypothesis
from profiles.randomness.bernoulli import PoissonSampler
from profiles.randomness.bits import BitSource, open_bits

if TYPE_CHECKING:
    from accountant.ledger import Ledger, Receipt


@dataclass(frozen=True, slots=True)
class _Opened:
    """What is sampled: the plan made of released numbers, and the rows that it is for."""

    plan: BudgetedPlan
    source: ClippedSource
    specs: tuple[StatisticSpec, ...]
    clipped: bool
    bits: BitSource
    receipt: Receipt | None = None


@dataclass(frozen=True, slots=True)
class WithinSummary:
    """A sample that was written: its ``plan``, the ``guarantee`` of everything together, and the files; ``private`` is not for others."""

    plan: BudgetedPlan
    guarantee: Guarantee
    source: str
    out: Path
    certificate: Path
    clipped: bool
    private: PrivateFigures = field(repr=False)


@dataclass(frozen=True, slots=True)
class WeighedWithin:
    """Weights that were written: their ``plan``, the ``guarantee`` of the statistics and of one analysis of a sample that they draw."""

    plan: BudgetedPlan
    guarantee: Guarantee
    clipped: bool
    private: WeightsSummary = field(repr=False)


class BudgetedSample:
    """A sample in memory for one analysis, with the guarantee of the statistics and the analysis together. Made by :func:`draw_within`.

    ``plan`` may be published; ``guarantee`` is that before the mechanism is known, as for a file.
    """

    __slots__ = ("_clipped", "_sample", "guarantee", "plan")

    def __init__(self, plan: BudgetedPlan, sample: Sample, *, clipped: bool) -> None:
        self.plan, self._sample, self._clipped = plan, sample, clipped
        self.guarantee = conclude_within(plan, sample.guarantee, clipped=clipped)

    def release(self, mechanism: object, rng: np.random.Generator | None = None, *, columns: Sequence[str] | None = None) -> Release:
        """Run the planned mechanism on the sample, once: :meth:`accountant.samples.Sample.release`, with the guarantee of everything."""
        released = self._sample.release(mechanism, rng, columns=columns)
        return Release(released.output, conclude_within(self.plan, released.guarantee, clipped=self._clipped))

    def __repr__(self) -> str:
        return f"<BudgetedSample of {self._sample!r}>"


@ignore_flags
def draw_within(
    profiles: object,
    data: Any,
    *,
    epsilon: object,
    private_statistics: object,
    rule: str | None = None,
    constants: Mapping[str, object] | None = None,
    specs: Sequence[StatisticSpec] = (),
    source: object = None,
) -> BudgetedSample:
    """Return a sample in memory by a rule that is made of released statistics: everything together keeps ``epsilon``.

    Claim (docs/sampling.md, Theorem 6): the statistics, and one run of the mechanism on the sample, are differentially private
    with ``epsilon``, whatever the number of records, their norms and the released numbers are. ``private_statistics``: the part of it that
    the statistics may cost. ``rule`` and ``constants``: ``uniform`` (m), ``coreset-l1``, ``coreset-l2`` or ``coreset`` (m, lam, statistic,
    exponent), or None for privacy-constrained weights. Rows are moved into the declared ranges where statistics are norms of them.
    ``profiles``, ``data``, ``specs``, ``source``: as for :func:`accountant.draw_sample`.

    Raises :class:`profiles.Infeasible` where the budget is too small even without sampling, :class:`InvalidArgument`, and what reading
    raises.
    """
    mechanisms = Mechanisms.of(profiles)
    request = SampleRequest.of(mechanisms.profile, epsilon, private_statistics, rule, constants)
    opened = _open(mechanisms, request, data, specs, source)
    sample = draw_sample(opened.plan.plan, opened.source, specs=opened.specs, source=opened.bits)
    return BudgetedSample(opened.plan, sample, clipped=opened.clipped)


@ignore_flags
def sample_file_within(
    profiles: object,
    data: str | os.PathLike[str] | Any,
    out: str | os.PathLike[str],
    *,
    epsilon: object,
    private_statistics: object,
    rule: str | None = None,
    constants: Mapping[str, object] | None = None,
    certificate: str | os.PathLike[str] | None = None,
    specs: Sequence[StatisticSpec] = (),
    source: object = None,
    ledger: Ledger | None = None,
    name: str | None = None,
    progress: Progress | None = None,
) -> WithinSummary:
    """Draw a sample as :func:`draw_within` does and write its rows, ``weight`` and ``q`` to ``out``, with a certificate beside it.

    The certificate holds the released numbers and may be published; the sample may not. The data are read twice: for the statistics
    and for the sample. ``ledger``: every row is charged ``epsilon`` under the ``name`` before anything is released, and statistics and
    sample are of the units that have room (docs/ledger.md, Theorem L6). Raises what :func:`draw_within` raises, what ``Ledger.charge``
    raises, and :class:`profiles.UnwritableOutput`.
    """
    if (ledger is None) != (name is None):
        raise InvalidArgument("a ledger and the name of a release go together; give both, or neither")
    files = SampleFiles.of(out, certificate, {"input": data, "profile": profiles})
    mechanisms = Mechanisms.of(profiles)
    request = SampleRequest.of(mechanisms.profile, epsilon, private_statistics, rule, constants)
    opened = _open(mechanisms, request, data, specs, source, None if ledger is None else (ledger, str(name)))
    sampler, figures = PoissonSampler(opened.bits), Figures(progress)
    guarantee = conclude_within(opened.plan, opened.plan.plan.drawn_guarantee(opened.bits), clipped=opened.clipped)

    def certify() -> str:
        if opened.receipt is not None:
            opened.receipt.require_same()
        return to_certificate_text(opened.plan, guarantee, opened.bits, clipped=opened.clipped)

    active = None if opened.receipt is None else opened.receipt.active
    files.write(draw_batches(opened.plan.plan, opened.source, opened.specs, sampler, figures, active), certify)
    private = figures.private(opened.bits.seed)
    return WithinSummary(opened.plan, guarantee, opened.bits.name, files.out, files.certificate, opened.clipped, private)


@ignore_flags
def weigh_file_within(
    profiles: object,
    data: str | os.PathLike[str] | Any,
    out: str | os.PathLike[str] | None,
    *,
    epsilon: object,
    private_statistics: object,
    specs: Sequence[StatisticSpec] = (),
    source: object = None,
    progress: WeightsProgress | None = None,
) -> WeighedWithin:
    """Write privacy-constrained weights for ε* = ``epsilon`` − ``private_statistics``, and release the statistics that show their use.

    The weights do not depend on the statistics; released are the number of records and the approximate size of a sample, which must not be
    shown otherwise. ``guarantee`` is that of the statistics and of one analysis of a sample drawn with the weights. Raises as
    :func:`draw_within` does.
    """
    mechanisms = Mechanisms.of(profiles)
    opened = _open(mechanisms, SampleRequest.of(mechanisms.profile, epsilon, private_statistics, CONSTRAINED, None), data, specs, source)
    plan, target = opened.plan.plan, opened.plan.plan.rule.target_epsilon
    if out is not None:
        check_not_input(Path(out), data, "input")
    summary = compute_weights_file(
        plan.profile,
        opened.source,
        out,
        convexity=prove_convexity(plan.profile, target),
        target_epsilon=target,
        specs=opened.specs,
        progress=progress,
    )
    guarantee = conclude_within(opened.plan, plan.guarantee(opened.bits), clipped=opened.clipped)
    return WeighedWithin(opened.plan, guarantee, opened.clipped, summary)


def _open(
    mechanisms: Mechanisms,
    request: SampleRequest,
    data: Any,
    specs: Sequence[StatisticSpec],
    source: object,
    charge: tuple[Ledger, str] | None = None,
) -> _Opened:
    """Check everything that can be refused for all data, charge the ledger under a name, then release the statistics and plan by them."""
    profile = mechanisms.profile
    complete = complete_specs(profile, specs)
    if charge is not None:
        from accountant.ledger.rows import leave_out  # noqa: PLC0415 - Arrow and SQLite are for those who keep a ledger

        complete = tuple(leave_out(spec, charge[0].settings.key) for spec in complete)
    prepared = prepare(mechanisms, request)
    opened = open_dataset(data)
    if not isinstance(opened, (TableSource, ArraySource)):
        raise InvalidArgument(f"a sample holds whole rows of a table, but {opened.label} is none; convert it to Parquet, CSV or NPY")
    table: Table = opened
    rows, clipped = clip_rows(table, profile, complete), is_clipped(profile, complete)
    bits = open_bits(source)
    read = [RECORD_STATISTICS.about(names=describe_spec(spec)) for spec in complete]
    promised, receipt, active = None, None, None
    if charge is not None:
        ledger, name = charge
        promised = _promise(prepared, read, bits, clipped=clipped)
        receipt = ledger.charge(name, promised, data)
        active = receipt.active
    released = release_statistics(rows, request.moment, request.costs, request.statistics, bits, active)
    plan = _assume(plan_within(prepared, released), read)
    if promised is not None:
        drawn = conclude_within(plan, plan.plan.drawn_guarantee(bits), clipped=clipped)
        require_charged(drawn.hypotheses, promised.hypotheses, "a sample")
    return _Opened(plan, rows, complete, clipped, bits, receipt)


def _promise(prepared: PreparedStatistics, read: Sequence[Hypothesis], bits: BitSource, *, clipped: bool) -> Guarantee:
    """Return the guarantee of every sample by this request, whatever is released: that of the one that uses the last plan.

    It is known before a row is read, and a row costs no more than its bound on any path (docs/sampling.md, Theorem 6).
    """
    nothing = ReleasedStatistics(Fraction(1), None, ())
    plan = _assume(BudgetedPlan(prepared.request, nothing, Fraction(1), prepared.last.plan, prepared.last.whole, None), read)
    return conclude_within(plan, plan.plan.drawn_guarantee(bits), clipped=clipped)


def _assume(plan: BudgetedPlan, read: Sequence[Hypothesis]) -> BudgetedPlan:
    """Return the plan with the hypotheses of how statistics are read."""
    return replace(plan, plan=replace(plan.plan, assumed=tuple(dict.fromkeys((*plan.plan.assumed, *read)))))
