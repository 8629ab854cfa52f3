"""Exact noise: the correctly rounded values of real-valued mechanisms (docs/exact-noise.md)."""

from profiles.randomness.rounded.grid import Grid
from profiles.randomness.rounded.ieee import check_rounding
from profiles.randomness.rounded.laws import EUCLIDEAN, EXPONENTIAL, LAPLACE, MAXIMUM, NORMAL, NoiseLaw, k_norm_law
from profiles.randomness.rounded.rounding import Precision, draw_rounded, draw_rounded_integers

__all__ = [
    "EUCLIDEAN",
    "EXPONENTIAL",
    "LAPLACE",
    "MAXIMUM",
    "NORMAL",
    "Grid",
    "NoiseLaw",
    "Precision",
    "check_rounding",
    "draw_rounded",
    "draw_rounded_integers",
    "k_norm_law",
]
