"""Weighted count: the sum of the weights plus Laplace noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from profiles.arrays import Floats, ignore_flags
from profiles.declaring import declare
from profiles.mechanisms.datasets import add_up, to_dataset, to_points
from profiles.mechanisms.exact import open_release
from profiles.mechanisms.interface import (
    POSITIVE,
    Arithmetic,
    NoisyMechanism,
    check_call,
    is_exact,
    noise_scale,
    require_positive,
    settle_arithmetic,
    settle_numbers,
)
from profiles.numbers import ExactLike
from profiles.profile import Profile
from profiles.randomness.rounded import LAPLACE


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedCount(NoisyMechanism):
    """Claim: M(S) = ξ + Σ w_i with ξ ~ Laplace(0, β_count) has the PDP profile ε(w, x) = w/β_count, whatever x is.

    Proof: adding (w, x) moves the sum of the weights by w, and |log of the Laplace density ratio| ≤ w/β_count.

    ``beta_count`` is the noise scale, in the unit of the weights: a positive number or ``"positive"``. Only the number of records and
    their weights are used; the values must be finite numbers, as for every mechanism here.
    ``arithmetic``: "exact" releases correctly rounded values; "binary64" draws the noise in binary64, which gives more away (for studies).

    Source: Fay et al. 2024, Appendix D.4 (proof of Proposition 13). Raises :class:`InvalidArgument`, :class:`InvalidNumber`.

    >>> WeightedCount(beta_count="20.5").profile.text
    'w/beta_count'
    """

    name: ClassVar[str] = "weighted count"
    summary: ClassVar[str] = "sum of the weights plus Laplace(beta_count) noise"
    source: ClassVar[str] = "Fay et al. 2024, Appendix D.4, proof of Proposition 13"

    beta_count: ExactLike = POSITIVE
    arithmetic: Arithmetic | str = Arithmetic.EXACT

    def __post_init__(self) -> None:
        settle_arithmetic(self)
        settle_numbers(self, beta_count="the noise scale beta_count")
        require_positive(self.beta_count, "the noise scale beta_count")

    @property
    def profile(self) -> Profile:
        """ε(w, x) = w/β_count; there is no record statistic."""
        return declare(self.name, "w/beta_count", parameters={"beta_count": self.beta_count}, source=self.source)

    @ignore_flags
    def statistic(self, data: object) -> dict[str, Floats]:
        """Return no statistic, after checking the records. Raises :class:`InvalidData`."""
        to_points(data, None)
        return {}

    def run(self, data: object, weights: object, rng: object = None) -> float:
        """Return one noisy count; ``weights`` None means 1. Raises :class:`InvalidData`, :class:`InvalidArgument`."""
        return float(self.sample((data, weights), rng, 1)[0])

    @ignore_flags
    def sample(self, dataset: object, rng: object, size: int) -> Floats:
        """Return ``size`` independent noisy counts, shape (size,). Raises :class:`InvalidData`, :class:`InvalidArgument`."""
        if is_exact(self):
            release = open_release(self.beta_count, "the noise scale beta_count", LAPLACE, rng, size)
            return release.draw_counts(to_dataset(dataset, None), size)
        generator = check_call(rng, size)
        scale = noise_scale(self.beta_count, "the noise scale beta_count")
        data = to_dataset(dataset, None)
        total = add_up(lambda: np.asarray(data.weights.sum()), "the sum of the weights")
        return float(total) + generator.laplace(0.0, scale, size=size)


#: β_count = 1.
default = WeightedCount(beta_count=1)
#: Any noise scale: a profile to prove things about.
general = WeightedCount()
