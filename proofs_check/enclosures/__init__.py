"""Rigorous enclosures of terms on boxes, in ball arithmetic."""

from proofs_check.enclosures.balls import (
    Enclosure,
    ball,
    interval,
    lower_fraction,
    upper_fraction,
    working_precision,
)

__all__ = ["Enclosure", "ball", "interval", "lower_fraction", "upper_fraction", "working_precision"]
