"""The sparse vector technique as one mechanism with the parameters in which its published versions differ."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from profiles.arrays import Booleans, Floats
from tests.targets.suite.noise import draw_laplace, release

#: What stands for the answers "below the threshold" and "not asked any more" where other outputs are numbers.
BELOW_VALUE, ABORTED_VALUE = -1000.0, -2000.0
ABOVE, BELOW, ABORTED = 1, 0, -1


class Answer(Enum):
    """What is released for a query above the threshold."""

    BIT = "the fact alone"
    VALUE = "the noisy answer that was compared"
    GAP = "how far it is above the noisy threshold"


@dataclass(frozen=True, slots=True)
class SparseVector:
    """Queries x_1, …, x_n of sensitivity 1 (all may change) are compared with a noisy threshold, one after the other.

    ρ ~ Laplace(0, threshold_scale); x_i is *above* where x_i + ν_i ≥ t + ρ with ν_i ~ Laplace(0, query_scale), independent (no noise where
    ``query_scale`` is None). After ``limit`` queries above (None: no limit) the rest is not asked. ``refresh_scale``: after each query
    above, ρ is drawn again with this scale. ``answer`` says what is released for a query above.

    Law: given ρ the comparisons are independent, so that the probability of a pattern is

        ∫ f_ρ(r) Π_{below} F_ν(t + r − x_i) Π_{above} (1 − F_ν(t + r − x_i)) dr,

    and a released number replaces its factor by a density: f_ν(v − x_i) on r ≤ v − t for the value v, f_ν(g + t + r − x_i) for the gap g ≥
    0.

    A data set is an array of n answers. Outputs have shape (size, n): bits 1, 0 and −1 for *not asked*; or numbers, with −1000 for
    *below* and −2000 for *not asked*.

    Sources: Lyu, Su, Li 2017, Algorithms 1 to 6; for gaps Wang et al. 2019 and Ding et al. 2019.
    """

    threshold: Fraction
    threshold_scale: Fraction
    query_scale: Fraction | None
    limit: int | None
    answer: Answer = Answer.BIT
    refresh_scale: Fraction | None = None

    def __call__(self, dataset: Any, rng: np.random.Generator, size: int, /) -> NDArray[Any]:
        """Return ``size`` outputs."""
        if self.answer is not Answer.BIT:
            return self._numbers(dataset, rng, size)
        bits = np.empty((len(dataset), size), dtype=bool)
        level = draw_laplace(rng, self.threshold_scale, size) + float(self.threshold)
        chances: dict[float, Floats] = {}
        for i, query in enumerate(map(float, dataset)):
            if self.query_scale is None:
                np.greater_equal(query, level, out=bits[i])
                continue
            if query not in chances or self.refresh_scale is not None:
                chances[query] = laplace_tail(level - query, self.query_scale)
            np.less(rng.random(size), chances[query], out=bits[i])
            if self.refresh_scale is not None:
                fresh = draw_laplace(rng, self.refresh_scale, int(bits[i].sum()))
                level[bits[i]] = fresh + float(self.threshold)
        codes = bits.astype(np.int8)
        codes[find_aborted(bits, self.limit)] = ABORTED
        return np.ascontiguousarray(codes.T)

    def _numbers(self, dataset: Any, rng: np.random.Generator, size: int) -> Floats:
        """The comparison itself is released, so its noise is drawn."""
        scale = self.query_scale if self.query_scale is not None else Fraction(0)
        level = draw_laplace(rng, self.threshold_scale, (size, 1)) + float(self.threshold)
        noisy = draw_laplace(rng, scale, (size, len(dataset)))
        noisy += dataset
        gaps = noisy - level
        bits = gaps >= 0
        outputs = release(gaps if self.answer is Answer.GAP else noisy)
        outputs[~bits] = BELOW_VALUE
        outputs[find_aborted(bits.T, self.limit).T] = ABORTED_VALUE
        return outputs


def laplace_tail(points: Floats, scale: Fraction) -> Floats:
    """Return P(Laplace(0, scale) ≥ t) for each t in ``points``."""
    half = 0.5 * np.exp(np.abs(points) * (-1.0 / float(scale)))
    return np.where(points > 0, half, 1.0 - half)


def find_aborted(bits: Booleans, limit: int | None) -> Booleans:
    """Return which queries come after ``limit`` bits that are set; queries are rows, outputs are columns."""
    if limit is None:
        return np.zeros(bits.shape, dtype=bool)
    aborted = np.empty(bits.shape, dtype=bool)
    count = np.zeros(bits.shape[1:], dtype=np.int16)
    for i, row in enumerate(bits):
        np.greater_equal(count, limit, out=aborted[i])
        count += row
    return aborted
