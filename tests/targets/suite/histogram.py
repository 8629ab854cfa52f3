"""Noisy histograms, with the noise scale 1/ε and with the slip ε."""

from __future__ import annotations

from fractions import Fraction

from tests.targets.suite.case import SuiteCase, Truth, answers
from tests.targets.suite.laplace import NoisyAnswers

#: One record more in the first bin: a histogram changes in one place.
_SMALLER, _LARGER = answers([0, 1, 1, 1, 1]), answers([1, 1, 1, 1, 1])

CASES = (
    SuiteCase(
        name="noisy-histogram-1",
        mechanism=NoisyAnswers(Fraction(10)),
        dataset=_LARGER,
        neighbor=_SMALLER,
        neighboring="stated",
        claimed=Fraction("0.1"),
        truth=Truth.exactly("0.1", "one bin changes by 1 under Laplace noise of scale 10; the other bins cancel"),
        correct=True,
        source="Ding et al. 2018, Algorithm 9",
    ),
    SuiteCase(
        name="noisy-histogram-2",
        mechanism=NoisyAnswers(Fraction(1, 10)),
        dataset=_LARGER,
        neighbor=_SMALLER,
        neighboring="stated",
        claimed=Fraction("0.1"),
        truth=Truth.exactly("10", "one bin changes by 1 under Laplace noise of scale 0.1"),
        correct=False,
        note="noise of scale epsilon instead of 1/epsilon",
        source="Ding et al. 2018, Algorithm 10",
    ),
)
