"""e^−x enclosed in integer arithmetic, and events of probability exactly e^−x. Nothing here is rounded without a side."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from profiles.errors import InvalidArgument
from profiles.randomness.bits import NEXT_BITS, BitSource, draw_below


def enclose_exp(x: Fraction, bits: int) -> tuple[int, int]:
    """Return integers (lo, hi) with lo ≤ 2^bits·e^−x ≤ hi and 0 ≤ lo ≤ hi ≤ 2^bits, for rational x ≥ 0.

    e^−x = (e^−1)^n·e^−r with n = ⌊x⌋ and 0 ≤ r < 1. The series Σ (−r)^k/k! is summed in fixed point, terms rounded down: the error E_k
    of the k-th term obeys E_k ≤ E_{k−1}·r/k + 1 ≤ 2; what is left behind the first term that rounds to 0 alternates with falling terms,
    so it is at most that term, below 2 units; r itself is rounded down by less than a unit and |d e^−r/dr| ≤ 1. With K terms the sum is
    off by at most 2K + 3 units. Products of enclosures are rounded outward. For n > bits, e^−n < 2^−bits.

    Raises :class:`InvalidArgument` for x < 0.

    >>> enclose_exp(Fraction(0), 10), enclose_exp(Fraction(2000), 10)
    ((1024, 1024), (0, 1))
    """
    if x < 0:
        raise InvalidArgument(
            "the exponent must be at least 0, but a negative one was found; subtract the largest one first", private=f"{float(x):g}"
        )
    if x == 0:
        return 1 << bits, 1 << bits
    whole, rest = divmod(x.numerator, x.denominator)
    if whole > bits:
        return 0, 1
    spare = bits + 16
    lo, hi = _power(whole, spare)
    if rest:
        below, above = _series((rest << spare) // x.denominator, spare)
        lo, hi = lo * below >> spare, -(-hi * above >> spare)
    return lo >> 16, min(-(-hi >> 16), 1 << bits)


def _series(r: int, bits: int) -> tuple[int, int]:
    """Return an enclosure of 2^bits·e^−s for every s in [r, r + 1]·2^−bits, 0 ≤ r ≤ 2^bits."""
    total, term, k = 0, 1 << bits, 0
    while term:
        total += term if k % 2 == 0 else -term
        k += 1
        term = (term * r >> bits) // k
    slack = 2 * k + 4
    return max(total - slack, 0), min(total + slack, 1 << bits)


@lru_cache(maxsize=4096)
def _power(n: int, bits: int) -> tuple[int, int]:
    """Return an enclosure of 2^bits·e^−n for an integer n ≥ 0."""
    if n == 0:
        return 1 << bits, 1 << bits
    if n == 1:
        return _series(1 << bits, bits)
    (lo, hi), (below, above) = _power(n // 2, bits), _power(n - n // 2, bits)
    return lo * below >> bits, -(-hi * above >> bits)


def draw_exp(x: Fraction, digits: BitSource) -> bool:
    """Return True with probability exactly e^−x, for rational x ≥ 0.

    A uniform real U is drawn digit by digit until the enclosures show whether U < e^−x. Raises :class:`InvalidArgument` for x < 0.
    """
    bits, drawn = 0, 0
    while True:
        drawn, bits = drawn << NEXT_BITS | digits.digit(), bits + NEXT_BITS
        lo, hi = enclose_exp(x, bits)
        if drawn < lo:
            return True
        if drawn >= hi:
            return False


def draw_geometric(rate: Fraction, digits: BitSource) -> int:
    """Return an integer θ ≥ 0 with P(θ ≥ k) = e^−(rate·k) exactly for k = 0, 1, 2, ...: the whole part of an Exp(rate) variable.

    With rate = s/t: U uniform on 0, ..., t − 1 is kept with probability e^−U/t (else drawn again), V counts successes of probability e^−1
    before the first failure. X = U + tV has P(X = x) ∝ e^−x/t, and ⌊X/s⌋ ≥ k iff X ≥ ks, of probability e^−ks/t.

    A count of integers + θ in place of Exp noise is one-sided private like it (docs/one-sided.md, section 13).
    Source: Canonne, Kamath, Steinke 2020, Algorithm 2. Raises :class:`InvalidArgument` unless rate > 0.
    """
    if rate <= 0:
        raise InvalidArgument(f"the rate of geometric noise must be positive, but {rate} was found; give a positive number")
    while True:
        start = draw_below(rate.denominator, digits)
        if draw_exp(Fraction(start, rate.denominator), digits):
            break
    times, one = 0, Fraction(1)
    while draw_exp(one, digits):
        times += 1
    return (start + rate.denominator * times) // rate.numerator


def draw_discrete_laplace(rate: Fraction, digits: BitSource) -> int:
    """Return an integer z with probability proportional to e^−(rate·|z|): the difference of two geometric numbers. Raises like it."""
    return draw_geometric(rate, digits) - draw_geometric(rate, digits)
