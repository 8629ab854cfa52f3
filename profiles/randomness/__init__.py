"""Exact draws from uniform random digits: nothing here is rounded without a side, so that no guarantee has to suppose exact arithmetic.

The primitives are a uniform integer, an event of probability e^−x, geometric noise, and the choice of the exponential mechanism; the proofs
are in docs/repeated-mechanisms.md, section 5.
"""

from profiles.randomness.bits import BitSource, draw_below, open_bits
from profiles.randomness.choice import ExponentialChoice, ExponentialDraws, measure_gaps
from profiles.randomness.exponentials import draw_discrete_laplace, draw_exp, draw_geometric, enclose_exp
from profiles.randomness.geometric import draw_geometrics

__all__ = [
    "BitSource",
    "ExponentialChoice",
    "ExponentialDraws",
    "draw_below",
    "draw_discrete_laplace",
    "draw_exp",
    "draw_geometric",
    "draw_geometrics",
    "enclose_exp",
    "measure_gaps",
    "open_bits",
]
