"""Scores of events that continuous noise never has: numbers on a grid, equal numbers at two places, and low bits that the data set
decides.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from profiles.arrays import Booleans, Floats
from proofs_check.audit.outputs import Outputs
from proofs_check.audit.scores.columns import Column
from proofs_check.audit.scores.interface import Score
from proofs_check.audit.scores.one_dimension import bin_score

#: Steps of the grids that are looked for, places that are looked at, and rows that decide whether there is anything to see.
_STEPS = (1.0, 0.1, 0.01, 0.001)
_PLACES, _TIED_PLACES, _ROWS = 20, 12, 20_000
#: Remainders are told apart up to this share of a step, so that the rounding of binary64 is no difference.
_CELLS = 2.0**24
#: The exponent of the lowest bit of zero.
_NO_BIT = 2000.0


def grid_scores(outputs: Outputs, is_first: Booleans, columns: tuple[Column, ...]) -> list[Score]:
    """Return, for places whose remainder modulo a step returns, the score of that remainder: noise on a grid shows what it was added to.

    Integer noise on an answer that is not an integer is the common case. Continuous noise has no remainder that returns.
    """
    made = []
    looked_at = outputs.take(slice(0, _ROWS))
    for j, column in enumerate(columns[:_PLACES]):
        free = ~np.isin(looked_at.values[:, j], column.atoms)  # atoms have scores of their own
        if not column.continuous or not free.any():
            continue
        for step in _STEPS:
            feature = _remainder(j, step)
            distinct, counts = np.unique(feature(looked_at)[free], return_counts=True)
            if 2 * counts[counts > 1].sum() > free.sum() and len(distinct) > 1:
                made.append(bin_score(feature, f"place {j + 1} modulo {step:g}", feature(outputs), is_first))
                break
    return made


def tie_scores(outputs: Outputs, is_first: Booleans) -> list[Score]:
    """Return the score of the number of pairs of places that hold the same number, where there are such outputs."""
    if not 1 < outputs.width <= _TIED_PLACES:
        return []
    values = _count_ties(outputs)
    return [bin_score(_count_ties, "pairs of equal places", values, is_first)] if (values > 0).any() and (values != values[0]).any() else []


def bit_scores(outputs: Outputs, is_first: Booleans) -> list[Score]:
    """Return the score of the lowest bit of an output, through which floating-point noise leaks (Mironov 2012)."""
    return [bin_score(lowest_bit, "exponent of the lowest bit", lowest_bit(outputs), is_first)]


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
    positions = np.where(integers == 0, _NO_BIT, exponent - 53.0 + position - 1.0)
    return np.asarray(positions.min(axis=1), dtype=np.float64)


def _remainder(j: int, step: float) -> Callable[[Outputs], Floats]:
    def feature(outputs: Outputs) -> Floats:
        with np.errstate(invalid="ignore", over="ignore"):
            share = outputs.values[:, j] / step
            cells = np.round((share - np.floor(share)) * _CELLS)
        return np.where(np.isfinite(cells), cells % _CELLS / _CELLS * step, -1.0)

    return feature


def _count_ties(outputs: Outputs) -> Floats:
    ordered = np.sort(outputs.values, axis=1)
    return np.asarray((ordered[:, 1:] == ordered[:, :-1]).sum(axis=1), dtype=np.float64)
