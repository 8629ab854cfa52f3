"""Noise of density ∝ exp(−‖ζ‖₂/β) in d dimensions, with the right law of its radius and with a wrong one."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from profiles.arrays import Floats
from profiles.mechanisms import KNormSum
from profiles.mechanisms.k_norm_sum import draw_directions
from tests.targets.suite.case import SuiteCase, Truth, answers
from tests.targets.suite.noise import Blocks


@dataclass(frozen=True, slots=True)
class ExponentialRadiusSum:
    """Σ x_i + R·θ with θ uniform on the unit sphere of R^d and R ~ Exp(scale): a common slip for R ~ Gamma(d, scale).

    Claim: ε = ∞ for d ≥ 2 and sums that differ; for d = 1 it is the Laplace mechanism. Proof: the density of the noise is
    proportional to ‖ζ‖^{1−d} e^{−‖ζ‖/scale}. On a small ball around one sum its average grows without bound as the ball
    shrinks, while the density of the other law stays bounded there.

    A data set is an array of records, shape (n, d). Outputs have shape (size, d).
    """

    scale: Fraction
    dimension: int

    def __call__(self, dataset: Any, rng: np.random.Generator, size: int, /) -> Floats:
        """Return ``size`` noisy sums."""
        radii = rng.exponential(float(self.scale), size=(size, 1))
        noise: Floats = draw_directions(rng, (size,), self.dimension, 2.0)
        noise *= radii
        noise += np.sum(dataset, axis=0)
        return noise


_DIMENSIONS = (1, 2, 5, 10, 50, 100)
_CLAIM = Fraction("0.1")


def _record(dimension: int) -> Floats:
    return answers(np.eye(1, dimension))


def _nobody(dimension: int) -> Floats:
    return answers(np.zeros((0, dimension)))


def _right(dimension: int) -> SuiteCase:
    return SuiteCase(
        name=f"k-norm-{dimension}",
        mechanism=Blocks(KNormSum(beta_sum=10, p=2, dimension=dimension), rounded=True),
        dataset=_record(dimension),
        neighbor=_nobody(dimension),
        claimed=_CLAIM,
        truth=Truth.exactly(
            "0.1",
            "(|y - x| - |y|)/10 is at most |x|/10 = 0.1 in size, and attained on the ray through x (approached in thin cones around it)",
        ),
        correct=True,
        note="" if dimension < 10 else "outputs near the ray are rare: a typical one has a log ratio of 0.1/sqrt(d)",
        source="Hardt and Talwar 2010; Fay et al. 2024, proof of Proposition 13",
    )


def _wrong(dimension: int) -> SuiteCase:
    pole = "the noise density has a pole |z|^(1 - d) at 0: on small balls around one sum the ratio of the probabilities is unbounded"
    return SuiteCase(
        name=f"k-norm-exponential-{dimension}",
        mechanism=Blocks(ExponentialRadiusSum(Fraction(10), dimension), rounded=dimension == 1),
        dataset=_record(dimension),
        neighbor=_nobody(dimension),
        claimed=_CLAIM,
        truth=Truth.exactly("0.1", "in one dimension it is the Laplace mechanism of scale 10") if dimension == 1 else Truth.infinite(pole),
        correct=dimension == 1,
        note="radius Exp(10), which is Gamma(1, 10): right in one dimension" if dimension == 1 else "radius Exp(10) for Gamma(d, 10)",
        source="Fay et al. 2024, Algorithm 2, with the radius of one dimension",
    )


CASES = tuple(make(dimension) for dimension in _DIMENSIONS for make in (_right, _wrong))
