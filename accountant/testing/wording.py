"""The words of the testing kit: how claims, pairs, data sets and mechanisms are called in one line."""

from __future__ import annotations

from typing import Any

import numpy as np

from profiles.errors import PDPError
from profiles.numbers import decimal_text
from profiles.profile import Profile
from proofs_check.audit.claims import Claim
from proofs_check.audit.differences import find_difference
from proofs_check.audit.results import AuditResult

_LABEL, _DATA, _EVENT = 200, 400, 120


def name_profile(profile: Profile) -> str:
    """Return the expression of a profile, or its name where that is long."""
    return profile.text if len(profile.text) <= _LABEL else profile.name


def name_claim(claim: Claim) -> str:
    """Return a claim in a few words, rounded up.

    >>> name_claim(Claim("0.5")), name_claim(Claim(1, "1e-5", one_sided=True))
    ('0.5-DP', '1-add-DP, delta 0.00001')
    """
    text = f"{decimal_text(claim.epsilon, 6, round_up=True)}-{'add-DP' if claim.one_sided else 'DP'}"
    return text + (f", delta {decimal_text(claim.delta, 3, round_up=True)}" if claim.delta else "")


def name_mechanism(mechanism: Any) -> str:
    """Return the name that a mechanism has, else that of its type."""
    told = getattr(mechanism, "name", None) or getattr(mechanism, "__qualname__", None)
    return told if isinstance(told, str) else type(mechanism).__name__


def describe_difference(dataset: Any, neighbor: Any) -> str:
    """Return how two data sets differ, where that can be found: in which record, too, for the data of tests are no one's."""
    try:
        difference = find_difference(dataset, neighbor)
        return ": ".join(text for text in (difference.text(), difference.private_text()) if text)
    except (PDPError, TypeError, ValueError):
        return "as given to the assertion"


def describe_event(result: AuditResult) -> str:
    """Return the first event of an audit, on one line, with a space before it; nothing where there is none."""
    if not result.events:
        return ""
    words = " ".join(result.events[0].words.split())
    return f"; event: {words if len(words) <= _EVENT else words[: _EVENT - 3] + '...'}"


def shorten_data(dataset: Any) -> str:
    """Return a data set as Python would print it, on one line of at most 400 characters."""
    shown = tuple(part.tolist() if isinstance(part, np.ndarray) else part for part in dataset) if isinstance(dataset, tuple) else dataset
    text = " ".join(repr(shown.tolist() if isinstance(shown, np.ndarray) else shown).split())
    return text if len(text) <= _DATA else text[: _DATA - 3] + "..."
