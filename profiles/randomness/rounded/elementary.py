"""Uniform numbers that are known by their first bits, their logarithms and turns, with proved error bounds: +, −, ×, ÷ and tables only.

Nothing of the C library's mathematics is used, and each array operation is one operation of IEEE 754, rounded to nearest. u = 2⁻⁵³.
The derivations are in docs/exact-noise.md, section 3; tests measure error over bound against Arb.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from profiles.arrays import Floats
from profiles.errors import PDPError
from profiles.randomness.bits import Words
from profiles.randomness.rounded.ieee import U, float_of_bits, power_of_two

#: Bits of a word that are the first bits of a uniform number. The sign of a law that has one is the word's last bit.
KNOWN_BITS = 52

_ONE = np.uint64(0x3FF0_0000_0000_0000)  # the double 1.0
_TOP = np.int64(-1 << 42)  # sign, exponent and the first ten bits of the significand
_HALF = np.int64(1 << 41)  # the middle of what they leave open
# The doubles nearest to what they stand for, and one above 2π.
_LN2, _STEP = float_of_bits(0x3FE6_2E42_FEFA_39EF), float_of_bits(0x3F99_21FB_5444_2D18)  # ln 2, 2π/256
_THIRD, _SIXTH, _24TH = float_of_bits(0x3FD5_5555_5555_5555), float_of_bits(0x3FC5_5555_5555_5555), float_of_bits(0x3FA5_5555_5555_5555)
_120TH, _720TH = float_of_bits(0x3F81_1111_1111_1111), float_of_bits(0x3F56_C16C_16C1_6C17)
_ABOVE_TURN = float_of_bits(0x4019_21FB_5444_2D19)


def first_bits(words: Words, known: int = KNOWN_BITS) -> Floats:
    """Return V = (k + ½)/2^known, exactly, where k is the number that the first ``known`` ≤ 52 bits of a word make.

    A uniform number U in [0, 1) with these bits lies in [k, k + 1]/2^known: |U − V| ≤ 2^−(known + 1). In (0, 1), of the shape of ``words``.
    """
    bits = words >> np.uint64(64 - known)
    if known < 52:
        bits <<= np.uint64(52 - known)
    bits |= _ONE
    value = bits.view(np.float64)  # 1 + k/2^known
    value -= 1.0 - power_of_two(-known - 1)  # exact: a multiple of 2^−(known + 1) below 1
    return value


def negative_log(v: Floats) -> Floats:
    """Return L > 0 with |L + ln v| ≤ u(4L + 1), for v in [2⁻⁵³, 1).

    v = 2^−E·m with m in [½, 1); c is the middle of the 1024th of the binade that holds v, so that r = (v − c)/c is below 2⁻¹¹ in size, and
    −ln v = E ln 2 − ln(c 2^E) − ln(1 + r).
    """
    bits = v.view(np.int64)
    centre = bits & _TOP
    centre |= _HALF
    c = centre.view(np.float64)
    r = v - c  # exact
    r /= c
    value = log_table().take((bits >> np.int64(42)) & np.int64(1023))
    binade = np.subtract(np.int64(1022), bits >> np.int64(52)).astype(np.float64)
    binade *= _LN2
    value += binade
    np.multiply(r, -0.25, out=binade)  # its memory serves the polynomial r(1 − r(½ − r(⅓ − r/4)))
    binade += _THIRD
    binade *= r
    binade -= 0.5
    binade *= r
    binade += 1.0
    binade *= r
    value -= binade
    return value


def log_error(v: Floats, value: Floats, known: int = KNOWN_BITS) -> Floats:
    """Return a bound of |L + ln U| for the L that was found for V and every U with the same first bits; ∞ where these are all 0.

    |ln U − ln V| ≤ δ/(V − δ) with δ = 2^−(known + 1) by the mean value theorem, and V − δ = k/2^known is exact. Up to a factor 1 + 2⁻⁴⁰.
    """
    delta = power_of_two(-known - 1)
    bound = v - delta
    np.divide(delta, bound, out=bound)
    bound += value * (4 * U)
    bound += U
    return bound


def turn(v: Floats) -> tuple[Floats, Floats]:
    """Return (c, s) with |c − cos 2πv|, |s − sin 2πv| ≤ 2u, for v in (0, 1), a multiple of 2⁻⁵³.

    With the 256th of a turn that holds v, its middle a, and φ = 2π(v − a), |φ| ≤ π/256: cos(2πa + φ) = C + (C(cos φ − 1) − S sin φ), and
    sin likewise, with tables of C = cos 2πa and S = sin 2πa and Taylor polynomials.
    """
    place = v * 256.0
    index = place.astype(np.int64)
    place -= index
    place -= 0.5  # all exact
    place *= _STEP
    square = place * place
    sine = square * _120TH
    sine -= _SIXTH
    sine *= square
    sine += 1.0
    sine *= place
    cosine = square * -_720TH
    cosine += _24TH
    cosine *= square
    cosine -= 0.5
    cosine *= square  # cos φ − 1
    middle_cosine, middle_sine = turn_tables()
    big_c, big_s = middle_cosine.take(index), middle_sine.take(index)
    c, s = big_c * cosine, big_s * cosine
    c -= big_s * sine
    s += big_c * sine
    c += big_c
    s += big_s
    return c, s


def turn_error(known: int = KNOWN_BITS) -> float:
    """Return a bound of |c − cos 2πU| and |s − sin 2πU| for every U with the same first bits: 2u + 2π·2^−(known + 1)."""
    return 2 * U + _ABOVE_TURN * power_of_two(-known - 1)


@cache
def log_table() -> Floats:
    """Return −ln((1024 + i + ½)/2048) for i = 0, ..., 1023, correctly rounded: in (0, ln 2)."""
    return _round_table([Fraction(2049 + 2 * i, 4096) for i in range(1024)], lambda c: -c.log())


@cache
def turn_tables() -> tuple[Floats, Floats]:
    """Return the cosines and sines of (i + ½)/256 turns for i = 0, ..., 255, correctly rounded."""
    halves = [Fraction(2 * i + 1, 256) for i in range(256)]  # half turns
    return _round_table(halves, lambda x: x.cos_pi()), _round_table(halves, lambda x: x.sin_pi())


def _round_table(points: list[Fraction], function: Any) -> Floats:
    """Return the doubles nearest to a function's values: where the two ends of a ball have the same one, it is that of the value."""
    from profiles.balls import ball, lower_fraction, upper_fraction, working_precision  # noqa: PLC0415 - loads FLINT

    table = np.empty(len(points))
    with working_precision(192):
        for i, point in enumerate(points):
            value = function(ball(point))
            low, high = lower_fraction(value), upper_fraction(value)
            if low is None or high is None or float(low) != float(high):
                raise PDPError("a table entry was to be rounded, but 192 bits did not decide it; report this as a fault of the toolkit")
            table[i] = float(low)
    table.setflags(write=False)
    return table
