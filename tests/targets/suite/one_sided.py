"""Exponential noise: one-sided privacy, its loss in the other direction, and what subsampling makes of both."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from profiles.arrays import Floats
from tests.targets.suite.case import SuiteCase, Truth, answers
from tests.targets.suite.noise import draw_selected, release


@dataclass(frozen=True, slots=True)
class ExponentialCount:
    """Claim: a count + Exp(``scale``) is 1/``scale``-add-DP; with ``sign`` = −1, a count − Exp(``scale``), it is not add-DP at all.

    Let the larger data set count one more, c + 1 against c. With noise that is added, its density is e^{1/scale} times the other on
    [c + 1, ∞) and 0 below: sup log P/P′ = 1/scale for adding the record, ∞ for removing it. With noise that is subtracted, outputs in (c,
    c + 1] are possible on the larger data set only.

    With ``rate`` = q < 1 each record is kept with probability q first. For D = {record}, D′ = {} and noise that is added, the density on
    D is (1 − q)f(y) + q f(y − 1): a multiple 1 + q(e^{1/scale} − 1) of f(y) where y ≥ 1, and 1 − q where 0 ≤ y < 1. So

        sup log P/P′ = log(1 + q(e^{1/scale} − 1)),   sup log P′/P = −log(1 − q).

    A data set is a vector with an entry for each record, outputs have shape (size,).

    Source: Ghazi et al., Definition 1.7 and Lemma 3.1; derivation above.
    """

    scale: Fraction
    sign: int = 1
    rate: Fraction = Fraction(1)

    def __call__(self, dataset: Any, rng: np.random.Generator, size: int, /) -> Floats:
        """Return ``size`` noisy counts."""
        noise = rng.exponential(float(self.scale), size=size)
        kept = draw_selected(rng, self.rate, (size, len(dataset))).sum(axis=1)
        return release(kept + self.sign * noise)


_ONE, _NOBODY = answers([1]), answers([])
_SAMPLED = ExponentialCount(Fraction(2), rate=Fraction(1, 4))
_SAMPLED_TRUTH = Truth.between(
    "0.287682072",
    "0.287682073",
    "-log(1 - q) with q = 1/4, at outputs in [0, 1), which are likelier without the record; in the other direction "
    "log(1 + q*(e^0.5 - 1)) = 0.1503 at outputs of at least 1",
)
_SOURCE = "Ghazi et al., Definition 1.7"

CASES = (
    SuiteCase(
        name="exponential-up",
        mechanism=ExponentialCount(Fraction(10)),
        dataset=_ONE,
        neighbor=_NOBODY,
        claimed=Fraction("0.1"),
        truth=Truth.exactly(
            "0.1", "for adding the record: the density ratio is e^0.1 on [1, oo) and 0 below; for removing it there is none"
        ),
        correct=True,
        one_sided=True,
        note="add-DP only: the bound of the other direction is infinite",
        source=_SOURCE,
    ),
    SuiteCase(
        name="exponential-down",
        mechanism=ExponentialCount(Fraction(10), sign=-1),
        dataset=_ONE,
        neighbor=_NOBODY,
        claimed=Fraction("0.1"),
        truth=Truth.infinite("outputs in (0, 1] have probability 1 - e^-0.1 with the record and 0 without it"),
        correct=False,
        one_sided=True,
        note="the noise has the wrong sign for add-DP",
        source=_SOURCE,
    ),
    SuiteCase(
        name="subsampled-exponential",
        mechanism=_SAMPLED,
        dataset=_ONE,
        neighbor=_NOBODY,
        claimed=Fraction("0.287682073"),
        truth=_SAMPLED_TRUTH,
        correct=True,
        note="add-DP after subsampling is DP in both directions; the claim is -log(1 - q), rounded up",
        source="Ghazi et al., Lemma 3.1",
    ),
    SuiteCase(
        name="subsampled-exponential-one-way",
        mechanism=_SAMPLED,
        dataset=_ONE,
        neighbor=_NOBODY,
        claimed=Fraction("0.150297826"),
        truth=_SAMPLED_TRUTH,
        correct=False,
        note="claims log(1 + q*(e^0.5 - 1)), the amplification of a guarantee in both directions, for one in one direction",
        source="Fay et al. 2024, Theorem 6, without its hypothesis",
    ),
)
