"""Repeated exponential mechanism and repeated above-threshold: one-sided private, with exact samplers (docs/repeated-mechanisms.md)."""

from profiles.mechanisms.repeated.choice import ExponentialChoice, draw_gumbel
from profiles.mechanisms.repeated.exponential import RepeatedExponential
from profiles.mechanisms.repeated.exponentials import draw_exp, draw_geometric, enclose_exp
from profiles.mechanisms.repeated.interface import PUBLIC_CONSTANTS, SELECT, Arithmetic
from profiles.mechanisms.repeated.randomness import RandomDigits, draw_below, open_digits
from profiles.mechanisms.repeated.threshold import RepeatedThreshold, draw_above

__all__ = [
    "PUBLIC_CONSTANTS",
    "SELECT",
    "Arithmetic",
    "ExponentialChoice",
    "RandomDigits",
    "RepeatedExponential",
    "RepeatedThreshold",
    "draw_above",
    "draw_below",
    "draw_exp",
    "draw_geometric",
    "draw_gumbel",
    "enclose_exp",
    "open_digits",
]
