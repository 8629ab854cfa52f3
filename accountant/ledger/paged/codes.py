"""What a release does to a unit, in two bytes for each component of its account (docs/ledger.md, L5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from profiles import UnreadableFile
from profiles.arrays import Booleans, Integers

Codes = NDArray[np.uint16]
#: No row; left out for want of room; takes part and is charged nothing, or exactly the release's public worst cost. From here on, an
#: amount of eleven binary digits and an exponent.
ABSENT, LEFT_OUT, FREE, WORST = range(4)
#: Binary digits of an amount, and the distance of two exponents among codes.
_DIGITS, _STEP = 11, 1 << 10
_TYPE = np.dtype("<u2")


def encode(amounts: Integers, worst: int) -> Codes:
    """Return the codes of amounts of one component: the least number of eleven binary digits that is not below, and never above ``worst``
    where the amount is not.

    >>> decode(encode(np.array([0, 5, 2049, 4001]), 4001), 4001).tolist()
    [0, 5, 2050, 4001]
    """
    _, exponents = np.frexp(amounts.astype(np.float64))  # one too large where binary64 rounds up to a power of two: of no effect
    exponents = np.maximum(exponents - _DIGITS, 0).astype(np.int64)
    digits: Any = -np.right_shift(-amounts, exponents)
    full = digits == 2 * _STEP
    digits[full] = _STEP
    exponents[full] += 1
    above = np.left_shift(digits, exponents) > worst
    codes = WORST + digits + _STEP * exponents
    codes[above & (amounts <= worst)] = WORST
    codes[amounts == worst] = WORST
    codes[amounts == 0] = FREE
    encoded: Codes = codes.astype(_TYPE)
    return encoded


def decode(codes: Codes, worst: int) -> Integers:
    """Return what codes charge. Raises :class:`UnreadableFile` for a number that is no code."""
    numbers = codes.astype(np.int64) - WORST
    exponents = np.maximum((numbers >> 10) - 1, 0)
    digits = numbers - _STEP * exponents
    if exponents.size and int(exponents.max()) > 63 - _DIGITS:
        raise UnreadableFile("a cost of a unit was expected in the ledger, but another number was found; restore it from a backup")
    amounts: Integers = np.left_shift(np.maximum(digits, 0), exponents)
    amounts[numbers == 0] = worst
    return amounts


def encode_all(amounts: Integers, worst: Sequence[int]) -> Codes:
    """Return the codes of amounts of shape (k, n)."""
    return np.stack([encode(row, most) for row, most in zip(amounts, worst, strict=True)])


def decode_all(codes: Codes, worst: Sequence[int]) -> Integers:
    """Return what codes of shape (k, n) charge. Raises as :func:`decode` does."""
    return np.stack([decode(row, most) for row, most in zip(codes, worst, strict=True)])


def take_part(codes: Codes, present: Booleans, active: Booleans) -> Codes:
    """Return codes of shape (k, n) with those of units that are left out, or have no row, in place of their costs."""
    return np.where(active, codes, np.where(present, np.uint16(LEFT_OUT), np.uint16(ABSENT))).astype(_TYPE)
