"""K-norm weighted sum: ζ + Σ w_i x_i with noise of density ∝ exp(−‖ζ‖_p/β_sum), for any l_p geometry with p ≥ 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from profiles.arrays import Floats
from profiles.hypotheses import Hypothesis
from profiles.mechanisms.datasets import add_up, check_radius, norms_within, read_dataset, read_points
from profiles.mechanisms.interface import (
    EXACT_ARITHMETIC,
    POSITIVE,
    check_call,
    noise_scale,
    read_dimension,
    require_norm,
    require_positive,
)
from profiles.mechanisms.noise import draw_k_norm
from profiles.numbers import ExactLike
from profiles.profile import Profile, declare


@dataclass(frozen=True, slots=True, kw_only=True)
class KNormSum:
    """Claim: M(S) = ζ + Σ w_i x_i with ζ of density ∝ exp(−‖ζ‖_p/β_sum) on R^d has the PDP profile ε(w, x) = w·z/β_sum, z = ‖x‖_p.

    Proof: the normalising constant does not depend on the data, and by the triangle inequality
    |‖y − g‖_p − ‖y − g'‖_p| ≤ ‖g − g'‖_p = w‖x‖_p. This needs p ≥ 1; for p < 1, which the paper's "for some
    p > 0" admits, the inequality and the profile fail.

    Sampler: :func:`profiles.mechanisms.noise.draw_k_norm`: radius ~ Gamma(d, β_sum), independent direction from the cone measure.

    ``beta_sum`` is the noise scale, in the unit of the data: a positive number or ``"positive"``. ``p`` ≥ 1 or ``math.inf``;
    ``radius`` bounds ‖x‖_p; ``dimension`` is d. For p = 1 this is the Laplace weighted sum in another parametrisation.

    Source: Fay et al. 2024, Appendix D.4 (proof of Proposition 13). Raises :class:`InvalidArgument`, :class:`InvalidNumber`.

    >>> KNormSum(beta_sum=30, p=2, dimension=3).run(np.zeros((0, 3)), None, np.random.default_rng(0)).shape
    (3,)
    """

    name: ClassVar[str] = "K-norm weighted sum"
    summary: ClassVar[str] = "weighted sum of vectors plus noise of density proportional to exp(-|noise|_p / beta_sum), any p >= 1"
    source: ClassVar[str] = "Fay et al. 2024, Appendix D.4, proof of Proposition 13; Hardt and Talwar 2010"
    hypotheses: ClassVar[tuple[Hypothesis, ...]] = (EXACT_ARITHMETIC,)

    beta_sum: ExactLike = POSITIVE
    p: float = 2
    radius: ExactLike = 4
    dimension: int = 2

    def __post_init__(self) -> None:
        require_positive(self.beta_sum, "the noise scale beta_sum")
        require_norm(self.p)
        check_radius(self.radius)
        read_dimension(self.dimension)

    @property
    def profile(self) -> Profile:
        """ε(w, x) = w·z/β_sum for z = ‖x‖_p in [0, radius]."""
        return declare(
            self.name, "w*z/beta_sum", record={"z": (0, self.radius)}, parameters={"beta_sum": self.beta_sum}, source=self.source
        )

    def statistic(self, data: object) -> dict[str, Floats]:
        """Return z = ‖x‖_p of each record. Raises :class:`InvalidData`."""
        return {"z": norms_within(read_points(data, self.dimension), self.p, self.radius)}

    def run(self, data: object, weights: object, rng: np.random.Generator) -> Floats:
        """Return one noisy sum, shape (d,); ``weights`` None means 1. Raises :class:`InvalidData`, :class:`InvalidArgument`."""
        output: Floats = self.sample((data, weights), rng, 1)[0]
        return output

    def sample(self, dataset: object, rng: np.random.Generator, size: int) -> Floats:
        """Return ``size`` independent noisy sums, shape (size, d). Raises :class:`InvalidData`, :class:`InvalidArgument`."""
        check_call(rng, size)
        scale = noise_scale(self.beta_sum, "the noise scale beta_sum")
        data = read_dataset(dataset, self.dimension, self.radius, self.p)
        total = add_up(lambda: data.weights @ data.points, "the weighted sum")
        return total + draw_k_norm(rng, (size,), self.dimension, self.p, scale)

    def __call__(self, dataset: object, rng: np.random.Generator, size: int) -> Floats:
        """Same as :meth:`sample`: the interface that audits judge."""
        return self.sample(dataset, rng, size)


#: Euclidean geometry in the plane, β_sum = 1, records of norm at most 4.
default = KNormSum(beta_sum=1)
#: Any noise scale: a profile to prove things about.
general = KNormSum()
