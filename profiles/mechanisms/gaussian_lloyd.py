"""Gaussian DP-Lloyd: k-means with weighted counts and weighted sums that have normal noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from profiles.declaring import declare
from profiles.mechanisms.interface import POSITIVE, Arithmetic
from profiles.mechanisms.lloyd_runs import LloydMechanism, LloydNoise
from profiles.notions import ProfileNotion
from profiles.numbers import ExactLike
from profiles.profile import Profile
from profiles.randomness.rounded import NORMAL, NoiseLaw


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianLloyd(LloydMechanism):
    """Claim: Gaussian DP-Lloyd has the profile μ(w, x) = w √(T (1/σ_count² + z²/σ_sum²)) in the notion ``gaussian``, z = ‖x‖₂.

    In each of T iterations every record goes to its nearest centre, and for each cluster C_j

        c_j = (ζ_j + Σ_{C_j} w x) / (ξ_j + Σ_{C_j} w),   ξ_j ~ N(0, σ_count²),   ζ_j ~ N(0, σ_sum² I),

    all noise independent. Given the centres so far the cluster of a record is a function of that record alone, so that (w, x) moves one
    count by w and one sum by w·x: in units of the noise a vector of length w √(1/σ_count² + ‖x‖₂²/σ_sum²), the same in each iteration
    whatever the earlier ones gave out. Squares of such lengths add up under adaptive composition, exactly: docs/gaussian-weights.md,
    Theorems 13 and 14. The profile covers all noisy counts and sums; centres are made of them by post-processing, which is that of
    :class:`~profiles.mechanisms.lloyd.WeightedLloyd`, as are its runs: what is said there of small counts, ``confine``, labels and memory
    holds here.

    ``initial_centres``: shape (k, d), or (k,) where d = 1; they must not be derived from the data. ``iterations`` is T, a positive
    integer; ``sigma_count`` and ``sigma_sum`` are positive numbers; each of the three may be ``"positive"`` for a profile that cannot be
    run. ``radius`` bounds ‖x‖₂.
    ``arithmetic``: "exact" releases correctly rounded values; "binary64" draws the noise in binary64, which gives more away (for studies).

    Raises :class:`InvalidArgument`, :class:`InvalidNumber`, :class:`InvalidData` (the centres).

    >>> from profiles.terms import to_text
    >>> to_text(GaussianLloyd(initial_centres=[-1, 1], iterations=10, sigma_count=20, sigma_sum=30).profile.promise)
    'w*sqrt(T*(1/sigma_count**2 + z**2/sigma_sum**2))'
    """

    name: ClassVar[str] = "Gaussian DP-Lloyd"
    summary: ClassVar[str] = "k-means centres after T iterations with weighted counts and sums that have normal noise"
    source: ClassVar[str] = "docs/gaussian-weights.md, Theorem 14; the algorithm: Fay et al. 2024, Algorithm 2"
    count_field: ClassVar[tuple[str, str]] = ("sigma_count", "the standard deviation sigma_count")
    sum_field: ClassVar[tuple[str, str]] = ("sigma_sum", "the standard deviation sigma_sum")
    norm: ClassVar[float] = 2.0

    initial_centres: ArrayLike
    iterations: ExactLike = POSITIVE
    sigma_count: ExactLike = POSITIVE
    sigma_sum: ExactLike = POSITIVE
    radius: ExactLike = 4
    min_count: ExactLike | None = 1.0
    confine: bool = False
    arithmetic: Arithmetic | str = Arithmetic.EXACT

    @property
    def profile(self) -> Profile:
        """μ(w, x) = w √(T (1/σ_count² + z²/σ_sum²)) for z = ‖x‖₂ in [0, radius]."""
        return declare(
            self.name, notion=ProfileNotion.GAUSSIAN, mu="w*sqrt(T*(1/sigma_count**2 + z**2/sigma_sum**2))", record={"z": (0, self.radius)},
            parameters={"T": self.iterations, "sigma_count": self.sigma_count, "sigma_sum": self.sigma_sum}, source=self.source,
        )  # fmt: skip

    def laws(self) -> tuple[NoiseLaw, NoiseLaw]:
        return NORMAL, NORMAL

    def draw_scaled(self, rng: np.random.Generator, shape: tuple[int, ...], count_scale: float, sum_scale: float) -> LloydNoise:
        counts = rng.normal(0.0, count_scale, size=shape)
        return LloydNoise(counts, rng.normal(0.0, sum_scale, size=(*shape, self.centres.shape[1])))


_PLANE = ((-1.0, 0.0), (1.0, 0.0))

#: Two clusters in the plane, T = 10, σ_count = 25, σ_sum = 50, records of norm at most 4.
default = GaussianLloyd(initial_centres=_PLANE, iterations=10, sigma_count=25, sigma_sum=50)
#: Any number of iterations and any noise: a profile to prove things about.
general = GaussianLloyd(initial_centres=_PLANE)
