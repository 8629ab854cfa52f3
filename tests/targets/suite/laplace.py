"""The Laplace mechanism, once and many times in parallel."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from profiles.arrays import Floats
from tests.targets.suite.case import SuiteCase, Truth, answers
from tests.targets.suite.noise import draw_laplace, release


@dataclass(frozen=True, slots=True)
class NoisyAnswers:
    """Claim: M(x) = x + ζ with independent ζ_i ~ Laplace(0, ``scale``) has ε(x, x′) = ‖x − x′‖₁/scale, exactly.

    Proof: the log density ratio at y is Σ_i (|y_i − x′_i| − |y_i − x_i|)/scale ≤ ‖x − x′‖₁/scale, with equality on the orthant of the y
    with (y_i − x_i)(x′_i − x_i) ≤ 0 for all i, which has positive probability; the same holds with x and x′ exchanged.

    A data set is an array of answers of any shape s, an output has the same shape: (size, *s).

    Source: Dwork, McSherry, Nissim, Smith 2006.
    """

    scale: Fraction

    def __call__(self, dataset: Any, rng: np.random.Generator, size: int, /) -> Floats:
        """Return ``size`` noisy vectors of answers."""
        return release(dataset + draw_laplace(rng, self.scale, (size, *np.shape(dataset))))


@dataclass(frozen=True, slots=True)
class ParallelLaplace:
    """Claim: the answer x released ``copies`` times, each with fresh Laplace noise, has ε(x, x′) = copies·|x − x′|/scale, exactly.

    Proof: it is :class:`NoisyAnswers` on the vector (x, …, x). The event that attains ε has all noise on one side: for 20 copies its
    probability is 2⁻²⁰ or so, although the log ratio of typical outputs is far smaller.
    """

    scale: Fraction
    copies: int

    def __call__(self, dataset: Any, rng: np.random.Generator, size: int, /) -> Floats:
        """Return outputs of shape (size, copies)."""
        return release(float(dataset) + draw_laplace(rng, self.scale, (size, self.copies)))


_SOURCE = "Dwork, McSherry, Nissim, Smith 2006; DP-Sniper (Bichsel et al. 2021)"

CASES = (
    SuiteCase(
        name="laplace",
        mechanism=NoisyAnswers(Fraction(10)),
        dataset=answers(0),
        neighbor=answers(1),
        neighboring="stated",
        claimed=Fraction("0.1"),
        truth=Truth.exactly("0.1", "|x - x'|/scale = 1/10: the density ratio is e^0.1 for all outputs below 0 and e^-0.1 for all above 1"),
        correct=True,
        source=_SOURCE,
    ),
    SuiteCase(
        name="parallel-laplace",
        mechanism=ParallelLaplace(Fraction(200), 20),
        dataset=answers(0),
        neighbor=answers(1),
        neighboring="stated",
        claimed=Fraction("0.1"),
        truth=Truth.exactly("0.1", "20 * |x - x'|/scale = 20 * 0.005: the ratio where all 20 outputs lie below 0, or all above 1"),
        correct=True,
        note="20 releases at 0.005 each; the event that shows all of it has probability 2^-20",
        source="DP-Sniper (Bichsel et al. 2021), LaplaceParallel",
    ),
)
