"""Many geometric numbers at once, each exactly: their binary digits are independent, and each digit is compared with uniform bits.

Statement: θ with P(θ ≥ j) = e^−λj, j = 0, 1, 2, ..., is Q·2^B + R with independent Q and R, where P(Q ≥ j) = e^−(λ2^B)j and the binary
digits of R are independent, digit i being 1 with probability 1/(1 + e^(λ2^i)). Proof: docs/one-sided.md, Theorem E.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from profiles.arrays import Booleans
from profiles.errors import InvalidArgument
from profiles.randomness.bits import NEXT_BITS, BitSource
from profiles.randomness.exponentials import draw_geometric, enclose_exp

_WORD = 64
#: Remainders of more digits than this would leave 64-bit integers; then numbers are drawn one by one.
_MOST_DIGITS = 56


def draw_geometrics(rate: Fraction, size: int, digits: BitSource) -> list[int]:
    """Return ``size`` independent integers θ ≥ 0 with P(θ ≥ j) = e^−(rate·j) exactly, as :func:`draw_geometric` does one by one.

    About ten 64-bit words a number and 3 ns a word, whatever the rate. Raises :class:`InvalidArgument` unless rate > 0.

    >>> from profiles.randomness import open_bits
    >>> draw_geometrics(Fraction(1, 3), 5, open_bits(1))
    [0, 0, 1, 0, 3]
    """
    if rate <= 0:
        raise InvalidArgument(f"the rate of geometric noise must be positive, but {rate} was found; give a positive number")
    count = 0
    while rate * 2**count < 1 and count <= _MOST_DIGITS:
        count += 1
    if count > _MOST_DIGITS:
        return [draw_geometric(rate, digits) for _ in range(size)]
    low = np.zeros(size, dtype=np.int64)
    for place in range(count):
        weight = Fraction(2**place)
        low += _draw_events(rate * weight, size, digits, half=True).astype(np.int64) << place
    high = np.zeros(size, dtype=np.int64)
    alive = np.arange(size)
    while alive.size:  # successes of probability e^−(rate·2^B) ≤ 1/e before the first failure
        alive = alive[_draw_events(rate * 2**count, alive.size, digits, half=False)]
        high[alive] += 1
    return [(quotient << count) + rest for quotient, rest in zip(high.tolist(), low.tolist(), strict=True)]


def _draw_events(x: Fraction, size: int, digits: BitSource, *, half: bool) -> Booleans:
    """Return independent events of probability exactly 1/(1 + e^x) (``half``) or e^−x, for rational x > 0.

    A uniform U is known by its first 64 bits u: U < lo/2^64 ≤ q where u < lo, U ≥ hi/2^64 ≥ q where u ≥ hi. What is left, with probability
    below 2^−62, is decided by more bits of U and narrower enclosures.
    """
    lo, hi = _enclose(x, _WORD, half=half)
    words = digits.words(size)
    happened: Booleans = words <= np.uint64(lo - 1) if lo else np.zeros(size, dtype=np.bool_)
    open_ = np.flatnonzero(~happened & (words < np.uint64(hi))) if hi < 2**_WORD else np.flatnonzero(~happened)
    for row in open_.tolist():
        happened[row] = _decide(x, int(words[row]), digits, half=half)
    return happened


def _decide(x: Fraction, drawn: int, digits: BitSource, *, half: bool) -> bool:
    bits = _WORD
    while True:
        drawn, bits = drawn << NEXT_BITS | digits.digit(), bits + NEXT_BITS
        lo, hi = _enclose(x, bits, half=half)
        if drawn < lo:
            return True
        if drawn >= hi:
            return False


def _enclose(x: Fraction, bits: int, *, half: bool) -> tuple[int, int]:
    """Return integers (lo, hi) with lo ≤ 2^bits·q ≤ hi, q = e^−x/(1 + e^−x) where ``half``, else q = e^−x."""
    spare = bits + 16
    lo, hi = enclose_exp(x, spare)
    if half:  # t/(1 + t) grows in t
        one = 1 << spare
        lo, hi = (lo << spare) // (one + lo), -((-hi << spare) // (one + hi))
    return lo >> 16, -(-hi >> 16)
