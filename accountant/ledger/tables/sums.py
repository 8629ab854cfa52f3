"""Sums by which rows are followed through an engine: whatever it loses, doubles or gives to another unit changes them (docs/ledger.md, L7).

Each unit has a weight, an odd number of 64 bits that its keyed hash fixes. A sum is that of weight times value, modulo 2^64.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accountant.ledger.units import Unsigned
from profiles.arrays import Integers

_MASK = (1 << 64) - 1
#: Odd, and not alike, so that halves of a hash that change their places change the weight.
_FIRST, _SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)


def weigh_units(high: Integers, low: Integers) -> Unsigned:
    """Return the weights of units, whose hashes are ``high`` and ``low``.

    >>> weigh_units(np.array([0, 1, 2]), np.array([2, 1, 0])).tolist()
    [9612190660084487839, 6983438112510666597, 4354685564936845355]
    """
    mixed: Unsigned = (high.view(np.uint64) * _FIRST + low.view(np.uint64) * _SECOND) | np.uint64(1)
    return mixed


def weighted_sum(weights: Unsigned, values: Integers | NDArray[np.bool_] | None = None) -> int:
    """Return the sum of weights times values, of weights alone where there are none, modulo 2^64.

    >>> weighted_sum(np.array([3, 2**63 + 1], np.uint64), np.array([1, 2]))
    5
    """
    parts = weights if values is None else weights * np.asarray(values).astype(np.uint64)
    return int(parts.sum(dtype=np.uint64))


class Sums:
    """Named sums that grow batch by batch."""

    __slots__ = ("values",)

    def __init__(self) -> None:
        self.values: dict[str, int] = {}

    def add(self, weights: Unsigned, **values: Integers | NDArray[np.bool_] | None) -> None:
        """Add weights times values to the sum of each name, weights alone where there are none.

        >>> sums = Sums()
        >>> sums.add(np.array([3, 5], np.uint64), units=None, spent=np.array([1, 2]))
        >>> sums["units"], sums["spent"], sums["budget"]
        (8, 13, 0)
        """
        for name, part in values.items():
            self.values[name] = (self.values.get(name, 0) + weighted_sum(weights, part)) & _MASK

    def __getitem__(self, name: str) -> int:
        return self.values.get(name, 0)
