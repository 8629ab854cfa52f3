"""Gaussian weighted sum: ζ + Σ w_i x_i with independent normal noise in every coordinate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from profiles.arrays import Floats
from profiles.mechanisms.interface import POSITIVE, Arithmetic
from profiles.mechanisms.weighted_sum import WeightedSum
from profiles.notions import ProfileNotion
from profiles.numbers import ExactLike
from profiles.randomness.rounded import NORMAL, NoiseLaw


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianSum(WeightedSum):
    """Claim: M(S) = ζ + Σ w_i x_i with ζ_j iid N(0, σ²) has the profile μ(w, x) = w·z/σ in the notion ``gaussian``, z = ‖x‖₂.

    Proof: the laws with and without (w, x) are N(g + w·x, σ²I) and N(g, σ²I), which no test tells apart better, nor worse, than
    N(w‖x‖₂/σ, 1) and N(0, 1): rotate w·x to the first axis (docs/gaussian-weights.md, Theorem 12). That is not an ε: for which ε and δ it
    is enough say :mod:`accountant.curves` and ``accountant.guarantees.derive_mechanism``.

    ``sigma`` is the standard deviation, in the unit of the data: a positive number, or ``"positive"`` for a profile over all of them,
    which cannot be run. ``radius`` bounds ‖x‖₂; ``dimension`` is d.
    ``arithmetic``: "exact" releases correctly rounded values; "binary64" draws the noise in binary64, which gives more away (for studies).

    Source: Dong, Roth, Su 2022, Theorem 2.7. Raises :class:`InvalidArgument`, :class:`InvalidNumber`.

    >>> from profiles.terms import to_text
    >>> to_text(GaussianSum(sigma=30).profile.promise)
    'w*z/sigma'
    >>> GaussianSum(sigma=30, dimension=2).run([[1.0, 3.0]], [2]).shape
    (2,)
    """

    name: ClassVar[str] = "Gaussian weighted sum"
    summary: ClassVar[str] = "weighted sum of vectors plus independent N(0, sigma^2) noise in each coordinate"
    source: ClassVar[str] = "Dong, Roth and Su 2022, Theorem 2.7; docs/gaussian-weights.md, Theorem 12"
    notion: ClassVar[ProfileNotion] = ProfileNotion.GAUSSIAN
    scale_field: ClassVar[tuple[str, str]] = ("sigma", "the standard deviation sigma")
    norm: ClassVar[float] = 2.0

    sigma: ExactLike = POSITIVE
    radius: ExactLike = 4
    dimension: int = 1
    arithmetic: Arithmetic | str = Arithmetic.EXACT

    def law(self) -> NoiseLaw:
        """Return the law of independent normal coordinates."""
        return NORMAL

    def draw_noise(self, rng: np.random.Generator, scale: float, size: int) -> Floats:
        return rng.normal(0.0, scale, size=(size, self.dimension))


#: σ = 30, scalars of absolute value at most 4.
default = GaussianSum(sigma=30)
#: Any noise: a profile to prove things about.
general = GaussianSum()
