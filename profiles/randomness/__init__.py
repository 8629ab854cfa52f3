"""Exact draws from uniform random digits: nothing here is rounded without a side, so that no guarantee has to suppose exact arithmetic.

The primitives are a uniform integer, an event of probability e^−x, geometric noise, and the choice of the exponential mechanism; the proofs
are in docs/repeated-mechanisms.md, section 5.
"""

from profiles.randomness.choice import ExponentialChoice, ExponentialDraws, measure_gaps
from profiles.randomness.digits import RandomDigits, draw_below, open_digits
from profiles.randomness.exponentials import draw_discrete_laplace, draw_exp, draw_geometric, enclose_exp

__all__ = [
    "ExponentialChoice",
    "ExponentialDraws",
    "RandomDigits",
    "draw_below",
    "draw_discrete_laplace",
    "draw_exp",
    "draw_geometric",
    "enclose_exp",
    "measure_gaps",
    "open_digits",
]
