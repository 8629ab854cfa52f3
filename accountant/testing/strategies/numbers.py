"""Numbers that read well: small integers and short fractions."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

from hypothesis import strategies as st

from profiles.numbers import exact_text

_SHORT = [
    Fraction(1, 2),
    Fraction(3, 2),
    Fraction(1, 3),
    Fraction(1, 10),
    Fraction(5, 2),
    Fraction(9, 10),
    Fraction(100),
    Fraction(1, 1000),
]


@cache
def positive_numbers() -> st.SearchStrategy[Fraction]:
    """Return a strategy for positive numbers; shrinks to 1."""
    return st.integers(1, 20).map(Fraction) | st.sampled_from(_SHORT)


def as_factor(value: Fraction) -> str:
    """Return a number as a factor in the expression grammar."""
    text = exact_text(value)
    return f"({text})" if "/" in text or value < 0 else text
