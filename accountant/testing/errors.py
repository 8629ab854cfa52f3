"""How an assertion of the testing kit fails: assertion errors, so that every test runner counts them as failures. And what it warns of.

The text of each is one line, with the pair, the bound and how to repeat it; the evidence is shown beside it, or is a note of the exception.
"""

from __future__ import annotations


class ClaimRefuted(AssertionError):
    """A profile has a false condition (with the witness), or an audit refuted a claim (with the pair, the event and the bound)."""

    __module__ = "accountant.testing"  # where users import it from: summaries of test runners are short


class NotAudited(AssertionError):
    """Nothing could be said: the mechanism raised, hangs, remembers earlier calls or returns what cannot be judged; the data sets are no
    neighbors; or what was asked could not be decided.

    Never evidence against a claim.
    """

    __module__ = "accountant.testing"


class NotRefuted(AssertionError):
    """A refutation was expected, but no claim was refuted: the implementation may be better than thought, or the outputs too few."""

    __module__ = "accountant.testing"


class ClaimTooLarge(UserWarning):
    """So few outputs could not have refuted the claim, whatever the mechanism does: that the test passes says nothing."""

    __module__ = "accountant.testing"
