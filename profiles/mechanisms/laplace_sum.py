"""Laplace weighted sum: ζ + Σ w_i x_i with independent Laplace noise in every coordinate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from profiles.arrays import Floats
from profiles.mechanisms.interface import POSITIVE, Arithmetic
from profiles.mechanisms.weighted_sum import WeightedSum
from profiles.numbers import ExactLike
from profiles.randomness.rounded import LAPLACE, NoiseLaw


@dataclass(frozen=True, slots=True, kw_only=True)
class LaplaceSum(WeightedSum):
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
    scale_field: ClassVar[tuple[str, str]] = ("b", "the noise scale b")
    norm: ClassVar[float] = 1.0

    b: ExactLike = POSITIVE
    radius: ExactLike = 4
    dimension: int = 1
    arithmetic: Arithmetic | str = Arithmetic.EXACT

    def law(self) -> NoiseLaw:
        """Return the law of independent Laplace coordinates."""
        return LAPLACE

    def draw_noise(self, rng: np.random.Generator, scale: float, size: int) -> Floats:
        return rng.laplace(0.0, scale, size=(size, self.dimension))


#: The paper's mechanism: b = 1, scalars of absolute value at most 4.
default = LaplaceSum(b=1)
#: Any noise scale: a profile to prove things about.
general = LaplaceSum()
