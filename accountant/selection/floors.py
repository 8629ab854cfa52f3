"""Numbers rounded down to a fixed count of significant bits: what a sampler uses does not depend on how it was computed.

Two computations of one real number differ in the last digits; nearly always both lie in the same coarse step, and where a step is between
them exact arithmetic decides. So the result is a function of the real number alone (docs/sampling.md, section 4).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from profiles.arrays import Floats

#: Significant bits of the probabilities and weights of explicit rules.
BITS = 36
#: Significant bits of a privacy-constrained weight: the fast path knows w* to 1e-12, so that few weights are near a step of 2^-27.
CONSTRAINED_BITS = 28
#: Records of an explicit rule with q below this are never selected; the exponent keeps all intermediate numbers normal.
LEAST = 2.0**-900
#: Rows a block: temporaries of 64 kB come from the heap, where larger ones may be mapped anew, page by page, for every operation.
BLOCK = 8_192


def floor_bits(values: Floats, bits: int) -> Floats:
    """Return positive normal binary64 numbers rounded down to ``bits`` significant bits, exactly; other values give others."""
    pattern = np.ascontiguousarray(values, dtype=np.float64).view(np.int64)
    return (pattern & np.int64(-1 << (53 - bits))).view(np.float64)


def floor_exact(value: Fraction, bits: int) -> float:
    """Return the largest number of ``bits`` significant bits that is at most ``value`` > 0 (of the range of binary64)."""
    shift = bits - (value.numerator.bit_length() - value.denominator.bit_length())
    whole = (value.numerator << max(shift, 0)) // (value.denominator << max(-shift, 0))  # of bits or bits + 1 bits
    extra = whole.bit_length() - bits
    return math.ldexp(whole >> extra, extra - shift)


def blocks(size: int) -> Iterator[slice]:
    """Return the slices that divide ``size`` rows into blocks of at most ``BLOCK``."""
    return (slice(start, min(size, start + BLOCK)) for start in range(0, size, BLOCK))
