"""What a decision looks like: a verdict with its method, witness or reason, and the proof that the kernel checked."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from profiles.numbers import decimal_text, exact_text
from profiles.views import show_html

if TYPE_CHECKING:
    from profiles.profile import Profile


class Verdict(Enum):
    """``proved``, ``refuted`` (with a witness) or ``unknown`` (with the reason). Unknown never means false."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNKNOWN = "unknown"


#: A proof tree of the certificate format (docs/certificates.md).
Tree = dict[str, Any]


def nearby(value: Fraction, digits: int = 8) -> str:
    """Return a number as a decimal for people: exactly where that is short, else rounded to the nearest one of so many digits.

    >>> nearby(Fraction(3, 2)), nearby(Fraction(4000, 7))
    ('1.5', '571.42857')
    """
    text = exact_text(value)
    if "/" not in text and len(text) <= 2 * digits:
        return text
    down, up = (decimal_text(value, digits, round_up=side) for side in (False, True))
    return down if value - Fraction(down) <= Fraction(up) - value else up


@dataclass(frozen=True, slots=True)
class Decision:
    """The verdict on one condition of one profile.

    ``claim`` is the kernel's claim (without the others that it needs) and ``checked`` says whether the kernel accepted it;
    a verdict without that rests on SymPy or ball arithmetic alone. ``details`` are facts worth printing (region, threshold, ...).
    """

    condition: str
    verdict: Verdict
    method: str
    witness: Mapping[str, Fraction] | None = None
    reason: str | None = None
    claim: Tree | None = None
    checked: bool = False
    details: Mapping[str, Any] = field(default_factory=dict)

    def _repr_html_(self) -> str:
        return show_html(self)

    def to_json(self) -> dict[str, Any]:
        """Return the stable JSON form; numbers of the witness are exact decimal strings or fractions.

        ``witness_decimal`` has those that are fractions as decimals, rounded: these are near the witness and no witness themselves.
        """
        witness = None if self.witness is None else {name: exact_text(value) for name, value in self.witness.items()}
        return {
            "verdict": self.verdict.value,
            "method": self.method,
            "witness": witness,
            "witness_decimal": None if self.witness is None else {name: nearby(value) for name, value in self.witness.items()},
            "reason": self.reason,
            "checked_by_kernel": self.checked,
            **self.details,
        }


@dataclass(frozen=True, slots=True, repr=False)
class Verdicts:
    """The verdicts on the conditions of one profile."""

    profile: Profile
    decisions: Mapping[str, Decision]

    def worst(self, verdicts: Collection[Verdict]) -> Verdict:
        """Return the worst of some verdicts: refuted before unknown before proved."""
        return next((verdict for verdict in (Verdict.REFUTED, Verdict.UNKNOWN) if verdict in verdicts), Verdict.PROVED)

    def claims(self) -> list[Tree]:
        """Return the kernel's claims of every verdict that it accepts."""
        return [decision.claim for decision in self.decisions.values() if decision.checked and decision.claim is not None]

    def tell(self, meanings: Mapping[str, str]) -> dict[str, Any]:
        """Return the decisions as JSON types, with declared statistics beside a witness in shares of their ranges."""
        told = {name: {"meaning": meanings[name], **decision.to_json()} for name, decision in self.decisions.items()}
        for name, decision in self.decisions.items():
            if decision.witness is not None and self.profile.shares:
                declared = self.profile.declared_record(decision.witness)
                told[name]["declared_statistics"] = {key: exact_text(value) for key, value in declared.items()}
        return told
