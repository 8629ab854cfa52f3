"""Gradients of logistic regression, record by record: each is a function of the record and the coefficients alone, to the last bit.

The loss of a record x with label y is −log p_y(x), p the softmax of Θ x over K classes (K = 1: the logistic function of θ·x, for two
classes). Its gradient is the outer product r xᵀ with r = p − e_y, whose norm is ‖r‖₂ ‖x‖₂, with ‖r‖₂ ≤ √2 (K = 1: |r| ≤ 1).

Why no matrix product. The last bits of a row of a matrix product may depend on how many rows there are, and then one record more would
change the gradients of all others, which no sensitivity covers. Here everything is a sum, difference, product or quotient of one entry by
itself, in a fixed order, which IEEE 754 fixes: the exponential, too (:func:`exponential`), whose error matters to nobody.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from profiles.arrays import Floats, ignore_flags
from profiles.mechanisms.ball import measure_records

_LN2_HIGH, _LN2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10
_ORDER = 13
_STEEPEST = 700.0
#: Rows that are worked on at a time: a few columns of them stay in a core's cache.
_ROWS = 2**14


@dataclass(frozen=True, slots=True, eq=False)
class RecordColumns:
    """Records as columns: ``values`` of shape (p, n), ``units`` the same divided by their ``norms``, shape (n,); ``labels`` from 0 on."""

    values: Floats
    units: Floats
    norms: Floats
    labels: NDArray[np.intp]

    @classmethod
    @ignore_flags
    def of(cls, points: Floats, labels: NDArray[np.intp], *, intercept: bool) -> RecordColumns:
        """Return the records of an array of shape (n, d), with a last entry of 1 if there is an intercept."""
        whole = np.hstack([points, np.ones((len(points), 1))]) if intercept else points
        if not len(whole):
            return cls(np.zeros((whole.shape[1], 0)), np.zeros((whole.shape[1], 0)), np.zeros(0), labels)
        with np.errstate(all="ignore"):
            ratios, lengths, largest = measure_records(whole, 2)
            return cls(np.ascontiguousarray(whole.T), ratios / lengths, largest * lengths, labels)

    def take(self, rows: NDArray[np.intp]) -> RecordColumns:
        """Return the records at ``rows``, with their norms and labels."""
        return RecordColumns(self.values[:, rows], self.units[:, rows], self.norms[rows], self.labels[rows])

    def __len__(self) -> int:
        return len(self.norms)


@ignore_flags
def exponential(x: Floats) -> Floats:
    """Return e^x of entries in [−700, 700], by operations that IEEE 754 fixes: x = k log 2 + r, a polynomial in r, times 2^k.

    >>> float(abs(exponential(np.array([1.0, -700.0, 0.0])) / np.exp([1.0, -700.0, 0.0]) - 1).max()) < 1e-14
    True
    """
    k = np.rint(x / math.log(2))
    r = (x - k * _LN2_HIGH) - k * _LN2_LOW
    value = np.ones_like(r)
    for order in range(_ORDER, 0, -1):
        value *= r
        value /= order
        value += 1.0
    return np.asarray(np.ldexp(value, k.astype(np.int32)))


@ignore_flags
def residuals(records: RecordColumns, coefficients: Floats) -> Floats:
    """Return r = p − e_y of each record, shape (K, n), for coefficients of shape (K, p); every entry is finite."""
    differences = np.empty((len(coefficients), len(records)))
    with np.errstate(all="ignore"):
        for start in range(0, len(records), _ROWS):
            rows = slice(start, start + _ROWS)
            differences[:, rows] = _residuals(records.values[:, rows], records.labels[rows], coefficients)
    return differences


def _residuals(values: Floats, labels: NDArray[np.intp], coefficients: Floats) -> Floats:
    scores = np.zeros((len(coefficients), values.shape[1]))
    for column, row in zip(coefficients.T, values, strict=True):
        scores += column[:, np.newaxis] * row
    scores[np.isnan(scores)] = 0.0  # ∞ − ∞, of records beyond all reason
    if len(scores) == 1:
        smaller = exponential(-np.minimum(np.abs(scores), _STEEPEST))
        chances = np.where(scores >= 0, 1.0, smaller) / (1.0 + smaller)
        return np.asarray(chances - (labels == 1))
    most = scores[0].copy()
    for row in scores[1:]:
        np.maximum(most, row, out=most)
    gaps = most - scores
    gaps[np.isnan(gaps)] = 0.0
    chances = exponential(-np.minimum(gaps, _STEEPEST))
    total = np.zeros_like(most)
    for row in chances:
        total += row
    chances /= total
    for label in range(len(chances)):
        chances[label] -= labels == label
    return chances


@ignore_flags
def lengths(vectors: Floats) -> Floats:
    """Return ‖r‖₂ of each record, shape (n,), from residuals of shape (K, n)."""
    total = np.zeros(vectors.shape[1])
    for row in vectors:
        total += row * row
    return np.asarray(np.sqrt(total))


def steepness(classes: int) -> float:
    """Return an upper bound of ‖r‖₂: 1 for two classes, √2 for more."""
    return 1.0 if classes <= 2 else math.nextafter(math.sqrt(2), 2)
