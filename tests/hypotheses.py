"""What tests ask of hypotheses: their sentences."""

from __future__ import annotations

from collections.abc import Iterable

from profiles.hypotheses import Hypothesis


def say(hypotheses: Iterable[Hypothesis]) -> list[str]:
    """Return the sentences of hypotheses, in their order."""
    return [item.sentence for item in hypotheses]
