"""Named errors of the whole project.

Each message is one sentence: what was asked, what was found, what to do. The command line turns every one of them into one line
on standard error and exit code 2 (or 1, 3 where the error says so); none of them ever implies that a condition is false.
"""

from __future__ import annotations

#: What is promised, in the words that people look for: said of a delta, which is refused.
PURE = "pure epsilon-differential privacy"


class PDPError(Exception):
    """Base of all errors that this project raises on purpose.

    ``str(error)`` tells nothing that came from a data set or a user's array but rows and kinds of faults; what was found there, such as the
    value, is ``error.private`` (text, often empty), for the eyes of whoever may see the data (:mod:`profiles.private`).
    """

    exit_code = 2
    #: What ``--json`` calls the outcome; None: refuted for exit code 1, unknown for 3.
    verdict: str | None = None

    def __init__(self, message: str = "", *, private: str = "") -> None:
        super().__init__(message)
        self.private = private


class InvalidNumber(PDPError):
    """A number is malformed, not finite, or out of the accepted size. Says nothing about the profile."""


class InvalidExpression(PDPError):
    """An expression is outside the grammar or its size limits. Says nothing about its value."""


class InvalidProfile(PDPError):
    """A declaration is unusable: unknown symbol, empty range, w missing, or ε undefined or negative (with the witness)."""


class OtherNotion(InvalidProfile):
    """A profile in another notion than the one that is needed: its number means something else, and must not be taken for it."""


class UnreadableFile(PDPError):
    """A file is missing, too large, malformed, or not of the expected format."""


class NothingToCheck(PDPError):
    """A file of a known format makes no claim that can be checked; the message says what it is, and what to do with it."""


class InvalidData(PDPError):
    """A data set is unusable: empty, NaN or infinite, a missing column, a wrong type, or records outside the declared range."""


class InvalidTarget(PDPError):
    """A target ε* (or a target size, or a precision) is not a usable number."""


class InvalidSampling(PDPError):
    """A sampling rule is unusable for this profile: unknown name, missing constant, or not a probability (with the witness)."""


class NotPrivate(PDPError):
    """What depends on the whole data set, or tells about single records, was to be used where a guarantee is asked for; it has none."""


class NotOffered(NotPrivate, AttributeError):
    """An attribute that scikit-learn's users look for is not there, because it would not be private; the message says what to do."""


class InvalidArgument(PDPError):
    """An option or argument of a function or command is unusable."""


class NotNeighbors(InvalidArgument):
    """The two data sets of an audit are not neighbors: the same records, or several apart. A claim about one record says nothing of them.

    Neither consistent nor violated: the verdict is "not neighbors", and the exit code 3.
    """

    exit_code = 3
    verdict = "not neighbors"


class Infeasible(PDPError):
    """No weight w ≥ 1 satisfies the constraint; the message names the condition that is refuted."""

    exit_code = 1


class Undecided(PDPError):
    """The toolkit could neither prove nor refute what it would need for an answer. Never means that the statement is false."""

    exit_code = 3


class SampleUsed(PDPError):
    """A sample was to be used a second time; its guarantee covers one analysis. Says nothing about what the first one gave."""


class UnwritableOutput(PDPError):
    """An output file could not be written; whatever stood there before is untouched."""


class LedgerRejected(PDPError):
    """A ledger, its log or its anchor is not what its own hashes say, or not the newest copy. Nothing was charged and nothing was run."""

    exit_code = 1
    verdict = "rejected"


class OverBudget(PDPError):
    """A release does not fit what is left of the public budget. Nothing was charged; says nothing of any single unit."""

    exit_code = 1
    verdict = "over budget"


class NoGuarantee(PDPError):
    """A ledger was asked for a guarantee, but its budgets were raised without a cap: what holds then is an ex-post report.

    Says nothing about the releases, which may be charged further.
    """


class ReleaseUsed(PDPError):
    """The name of a release is taken: it was charged before. A charge is neither taken back nor made twice."""


class NotReplayed(PDPError):
    """The accountant's rules do not make the guarantee that a file states. Says nothing about the mechanism."""

    exit_code = 1


class OpenHypotheses(PDPError):
    """A guarantee with open hypotheses was to be handed to a library that cannot carry them; the message lists them."""


class MissingExtra(PDPError, ImportError):
    """An optional library is not installed; the message names the extra that installs it."""


class MissingProgram(PDPError):
    """A program that is not a Python package is not installed; the message names the package that has it."""
