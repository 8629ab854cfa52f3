"""The pipeline of private k-means under discrete noise with two outcomes a number, as programs that can be enumerated, and broken twins.

What ships is run: the statistics, their shares, the sample and its plan, cells and their account. Only the noise is another one, and the
coins of the sample: both ask the enumerator. Noise is two-sided geometric in units h, P(K = k) ∝ α^|k|, α a rational at or above
e^(−cost h/reach), so that a total that moves by ``reach`` costs no more than its cost; of a noisy total only whether it reaches a threshold
is shown, which is post-processing and leaves two outcomes. Thresholds lie above every total that can occur: there the ratio of
probabilities is exactly α^(−shift/h), so that the costs are attained.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from accountant.applications.budget.protocols import DataAccess, Statistics
from accountant.applications.budget.records import Domain, PrivateRecords
from accountant.applications.budget.rows import ArrayRows
from accountant.applications.budget.spending import Payment, PureNoise, Purpose, Spending
from accountant.applications.kmeans import sampling
from accountant.applications.kmeans.sampling import SampleChoice, SampledRecords
from accountant.applications.kmeans.statistics import Public, find_largest_norm, release_statistics
from profiles.arrays import Booleans, Floats
from profiles.mechanisms.quantised import SumUnit
from proofs_check.exact import Choices

#: A unit is 1/4, so that a record of norm 1 moves a total by four of them.
_UNIT, _STEPS = SumUnit(-2, 2.0**40), 4
UNIVERSE = (-1, 0, 1)
EPSILON = Fraction(2)


@dataclass(frozen=True, slots=True, eq=False)
class ThresholdRelease:
    """The release of a charge: ``high`` where total + K ≥ threshold, else ``low``; ``shared`` noise is the same K for every number."""

    charge: Payment
    choose: Choices
    seen: list[float]
    shared: dict[str, int] | None = None
    unit: SumUnit = _UNIT

    @property
    def alpha(self) -> Fraction:
        """A rational at or above e^(−cost h/reach)."""
        return Fraction(math.ceil(math.exp(-float(self.charge.cost / self.charge.reach) / _STEPS) * 10**4), 10**4)

    @property
    def threshold(self) -> int:
        return 6 * _STEPS

    def draw(self, totals: Any) -> Floats:
        found = np.zeros(np.shape(totals))
        for place in np.ndindex(found.shape):
            found[place] = self._show(int(totals[place]))
        self.seen.extend(found.ravel().tolist())
        return found

    def _show(self, total: int) -> float:
        low, high = (1.0, 2.0) if self.charge.part is Purpose.RECORDS else (0.0, 1.0)
        if self.shared is not None:
            return high if total + self._draw_shared() >= self.threshold else low
        return high if self.choose({True: self._reach(self.threshold - total), False: 1 - self._reach(self.threshold - total)}) else low

    def _reach(self, steps: int) -> Fraction:
        """P(K ≥ steps)."""
        alpha = self.alpha
        return alpha**steps / (1 + alpha) if steps > 0 else 1 - alpha ** (1 - steps) / (1 + alpha)

    def _draw_shared(self) -> int:
        """One K for all numbers, of which only four ranges matter, each shown by a number in it."""
        assert self.shared is not None
        if "noise" not in self.shared:
            ends = (self.threshold - 2 * _STEPS, self.threshold - _STEPS, self.threshold)
            above = [self._reach(end) for end in ends]
            law = {-(10**6): 1 - above[0], ends[0]: above[0] - above[1], ends[1]: above[1] - above[2], ends[2]: above[2]}
            self.shared["noise"] = self.choose(law)
        return self.shared["noise"]


@dataclass(frozen=True, slots=True)
class ThresholdNoise:
    """Pure noise that asks the enumerator; everything else is as in :class:`PureNoise`."""

    pure: PureNoise
    seen: list[float]
    shared: dict[str, int] | None = None

    @property
    def normal(self) -> bool:
        return False

    @property
    def budget(self) -> Fraction:
        return self.pure.budget

    def scale(self, charge: Payment) -> Fraction:
        return self.pure.scale(charge)

    def open(self, charge: Payment, bits: Any) -> Any:
        return ThresholdRelease(charge, bits, self.seen, self.shared if charge.part is Purpose.CELL_COUNTS else None)

    def energy(self, charge: Payment, dimension: int) -> float:
        return self.pure.energy(charge, dimension)

    def sum_noise(self, dimension: int) -> float:
        return self.pure.sum_noise(dimension)

    def share_for(self, part: float) -> float:
        return self.pure.share_for(part)

    def count_share(self, dimension: int) -> Fraction:
        del dimension
        return Fraction(1, 3)


@dataclass(frozen=True, slots=True, eq=False)
class ChosenSampler:
    """Coins of exactly the probabilities that the sampler is given, asked from the enumerator."""

    choose: Choices

    def select(self, q: Floats) -> Booleans:
        return np.array([self.choose.coin(Fraction(float(p))) for p in q], dtype=np.bool_)


@cache
def _plan(choice: SampleChoice, count: float, rms: float, radius: float, budget: Fraction, share: Fraction) -> sampling.SamplePlan:
    found = Statistics(count, np.zeros(1), rms, 1.0, np.zeros(1))
    return _REAL_PLAN(choice, found, radius=radius, budget=budget, share=share)


_REAL_PLAN = sampling.plan_sample


def halves(rows: Floats) -> Any:
    """Return the cell of each row: 0 below the mean, else 1."""
    return (rows[:, 0] >= 0).astype(np.intp)


def one_round(access: DataAccess) -> None:
    """Clip to the spread, then release two cells once."""
    access.clip(min(1.0, access.statistics.rms))
    access.release(halves, 1, 2)


def two_counts(access: DataAccess) -> None:
    """Release counts of two kinds of cells, one after the other."""
    access.release(halves, Fraction(1, 2), 2, sums=False)
    access.release(lambda rows: np.zeros(len(rows), dtype=np.intp), 1, 1, sums=False)


def two_rounds(access: DataAccess) -> None:
    """Release one cell of all rows twice, with sums."""
    access.clip(min(1.0, access.statistics.rms))
    for share in (Fraction(1, 2), Fraction(1)):
        access.release(lambda rows: np.zeros(len(rows), dtype=np.intp), share, 1)


def by_exact_counts(access: DataAccess) -> None:
    """Release two cells that change places with the number of records: no function of a row alone."""
    access.release(lambda rows: (halves(rows) + len(rows)) % 2, 1, 2, sums=False)


Program = Callable[[tuple[int, ...], Choices], tuple[object, ...]]


def run_pipeline(
    *,
    public: tuple[str, ...] = (),
    sample: SampleChoice | None = None,
    method: Callable[[DataAccess], None] = one_round,
    shared: bool = False,
    reuse: bool = False,
    rarer: bool = False,
    epsilon: Fraction = EPSILON,
) -> Program:
    """Return the pipeline as a program of records in {−1, 0, 1}.

    ``shared``: one noise for all counts; ``reuse``: a sample charged anew; ``rarer``: half the probabilities, with twice the weights.
    """

    def run(records: tuple[int, ...], choose: Choices) -> tuple[object, ...]:
        rows = ArrayRows(np.array(records, dtype=np.float64).reshape(-1, 1))
        radius = Fraction(1) if "radius" not in public else Fraction(max(find_largest_norm(rows, np.zeros(1)), 2.0**-10))
        seen: list[float] = []  # everything that was released, before anything is made of it
        law = ThresholdNoise(PureNoise(epsilon), seen, {} if shared else None)
        access: Any = PrivateRecords(rows, Domain(np.zeros(1), radius), Spending(law), choose)  # type: ignore[arg-type]
        statistics = release_statistics(access, rows, 2, Public.of(public))
        if sample is not None:
            access = (RarerRecords if rarer else SampledRecords)(access, sample, choose, ChosenSampler(choose))  # type: ignore[arg-type]
            if reuse:
                access._budget = access._budget / 2
                access = Forgetful(access)
        method(access)
        return (statistics.count, float(statistics.mean[0]), statistics.rms, statistics.radius, *seen)

    return run


class Forgetful:
    """A sample of which every release is charged as if it were the first."""

    def __init__(self, access: SampledRecords) -> None:
        self._access = access

    def __getattr__(self, name: str) -> Any:
        return getattr(self._access, name)

    def release(self, assign: Any, share: Any, cells: int, *, sums: bool = True) -> Any:
        del share
        self._access._charges.clear()
        return self._access.release(assign, 1, cells, sums=sums)


@dataclass(frozen=True, slots=True)
class _Halved:
    """What a selector chooses, with half the probabilities and twice the weights."""

    selector: Any

    def select(self, statistics: Any) -> Any:
        found = self.selector.select(statistics)
        return replace(found, probabilities=found.probabilities / 2, weights=found.weights * 2)


class RarerRecords(SampledRecords):
    """A sample that is drawn by another rule than the one that its plan certifies."""

    @property
    def plan(self) -> sampling.SamplePlan:
        made = super().plan
        return replace(made, selector=_Halved(made.selector))  # type: ignore[arg-type]


#: What has to be refuted, with what is wrong.
BROKEN: dict[str, Program] = {
    "the same noise twice": run_pipeline(method=two_counts, shared=True),
    "n used exactly": run_pipeline(public=("n",)),
    "the radius from the data": run_pipeline(public=("radius",)),
    "centring not paid for": run_pipeline(public=("mean",)),
    "the spread not paid for": run_pipeline(public=("rms",)),
    "cells chosen with exact counts": run_pipeline(method=by_exact_counts),
    "a sample reused": run_pipeline(sample=SampleChoice("uniform", Fraction(1, 4)), method=two_rounds, reuse=True),
    "a coreset drawn by another rule": run_pipeline(sample=SampleChoice("coreset", Fraction(1, 2)), rarer=True),
    "weights above the largest": run_pipeline(sample=SampleChoice("privacy-constrained", None), rarer=True),
}
