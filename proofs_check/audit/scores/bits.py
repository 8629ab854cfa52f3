"""The lowest bit of an output: what floating-point noise gives away (Mironov 2012)."""

from __future__ import annotations

import numpy as np

from profiles.arrays import Floats
from proofs_check.audit.outputs import Outputs

_NOTHING = 2000.0


def lowest_bit(outputs: Outputs) -> Floats:
    """Return the least exponent e, over the places, of a set bit 2^e in the binary64 numbers of an output; 2000 for zeros.

    A sum of a true answer and noise is a multiple of the last place of the larger one, so that small sums have coarse bits where the
    noise alone has fine ones: different data sets reach different numbers.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        significand, exponent = np.frexp(outputs.values)
        whole = np.where(np.isfinite(significand), significand, 0.0) * 2.0**53
    integers = np.abs(whole).astype(np.int64)
    lowest = integers & -integers
    _, position = np.frexp(lowest.astype(np.float64))
    found = np.where(integers == 0, _NOTHING, exponent - 53.0 + position - 1.0)
    return np.asarray(found.min(axis=1), dtype=np.float64)
