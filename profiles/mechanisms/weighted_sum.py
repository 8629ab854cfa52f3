"""Weighted sums ζ + Σ w_i x_i of vectors: what is the same for every law of the noise ζ."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from profiles.arrays import Floats, ignore_flags
from profiles.declaring import declare
from profiles.mechanisms.ball import SLACK, project_records
from profiles.mechanisms.datasets import add_up, check_radius, compute_norms, norms_within, to_dataset, to_points
from profiles.mechanisms.exact import open_release
from profiles.mechanisms.interface import (
    NoisyMechanism,
    check_call,
    is_exact,
    noise_scale,
    require_positive,
    settle_arithmetic,
    settle_numbers,
    to_dimension,
)
from profiles.notions import ProfileNotion
from profiles.numbers import ExactLike, round_down, to_exact
from profiles.profile import Profile
from profiles.randomness.rounded import NoiseLaw


class WeightedSum(NoisyMechanism):
    """A mechanism M(S) = ζ + Σ w_i x_i on records with ‖x‖_p ≤ ``radius`` in R^d, d = ``dimension``; ζ does not depend on the data.

    Claim: its profile is w·z/scale with z = ‖x‖_p in [0, radius], in its notion. A mechanism of this kind is a frozen dataclass with these
    three fields and the scale of its noise. It says what its scale is called, in which norm records are measured, and how ζ is drawn: by a
    law that is rounded correctly, and in binary64.
    """

    __slots__ = ()

    name: ClassVar[str]
    source: ClassVar[str]
    notion: ClassVar[ProfileNotion] = ProfileNotion.PURE
    #: The field that has the scale of the noise, and what messages call it.
    scale_field: ClassVar[tuple[str, str]]

    radius: ExactLike
    dimension: int

    @property
    @abstractmethod
    def norm(self) -> float:
        """The p of the norm in which records are measured."""

    @abstractmethod
    def law(self) -> NoiseLaw:
        """Return the law of the noise in exact mode. Raises :class:`InvalidArgument` where there is no sampler for it."""

    @abstractmethod
    def draw_noise(self, rng: np.random.Generator, scale: float, size: int) -> Floats:
        """Return noise in binary64, shape (size, d)."""

    def __post_init__(self) -> None:
        field, what = self.scale_field
        settle_arithmetic(self)
        settle_numbers(self, **{field: what}, radius="the radius")
        require_positive(*self.scale)
        check_radius(self.radius)
        object.__setattr__(self, "dimension", to_dimension(self.dimension))

    @property
    def scale(self) -> tuple[ExactLike, str]:
        """The scale of the noise, and what messages call it."""
        field, what = self.scale_field
        return getattr(self, field), what

    @property
    def profile(self) -> Profile:
        """w·z/scale for z = ‖x‖_p in [0, radius]."""
        field, _ = self.scale_field
        promise: dict[str, Any] = {self.notion.number: f"w*z/{field}"}
        return declare(
            self.name, notion=self.notion, record={"z": (0, self.radius)}, parameters={field: self.scale[0]}, source=self.source, **promise
        )

    @ignore_flags
    def statistic(self, data: object) -> dict[str, Floats]:
        """Return z = ‖x‖_p of each record. Raises :class:`InvalidData`."""
        return {"z": norms_within(to_points(data, self.dimension), self.norm, self.radius)}

    @ignore_flags
    def clip(self, data: object) -> Floats:
        """Return the records, shape (n, d), each one outside the ball of the radius moved onto it or just inside, by itself alone.

        Raises :class:`InvalidData`.

        >>> from profiles.mechanisms import LaplaceSum
        >>> LaplaceSum(b=1, radius=2).clip([[5.0], [-0.5]]).tolist()
        [[2.0], [-0.5]]
        """
        radius = to_exact(self.radius)
        points = project_records(to_points(data, self.dimension), self.norm, radius)
        beyond = compute_norms(points, self.norm) > round_down(radius)  # by the rounding of the projection
        if beyond.any():
            points = points.copy()
            points[beyond] = project_records(points[beyond], self.norm, radius * (1 - SLACK))
        return points

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
