"""Gaussian weighted sum: ζ + Σ w_i x_i with independent normal noise in every coordinate."""

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
from profiles.notions import ProfileNotion
from profiles.numbers import ExactLike
from profiles.profile import Profile
from profiles.randomness.rounded import NORMAL

_P = 2.0
_SIGMA = "the standard deviation sigma"


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianSum:
    """Claim: M(S) = ζ + Σ w_i x_i with ζ_j iid N(0, σ²) has the profile μ(w, x) = w·z/σ in the notion ``gaussian``, z = ‖x‖₂.

    Proof: the laws with and without (w, x) are N(g + w·x, σ²I) and N(g, σ²I), which no test tells apart better, nor worse, than
    N(w‖x‖₂/σ, 1) and N(0, 1): rotate w·x to the first axis (docs/gaussian-mechanisms.md, Theorem 1). That is no ε: for which ε and δ it
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
    source: ClassVar[str] = "Dong, Roth and Su 2022, Theorem 2.7; docs/gaussian-mechanisms.md, Theorem 1"

    sigma: ExactLike = POSITIVE
    radius: ExactLike = 4
    dimension: int = 1
    arithmetic: Arithmetic | str = Arithmetic.EXACT

    def __post_init__(self) -> None:
        settle_arithmetic(self)
        settle_numbers(self, sigma=_SIGMA, radius="the radius")
        require_positive(self.sigma, _SIGMA)
        check_radius(self.radius)
        object.__setattr__(self, "dimension", to_dimension(self.dimension))

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """What the profile takes for granted of the arithmetic that draws the noise."""
        return suppose_noise(to_arithmetic(self.arithmetic))

    @property
    def profile(self) -> Profile:
        """μ(w, x) = w·z/σ for z = ‖x‖₂ in [0, radius]."""
        return declare(
            self.name, notion=ProfileNotion.GAUSSIAN, mu="w*z/sigma", record={"z": (0, self.radius)}, parameters={"sigma": self.sigma},
            source=self.source,
        )  # fmt: skip

    @ignore_flags
    def statistic(self, data: object) -> dict[str, Floats]:
        """Return z = ‖x‖₂ of each record. Raises :class:`InvalidData`."""
        return {"z": norms_within(to_points(data, self.dimension), _P, self.radius)}

    def run(self, data: object, weights: object, rng: object = None) -> Floats:
        """Return one noisy sum, shape (d,); ``weights`` None means 1. Raises :class:`InvalidData`, :class:`InvalidArgument`."""
        output: Floats = self.sample((data, weights), rng, 1)[0]
        return output

    @ignore_flags
    def sample(self, dataset: object, rng: object, size: int) -> Floats:
        """Return ``size`` independent noisy sums, shape (size, d). Raises :class:`InvalidData`, :class:`InvalidArgument`."""
        if is_exact(self):
            release = open_release(self.sigma, _SIGMA, NORMAL, rng, size)
            return release.draw_sums(to_dataset(dataset, self.dimension, self.radius, _P), size)
        generator = check_call(rng, size)
        scale = noise_scale(self.sigma, _SIGMA)
        data = to_dataset(dataset, self.dimension, self.radius, _P)
        total = add_up(lambda: data.weights @ data.points, "the weighted sum")
        return total + generator.normal(0.0, scale, size=(size, self.dimension))

    def __call__(self, dataset: object, rng: object, size: int) -> Floats:
        """Same as :meth:`sample`: the interface that audits judge."""
        return self.sample(dataset, rng, size)


#: σ = 30, scalars of absolute value at most 4.
default = GaussianSum(sigma=30)
#: Any noise: a profile to prove things about.
general = GaussianSum()
