"""Rigorous enclosures of terms on boxes, in ball arithmetic."""

from proofs_check.enclosures.balls import (
    DEFAULT_PRECISION,
    Enclosure,
    ball,
    interval,
    lower_fraction,
    upper_fraction,
    working_precision,
)

__all__ = ["DEFAULT_PRECISION", "Enclosure", "ball", "interval", "lower_fraction", "upper_fraction", "working_precision"]
