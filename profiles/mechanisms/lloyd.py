"""Weighted DP-Lloyd: k-means with noisy weighted counts and noisy weighted sums (Algorithm 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from profiles.composition import compose_adaptively
from profiles.hypotheses import PUBLIC_CENTRES, Hypothesis
from profiles.mechanisms.interface import POSITIVE, Arithmetic, require_norm, to_arithmetic
from profiles.mechanisms.k_norm_sum import KNormSum, draw_k_norm, suppose_k_norm
from profiles.mechanisms.lloyd_runs import LloydMechanism, LloydNoise
from profiles.mechanisms.weighted_count import WeightedCount
from profiles.numbers import ExactLike
from profiles.profile import Profile
from profiles.randomness.rounded import LAPLACE, NoiseLaw, k_norm_law


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedLloyd(LloydMechanism):
    """Claim: weighted DP-Lloyd has the PDP profile ε(w, x) = T·(w/β_count + w·z/β_sum), z = ‖x‖_p.

    In each of T iterations, every record goes to its nearest centre (Euclidean; the first one of a tie), and for each cluster C_j

        c_j = (ζ_j + Σ_{C_j} w x) / (ξ_j + Σ_{C_j} w),   ξ_j ~ Laplace(0, β_count),   ζ_j of density ∝ exp(−‖ζ‖_p/β_sum).

    Why an iteration costs one count and one sum, and not k of each: given the centres so far, which are public by then, the
    cluster of a record is a function of that record alone. Adding (w, x) therefore changes one of the k counts, by w, and one of
    the k sums, by w·x; the other 2(k − 1) quantities keep their distributions and cancel from the likelihood ratio (parallel
    composition over disjoint clusters). So the vector of counts is w/β_count-PDP and the vector of sums w·z/β_sum-PDP, like one
    weighted count and one K-norm weighted sum; adaptive composition adds up these 2T steps. The profile is composed from the two
    mechanisms' own profiles accordingly.

    Small counts: Algorithm 2 divides by any noisy count, also by one near 0 or below. Here a cluster whose noisy count is below
    ``min_count`` keeps its centre of the iteration before. That is post-processing: it looks at the noisy count, never at the
    true one, and at a centre that is already released or public. The default of 1 is the least weight that a cluster with a
    record can have; ``min_count=None`` divides always, as the paper does (a quotient that is not a finite float keeps the centre
    as well). The profile is the same for every choice.

    Centres outside the domain: noise can throw a centre far away from all records. With ``confine`` such a centre is moved onto the ball
    ‖x‖_p ≤ radius along its ray, in every iteration. That is post-processing as well. For p = 2 it is the nearest point of the ball, so
    that no record gets farther from the centre (projections onto convex sets do not lengthen distances to their points).

    Only the final centres are the output; the guarantee covers the centres of all iterations.

    In floating point, the cluster of a record is a function of that record and the centres alone as well, by the definition of
    :mod:`profiles.mechanisms.nearest`: parallel composition needs no hypothesis there. In exact mode records are truncated to integers,
    whose sums are exact, and what each iteration releases is correctly rounded (docs/exact-noise.md); p must be 1, 2 or ∞ to be run. In
    binary64 mode sums are rounded: that noise is added to exact sums is part of the hypothesis EXACT_ARITHMETIC. On large data a run needs
    memory for the data and a constant for each thread, and in exact mode for up to 2²⁷ truncated numbers (1 GiB), which are made once.

    ``initial_centres``: shape (k, d), or (k,) where d = 1; they must not be derived from the data. ``iterations`` is T, a positive
    integer; ``beta_count`` and ``beta_sum`` are positive numbers; each of the three may be ``"positive"`` for a profile that cannot be
    run. ``p`` ≥ 1 or ``math.inf``; ``radius`` bounds ‖x‖_p.
    ``arithmetic``: "exact" releases correctly rounded values; "binary64" draws the noise in binary64, which gives more away (for studies).

    Source: Fay et al. 2024, Proposition 13, Equation (3), Algorithm 2. Raises :class:`InvalidArgument`, :class:`InvalidNumber`,
    :class:`InvalidData` (the centres).

    >>> WeightedLloyd(initial_centres=[-1, 1], iterations=10, beta_count="20.5", beta_sum=30).profile.text
    'T*(w/beta_count + w*z/beta_sum)'
    """

    name: ClassVar[str] = "weighted DP-Lloyd"
    summary: ClassVar[str] = "k-means centres after T iterations with noisy weighted counts and sums"
    source: ClassVar[str] = "Fay et al. 2024, Proposition 13 and Algorithm 2"
    count_field: ClassVar[tuple[str, str]] = ("beta_count", "the noise scale beta_count")
    sum_field: ClassVar[tuple[str, str]] = ("beta_sum", "the noise scale beta_sum")

    initial_centres: ArrayLike
    iterations: ExactLike = POSITIVE
    beta_count: ExactLike = POSITIVE
    beta_sum: ExactLike = POSITIVE
    p: float = 2
    radius: ExactLike = 4
    min_count: ExactLike | None = 1.0
    confine: bool = False
    arithmetic: Arithmetic | str = Arithmetic.EXACT

    def __post_init__(self) -> None:
        LloydMechanism.__post_init__(self)
        require_norm(self.p)

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """What the profile takes for granted of the centres and of the arithmetic that draws the noise."""
        return (*suppose_k_norm(to_arithmetic(self.arithmetic), self.p), PUBLIC_CENTRES)

    @property
    def norm(self) -> float:
        return self.p

    @property
    def count(self) -> WeightedCount:
        """The weighted count that an iteration runs, on disjoint clusters."""
        return WeightedCount(beta_count=self.beta_count, arithmetic=self.arithmetic)

    @property
    def sum(self) -> KNormSum:
        """The weighted sum that an iteration runs, on disjoint clusters."""
        dimension = self.centres.shape[1]
        return KNormSum(beta_sum=self.beta_sum, p=self.p, radius=self.radius, dimension=dimension, arithmetic=self.arithmetic)

    @property
    def profile(self) -> Profile:
        """ε(w, x) = T·(w/β_count + w·z/β_sum) for z = ‖x‖_p in [0, radius], composed from the two parts."""
        parts = (self.count.profile, self.sum.profile)
        return compose_adaptively(self.name, parts, times="T", times_value=self.iterations, source=self.source)

    def laws(self) -> tuple[NoiseLaw, NoiseLaw]:
        """Return the laws of the noise, for p = 1, 2 and ∞. Raises :class:`InvalidArgument` for others."""
        return LAPLACE, k_norm_law(self.p)

    def draw_scaled(self, rng: np.random.Generator, shape: tuple[int, ...], count_scale: float, sum_scale: float) -> LloydNoise:
        counts = rng.laplace(0.0, count_scale, size=shape)
        return LloydNoise(counts, draw_k_norm(rng, shape, self.centres.shape[1], self.p, sum_scale))


_PLANE = ((-1.0, 0.0), (1.0, 0.0))

#: Two clusters in the plane, T = 10, β_count = 20.5, β_sum = 30, Euclidean records of norm at most 4.
default = WeightedLloyd(initial_centres=_PLANE, iterations=10, beta_count="20.5", beta_sum=30)
#: Any number of iterations and any noise scales: a profile to prove things about.
general = WeightedLloyd(initial_centres=_PLANE)
