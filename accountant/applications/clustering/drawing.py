"""Exact draws: the exponential mechanism and geometric noise with exactly the stated probabilities, from uniform random bits.

A uniform real U in [0, 1) is known by its first bits. What is drawn is a function of U (an inverse of a distribution function), and as
many bits are drawn as decide it: binary64 with a proved margin first, ball arithmetic with more bits where that leaves it open.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from flint import arb
from numpy.typing import NDArray

from proofs_check.enclosures import ball, working_precision

Integers = NDArray[np.int64]
#: Returns an integer that is uniform on 0, ..., 2^32 − 1, independent of all earlier ones.
Digit = Callable[[], int]

_DIGIT = 32
_FIRST = 64
_EXTRA = 64
#: e^−x underflows to less than 2^−1000 beyond it; such weights count as 0 in binary64, within the margin.
_NEGLIGIBLE = 700.0


@dataclass(slots=True)
class UniformReal:
    """A uniform real U of [0, 1): ``known`` is the integer of its first ``bits`` bits, so that known ≤ 2^bits·U < known + 1."""

    digit: Digit
    known: int = field(init=False, default=0)
    bits: int = field(init=False, default=0)

    def refine(self, bits: int) -> None:
        """Draw until at least ``bits`` bits are known."""
        while self.bits < bits:
            self.known = (self.known << _DIGIT) | self.digit()
            self.bits += _DIGIT

    def enclose(self) -> arb:
        """Return a ball that contains U."""
        return ball(Fraction(self.known, 1 << self.bits)).union(ball(Fraction(self.known + 1, 1 << self.bits)))


def draw_choice(gains: Integers, rate: Fraction, digit: Digit) -> int:
    """Return i with probability exactly e^(rate·g_i) / Σ_j e^(rate·g_j), as far as the bits are uniform and independent.

    i is the number of partial sums c_1 ≤ ... ≤ c_m of the weights with c_j ≤ U·c_m. In binary64 the c_j and U·c_m have an error below
    the margin (m + 2^14)·2^−52·c_m: exponents down to −700 have an absolute error of 2^−41 at most, e^x is good to 2^−48 relatively, a sum
    of m positive numbers to m·2^−53. Where no partial sum lies within twice the margin of U·c_m, the number is right; else balls decide.

    ``gains`` integers of absolute value below 2^62, shape (m,); ``rate`` ≥ 0 in nats per unit.

    >>> import itertools
    >>> draw_choice(np.array([0, 0]), Fraction(1), itertools.repeat(2**31 - 1).__next__)  # U just below 1/2
    0
    """
    below = gains - gains.max()
    number = UniformReal(digit)
    number.refine(_FIRST)
    exponents = below * float(rate)
    weights = np.where(exponents >= -_NEGLIGIBLE, np.exp(np.maximum(exponents, -_NEGLIGIBLE)), 0.0)
    sums = np.cumsum(weights)
    total = float(sums[-1])
    at = total * (number.known / float(1 << number.bits))
    margin = 2 * (len(gains) + 2**14) * 2.0**-52 * total
    low, high = np.searchsorted(sums, (at - margin, at + margin), side="right")
    if low == high < len(gains):
        return int(low)
    return _choose_in_balls(below, rate, number)


def _choose_in_balls(below: Integers, rate: Fraction, number: UniformReal) -> int:
    """Decide the same with balls, doubling their precision; U is at a partial sum with probability 0."""
    bits = 128
    while True:
        number.refine(bits)
        with working_precision(bits + _EXTRA):
            factor = ball(rate)
            sums, total = [], arb(0)
            for gain in below.tolist():
                total = total + (factor * gain).exp()
                sums.append(total)
            at = number.enclose() * total
            low, high = sum(bool(item <= at) for item in sums), sum(not item > at for item in sums)
        if low == high < len(sums):
            return low
        bits *= 2


def draw_geometric(rate: Fraction, digit: Digit) -> int:
    """Return j ≥ 0 with probability exactly (1 − a)·a^j, a = e^−rate: the integer part of −log(U)/rate, because P[U ≤ a^j] = a^j.

    ``rate`` > 0 in nats. Source: inversion; P[j ≥ i] = P[−log U ≥ rate·i].
    """
    number = UniformReal(digit)
    bits = _FIRST
    while True:
        number.refine(bits)
        if number.known:
            with working_precision(bits + _EXTRA):
                steps = (-number.enclose().log() / ball(rate)).floor()
                found = steps.unique_fmpz()
            if found is not None:
                return max(0, int(found))  # U < 1, so that only the ball around it can reach −0
        bits *= 2


def draw_laplace(rate: Fraction, digit: Digit) -> int:
    """Return an integer z with probability proportional to e^(−rate·|z|): the difference of two geometric numbers."""
    return draw_geometric(rate, digit) - draw_geometric(rate, digit)
