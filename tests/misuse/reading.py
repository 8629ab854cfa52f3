"""Reading what a guarantee says."""

from __future__ import annotations

from typing import Any


def ids(guarantee: Any) -> set[str]:
    """Return the ids of the open hypotheses of a guarantee."""
    return {item.id for item in guarantee.hypotheses}
