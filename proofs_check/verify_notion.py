"""Verification of a profile in another notion than the pure one: the conditions that its theorems need (docs/gaussian-weights.md)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from profiles.errors import InvalidArgument, PDPError
from profiles.notions import ProfileNotion
from profiles.profile import Profile
from profiles.suggestions import suggest
from proofs_check.admission import AdmittedProfile, admit
from proofs_check.certificates import complete
from proofs_check.conditions import homogeneous
from proofs_check.prover.effort import within_saying_why
from proofs_check.results import Decision, Verdict, Verdicts

#: Work for one condition, in nominal seconds; what is not decided with it is unknown.
SECONDS_PER_CONDITION = 5.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class NotionCondition:
    """A named condition on profiles of a notion: what it means in a few words, its statement, where it is used, and what decides it."""

    id: str
    meaning: str
    statements: Mapping[ProfileNotion, str]
    source: str
    decide: Callable[[AdmittedProfile], Decision]


#: The conditions of each notion, in the order in which they are reported. A new condition is one module and one line here.
_ALL = (
    NotionCondition(
        homogeneous.ID,
        homogeneous.MEANING,
        homogeneous.STATEMENTS,
        "docs/gaussian-weights.md, Theorems 3, 4 and 6",
        homogeneous.decide_homogeneous,
    ),
)
CONDITIONS: Mapping[ProfileNotion, Mapping[str, NotionCondition]] = {
    notion: {condition.id: condition for condition in _ALL if notion in condition.statements} for notion in ProfileNotion
}


@dataclass(frozen=True, slots=True)
class NotionVerification(Verdicts):
    """The verdicts on one profile of a notion; all of them were asked."""

    @property
    def verdict(self) -> Verdict:
        """The worst verdict."""
        return self.worst({decision.verdict for decision in self.decisions.values()})

    def certificate(self) -> dict[str, Any]:
        """Return the certificate of every verdict that the kernel accepts."""
        return complete(admit(self.profile).certificate(self.claims()))

    def to_json(self) -> dict[str, Any]:
        return {
            "profile": self.profile.name,
            "notion": self.profile.notion.value,
            "asked": list(self.decisions),
            "verdict": self.verdict.value,
            "conditions": self.tell({name: condition.meaning for name, condition in CONDITIONS[self.profile.notion].items()}),
        }


def verify_notion(profile: Profile, conditions: Sequence[str] | None = None) -> NotionVerification:
    """Decide conditions of a profile in another notion than the pure one, all of its notion by default.

    That its number is defined and not negative is proved before, as for every profile.

    Raises :class:`profiles.InvalidProfile` (undefined or negative, with the witness; a pure profile, which has :func:`verify`),
    :class:`profiles.Undecided`, :class:`profiles.InvalidArgument` (a condition that is none of this notion).

    >>> from profiles import declare
    >>> found = verify_notion(declare("noisy sum", notion="gaussian", mu="w*z/3", record={"z": [0, 2]}))
    >>> {name: decision.verdict.value for name, decision in found.decisions.items()}
    {'homogeneous': 'proved'}
    """
    if profile.notion is ProfileNotion.PURE:
        raise InvalidArgument(f"{profile.name[:60]!r} is a pure profile, whose conditions need a target epsilon; use verify")
    known = CONDITIONS[profile.notion]
    for name in conditions or ():
        if name not in known:
            raise InvalidArgument(
                f'the condition {name[:60]!r} is not one of the notion "{profile.notion.value}"; known are {", ".join(known)}'
                + suggest(name, known)
            )
    admitted = admit(profile)
    return NotionVerification(profile, {name: _decide(admitted, known[name]) for name in dict.fromkeys(conditions or known)})


def _decide(admitted: AdmittedProfile, condition: NotionCondition) -> Decision:
    try:
        decision, reason = within_saying_why(SECONDS_PER_CONDITION, lambda: condition.decide(admitted))
    except PDPError:
        raise
    except Exception as error:
        _log.debug("deciding %s failed", condition.id, exc_info=True)
        decision, reason = None, f"the search ended by an error inside ({type(error).__name__}), which says nothing about the profile"
    return decision or Decision(condition.id, Verdict.UNKNOWN, "none", reason=reason)
