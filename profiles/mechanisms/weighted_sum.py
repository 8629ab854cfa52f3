"""Weighted sums ζ + Σ w_i x_i of vectors: what is the same for every law of the noise ζ."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from profiles.arrays import Floats, ignore_flags
from profiles.hypotheses import Hypothesis
from profiles.mechanisms.datasets import add_up, check_radius, norms_within, to_dataset, to_points
from profiles.mechanisms.exact import open_release
from profiles.mechanisms.interface import (
    Arithmetic,
    check_call,
    is_exact,
    noise_scale,
    require_positive,
    settle_arithmetic,
    settle_numbers,
    suppose_noise,
    to_arithmetic,
    to_dimension,
)
from profiles.numbers import ExactLike
from profiles.randomness.rounded import NoiseLaw


class WeightedSum(ABC):
    """A mechanism M(S) = ζ + Σ w_i x_i on records with ‖x‖_p ≤ ``radius`` in R^d, d = ``dimension``; ζ does not depend on the data.

    A mechanism of this kind is a frozen dataclass with these three fields, the scale of its noise, and its profile. It says what its scale
    is called, in which norm records are measured, and how ζ is drawn: by a law that is rounded correctly, and in binary64.
    """

    __slots__ = ()

    radius: ExactLike
    dimension: int
    arithmetic: Arithmetic | str

    @property
    @abstractmethod
    def norm(self) -> float:
        """The p of the norm in which records are measured."""

    @property
    @abstractmethod
    def scale(self) -> tuple[ExactLike, str]:
        """The scale of the noise, and what messages call it."""

    @abstractmethod
    def law(self) -> NoiseLaw:
        """Return the law of the noise in exact mode. Raises :class:`InvalidArgument` where there is no sampler for it."""

    @abstractmethod
    def draw_noise(self, rng: np.random.Generator, scale: float, size: int) -> Floats:
        """Return noise in binary64, shape (size, d)."""

    def settle(self, **scale: str) -> None:
        """Check the constants when a mechanism is made. ``scale``: the field of the noise scale → what messages call it."""
        settle_arithmetic(self)
        settle_numbers(self, **scale, radius="the radius")
        require_positive(*self.scale)
        check_radius(self.radius)
        object.__setattr__(self, "dimension", to_dimension(self.dimension))

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """What the profile takes for granted of the arithmetic that draws the noise."""
        return suppose_noise(to_arithmetic(self.arithmetic))

    @ignore_flags
    def statistic(self, data: object) -> dict[str, Floats]:
        """Return z = ‖x‖_p of each record. Raises :class:`InvalidData`."""
        return {"z": norms_within(to_points(data, self.dimension), self.norm, self.radius)}

    def run(self, data: object, weights: object, rng: object = None) -> Floats:
        """Return one noisy sum, shape (d,); ``weights`` None means 1. Raises :class:`InvalidData`, :class:`InvalidArgument`."""
        output: Floats = self.sample((data, weights), rng, 1)[0]
        return output

    @ignore_flags
    def sample(self, dataset: object, rng: object, size: int) -> Floats:
        """Return ``size`` independent noisy sums, shape (size, d). Raises :class:`InvalidData`, :class:`InvalidArgument`."""
        if is_exact(self):
            release = open_release(*self.scale, self.law(), rng, size)
            return release.draw_sums(to_dataset(dataset, self.dimension, self.radius, self.norm), size)
        generator = check_call(rng, size)
        scale = noise_scale(*self.scale)
        data = to_dataset(dataset, self.dimension, self.radius, self.norm)
        total = add_up(lambda: data.weights @ data.points, "the weighted sum")
        return total + self.draw_noise(generator, scale, size)

    def __call__(self, dataset: object, rng: object, size: int) -> Floats:
        """Same as :meth:`sample`: the interface that audits judge."""
        return self.sample(dataset, rng, size)
