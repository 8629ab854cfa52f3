"""Training by noisy sums of weighted, clipped gradients of a Poisson sample: what each step computes of the records, and what it releases.

One step, at coefficients Θ that are a function of the releases before it: record i has the clipped norm z = min(C, ‖g‖) of its gradient
g, the share t = z/C of that, or of a bound of it that does not need Θ, and the probability q = q₀ f(t). If it is selected it adds z/q
times the direction of g, at most C/q₀ long. The sum is released with noise; all else is a function of the release. Docs: docs/dp-sgd.md.

Exact mode: directions are computed entry by entry (:mod:`accountant.applications.dpsgd.losses`) and moved into the ball of radius C/q₀ as
one record by itself (:mod:`profiles.mechanisms.ball`), truncated to integers, added exactly, and released as the correctly rounded value
with normal noise (docs/exact-noise.md, Theorems 1 to 3). Coins are exact (docs/sampling.md, Theorem 7).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from accountant.applications.dpsgd.losses import RecordColumns, lengths, residuals, steepness
from accountant.applications.dpsgd.plan import DPSGDPlan
from profiles.arrays import Floats, ignore_flags
from profiles.mechanisms.ball import project_records
from profiles.mechanisms.exact import OpenedRelease, open_release
from profiles.mechanisms.interface import Arithmetic
from profiles.mechanisms.quantised import total_units
from profiles.numbers import round_down
from profiles.randomness.bernoulli import PoissonSampler
from profiles.randomness.rounded import NORMAL

#: Coefficients stay within it, whatever the learning rate: a function of releases alone.
_MOST = 1e12
#: Entries of a gradient up to which its norm is computed to 2⁻³⁰ (profiles/mechanisms/ball.py), with room for an intercept.
MOST_ENTRIES = 2**21
_ENTRIES = 2**20  # of gradients that are there at a time

#: Told after each step: the steps that are done, and all of them.
Report = Callable[[int, int | None], None]


class GradientNoise(Protocol):
    """What releases the sum of rows, shape (m, p), plus normal noise, shape (p,)."""

    def __call__(self, rows: Iterator[Floats], size: int) -> Floats: ...


@dataclass(frozen=True, slots=True)
class ExactNoise:
    """Correctly rounded sums plus normal noise: docs/exact-noise.md."""

    release: OpenedRelease

    @classmethod
    def open(cls, plan: DPSGDPlan, source: object) -> ExactNoise:
        """Return what releases the sums of a plan, before any record is looked at."""
        return cls(open_release(plan.noise * plan.sensitivity, "the noise of the sum", NORMAL, source, 1))

    def __call__(self, rows: Iterator[Floats], size: int) -> Floats:
        total = np.zeros(size, dtype=object)
        for block in rows:
            total = total + total_units(block, None, self.release.unit)
        return np.asarray(self.release.draw(total[np.newaxis])[0])


@dataclass(frozen=True, slots=True)
class BinaryNoise:
    """Rounded sums plus noise in binary64: for studies; the guarantee keeps the hypothesis of exact reals."""

    scale: float
    generator: np.random.Generator

    def __call__(self, rows: Iterator[Floats], size: int) -> Floats:
        total = self.generator.normal(0.0, self.scale, size)
        for block in rows:
            total += block.sum(axis=0)
        return np.asarray(total)


def open_noise(plan: DPSGDPlan, arithmetic: Arithmetic, generator: np.random.Generator) -> GradientNoise:
    """Return what releases the sums of a plan."""
    if arithmetic is Arithmetic.EXACT:
        return ExactNoise.open(plan, generator)
    return BinaryNoise(plan.noise_std, generator)


@dataclass(frozen=True, slots=True)
class Schedule:
    """How releases become coefficients: ``learning_rate`` η, ``penalty`` λ of λ‖Θ‖²/2, ``size`` a public guess of the number of records.

    The step is Θ ← Θ − η (release/size + λ Θ), and what is returned is the mean over the second half of the steps.
    """

    learning_rate: float
    penalty: float
    size: float

    def move(self, coefficients: Floats, release: Floats) -> Floats:
        """Return Θ after one step with a release; a coordinate that would not be finite stays, and none leaves a fixed range."""
        with np.errstate(all="ignore"):
            moved = coefficients - self.learning_rate * (release / self.size + self.penalty * coefficients)
        return np.clip(np.where(np.isfinite(moved), moved, coefficients), -_MOST, _MOST)


@dataclass(frozen=True, slots=True, eq=False)
class Trainer:
    """The steps of a plan on records. ``by_bound``: shares come from ‖x‖ alone, so that gradients are computed of the sample only."""

    plan: DPSGDPlan
    schedule: Schedule
    classes: int
    by_bound: bool = False

    def start(self, features: int) -> Floats:
        """Return the coefficients at the start, all 0: shape (K, p), K = 1 for two classes."""
        return np.zeros((1 if self.classes <= 2 else self.classes, features))

    def run(self, records: RecordColumns, sampler: PoissonSampler, noise: GradientNoise, report: Report | None = None) -> Floats:
        """Return the coefficients after all steps, shape (K, p)."""
        current = self.start(len(records.values))
        bounded = self.bound_probabilities(records) if self.by_bound else None
        kept, total = 0, np.zeros_like(current)
        for step in range(self.plan.steps):
            released = self.step(records, current, sampler, noise, bounded)
            current = self.schedule.move(current, released)
            if 2 * step + 1 >= self.plan.steps - 1:
                kept, total = kept + 1, total + current
            if report is not None:
                report(step + 1, self.plan.steps)
        return np.asarray(total / kept)

    @ignore_flags
    def bound_probabilities(self, records: RecordColumns) -> Floats:
        """Return q of each record from ‖r‖‖x‖ ≤ √2‖x‖ (two classes: ‖x‖), which no coefficients change."""
        with np.errstate(all="ignore"):
            return self.plan.rule.probabilities(self.plan.shares(records.norms * steepness(self.classes)), round_down(self.plan.rate))

    @ignore_flags
    def step(
        self, records: RecordColumns, current: Floats, sampler: PoissonSampler, noise: GradientNoise, bounded: Floats | None = None
    ) -> Floats:
        """Return what one step releases, shape (K, p)."""
        if bounded is None and not self.plan.rule.is_uniform:
            differences = residuals(records, current)
            q = self._probabilities(records, differences)
            chosen = np.flatnonzero(sampler.select(q))
            part, differences = records.take(chosen), differences[:, chosen]
        else:
            q = np.full(len(records), round_down(self.plan.rate)) if bounded is None else bounded
            chosen = np.flatnonzero(sampler.select(q))
            part = records.take(chosen)
            differences = residuals(part, current)
        size = current.size
        return noise(self.weigh(part, differences, q[chosen]), size).reshape(current.shape)

    def _probabilities(self, records: RecordColumns, differences: Floats) -> Floats:
        with np.errstate(all="ignore"):
            norms = lengths(differences) * records.norms
        norms[np.isnan(norms)] = 0.0
        return self.plan.rule.probabilities(self.plan.shares(norms), round_down(self.plan.rate))

    def weigh(self, part: RecordColumns, differences: Floats, q: Floats) -> Iterator[Floats]:
        """Yield the weighted clipped gradients of the sample in blocks of rows, shape (m, K p), each row at most C/q₀ (1 + 2⁻³⁰) long."""
        limit = self.plan.clip / self.plan.rate
        with np.errstate(all="ignore"):
            size = lengths(differences)
            clipped = np.minimum(size * part.norms, round_down(self.plan.clip)) / q
            factor = np.minimum(clipped, round_down(limit)) / size
        factor[~np.isfinite(factor)] = 0.0
        width = len(differences) * len(part.units)
        step = max(1, _ENTRIES // width)
        for start in range(0, len(part), step):
            rows = slice(start, start + step)
            scaled = differences[:, rows] * factor[rows]
            block = scaled[:, np.newaxis, :] * part.units[np.newaxis, :, rows]
            yield project_records(np.ascontiguousarray(block.reshape(width, -1).T), 2, limit)
