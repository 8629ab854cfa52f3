"""The method of an audit: the number of outputs, the confidence, what is audited, and what is known about the pair."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any, TypedDict, TypeVar

from profiles.errors import InvalidArgument
from profiles.numbers import ExactLike, decimal_text, to_exact, to_integer
from profiles.suggestions import suggest
from proofs_check.audit.neighbors import Relation
from proofs_check.audit.scores import Effort
from proofs_check.exact import Bounds, ExactEpsilon

_LEAST_ERROR = Fraction(1, 10**300)
_LEAST_SAMPLES, _MOST_SAMPLES = 10, 10**9
_Choice = TypeVar("_Choice", bound=Enum)


class Mode(Enum):
    """Which parts run: the fixed sample, the sequential test, or both with the error split between them."""

    BOTH = "both"
    FIXED = "fixed"
    SEQUENTIAL = "sequential"


class AuditKeywords(TypedDict, total=False):
    """The fields of :class:`AuditMethod` as keywords of :func:`proofs_check.audit.audit`."""

    samples: int
    confidence: ExactLike
    mode: Mode | str
    effort: Effort | str
    statistic: Callable[[Any], Any] | None
    log_ratio: Callable[[Any], Any] | None
    time_limit: float | None
    own_randomness: bool
    bits: bool
    tests: int
    exact: ExactEpsilon | Bounds | None
    neighboring: Relation | str
    stop_when_refuted: bool
    check_memory: bool
    progress: Callable[[int], None] | None


@dataclass(frozen=True, slots=True)
class AuditMethod:
    """The method of one or several audits; each field is a keyword of :func:`proofs_check.audit.audit` as well.

    ``samples`` is the number of outputs for each data set (2·samples labelled outputs in all; fair labels decide which data set makes
    each). ``statistic`` maps the outputs of the mechanism to the values that are audited instead (post-processing); ``log_ratio`` maps them
    to the exact log-likelihood ratio, and nothing is learned then. ``time_limit`` is in seconds for one call; ``own_randomness`` accepts a
    mechanism that does not draw from the generator; ``bits`` also looks for leaks of floating-point arithmetic. ``tests`` is the number of
    audits that are reported together: the error is divided by it. ``exact`` is the exact ε of the pair where it is known (see
    :mod:`proofs_check.exact`): it is shown beside the bound and changes nothing.

    ``neighboring`` names the neighbors of the claim: ``"add-remove"`` (checked), ``"replace-one"`` (checked), or ``"stated"``, another
    relation that is not checked; see :func:`~proofs_check.audit.neighbors.judge_neighbors`. All requested outputs are drawn, also after the
    sequential test has refuted the claim, so that the bound says how wrong the claim is; with ``stop_when_refuted`` only a few more are
    drawn, to show an event. ``check_memory`` runs D′ before D in a copy of this process. ``progress`` is called with the number of outputs.
    """

    samples: int = 100_000
    confidence: ExactLike = "0.99"
    mode: Mode | str = Mode.BOTH
    effort: Effort | str = Effort.NORMAL
    statistic: Callable[[Any], Any] | None = None
    log_ratio: Callable[[Any], Any] | None = None
    time_limit: float | None = None
    own_randomness: bool = False
    bits: bool = False
    tests: int = 1
    exact: ExactEpsilon | Bounds | None = None
    neighboring: Relation | str = Relation.ADD_REMOVE
    stop_when_refuted: bool = False
    check_memory: bool = True
    progress: Callable[[int], None] | None = None

    def parts(self) -> tuple[Mode, Effort]:
        """Return which parts run, and how much they learn. Raises :class:`InvalidArgument` for words that are neither."""
        return _choose(Mode, self.mode, "the mode"), _choose(Effort, self.effort, "the effort")

    def error(self) -> tuple[Fraction, Fraction]:
        """Return the confidence of all tests together, and the error of one. Raises :class:`InvalidArgument` for numbers out of range."""
        level = to_exact(self.confidence, "the confidence")
        if not 0 < level < 1:
            raise InvalidArgument(
                f"the confidence must lie in (0, 1), but {decimal_text(level, 6, round_up=False)} was found; give for example 0.99"
            )
        to_integer(self.samples, "the number of samples", _LEAST_SAMPLES, _MOST_SAMPLES)
        alpha = (1 - level) / to_integer(self.tests, "the number of tests", 1, hint="count the audits reported together")
        if alpha < _LEAST_ERROR:
            raise InvalidArgument("a test needs an error of at least 1e-300, but less is left for it; give a lower confidence")
        return level, alpha

    def change(self) -> Callable[[Any], Any] | None:
        """Return what maps an output to what is judged. Raises :class:`InvalidArgument` where two maps were given."""
        if self.statistic is not None and self.log_ratio is not None:
            raise InvalidArgument("a statistic and a log-likelihood ratio were both given; give one of them")
        return self.statistic or self.log_ratio


def _choose(kind: type[_Choice], value: object, what: str) -> _Choice:
    try:
        return kind(value)
    except ValueError:
        names = [str(member.value) for member in kind]
        hint = suggest(str(value), names)
        raise InvalidArgument(f"{what} must be one of {', '.join(names)}, but {str(value)[:40]!r} was found; choose one{hint}") from None
