"""The result of an audit: a bound with a side, the event in words, and everything that is needed to repeat it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from profiles.numbers import round_up
from profiles.views import show_html, show_picture, show_text
from proofs_check.audit.claims import Claim
from proofs_check.audit.guesses import GuessingRule
from proofs_check.audit.neighbors import Neighboring, Relation
from proofs_check.audit.outputs import Reader
from proofs_check.audit.sequential import Checkpoint
from proofs_check.exact import Bounds

if TYPE_CHECKING:
    from profiles.presenting.pictures import Picture


class Finding(Enum):
    """The verdict on the claim. ``CONSISTENT`` never means that the claim is true."""

    VIOLATED = "violated"
    CONSISTENT = "consistent"


@dataclass(frozen=True, slots=True)
class EventReport:
    """An event in words, how often it was seen among fresh outputs on each data set, and intervals of both probabilities.

    Each interval holds with the audit's confidence by itself (Clopper–Pearson, both sides, for whichever of three rules is shown); the
    bound on ε does not rest on them.
    """

    words: str
    seen_first: int
    of_first: int
    seen_second: int
    of_second: int
    interval_first: tuple[float, float]
    interval_second: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Parts:
    """What each labelled output was used for; the numbers add up to all outputs.

    Of the fixed sample: learned from, chosen by, counted for the bound. Where only bets were made, or the run stopped early: betted on
    (``bets``), and counted, after the claim was refuted, to show an event on (``shown``; these may be betted on as well).
    """

    learned: int = 0
    chosen: int = 0
    counted: int = 0
    bets: int = 0
    shown: int = 0

    def to_json(self) -> dict[str, int]:
        return {name: int(getattr(self, name)) for name in ("learned", "chosen", "counted", "bets", "shown")}


@dataclass(frozen=True, slots=True)
class AuditResult:
    """The result of one audit of one pair.

    ``epsilon_lower`` in nats is at most ε(D, D′) with probability at least ``confidence``, whatever the mechanism is, if its outputs are
    independent. ``fixed`` and ``sequential`` are the two parts that it is the larger of, None where a part did not run or did not end.
    ``outputs`` counts the labelled outputs of both data sets together, all of them, and ``asked`` those that were asked for; ``parts``
    tells what they were used for. ``refuted_after`` counts those after which the sequential part refuted the claim, and ``bets_on`` names
    the score whose bets won most. ``rule`` is the guessing rule that gave ``fixed``, or shows on fresh outputs what was betted on;
    ``right`` and ``wrong`` count its guesses. ``seed`` repeats the run (None if the generator was not made from one number). ``exact`` is
    the exact ε of the pair, where the caller knows it: for comparison only. ``reader`` reads outputs as the ``rule`` needs them.

    ``neighboring`` says what is known of the pair, ``memory`` why it is not known whether the mechanism remembers earlier calls (empty:
    nothing was noticed in either order), and ``same_on_both`` whether it gave the same on D and D′ for equal generators in the trials.
    """

    epsilon_lower: float
    claim: Claim
    finding: Finding
    confidence: Fraction
    outputs: int
    seconds: float
    mode: str
    fixed: float | None
    sequential: float | None
    refuted_after: int | None
    events: tuple[EventReport, ...]
    right: int
    wrong: int
    rule: GuessingRule | None
    bets_on: str | None
    trace: tuple[Checkpoint, ...]
    seed: int | None
    tests: int = 1
    exact: Bounds | None = None
    reader: Reader | None = None
    neighboring: Neighboring = Neighboring(Relation.ADD_REMOVE, "not checked")  # noqa: RUF009 - it is frozen
    asked: int = 0
    parts: Parts = Parts()
    memory: str = ""
    same_on_both: bool | None = None

    def __repr__(self) -> str:
        return show_text(self)

    def _repr_html_(self) -> str:
        return show_html(self)

    def plot(self) -> Picture:
        """Return a picture of the bound as it grew with the outputs, beside the claim; it shows no outputs. See :mod:`.plots` for these.

        Raises :class:`profiles.MissingExtra` without Matplotlib.
        """
        return show_picture(self)

    @property
    def samples(self) -> int:
        """The number of outputs for each data set, half of all labelled outputs, rounded up."""
        return (self.outputs + 1) // 2

    @property
    def passed(self) -> int:
        """The number of outputs on which the rule passed: with ``right`` and ``wrong`` they are all that were counted, or shown."""
        return self.parts.counted + self.parts.shown - self.right - self.wrong

    def to_json(self) -> dict[str, Any]:
        """Return the result as a JSON object; ``claimed`` is rounded up and ``epsilon_lower`` down.

        ``private`` has what reveals the outputs, hence of the data sets: events and scores, and the record that the claim is about.
        """
        return {
            "epsilon_lower": self.epsilon_lower,
            "claimed": round_up(self.claim.epsilon),
            "delta": float(self.claim.delta),
            "one_sided": self.claim.one_sided,
            "confidence": float(self.confidence),
            "verdict": self.finding.value,
            "samples": self.samples,
            "outputs": self.outputs,
            "mode": self.mode,
            "fixed": self.fixed,
            "sequential": self.sequential,
            "refuted_after": self.refuted_after,
            "asked": self.asked,
            "parts": self.parts.to_json(),
            "neighboring": {"relation": self.neighboring.relation.value, "status": self.neighboring.status},
            "memory": f"not checked: {self.memory}" if self.memory else "checked",
            "same_on_both": self.same_on_both,
            "guesses": {"right": self.right, "wrong": self.wrong, "passed": self.passed},
            "tests": self.tests,
            "exact": None if self.exact is None else {"lower": _number(self.exact.lower), "upper": _number(self.exact.upper)},
            "seconds": round(self.seconds, 3),
            "seed": self.seed,
            "private": {
                "claim_at": self.claim.private,
                "bets_on": self.bets_on,
                "score": None if self.rule is None else self.rule.score.name,
                "events": [
                    {
                        "event": event.words,
                        "probability": list(event.interval_first),
                        "probability_neighbor": list(event.interval_second),
                        "seen": [event.seen_first, event.of_first],
                        "seen_neighbor": [event.seen_second, event.of_second],
                    }
                    for event in self.events
                ],
            },
        }


def _number(value: float) -> float | str:
    return value if math.isfinite(value) else "inf"
