"""Listing the law of a small instance."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction

from profiles.errors import InvalidArgument

#: A probability between two exact numbers.
Ends = tuple[Fraction, Fraction]
Law = dict[tuple[int, ...], Ends]

#: What a sampled output of fewer rounds is filled up with.
STOPPED = -1
MOST_OUTPUTS = 100_000


def collect_law(items: Iterator[tuple[tuple[int, ...], Ends]]) -> Law:
    """Return all outputs with their probabilities. Raises :class:`InvalidArgument` for more than 100,000 of them."""
    found = dict(itertools.islice(items, MOST_OUTPUTS + 1))
    if len(found) > MOST_OUTPUTS:
        raise InvalidArgument(f"the law has more than {MOST_OUTPUTS} outputs, which are too many to list; take a smaller instance")
    return found
