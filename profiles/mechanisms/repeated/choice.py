"""One round of the exponential mechanism: a candidate with probability proportional to e^(λ·score), exactly, or by Gumbel noise."""

from __future__ import annotations

from bisect import bisect_right
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from profiles.mechanisms.repeated.exponentials import draw_exp, enclose_exp
from profiles.mechanisms.repeated.interface import read_exact
from profiles.mechanisms.repeated.randomness import DIGIT_BITS, RandomDigits, draw_below

#: Candidates whose exponent is beyond are grouped together; what groups there are changes the time, never the law.
_MOST_GROUP = 2048
#: (1 + 2⁻⁵³)⁵·(1 − 2⁻⁵⁰) < 1.
_SHRINK = 1.0 - 2.0**-50


class ExponentialChoice:
    """Claim: :meth:`draw` returns index c with probability exactly e^(λq_c) / Σ e^(λq_b), for scores q and the rational rate λ > 0.

    Let x_c = λ(max q − q_c) ≥ 0, and let n_c be any integers with 0 ≤ n_c ≤ x_c. A group n is drawn with probability proportional to
    (its number of candidates)·e^−n, one of its candidates uniformly, and it is kept with probability e^−(x_c − n); otherwise all is drawn
    again. A round of this keeps c with probability proportional to e^−n·e^−(x_c − n) = e^−x_c, which is the claim. Here n_c is
    x_c rounded down (a little lower where floats cannot tell), so that at least about a third of the draws is kept. Groups, candidates
    and the last step are drawn from random digits by enclosures that are refined until they decide.

    ``scores``: from :func:`~profiles.mechanisms.repeated.interface.read_scores`, shape (m,). The cost is that of a few vector operations
    on them for each choice, and less than 0.1 ms for each draw.

    Source: Ghazi et al. 2024, Section 2 (exponential mechanism); derivation above.
    """

    __slots__ = ("_ends", "_groups", "_order", "_rate", "_scores", "_sums", "_top")

    def __init__(self, scores: np.ndarray[Any, Any], rate: Fraction) -> None:
        self._scores, self._rate = scores, rate
        best = scores.max()
        self._top = read_exact(best)
        whole = _round_down(scores, best, rate)
        self._order: NDArray[np.intp] = np.argsort(whole, kind="stable")
        counts = np.bincount(whole)
        groups = np.flatnonzero(counts)
        self._groups: list[int] = groups.tolist()
        self._ends: list[int] = list(accumulate(counts[groups].tolist()))
        self._sums: dict[int, tuple[list[int], list[int]]] = {}

    def exponent(self, index: int) -> Fraction:
        """Return x = λ(max q − q_index) ≥ 0."""
        return self._rate * (self._top - read_exact(self._scores[index]))

    def draw(self, digits: RandomDigits) -> int:
        """Return one index."""
        while True:
            group = self._draw_group(digits)
            start = self._ends[group - 1] if group else 0
            index = int(self._order[start + draw_below(self._ends[group] - start, digits)])
            if draw_exp(self.exponent(index) - self._groups[group], digits):
                return index

    def _draw_group(self, digits: RandomDigits) -> int:
        if len(self._groups) == 1:
            return 0
        bits, drawn = 0, 0
        while True:
            drawn, bits = drawn << DIGIT_BITS | digits.digit(), bits + DIGIT_BITS
            below, above = self._cumulate(bits)
            # U lies in [drawn, drawn + 1]·2^−bits, and the total weight in [below[-1], above[-1]].
            # So U·total is at least the weight of the groups before this one, and it is below that of the last group by U < 1.
            group = min(bisect_right(above, drawn * below[-1] >> bits), len(below) - 1)
            if group == len(below) - 1 or (drawn + 1) * above[-1] <= below[group] << bits:
                return group

    def _cumulate(self, bits: int) -> tuple[list[int], list[int]]:
        """Return lower and upper ends of 2^(bits + 32)·(weight of the groups up to each), not decreasing."""
        if bits not in self._sums:
            sizes = [end - start for start, end in zip([0, *self._ends[:-1]], self._ends, strict=True)]
            scale = bits + DIGIT_BITS
            ends = [enclose_exp(Fraction(n), scale) if n <= scale else (0, 1) for n in self._groups]  # e^−n < 2^−n
            below = list(accumulate(size * lo for size, (lo, _) in zip(sizes, ends, strict=True)))
            above = list(accumulate(size * hi for size, (_, hi) in zip(sizes, ends, strict=True)))
            self._sums[bits] = below, above
        return self._sums[bits]


def _round_down(scores: np.ndarray[Any, Any], best: Any, rate: Fraction) -> NDArray[np.int16]:
    """Return integers 0 ≤ n ≤ λ(best − score), shape (m,), near it where it is not large.

    The difference, λ as a float and their product have relative errors of at most 2⁻⁵³ each (one more for the conversion of an integer
    difference; an overflow gives ∞, which is capped; an underflow rounds down to 0), and _SHRINK takes more than all of them off.
    """
    if scores.dtype == np.int64:
        wide = int(best) - int(scores.min()) >= 2**63
        gaps = np.array([int(best) - value for value in scores.tolist()], dtype=object) if wide else best - scores
    else:
        with np.errstate(over="ignore"):
            gaps = best - scores
    with np.errstate(over="ignore", under="ignore"):
        floats = np.array([_to_float(gap) for gap in gaps.tolist()]) if gaps.dtype == object else gaps.astype(np.float64)
        shrunk = floats * float(rate) * _SHRINK
    return np.asarray(np.floor(np.minimum(shrunk, float(_MOST_GROUP))), dtype=np.int16)  # sorted by radix


def _to_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def draw_gumbel(scores: np.ndarray[Any, Any], rate: Fraction, rng: np.random.Generator, size: int) -> NDArray[np.intp]:
    """Return ``size`` indices, each the largest entry of λ(q − max q) + Gumbel noise, shape (size,), in binary64.

    In exact real arithmetic the index c has probability e^(λq_c) / Σ e^(λq_b): P(argmax = c) = ∫ e^−(g − x_c) e^(−Σ_b e^−(g − x_b)) dg.
    Subtracting the largest score first leaves the law alone and prevents overflow: exponents are at most 0, and −∞ is never chosen. In
    binary64 it is another law: Gumbel noise made of 53 bits lies in (−4, 37), so that a candidate which is further behind is never chosen,
    and then no finite ε holds. λ is rounded down. Source: Gumbel 1954; Mironov 2012 for what floating point gives away.
    """
    exponents = _gaps(scores) * -_rate_below(rate)
    block = max(1, min(size, 2**20 // len(exponents)))
    found = np.empty(size, dtype=np.intp)
    for start in range(0, size, block):
        stop = min(size, start + block)
        found[start:stop] = (rng.gumbel(size=(stop - start, len(exponents))) + exponents).argmax(axis=1)
    return found


def _gaps(scores: np.ndarray[Any, Any]) -> NDArray[np.float64]:
    top = scores.max()
    if scores.dtype == np.float64:
        with np.errstate(over="ignore"):
            return np.asarray(top - scores, dtype=np.float64)
    exact = read_exact(top)
    if scores.dtype == np.int64 and int(top) - int(scores.min()) < 2**63:
        return np.asarray(top - scores, dtype=np.float64)
    return np.array([_to_float(exact - read_exact(value)) for value in scores.tolist()])


def _rate_below(rate: Fraction) -> float:
    nearest = float(rate)
    return nearest if Fraction(nearest) <= rate else float(np.nextafter(nearest, 0.0))
