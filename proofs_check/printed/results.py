"""What running a refuted statement gives: what is claimed, and the numbers that are found, exact or with a side."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from profiles.numbers import decimal_text, exact_text
from proofs_check.exact import Enclosed, log_ratio

#: A number that was found: exact, between two exact ends, or infinite.
Quantity: TypeAlias = Fraction | Enclosed | float

_DIGITS = 12
_LONGEST = 60


@dataclass(frozen=True, slots=True)
class Found:
    """One number of a run: ``what`` it is, and its ``value``; where it is an e^loss (``loss``), the loss in nats is told beside it."""

    what: str
    value: Quantity
    loss: bool = False

    def to_json(self) -> dict[str, object]:
        """Return the stable form: exact text or both ends, and both ends of the loss in nats."""
        told: dict[str, object] = {"what": self.what}
        if isinstance(self.value, Fraction):
            told["value"] = exact_text(self.value)
        elif isinstance(self.value, Enclosed):
            told["value"] = [
                decimal_text(self.value.lower, _DIGITS, round_up=False),
                decimal_text(self.value.upper, _DIGITS, round_up=True),
            ]
        else:
            told["value"] = "infinite"
        if self.loss:
            told["nats"] = "infinite" if isinstance(self.value, float) else self._enclose_nats(self.value)
        return told

    def describe(self) -> str:
        """Return the number as a fraction where that is short, else between two decimals; of a loss the nats as well."""
        if isinstance(self.value, Fraction):
            exact = exact_text(self.value)
            text = exact if len(exact) <= _LONGEST else f"{_between(Enclosed(self.value, self.value))} (an exact fraction: --json has it)"
        elif isinstance(self.value, Enclosed):
            text = _between(self.value)
        else:
            return "infinite: what has a positive probability on one side has probability 0 on the other"
        return f"{text}, a loss of at least {self._enclose_nats(self.value)[0]} nats" if self.loss else text

    @staticmethod
    def _enclose_nats(value: Fraction | Enclosed) -> list[str]:
        nats = log_ratio(value, 1)
        return [decimal_text(Fraction(nats.lower), 7, round_up=False), decimal_text(Fraction(nats.upper), 7, round_up=True)]


@dataclass(frozen=True, slots=True)
class Rerun:
    """A refuted statement on one instance: ``algorithm`` that was run as printed, ``instance``, what is ``claimed``, what is ``found``."""

    claim: str
    algorithm: str
    instance: str
    claimed: str
    found: tuple[Found, ...]

    def to_json(self) -> dict[str, object]:
        return {
            "id": self.claim,
            "algorithm": self.algorithm,
            "instance": self.instance,
            "claimed": self.claimed,
            "found": [found.to_json() for found in self.found],
        }


def _between(value: Enclosed) -> str:
    low = decimal_text(value.lower, _DIGITS, round_up=False)
    high = decimal_text(value.upper, _DIGITS, round_up=True)
    return low if low == high else f"between {low} and {high}"


INFINITE = math.inf
