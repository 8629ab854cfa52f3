"""Amplification by Poisson sampling: right with fresh samples, wrong where one sample is released twice."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from profiles.arrays import Floats
from tests.targets.suite.case import SuiteCase, Truth, answers
from tests.targets.suite.noise import draw_laplace, draw_selected, release


@dataclass(frozen=True, slots=True)
class TwoSampledSums:
    """Two noisy sums of Poisson samples in which each record x_i is kept with probability q and then weighs 1/q.

    Each release is Σ_{kept} x_i/q + Laplace(0, scale). ``fresh``: each has a sample of its own; otherwise both are of one sample.

    Claims, for adding the record x to a data set, with ε = |x|/(q·scale):

    * fresh: ε is 2ψ with ψ = log(1 + q(e^ε − 1)), exactly;
    * one sample: log(1 + q(e^{2ε} − 1)), exactly, which is more than 2ψ for 0 < q < 1 and ε > 0.

    Proof: given the other records that are kept, the density of one release is (1 − q) f(y) + q f(y − x/q), of two of one sample
    (1 − q) f(y)f(y′) + q f(y − x/q) f(y′ − x/q). Its ratio to f(y), f(y)f(y′) is at most 1 − q + q e^ε, 1 − q + q e^{2ε}, attained beyond
    x/q, for the larger data set; in the other direction −log(1 − q + q e^{−ε}) ≤ ψ, likewise for 2ε. Fresh releases are independent. Last,
    (1 + q(E − 1))² < 1 + q(E² − 1) for E > 1: the difference is q(1 − q)(E − 1)².

    A data set is an array of scalar records. Outputs have shape (size, 2).

    Source: Fay et al. 2024, Theorem 6 (ψ; the importance weight 1/q), and its misuse.
    """

    q: Fraction
    scale: Fraction
    fresh: bool

    def __call__(self, dataset: Any, rng: np.random.Generator, size: int, /) -> Floats:
        """Return ``size`` pairs of sums."""
        samples = 2 if self.fresh else 1
        kept = draw_selected(rng, self.q, (size, samples, len(dataset)))
        sums = (kept * (np.asarray(dataset) / float(self.q))).sum(axis=2)
        return release(draw_laplace(rng, self.scale, (size, 2)) + sums)


_Q, _SCALE = Fraction(1, 10), Fraction(10)
_LARGER, _SMALLER = answers([1]), answers([])
_CLAIM = Fraction("0.317130158")

CASES = (
    SuiteCase(
        name="same-sample-twice",
        mechanism=TwoSampledSums(_Q, _SCALE, fresh=False),
        dataset=_LARGER,
        neighbor=_SMALLER,
        claimed=_CLAIM,
        truth=Truth.between(
            "0.494028708",
            "0.494028709",
            "log(1 + q(e^(2 eps) - 1)) with q = 0.1, eps = 1: the ratio where both outputs are at least 10, likelier on the data set",
        ),
        correct=False,
        note="2 psi is claimed, psi = log(1 + q(e^eps - 1)) for each release; both are of one sample",
        source="misuse of Fay et al. 2024, Theorem 6",
    ),
    SuiteCase(
        name="fresh-samples",
        mechanism=TwoSampledSums(_Q, _SCALE, fresh=True),
        dataset=_LARGER,
        neighbor=_SMALLER,
        claimed=_CLAIM,
        truth=Truth.between(
            "0.317130157",
            _CLAIM,
            "2 log(1 + q(e^eps - 1)) with q = 0.1, eps = 1: the ratio where both outputs are at least 10, likelier on the data set",
        ),
        correct=True,
        note="the same releases, each of a sample of its own",
        source="Fay et al. 2024, Theorem 6",
    ),
)
