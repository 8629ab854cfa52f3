"""Mistakes that implementations of the catalogue's mechanisms are known for, each a mechanism that can be run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from accountant.selection.select import Selection
from accountant.weights.fast import probabilities
from profiles.arrays import Floats
from profiles.mechanisms import WeightedCount, WeightedLloyd
from profiles.mechanisms.datasets import compute_norms, to_dataset
from profiles.mechanisms.k_norm_sum import draw_directions
from profiles.mechanisms.lloyd_runs import assign_nearest, total_clusters
from tests.targets.catalogue.running import SelectionMap
from tests.targets.suite import Sampler


@dataclass(frozen=True, slots=True)
class WeightsTwice:
    """The weights are put into the records by one layer and applied again by another: a record counts w²x, with ε(w², x)."""

    mechanism: Sampler

    def __call__(self, dataset: object, rng: np.random.Generator, size: int, /) -> Floats:
        """Return outputs on the data set with squared weights."""
        data = to_dataset(dataset, None)
        return self.mechanism((data.points, data.weights**2), rng, size)


@dataclass(frozen=True, slots=True)
class NoisySum:
    """Σ w x plus the noise that ``draw(rng, size, d)`` gives, shape (size, d)."""

    draw: Callable[[np.random.Generator, int, int], Floats]
    dimension: int

    def __call__(self, dataset: object, rng: np.random.Generator, size: int, /) -> Floats:
        """Return ``size`` noisy sums, shape (size, d)."""
        data = to_dataset(dataset, self.dimension)
        return np.asarray(data.weights @ data.points + self.draw(rng, size, self.dimension))


@dataclass(frozen=True, slots=True)
class SharedNoise:
    """One Laplace variate for all coordinates, as from a generator that is seeded again for each: their differences have no noise."""

    scale: float

    def __call__(self, rng: np.random.Generator, size: int, dimension: int, /) -> Floats:
        """Return the noise."""
        return np.repeat(rng.laplace(0.0, self.scale, size=(size, 1)), dimension, axis=1)


@dataclass(frozen=True, slots=True)
class OneSidedNoise:
    """|Laplace| noise: outputs below the true sum are impossible, so that no finite ε holds."""

    scale: float

    def __call__(self, rng: np.random.Generator, size: int, dimension: int, /) -> Floats:
        """Return the noise."""
        return rng.exponential(self.scale, size=(size, dimension))


@dataclass(frozen=True, slots=True)
class ExponentialRadius:
    """Radius Exp(scale) for Gamma(d, scale): right for d = 1, a density with a pole at the true sum for d > 1."""

    scale: float
    p: float

    def __call__(self, rng: np.random.Generator, size: int, dimension: int, /) -> Floats:
        """Return the noise."""
        return draw_directions(rng, (size,), dimension, self.p) * rng.exponential(self.scale, size=(size, 1))


@dataclass(frozen=True, slots=True)
class GaussianDirections:
    """Directions g/‖g‖₁ of normal g in place of the cone measure of the l₁ sphere.

    A normal g has a uniform direction, whose law relative to the cone measure has the density ∝ (‖θ‖₁/‖θ‖₂)^d, between 1 on the axes and
    d^(d/2) on the diagonals. So the noise has the density ∝ exp(−‖ζ‖₁/scale)·(‖ζ‖₁/‖ζ‖₂)^d.
    """

    scale: float

    def __call__(self, rng: np.random.Generator, size: int, dimension: int, /) -> Floats:
        """Return the noise."""
        normal = rng.normal(size=(size, dimension))
        radii = rng.gamma(float(dimension), self.scale, size=(size, 1))
        return np.asarray(normal / compute_norms(normal, 1)[:, np.newaxis] * radii)

    def log_density(self, noise: Floats) -> Floats:
        """Return the log density, up to a constant, of each row."""
        lengths = compute_norms(noise, 1)
        return np.asarray(noise.shape[1] * np.log(lengths / compute_norms(noise, 2)) - lengths / self.scale)


@dataclass(frozen=True, slots=True)
class SameSeed:
    """A noisy count and a noisy scalar sum whose noise comes from generators of the same seed: one uniform number makes both.

    So y_count/β_count − y_sum/β_sum has no noise.
    """

    count_scale: float
    sum_scale: float

    def __call__(self, dataset: object, rng: np.random.Generator, size: int, /) -> Floats:
        """Return (count, sum), shape (size, 2)."""
        data = to_dataset(dataset, 1)
        unit = rng.laplace(0.0, 1.0, size=size)
        truths = data.weights.sum(), float(data.weights @ data.points[:, 0])
        return np.stack([truths[0] + self.count_scale * unit, truths[1] + self.sum_scale * unit], axis=1)


@dataclass(frozen=True, slots=True)
class SizeDependentRate:
    """Uniform sampling with q = 1/n where n is the size of the data set itself, not a public number."""

    def __call__(self, points: Floats) -> Selection:
        """Return the selection of each row."""
        count = len(points)
        return Selection(np.full(count, 1 / max(1, count)), np.full(count, float(max(1, count))))


@dataclass(frozen=True, slots=True)
class LargerWeights:
    """Weights that are ``factor`` times those of a selection, with the probabilities that belong to them."""

    selection: SelectionMap
    factor: float

    def __call__(self, points: Floats) -> Selection:
        """Return the selection of each row."""
        weights = self.selection(points).weights * self.factor
        return Selection(probabilities(weights), weights)


@dataclass(frozen=True, slots=True)
class OneLloydStep:
    """One iteration of DP-Lloyd with mistakes that can be switched on.

    ``noisy_empty`` False: an empty cluster gets no noise and keeps its centre. ``noisy_counts`` False: sums are divided by the true count
    (at least 1). Outputs have shape (size, k, d).
    """

    mechanism: WeightedLloyd
    noisy_empty: bool = True
    noisy_counts: bool = True

    def __call__(self, dataset: object, rng: np.random.Generator, size: int, /) -> Floats:
        """Return the centres of ``size`` runs."""
        centres = self.mechanism.centres
        data = to_dataset(dataset, centres.shape[1])
        noise = self.mechanism.draw_noise(rng, size)
        current = np.broadcast_to(centres, (size, *centres.shape))
        counts, sums = total_clusters(data, assign_nearest(data.points, current), len(centres))
        noisy = counts + noise.counts[:, 0] if self.noisy_counts else np.maximum(counts, 1.0)
        usable = noisy >= 1.0
        if not self.noisy_empty:
            usable &= counts > 0
        moved = (sums + noise.sums[:, 0]) / np.where(usable, noisy, 1.0)[..., np.newaxis]
        return np.where(usable[..., np.newaxis], moved, current)


@dataclass(frozen=True, slots=True)
class CentreFromData:
    """DP-Lloyd that starts at the mean of the data set (0 for none): a centre that is kept gives it away."""

    mechanism: WeightedLloyd

    def __call__(self, dataset: object, rng: np.random.Generator, size: int, /) -> Floats:
        """Return the centre of ``size`` runs."""
        own = self.mechanism
        data = to_dataset(dataset, own.centres.shape[1])
        start = data.points.mean(axis=0, keepdims=True) if len(data.points) else own.centres[:1]
        started = WeightedLloyd(
            initial_centres=start, iterations=own.iterations, beta_count=own.beta_count, beta_sum=own.beta_sum, p=own.p, radius=own.radius
        )
        return started.sample(dataset, rng, size)


@dataclass(frozen=True, slots=True)
class ExponentialRadiusStep:
    """One iteration of DP-Lloyd with one cluster whose sum has noise of radius Exp(β_sum): no finite ε for d > 1."""

    mechanism: WeightedLloyd

    def __call__(self, dataset: object, rng: np.random.Generator, size: int, /) -> Floats:
        """Return the centre of ``size`` runs, shape (size, 1, d)."""
        dimension = self.mechanism.centres.shape[1]
        total = NoisySum(ExponentialRadius(float(self.mechanism.beta_sum), self.mechanism.p), dimension)(dataset, rng, size)
        count = WeightedCount(beta_count=self.mechanism.beta_count).sample(dataset, rng, size)
        kept = count >= 1.0
        centres = np.where(kept[:, np.newaxis], total / np.where(kept, count, 1.0)[:, np.newaxis], self.mechanism.centres[0])
        return np.asarray(centres[:, np.newaxis, :])


@dataclass(frozen=True, slots=True)
class Subtracted:
    """A mistake: exponential noise of this rate is subtracted from the count of records before it is compared with 0, in one round."""

    rate: Fraction

    def __call__(self, dataset: Any, rng: np.random.Generator, size: int, /) -> Floats:
        """Return 1.0 for above, shape (size,)."""
        return np.asarray(len(dataset) - rng.standard_exponential(size) / float(self.rate) > 0, dtype=np.float64)
