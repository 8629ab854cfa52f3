"""Laplace weighted sum: ζ + Σ w_i x_i with independent Laplace noise in every coordinate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from profiles.arrays import Floats, ignore_flags
from profiles.declaring import declare
from profiles.hypotheses import Hypothesis
from profiles.mechanisms.datasets import add_up, check_radius, norms_within, to_dataset, to_points
from profiles.mechanisms.exact import open_release
from profiles.mechanisms.interface import (
    POSITIVE,
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
from profiles.profile import Profile
from profiles.randomness.rounded import LAPLACE

_P = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LaplaceSum:
    """Claim: M(S) = ζ + Σ w_i x_i with ζ_j iid Laplace(0, b) has the PDP profile ε(w, x) = w·z/b, z = ‖x‖₁.

    Proof: the density at y is Π_j exp(−|y_j − g_j|/b)/(2b) with g = Σ w_i x_i, and adding (w, x) moves g by w·x, so that the log
    ratio is at most Σ_j |w x_j|/b.

    ``b`` is the noise scale, in the unit of the data: a positive number, or ``"positive"`` for a profile over all scales, which cannot
    be run. ``radius`` bounds ‖x‖₁; ``dimension`` is d.
    ``arithmetic``: "exact" releases correctly rounded values; "binary64" draws the noise in binary64, which gives more away (for studies).

    Source: Fay et al. 2024, Section 3.3 (there b = 1). Raises :class:`InvalidArgument`, :class:`InvalidNumber`.

    >>> import numpy as np
    >>> LaplaceSum(b=2).profile.text
    'w*z/b'
    >>> LaplaceSum(b=2).run([1.0, 3.0], [1, 2], np.random.default_rng(0)).shape
    (1,)
    """

    name: ClassVar[str] = "Laplace weighted sum"
    summary: ClassVar[str] = "weighted sum of vectors plus independent Laplace(b) noise in each coordinate"
    source: ClassVar[str] = "Fay et al. 2024, Section 3.3"

    b: ExactLike = POSITIVE
    radius: ExactLike = 4
    dimension: int = 1
    arithmetic: Arithmetic | str = Arithmetic.EXACT

    def __post_init__(self) -> None:
        settle_arithmetic(self)
        settle_numbers(self, b="the noise scale b", radius="the radius")
        require_positive(self.b, "the noise scale b")
        check_radius(self.radius)
        object.__setattr__(self, "dimension", to_dimension(self.dimension))

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """What the profile takes for granted of the arithmetic that draws the noise."""
        return suppose_noise(to_arithmetic(self.arithmetic))

    @property
    def profile(self) -> Profile:
        """ε(w, x) = w·z/b for z = ‖x‖₁ in [0, radius]."""
        return declare(self.name, "w*z/b", record={"z": (0, self.radius)}, parameters={"b": self.b}, source=self.source)

    @ignore_flags
    def statistic(self, data: object) -> dict[str, Floats]:
        """Return z = ‖x‖₁ of each record. Raises :class:`InvalidData`."""
        return {"z": norms_within(to_points(data, self.dimension), _P, self.radius)}

    def run(self, data: object, weights: object, rng: object = None) -> Floats:
        """Return one noisy sum, shape (d,); ``weights`` None means 1. Raises :class:`InvalidData`, :class:`InvalidArgument`."""
        output: Floats = self.sample((data, weights), rng, 1)[0]
        return output

    @ignore_flags
    def sample(self, dataset: object, rng: object, size: int) -> Floats:
        """Return ``size`` independent noisy sums, shape (size, d). Raises :class:`InvalidData`, :class:`InvalidArgument`."""
        if is_exact(self):
            release = open_release(self.b, "the noise scale b", LAPLACE, rng, size)
            return release.draw_sums(to_dataset(dataset, self.dimension, self.radius, _P), size)
        generator = check_call(rng, size)
        scale = noise_scale(self.b, "the noise scale b")
        data = to_dataset(dataset, self.dimension, self.radius, _P)
        total = add_up(lambda: data.weights @ data.points, "the weighted sum")
        return total + generator.laplace(0.0, scale, size=(size, self.dimension))

    def __call__(self, dataset: object, rng: object, size: int) -> Floats:
        """Same as :meth:`sample`: the interface that audits judge."""
        return self.sample(dataset, rng, size)


#: The paper's mechanism: b = 1, scalars of absolute value at most 4.
default = LaplaceSum(b=1)
#: Any noise scale: a profile to prove things about.
general = LaplaceSum()
