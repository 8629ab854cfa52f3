"""Weighted DP-Lloyd, whose profile is tight for one iteration, loose for several, and wrong with a wrong radius."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from profiles.arrays import Floats
from profiles.mechanisms import WeightedLloyd
from profiles.mechanisms.datasets import to_dataset
from profiles.mechanisms.k_norm_sum import draw_directions
from profiles.mechanisms.lloyd_runs import LloydNoise, PostProcessing, move_centres
from tests.targets.suite.case import SuiteCase, Truth, answers
from tests.targets.suite.noise import Blocks, draw_laplace


@dataclass(frozen=True, slots=True)
class ExponentialRadiusLloyd:
    """One iteration of DP-Lloyd with one cluster in R^d whose sum gets the noise R·θ, R ~ Exp(sum_scale) instead of Gamma(d, sum_scale).

    Claim: ε({x}, {}) = ∞ for d ≥ 2 and x ≠ 0. Proof: with h(ζ) ∝ ‖ζ‖^{1−d} e^{−‖ζ‖/scale} for the noise of the sum and f for the noise of
    the count, the centre c ≠ 0 has on {x} the density ∫_{n ≥ 1} n^d h(c n − x) f(n − 1) dn, which grows without bound as c approaches a
    point x/n₀, n₀ > 1, of the segment from 0 to x. On {} it is ∫_{n ≥ 1} n^d h(c n) f(n) dn, which is bounded there.

    Outputs have shape (size, 1, d).
    """

    count_scale: Fraction
    sum_scale: Fraction
    dimension: int

    def __call__(self, dataset: Any, rng: np.random.Generator, size: int, /) -> Floats:
        """Return the centre of ``size`` runs; the initial centre is 0."""
        data = to_dataset(dataset, self.dimension)
        sums = draw_directions(rng, (size, 1, 1), self.dimension, 2.0) * rng.exponential(float(self.sum_scale), size=(size, 1, 1, 1))
        noise = LloydNoise(draw_laplace(rng, self.count_scale, (size, 1, 1)), sums)
        return move_centres(data, np.zeros((1, self.dimension)), noise, PostProcessing())


_PAIR = ((-1.0, 0.0), (1.0, 0.0))
_TWO, _ONE = answers([[1, 0], [1, 0]]), answers([[1, 0]])
_SOURCE = "Fay et al. 2024, Proposition 13 and Algorithm 2"

CASES = (
    SuiteCase(
        name="lloyd-one-iteration",
        mechanism=Blocks(WeightedLloyd(initial_centres=_PAIR, iterations=1, beta_count=20, beta_sum=20), rounded=True),
        dataset=_TWO,
        neighbor=_ONE,
        claimed=Fraction("0.1"),
        truth=Truth.exactly(
            "0.1",
            "at most w/beta_count + w|x|/beta_sum = 1/20 + 1/20; approached by the event that the centre of the record's cluster lies in "
            "a thin cone around -x, further and further out: the noisy sum n*c then favours the neighbor by e^(1/20), and the noisy count "
            "n, at least 1, concentrates at 1, where it favours the neighbor by e^(1/20) too",
        ),
        correct=True,
        note="two clusters, one iteration; outputs that show all of it are rare",
        source=_SOURCE,
    ),
    SuiteCase(
        name="lloyd-ten-iterations",
        mechanism=Blocks(WeightedLloyd(initial_centres=((0.0, 0.0),), iterations=10, beta_count="20.5", beta_sum=30), rounded=True),
        dataset=_TWO,
        neighbor=_ONE,
        claimed=Fraction(20, 41) + Fraction(1, 3),
        truth=Truth.between(
            "0.487804878",
            "0.487804879",
            "one cluster: the centre stays at its start exactly if all ten noisy counts are below 1, p^10 with p = 1/2 on the neighbor and "
            "e^(-1/20.5)/2 on the data set, a ratio of 10/20.5 = 20/41; elsewhere the density is (1 + p + ... + p^9) times that of one "
            "iteration, a ratio of less than 0.13",
        ),
        correct=True,
        note="only the last centre is released, the claim covers all ten",
        source=_SOURCE,
    ),
    SuiteCase(
        name="lloyd-two-clusters",
        mechanism=Blocks(WeightedLloyd(initial_centres=_PAIR, iterations=3, beta_count="20.5", beta_sum=30), rounded=True),
        dataset=_TWO,
        neighbor=_ONE,
        claimed=Fraction(6, 41) + Fraction(1, 10),
        truth=Truth(
            Fraction("0.146341463"),
            Fraction(6, 41) + Fraction(1, 10),
            "at most the profile 3 (1/20.5 + 1/30); at least 3/20.5 by the event that both centres stay at their start, where all noisy "
            "counts are below 1",
        ),
        correct=True,
        note="an enclosure: what three iterations with two clusters have exactly is not known",
        source=_SOURCE,
    ),
    SuiteCase(
        name="bad-lloyd",
        mechanism=Blocks(ExponentialRadiusLloyd(Fraction(20), Fraction(20), 5), rounded=False),
        dataset=answers([[1, 0, 0, 0, 0]]),
        neighbor=answers(np.zeros((0, 5))),
        claimed=Fraction("0.1"),
        truth=Truth.infinite(
            "the noise of the sum has a pole, so that the density of the centre is unbounded near the segment from 0 to x, on {x} only"
        ),
        correct=False,
        note="radius Exp(20) for Gamma(5, 20)",
        source=f"{_SOURCE}, with the radius of one dimension",
    ),
)
