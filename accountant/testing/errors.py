"""How an assertion of the testing kit fails. Both are assertion errors, so that every test runner counts them as failures."""

from __future__ import annotations


class ClaimRefuted(AssertionError):
    """A profile has a false condition (with the witness), or an audit refuted a claim (with the pair, the event and the bound)."""


class NotAudited(AssertionError):
    """Nothing could be said: the mechanism raised, hangs or returns what cannot be judged, or a condition that must hold is unknown.

    Never evidence against a claim.
    """
