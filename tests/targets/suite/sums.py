"""Partial, prefix and smart sums, with CheckDP's mistakes."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from profiles.arrays import Floats
from tests.targets.suite.case import SuiteCase, Truth, answers
from tests.targets.suite.noise import draw_laplace, release


@dataclass(frozen=True, slots=True)
class PartialSum:
    """Claim: x_1 + … + x_n + Laplace(0, scale) has ε = |Σ x − Σ x′|/scale, exactly. Output: a number, shape (size,).

    Source: Wang et al. 2019 (ShadowDP), PartialSum.
    """

    scale: Fraction

    def __call__(self, dataset: Any, rng: np.random.Generator, size: int, /) -> Floats:
        """Return ``size`` noisy sums."""
        return release(float(np.sum(dataset)) + draw_laplace(rng, self.scale, size))


@dataclass(frozen=True, slots=True)
class PrefixSum:
    """Claim: the running sums of x_i + Laplace(0, scale), i = 1, …, n, have ε = ‖x − x′‖₁/scale, exactly.

    Proof: differences of neighboring outputs give the noisy answers back, so that ε is theirs (see ``NoisyAnswers``). Outputs have shape
    (size, n).

    Source: Wang et al. 2019 (ShadowDP), PrefixSum, for answers of which one may change.
    """

    scale: Fraction

    def __call__(self, dataset: Any, rng: np.random.Generator, size: int, /) -> Floats:
        """Return ``size`` vectors of running sums."""
        noisy = release(dataset + draw_laplace(rng, self.scale, (size, len(dataset))))
        return np.cumsum(noisy, axis=1, out=noisy)


@dataclass(frozen=True, slots=True)
class SmartSum:
    """Running sums that restart from a noisy block total after every ``block`` answers.

    Inside a block each output adds x_i + Laplace(0, scale) to the one before; at the end of a block the output is the sum of all block
    totals so far, each released once with Laplace(0, total_scale) noise (``total_scale`` None: without noise).

    Claim: ε = Σ_{i not an end} |x_i − x′_i|/scale + Σ_{blocks} |total − total′|/total_scale, exactly. Proof: differences of neighboring
    outputs, and of ends of blocks, are a bijection of the outputs onto independently noisy numbers (the one at the end of a block takes
    part in the total only).

    Outputs have shape (size, n). Published variants differ in what they add to a block's total, which changes neither this bijection nor ε.

    Source: Chan, Shi, Song 2011; Wang et al. 2020 (CheckDP), SmartSum and BadSmartSum.
    """

    block: int
    scale: Fraction
    total_scale: Fraction | None

    def __call__(self, dataset: Any, rng: np.random.Generator, size: int, /) -> Floats:
        """Return ``size`` vectors of running sums."""
        n = len(dataset)
        outputs = release(dataset + draw_laplace(rng, self.scale, (size, n)))
        at_ends = np.zeros(size)
        for start in range(0, n, self.block):
            stop = start + self.block
            outputs[:, start] += at_ends
            np.cumsum(outputs[:, start:stop], axis=1, out=outputs[:, start:stop])
            if stop <= n:
                noise = np.zeros(size) if self.total_scale is None else draw_laplace(rng, self.total_scale, size)
                at_ends = at_ends + release(noise + float(np.sum(dataset[start:stop])))
                outputs[:, stop - 1] = at_ends
        return outputs


_ONES, _FIRST, _ZEROS = answers([1] * 10), answers([0] + [1] * 9), answers([0] * 10)
_SCALE = Fraction(10)

CASES = (
    SuiteCase(
        name="partial-sum",
        mechanism=PartialSum(_SCALE),
        dataset=_ONES,
        neighbor=_FIRST,
        neighboring="stated",
        claimed=Fraction("0.1"),
        truth=Truth.exactly("0.1", "the sum changes by 1 under Laplace noise of scale 10"),
        correct=True,
        source="Wang et al. 2019 (ShadowDP), PartialSum",
    ),
    SuiteCase(
        name="bad-partial-sum",
        mechanism=PartialSum(_SCALE / 2),
        dataset=_ONES,
        neighbor=_FIRST,
        neighboring="stated",
        claimed=Fraction("0.1"),
        truth=Truth.exactly("0.2", "the sum changes by 1 under Laplace noise of scale 5"),
        correct=False,
        note="half the noise: scale 1/(2*epsilon)",
        source="Wang et al. 2020 (CheckDP), BadPartialSum",
    ),
    SuiteCase(
        name="prefix-sum",
        mechanism=PrefixSum(_SCALE),
        dataset=_ONES,
        neighbor=_FIRST,
        neighboring="stated",
        claimed=Fraction("0.1"),
        truth=Truth.exactly("0.1", "differences give ten noisy answers back, of which one changes by 1 under noise of scale 10"),
        correct=True,
        source="Wang et al. 2019 (ShadowDP), PrefixSum",
    ),
    SuiteCase(
        name="prefix-sum-all-change",
        mechanism=PrefixSum(_SCALE),
        dataset=_ONES,
        neighbor=_ZEROS,
        neighboring="stated",
        claimed=Fraction(1),
        truth=Truth.exactly(1, "differences give ten noisy answers back, each of which changes by 1 under noise of scale 10"),
        correct=True,
        note="DP-Sniper's pair: all ten answers change, which ShadowDP's 0.1 does not cover; ten times that is claimed here",
        source="DP-Sniper (Bichsel et al. 2021), PrefixSum",
    ),
    SuiteCase(
        name="smart-sum",
        mechanism=SmartSum(5, _SCALE, _SCALE),
        dataset=_ONES,
        neighbor=_FIRST,
        neighboring="stated",
        claimed=Fraction("0.2"),
        truth=Truth.exactly(
            "0.2", "one noisy answer and one noisy block total change by 1, each under noise of scale 10; they are independent"
        ),
        correct=True,
        note="2*epsilon is what is claimed in the literature for noise of scale 1/epsilon",
        source="Wang et al. 2020 (CheckDP), SmartSum",
    ),
    SuiteCase(
        name="bad-smart-sum",
        mechanism=SmartSum(5, _SCALE, None),
        dataset=_ONES,
        neighbor=_FIRST,
        neighboring="stated",
        claimed=Fraction("0.2"),
        truth=Truth.infinite("the fifth output is the exact total of the first block: 5 on the data set, 4 on the neighbor"),
        correct=False,
        note="block totals without noise",
        source="Wang et al. 2020 (CheckDP), BadSmartSum",
    ),
)
