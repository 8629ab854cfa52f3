"""Audits of private k-means as a whole, with the noise and the samples that ship, and twins with one mistake each.

An output is everything that a run releases: the statistics, and every noisy count and sum before anything is made of it. The certificate is
left out: it is a function of arguments. tests/targets/private_kmeans.py has the methods, and enumerates the same pipeline under discrete
noise; here the noise is the real one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from accountant.applications.budget.protocols import DataAccess, Statistics
from accountant.applications.budget.records import Domain, PrivateRecords
from accountant.applications.budget.rows import ArrayRows
from accountant.applications.budget.spending import Payment, PureNoise, Purpose, Spending
from accountant.applications.kmeans.sampling import SampleChoice, SampledRecords, SamplePlan
from accountant.applications.kmeans.statistics import Public, find_largest_norm, release_statistics
from profiles.arrays import Floats
from profiles.mechanisms.exact import OpenedRelease
from profiles.randomness.bernoulli import PoissonSampler
from profiles.randomness.bits import BitSource, open_bits
from proofs_check.audit import Claim
from tests.targets.catalogue.case import AuditCase, ClaimKind
from tests.targets.private_kmeans import Forgetful, by_exact_counts, one_round, two_counts
from tests.targets.suite import Truth

EPSILON = Fraction(2)
_ENTRY = "private k-means"
_PAGE = "docs/private-kmeans.md"
#: The clipped ball, and what a sample is planned by: constants.
_FIXED = Statistics(10.0, np.zeros(1), 1.0, 1.0, np.zeros(1))


@dataclass(slots=True, eq=False)
class SeenRelease:
    """What draws the noise that ships, and writes down what leaves; with ``kept`` the same noise for every number."""

    release: OpenedRelease
    seen: list[float]
    kept: dict[str, float] | None = None

    @property
    def unit(self) -> Any:
        """As of the release."""
        return self.release.unit

    def draw(self, totals: Any) -> Floats:
        """Return the noisy totals."""
        if self.kept is None:
            found = self.release.draw(totals)
        else:
            if not self.kept:
                self.kept["noise"] = float(self.release.draw(np.zeros((1, 1), dtype=object))[0, 0])
            found = np.array(totals, dtype=np.float64) * 2.0**self.unit.exponent + self.kept["noise"]
        self.seen.extend(np.ravel(found).tolist())
        return found


@dataclass(frozen=True, slots=True, eq=False)
class SeenNoise(PureNoise):
    """The noise that ships, of which everything that leaves is written down."""

    seen: list[float] = field(default_factory=list)
    kept: dict[str, float] | None = None

    def open(self, charge: Payment, bits: BitSource) -> Any:
        """Return what draws the noise of a charge."""
        kept = self.kept if charge.part is Purpose.CELL_COUNTS else None
        return SeenRelease(PureNoise(self.epsilon).open(charge, bits), self.seen, kept)


@dataclass(frozen=True, slots=True)
class PrivatePipeline:
    """Runs of the pipeline, each with new noise and a new sample: outputs of shape (size, numbers).

    ``public``: what is taken as it is. ``statistics`` False: the method begins with fixed ones and the whole budget. ``sample``: of which
    size. ``shared``: one noise for all counts. ``reused``: each of two releases about the sample is charged as if it had its own, with half
    of the budget.
    """

    method: Callable[[DataAccess], None] = one_round
    public: tuple[str, ...] = ()
    statistics: bool = True
    sample: Fraction | None = None
    shared: bool = False
    reused: bool = False

    def __call__(self, dataset: Any, rng: np.random.Generator, size: int, /) -> Floats:
        """Return ``size`` outputs."""
        bits = open_bits(rng)
        return np.array([self._run(np.reshape(dataset, (-1, 1)), bits) for _ in range(size)])

    def _run(self, points: Floats, bits: BitSource) -> list[float]:
        rows, seen = ArrayRows(points), list[float]()
        radius = Fraction(max(find_largest_norm(rows, np.zeros(1)), 2.0**-10)) if "radius" in self.public else Fraction(1)
        law = SeenNoise(EPSILON, seen, {} if self.shared else None)
        access: Any = PrivateRecords(rows, Domain(np.zeros(1), radius), Spending(law), bits)
        shown: list[float] = []
        if self.statistics:
            found = release_statistics(access, rows, 2, Public.of(self.public))
            shown = [found.count, float(found.mean[0]), found.rms, found.radius]
        else:
            access.centre(_FIXED)
            access.clip(1.0)
        if self.sample is not None:
            access = SampledRecords(access, SampleChoice("uniform", self.sample), bits, PoissonSampler(bits))
            access._plan = _plan(self.sample, EPSILON / 2 if self.reused else EPSILON)
            if self.reused:
                access = Forgetful(access)
        self.method(access)
        return [*shown, *seen]


def twice(access: DataAccess) -> None:
    """Release one cell of all rows twice, without a clip, which would plan the sample anew."""
    for share in (Fraction(1, 2), Fraction(1)):
        access.release(lambda rows: np.zeros(len(rows), dtype=np.intp), share, 1)


@cache
def _plan(size: Fraction, budget: Fraction) -> SamplePlan:
    """Return the plan that a run with this budget would make of the fixed statistics, once for all runs."""
    records = PrivateRecords(ArrayRows(np.zeros((0, 1))), Domain(np.zeros(1), Fraction(1)), Spending(PureNoise(budget)), open_bits(1))
    records.centre(_FIXED)
    records.clip(1.0)
    return SampledRecords(records, SampleChoice("uniform", size), open_bits(1), PoissonSampler(1)).plan


@dataclass(frozen=True, slots=True)
class Gap:
    """The second release of a count less the first: the number of records in the other cell, where both have the same noise. A trace of
    the noise stays in it, because an audit takes nothing that never varies.
    """

    def __call__(self, outputs: Floats) -> Floats:
        """Return the statistic of each output: counts of two cells, then of all records."""
        return np.asarray(outputs[:, -1] - outputs[:, -3] + np.tanh(outputs[:, -1]) / 1000)


@dataclass(frozen=True, slots=True)
class Second:
    """The count of the second cell less that of the first, which a record more turns around."""

    def __call__(self, outputs: Floats) -> Floats:
        """Return the difference for each output."""
        return outputs[:, -1] - outputs[:, -2]


@dataclass(frozen=True, slots=True)
class Weighed:
    """What counts and sums of two releases say of a record of weight 10 at 1: Σ b (|y| − |y − 10|), b the cost per unit of each number,
    of a sample of ``size`` of ten planned for ``budget``.

    The chance of an output on a sample with that record over that without it is the exponential of this, so that nothing says more.
    """

    size: Fraction
    budget: Fraction

    def __call__(self, outputs: Floats) -> Floats:
        """Return the number of each output: count and sum, twice."""
        plan, noisy = _plan(self.size, self.budget), outputs[:, -4:]
        costs = np.array([float(plan.counts), float(plan.sums)] * 2)
        return np.asarray((costs * (np.abs(noisy) - np.abs(noisy - 10))).sum(axis=1))


def _freeze(values: list[float]) -> Floats:
    found = np.array(values, dtype=np.float64)
    found.flags.writeable = False
    return found


#: A record at the border of the ball, beside another one.
_WITH, _WITHOUT = _freeze([1.0, 1.0]), _freeze([1.0])
_ONE, _NONE = _freeze([1.0]), _freeze([])


def _case(name: str, mechanism: PrivatePipeline, truth: Truth, derivation: str, pair: tuple[Floats, Floats], **more: Any) -> AuditCase:
    claim = Claim(EPSILON, source=f"{_PAGE}, Theorems 1 to 3")
    return AuditCase(f"private-k-means/{name}", _ENTRY, ClaimKind.WORST_CASE, mechanism, *pair, claim, truth, derivation, **more)


@cache
def pipeline_cases() -> tuple[AuditCase, ...]:
    """Return the pipeline as it ships."""
    within = Truth(Fraction(0), EPSILON, "at most the budget, by Theorems 1 to 3")
    made = (
        ("every-record", PrivatePipeline(), _WITH, _WITHOUT),
        ("two-counts", PrivatePipeline(two_counts), _WITH, _WITHOUT),
        ("one-round", PrivatePipeline(statistics=False), _ONE, _NONE),
        ("sampled", PrivatePipeline(twice, statistics=False, sample=Fraction(1)), _ONE, _NONE),
    )
    return tuple(_case(name, run, within, "the budget of the fit", (first, second), samples=2_000) for name, run, first, second in made)


@cache
def pipeline_twins() -> tuple[AuditCase, ...]:
    """Return pipelines with one mistake each, which are claimed to keep the budget."""
    told = Truth.infinite("what is shown without noise is another number on the neighbor")
    both, one = (_WITH, _WITHOUT), (_ONE, _NONE)
    more: dict[str, Any] = {"broken": True, "samples": 150}
    apart = _freeze([1.0, 0.25]), _freeze([1.0])
    again = Truth(
        Fraction("3.52"), Fraction("3.53"), "q = 1/10; each release costs w (a + b) = 2.9 nats on the sample: log(1 + q (e^5.8 - 1))"
    )
    moved = Truth(Fraction("5.9"), Fraction(6), "the counts are (0, 2) on the data set and (1, 0) on the neighbor, at 2 nats for each unit")
    return (
        _case("n-used-exactly", PrivatePipeline(public=("n",)), told, "the number of records is taken as it is", both, **more),
        _case("radius-from-the-data", PrivatePipeline(public=("radius",)), told, "the ball is that of the largest norm", one, **more),
        _case("centring-not-paid-for", PrivatePipeline(public=("mean",)), told, "the mean is taken as it is", apart, **more),
        _case("spread-not-paid-for", PrivatePipeline(public=("rms",)), told, "the spread is taken as it is", apart, **more),
        _case(
            "the-same-noise-twice", PrivatePipeline(two_counts, statistics=False, shared=True), told,
            "one noise for two counts: their difference is exact", both, log_ratio=Gap(), **more,
        ),
        _case(
            "cells-by-exact-counts", PrivatePipeline(by_exact_counts, statistics=False), moved,
            "cells change places with the number of records", both, log_ratio=Second(), broken=True, samples=1_000,
        ),
        _case(
            "a-sample-reused", PrivatePipeline(twice, statistics=False, sample=Fraction(1), reused=True), again,
            "two releases about one sample are each charged as if it had its own", one,
            log_ratio=Weighed(Fraction(1), EPSILON / 2), broken=True, samples=8_000,
        ),
    )  # fmt: skip
