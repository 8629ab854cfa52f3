"""The exponential mechanism's choice, drawn exactly from uniform bits: no rounded weight decides anything.

Statement: given distances d_i ≥ 0 below the best score and multiplicities n_i, entry i is returned with probability exactly
n_i e^(−λ d_i)/Σ_j n_j e^(−λ d_j), if the 32-bit digits are uniform and independent. A number U that is uniform on [0, 1) is known by
its first bits only; a choice is made in binary64 where every number within proved error bounds gives the same entry, and else in ball
arithmetic with more bits of U until it does. Proof and error bounds: docs/submodular.md, section 4.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from accountant.sampler.bits import NEXT_BITS, BitSource
from proofs_check.enclosures import ball, working_precision

FIRST = 2 * NEXT_BITS
#: Scores further below the best than this are left to the exact path: all of them together weigh less than m·2^-80.
FAR = 80 * math.log(2)
_TAIL = 2.0**-79
_LONGEST = 2**20
Integers = NDArray[np.int64]
#: What the exact path needs: (distance in the unit of the scores, multiplicity), in the order of the entries.
Levels = Iterable[tuple[Any, int]]


class ExponentialChoice:
    """Exact draws with probability proportional to n_i exp(−λ d_i), λ = ``rate`` > 0, from the digits of ``bits``."""

    __slots__ = ("_digits", "_near", "_rate", "far", "rate", "reach")

    def __init__(self, rate: Fraction, bits: BitSource) -> None:
        self.rate, self._digits = rate, bits
        self._rate = float(rate)
        #: The largest integer distance whose weight :meth:`levels` looks up, and an upper bound of the weight of one entry beyond it.
        self.reach = int(min(FAR / self._rate, _LONGEST))
        self.far = math.exp(-self._rate * (self.reach + 1)) * (1 + 2.0**-40) + 2.0**-200
        self._near: NDArray[np.float64] | None = None

    def uniform(self, size: int) -> int:
        """Return each of 0, ..., size − 1 with probability exactly 1/size, for 1 ≤ size ≤ 2^32."""
        if size == 1:
            return 0
        limit = 2**NEXT_BITS - 2**NEXT_BITS % size
        while (digit := self._digits.digit()) >= limit:
            pass
        return digit % size

    def levels(self, distances: Integers, counts: Integers, beyond: int, exact: Levels) -> int:
        """Return an entry of integer distances 0 = d_0 < d_1 < ... ≤ ``reach`` with multiplicities; ``beyond`` are further away.

        ``exact`` lists these entries and, after them, those beyond; the returned index is one into that list.
        """
        if self._near is None:
            self._near = np.exp(-self._rate * np.arange(self.reach + 1))
        return self._draw(self._near[distances] * counts, beyond * self.far, exact)

    def among(self, gains: NDArray[Any], live: NDArray[np.bool_]) -> int:
        """Return a candidate c with ``live[c]``, with probability proportional to exp(λ gains[c]). One pass over all candidates.

        ``gains`` are int64 or float64 numbers, taken as exact. At least one candidate is live.
        """
        rows = np.flatnonzero(live)
        scores = gains[rows]
        best = scores.max()
        reduced = self._rate * (best - scores).astype(np.float64)
        near = reduced <= FAR
        order = np.concatenate([rows[near], rows[~near]])
        beyond = len(rows) - int(near.sum())
        top = Fraction(best.item())
        exact = ((top - Fraction(gains[row].item()), 1) for row in order)
        return int(order[self._draw(np.exp(-reduced[near]), beyond * _TAIL, exact)])

    def _draw(self, weights: NDArray[np.float64], tail: float, exact: Levels) -> int:
        """Return an entry; ``weights`` have a relative error below 2^-44, and all entries that are not in it weigh at most ``tail``."""
        first = self._digits.digit() << NEXT_BITS | self._digits.digit()
        sums = np.cumsum(weights)
        total = float(sums[-1])
        slack = total * ((len(weights) + 1000) * 2.0**-51) + tail
        target = first * 2.0**-FIRST * total
        index = int(np.searchsorted(sums, target, side="right"))
        if index < len(weights) and (index == 0 or float(sums[index - 1]) + slack <= target) and target + slack < float(sums[index]):
            return index
        return self._draw_exactly(first, exact)

    def _draw_exactly(self, first: int, exact: Levels) -> int:
        """Go on with a number U of which the first 64 bits are known, in balls of rising precision."""
        entries = [(Fraction(distance) * self.rate, count) for distance, count in exact]
        known, bits = first, FIRST
        while True:
            with working_precision(2 * bits + 64):
                sums, total = [], arb(0)
                for exponent, count in entries:
                    total += ball(-exponent).exp() * count
                    sums.append(total)
                lower, upper = (ball(Fraction(known + more, 2**bits)) * total for more in (0, 1))
                index = _find(sums, lower, upper)
            if index is not None:
                return index
            known, bits = known << NEXT_BITS | self._digits.digit(), bits + NEXT_BITS


def _find(sums: list[arb], lower: arb, upper: arb) -> int | None:
    """Return the first entry whose sum is certainly not below ``upper``, if the sum before it certainly does not exceed ``lower``."""
    low, high = 0, len(sums) - 1
    while low < high:
        middle = (low + high) // 2
        if bool(sums[middle] >= upper):
            high = middle
        else:
            low = middle + 1
    return low if low == 0 or bool(sums[low - 1] <= lower) else None
