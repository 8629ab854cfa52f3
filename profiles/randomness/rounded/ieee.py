"""Binary64 as IEEE 754 says: numbers made of their bits, and the question whether the processor rounds to nearest.

Nothing here is computed when the module is compiled or imported: a process may round otherwise then, and what it had found would stay. So
constants are bits, and powers of two are put together from them: ``2.0**n`` would be the C library's.
"""

from __future__ import annotations

import struct

import numpy as np

from profiles.arrays import Floats
from profiles.errors import PDPError


def float_of_bits(bits: int) -> float:
    """Return the number whose 64 bits are those of ``bits``: sign, exponent and significand.

    >>> float_of_bits(0x3FF8_0000_0000_0000)
    1.5
    """
    value: float = struct.unpack("<d", bits.to_bytes(8, "little"))[0]
    return value


def power_of_two(exponent: int) -> float:
    """Return 2^exponent, for −1074 ≤ exponent ≤ 1023.

    >>> power_of_two(-3), power_of_two(-1074)
    (0.125, 5e-324)
    """
    return float_of_bits(exponent + 1023 << 52 if exponent >= -1022 else 1 << exponent + 1074)


#: u = 2⁻⁵³, what rounding to nearest may change in units of the result.
U = power_of_two(-53)


def check_rounding() -> None:
    """Refuse arithmetic that is not rounded to nearest as IEEE 754 says, with subnormal numbers. It takes some microseconds, and a thread's
    rounding can be changed at any time by any library, so that every draw asks. Raises :class:`PDPError`.
    """
    with np.errstate(all="ignore"):
        computed = (_LEFT + _RIGHT, _LEFT * _RIGHT, _LEFT / _RIGHT, np.sqrt(np.abs(_LEFT)))
    if tuple(values.tobytes() for values in computed) != _EXPECTED:
        raise PDPError(
            "exact noise was to be drawn, but this processor (or a library that changed its state) does not round to nearest with "
            "subnormal numbers as IEEE 754 says; draw in a process without that library"
        )


def _floats(bits: list[int]) -> Floats:
    return np.array(bits, dtype=np.uint64).view(np.float64)


# Each column is x, y, and what x + y, x·y, x/y and √|x| round to. The sums tell directed rounding, double rounding in longer registers (the
# first one), and subnormal numbers that are flushed to zero as results or as operands. A test derives the results from the operands.
_LEFT = _floats([
    0x3FF0000000000000, 0x3FF0000000000000, 0xBFF0000000000000, 0x0010000000000000, 0x0000000000000001, 0x3FF0000000000000,
    0x4000000000000000, 0x3FB999999999999A, 0x4008000000000000, 0x4014000000000000, 0x3FE6666666666666,
])  # fmt: skip
_RIGHT = _floats([
    0x3CA0008000000000, 0x3CA0000000000000, 0xBCA0000000000000, 0x8008000000000000, 0x0000000000000001, 0x4008000000000000,
    0x4008000000000000, 0x3FB999999999999A, 0x3FB999999999999A, 0xC01C000000000000, 0x3FD3333333333333,
])  # fmt: skip
_RESULTS = (
    _floats([
        0x3FF0000000000001, 0x3FF0000000000000, 0xBFF0000000000000, 0x0008000000000000, 0x0000000000000002, 0x4010000000000000,
        0x4014000000000000, 0x3FC999999999999A, 0x4008CCCCCCCCCCCD, 0xC000000000000000, 0x3FF0000000000000,
    ]),
    _floats([
        0x3CA0008000000000, 0x3CA0000000000000, 0x3CA0000000000000, 0x8000000000000000, 0x0000000000000000, 0x4008000000000000,
        0x4018000000000000, 0x3F847AE147AE147C, 0x3FD3333333333334, 0xC041800000000000, 0x3FCAE147AE147AE1,
    ]),
    _floats([
        0x433FFF0007FFC002, 0x4340000000000000, 0x4340000000000000, 0xC000000000000000, 0x3FF0000000000000, 0x3FD5555555555555,
        0x3FE5555555555555, 0x3FF0000000000000, 0x403E000000000000, 0xBFE6DB6DB6DB6DB7, 0x4002AAAAAAAAAAAB,
    ]),
    _floats([
        0x3FF0000000000000, 0x3FF0000000000000, 0x3FF0000000000000, 0x2000000000000000, 0x1E60000000000000, 0x3FF0000000000000,
        0x3FF6A09E667F3BCD, 0x3FD43D136248490F, 0x3FFBB67AE8584CAA, 0x4001E3779B97F4A8, 0x3FEAC5EB3F7AB2F8,
    ]),
)  # fmt: skip
_EXPECTED = tuple(values.tobytes() for values in _RESULTS)
