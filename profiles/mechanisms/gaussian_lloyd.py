"""Gaussian DP-Lloyd: k-means with weighted counts and weighted sums that have normal noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from profiles.arrays import Floats, ignore_flags
from profiles.declaring import declare
from profiles.hypotheses import PUBLIC_CENTRES, Hypothesis
from profiles.mechanisms.datasets import norms_within, to_points
from profiles.mechanisms.exact import open_release
from profiles.mechanisms.interface import POSITIVE, Arithmetic, check_call, noise_scale, suppose_noise, to_arithmetic
from profiles.mechanisms.lloyd_runs import LloydNoise, LloydRelease, plan_runs, sample_runs, settle_constants
from profiles.notions import ProfileNotion
from profiles.numbers import ExactLike
from profiles.profile import Profile
from profiles.randomness.rounded import NORMAL

_P = 2.0
_COUNT, _SUM = "the standard deviation sigma_count", "the standard deviation sigma_sum"


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianLloyd:
    """Claim: Gaussian DP-Lloyd has the profile μ(w, x) = w √(T (1/σ_count² + z²/σ_sum²)) in the notion ``gaussian``, z = ‖x‖₂.

    In each of T iterations every record goes to its nearest centre, and for each cluster C_j

        c_j = (ζ_j + Σ_{C_j} w x) / (ξ_j + Σ_{C_j} w),   ξ_j ~ N(0, σ_count²),   ζ_j ~ N(0, σ_sum² I),

    all noise independent. Given the centres so far the cluster of a record is a function of that record alone, so that (w, x) moves one
    count by w and one sum by w·x: in units of the noise a vector of length w √(1/σ_count² + ‖x‖₂²/σ_sum²), the same in each iteration
    whatever the earlier ones gave out. Squares of such lengths add up under adaptive composition, exactly: docs/gaussian-mechanisms.md,
    Theorems 2 and 3. The profile covers all noisy counts and sums; centres are made of them by post-processing, which is that of
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
    source: ClassVar[str] = "docs/gaussian-mechanisms.md, Theorem 3; the algorithm: Fay et al. 2024, Algorithm 2"

    initial_centres: ArrayLike
    iterations: ExactLike = POSITIVE
    sigma_count: ExactLike = POSITIVE
    sigma_sum: ExactLike = POSITIVE
    radius: ExactLike = 4
    min_count: ExactLike | None = 1.0
    confine: bool = False
    arithmetic: Arithmetic | str = Arithmetic.EXACT

    def __post_init__(self) -> None:
        settle_constants(self, sigma_count=_COUNT, sigma_sum=_SUM)

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """What the profile takes for granted of the centres and of the arithmetic that draws the noise."""
        return (*suppose_noise(to_arithmetic(self.arithmetic)), PUBLIC_CENTRES)

    @property
    def centres(self) -> Floats:
        """The initial centres as an array of shape (k, d)."""
        return np.array(self.initial_centres, dtype=np.float64)

    @property
    def profile(self) -> Profile:
        """μ(w, x) = w √(T (1/σ_count² + z²/σ_sum²)) for z = ‖x‖₂ in [0, radius]."""
        return declare(
            self.name, notion=ProfileNotion.GAUSSIAN, mu="w*sqrt(T*(1/sigma_count**2 + z**2/sigma_sum**2))", record={"z": (0, self.radius)},
            parameters={"T": self.iterations, "sigma_count": self.sigma_count, "sigma_sum": self.sigma_sum}, source=self.source,
        )  # fmt: skip

    @ignore_flags
    def statistic(self, data: object) -> dict[str, Floats]:
        """Return z = ‖x‖₂ of each record. Raises :class:`InvalidData`."""
        return {"z": norms_within(to_points(data, self.centres.shape[1]), _P, self.radius)}

    def run(self, data: object, weights: object, rng: object = None) -> Floats:
        """Return the final centres of one run, shape (k, d). Raises :class:`InvalidData`, :class:`InvalidArgument`."""
        output: Floats = self.sample((data, weights), rng, 1)[0]
        return output

    @ignore_flags
    def sample(self, dataset: object, rng: object, size: int) -> Floats:
        """Return the final centres of ``size`` independent runs, shape (size, k, d).

        Raises :class:`InvalidData`, :class:`InvalidArgument`.
        """
        return sample_runs(self, _P, dataset, rng, size)

    def __call__(self, dataset: object, rng: object, size: int) -> Floats:
        """Same as :meth:`sample`: the interface that audits judge."""
        return self.sample(dataset, rng, size)

    def open_release(self, rng: object = None, size: object = 1) -> LloydRelease:
        """Return what draws the exact noise of an iteration. Raises :class:`InvalidArgument`."""
        counts = open_release(self.sigma_count, _COUNT, NORMAL, rng, size)
        return LloydRelease(counts, open_release(self.sigma_sum, _SUM, NORMAL, counts.bits, size))

    def draw_noise(self, rng: np.random.Generator, size: int) -> LloydNoise:
        """Return the noise of ``size`` runs in binary64; it does not depend on any data. Raises :class:`InvalidArgument`."""
        check_call(rng, size)
        clusters, dimension = self.centres.shape
        shape = (size, plan_runs(self, _P).rounds, clusters)
        counts = rng.normal(0.0, noise_scale(self.sigma_count, _COUNT), size=shape)
        return LloydNoise(counts, rng.normal(0.0, noise_scale(self.sigma_sum, _SUM), size=(*shape, dimension)))


_PLANE = ((-1.0, 0.0), (1.0, 0.0))

#: Two clusters in the plane, T = 10, σ_count = 25, σ_sum = 50, records of norm at most 4.
default = GaussianLloyd(initial_centres=_PLANE, iterations=10, sigma_count=25, sigma_sum=50)
#: Any number of iterations and any noise: a profile to prove things about.
general = GaussianLloyd(initial_centres=_PLANE)
