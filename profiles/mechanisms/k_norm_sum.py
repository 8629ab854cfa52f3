"""K-norm weighted sum: ζ + Σ w_i x_i with noise of density ∝ exp(−‖ζ‖_p/β_sum), for any l_p geometry with p ≥ 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from profiles.arrays import Floats
from profiles.errors import InvalidArgument
from profiles.hypotheses import Hypothesis
from profiles.mechanisms.interface import POSITIVE, Arithmetic, require_norm, suppose_noise, to_arithmetic
from profiles.mechanisms.weighted_sum import WeightedSum
from profiles.numbers import ExactLike
from profiles.randomness.rounded import NoiseLaw, k_norm_law


@dataclass(frozen=True, slots=True, kw_only=True)
class KNormSum(WeightedSum):
    """Claim: M(S) = ζ + Σ w_i x_i with ζ of density ∝ exp(−‖ζ‖_p/β_sum) on R^d has the PDP profile ε(w, x) = w·z/β_sum, z = ‖x‖_p.

    Proof: the normalising constant does not depend on the data, and by the triangle inequality
    |‖y − g‖_p − ‖y − g'‖_p| ≤ ‖g − g'‖_p = w‖x‖_p. This needs p ≥ 1; for p < 1, which the paper's "for some
    p > 0" admits, the inequality and the profile fail.

    Samplers: in exact mode that of :func:`~profiles.randomness.rounded.k_norm_law`, for p = 1, 2 and ∞; others are refused when run. In
    binary64 :func:`draw_k_norm`, for all p: radius ~ Gamma(d, β_sum), independent direction from the cone measure.

    ``beta_sum`` is the noise scale, in the unit of the data: a positive number or ``"positive"``. ``p`` ≥ 1 or ``math.inf``;
    ``radius`` bounds ‖x‖_p; ``dimension`` is d. For p = 1 this is the Laplace weighted sum in another parametrisation.
    ``arithmetic``: "exact" releases correctly rounded values; "binary64" draws the noise in binary64, which gives more away (for studies).

    Source: Fay et al. 2024, Appendix D.4 (proof of Proposition 13). Raises :class:`InvalidArgument`, :class:`InvalidNumber`.

    >>> KNormSum(beta_sum=30, p=2, dimension=3).run(np.zeros((0, 3)), None, np.random.default_rng(0)).shape
    (3,)
    """

    name: ClassVar[str] = "K-norm weighted sum"
    summary: ClassVar[str] = "weighted sum of vectors plus noise of density proportional to exp(-|noise|_p / beta_sum), any p >= 1"
    source: ClassVar[str] = "Fay et al. 2024, Appendix D.4, proof of Proposition 13; Hardt and Talwar 2010"
    scale_field: ClassVar[tuple[str, str]] = ("beta_sum", "the noise scale beta_sum")

    beta_sum: ExactLike = POSITIVE
    p: float = 2
    radius: ExactLike = 4
    dimension: int = 2
    arithmetic: Arithmetic | str = Arithmetic.EXACT

    def __post_init__(self) -> None:
        WeightedSum.__post_init__(self)
        require_norm(self.p)

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """What the profile takes for granted of the arithmetic that draws the noise."""
        return suppose_k_norm(to_arithmetic(self.arithmetic), self.p)

    @property
    def norm(self) -> float:
        return self.p

    def law(self) -> NoiseLaw:
        """Return the law of the norm, for p = 1, 2 and ∞. Raises :class:`InvalidArgument` for others."""
        return k_norm_law(self.p)

    def draw_noise(self, rng: np.random.Generator, scale: float, size: int) -> Floats:
        return draw_k_norm(rng, (size,), self.dimension, self.p, scale)


def suppose_k_norm(arithmetic: Arithmetic, p: float) -> tuple[Hypothesis, ...]:
    """Return what :func:`suppose_noise` does; for a norm without an exact sampler, which is refused when run, nothing is known of a run:
    exact real arithmetic is supposed.

    >>> [item.id for item in suppose_k_norm(Arithmetic.EXACT, 3)]
    ['exact-reals']
    """
    try:
        k_norm_law(p)
    except InvalidArgument:
        return suppose_noise(Arithmetic.BINARY64)
    return suppose_noise(arithmetic)


#: Euclidean geometry in the plane, β_sum = 1, records of norm at most 4.
default = KNormSum(beta_sum=1)
#: Any noise scale: a profile to prove things about.
general = KNormSum()


def draw_directions(rng: np.random.Generator, shape: tuple[int, ...], dimension: int, p: float) -> Floats:
    """Return independent points of the l_p unit sphere under its cone measure, as an array of shape ``(*shape, dimension)``.

    The cone measure of a piece A of the sphere is the volume share of the cone {t·a : a ∈ A, 0 ≤ t ≤ 1} in the unit ball.
    If g has independent entries of density ∝ exp(−|g_i|^p), the density ∝ exp(−‖g‖_p^p) of g depends on ‖g‖_p only, so that g/‖g‖_p
    has the cone measure and is independent of ‖g‖_p (Schechtman and Zinn 1990). |g_i|^p ~ Gamma(1/p), by substitution.

    Computed as |g_i| = G^(1/p) · U with G ~ Gamma(1 + 1/p) and U uniform on (0, 1], because G·U^p ~ Gamma(1/p) (Stuart 1962). Raising a
    Gamma(1/p) variate to the power 1/p would underflow to 0 for large p; this form does not, and at p = ∞ it is the uniform
    point of the cube, whose quotient by its max norm has the cone measure of the cube.
    """
    size = (*shape, dimension)
    magnitude = rng.gamma(1.0 + 1.0 / p, size=size) ** (1.0 / p) * (1.0 - rng.random(size))
    signs = 2.0 * rng.integers(0, 2, size=size) - 1.0
    largest = magnitude.max(axis=-1, keepdims=True)
    ratios = magnitude / largest
    with np.errstate(all="ignore"):
        lengths = 1.0 if np.isinf(p) else (ratios**p).sum(axis=-1, keepdims=True) ** (1.0 / p)
    return np.asarray(signs * ratios / lengths, dtype=np.float64)


def draw_k_norm(rng: np.random.Generator, shape: tuple[int, ...], dimension: int, p: float, scale: float) -> Floats:
    """Return independent draws from the density p(ζ) = exp(−‖ζ‖_p / β) / (d! · β^d · vol(B_p)), shape ``(*shape, dimension)``.

    Derivation: in polar coordinates of the norm, ζ = R·θ with R = ‖ζ‖_p and θ on the unit sphere, Lebesgue measure is
    d·vol(B_p) · R^(d−1) dR × (cone measure of θ). Hence R and θ are independent, θ has the cone measure, and R has the density
    ∝ R^(d−1) exp(−R/β): R ~ Gamma(shape d, scale β). (The exponential law, Gamma(1, β), would be right in one dimension only: for d > 1
    its density ‖ζ‖_p^(1−d) exp(−‖ζ‖_p/β) has a pole at the true sum, which no finite ε covers.)

    Source: Hardt and Talwar 2010, Section 4 (K-norm mechanism); Fay et al. 2024, Section 4 and Algorithm 2.
    """
    radii = rng.gamma(float(dimension), scale, size=(*shape, 1))
    return draw_directions(rng, shape, dimension, p) * radii
