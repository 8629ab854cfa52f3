"""Repeated exponential mechanism and repeated above-threshold: one-sided private, with exact samplers (docs/one-sided.md)."""

from profiles.mechanisms.repeated.exponential import RepeatedExponential, draw_gumbel
from profiles.mechanisms.repeated.rounds import PUBLIC_CONSTANTS
from profiles.mechanisms.repeated.threshold import RepeatedThreshold

__all__ = [
    "PUBLIC_CONSTANTS",
    "RepeatedExponential",
    "RepeatedThreshold",
    "draw_gumbel",
]
