"""Weighted data with a known total, and totals by their definition."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

ALARM = 1e-4  # probability that a correct sampler fails one of these tests for a random seed
DRAWS = 20_000
DATA = np.array([[1.0, -0.5], [0.25, 2.0], [0.0, 0.0]])
WEIGHTS = np.array([1.0, 1.5, 7.0])
TOTAL = np.array([1.375, 2.5])


def total(points, weights, grid):
    """Theorem 1 in fractions, shape (d,) in units of the fine grid."""
    rows = [[math.trunc(Fraction(w) * Fraction(x) / grid.h_f) for x in row] for row, w in zip(points, weights, strict=True)]
    return [sum(column) for column in zip(*rows, strict=True)]


def make_data(seed, rows=30, dimension=3):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, dimension)).clip(-1, 1), 1 + 5 * rng.random(rows)
