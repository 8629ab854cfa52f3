"""What answers say of their quality: a proved bound with its side, or that there is none, and why.

Each kind has ``side``, ``void``, ``reason``, ``failure`` and ``hypotheses``, is one line as text, and an object in JSON (:class:`Utility`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

from accountant.guarantees import Hypothesis
from profiles import decimal_text

Side = Literal["lower", "upper", "both"]


class Utility(ABC):
    """A statement over all data sets about the answer, except with probability ``failure`` (None: in expectation).

    ``side``: "lower" bounds a value from below, "upper" a cost from above. ``reason``: why it is void, where it is: it then says nothing.
    ``hypotheses``: what is taken for granted of the constraint, the function or the data.
    """

    __slots__ = ()

    side: ClassVar[Side]

    failure: Fraction | None
    hypotheses: tuple[Hypothesis, ...]
    reason: str | None

    @property
    def void(self) -> bool:
        """Whether it says nothing."""
        return self.reason is not None

    @abstractmethod
    def _say(self, chance: str) -> str:
        """Return a bound that is not void as one line; ``chance`` says how often it holds."""

    @abstractmethod
    def _numbers(self) -> dict[str, Any]:
        """Return what only this kind of bound has, as an object of JSON."""

    def __str__(self) -> str:
        if self.void:
            return f"none is proved: {self.reason or 'the ratio is 0'}"
        failure = self.failure
        return self._say("in expectation" if failure is None else f"except with probability {decimal_text(failure, 3, round_up=True)}")

    def to_json(self) -> dict[str, Any]:
        """Return it as an object of JSON."""
        failure = None if self.failure is None else str(self.failure)
        supposed = [item.sentence for item in self.hypotheses]
        return {"void": self.void, "side": self.side, "failure": failure, "reason": self.reason, "hypotheses": supposed, **self._numbers()}


@dataclass(frozen=True, slots=True)
class UtilityBound(Utility):
    """F(T) ≥ ``ratio``·OPT − ``error`` for the answer T, over all data sets, except with probability ``failure`` (None: in expectation).

    OPT is the largest F of a set that the constraint allows. ``ratio`` is rounded down, ``error`` (in users) up. ``hypotheses``:
    assumptions about the constraint and the function. ``reason``: why the bound is void, if it is: it then says nothing at all.
    """

    side: ClassVar[Side] = "lower"

    ratio: float
    error: float
    failure: Fraction | None
    hypotheses: tuple[Hypothesis, ...]
    reason: str | None = None

    @property
    def beta(self) -> Fraction | None:
        """The probability of failure."""
        return self.failure

    @property
    def void(self) -> bool:
        return self.reason is not None or self.ratio <= 0

    def value(self, optimum: float) -> float:
        """Return the value that is guaranteed where OPT is at least ``optimum``; 0 where the bound is vacuous."""
        return 0.0 if self.void else max(0.0, self.ratio * optimum - self.error)

    def _say(self, chance: str) -> str:
        ratio = decimal_text(Fraction(self.ratio), 4, round_up=False)
        error = decimal_text(Fraction(self.error), 6, round_up=True)
        return f"value >= {ratio} of the optimum - {error} users, {chance}"

    def _numbers(self) -> dict[str, Any]:
        return {"ratio": self.ratio, "error": self.error}


@dataclass(frozen=True, slots=True)
class CostBound(Utility):
    """cost ≤ ``ratio``·OPT + ``error`` for the answer, over all data sets of the size ``within``, except with probability ``failure``.

    OPT is the least cost. Both numbers are rounded up; ``unit`` is that of the cost. ``hypotheses`` and ``reason`` as for
    :class:`UtilityBound`; a void bound has an infinite error.
    """

    side: ClassVar[Side] = "upper"

    ratio: float
    error: float
    failure: Fraction | None
    hypotheses: tuple[Hypothesis, ...]
    unit: str
    within: str
    reason: str | None = None

    def value(self, optimum: float) -> float:
        """Return what the cost is at most where OPT is at most ``optimum``; infinite where the bound is void."""
        return float("inf") if self.void else self.ratio * optimum + self.error

    def _say(self, chance: str) -> str:
        ratio, error = (decimal_text(Fraction(value), digits, round_up=True) for value, digits in ((self.ratio, 4), (self.error, 6)))
        return f"cost <= {ratio} times the least + {error} {self.unit} for {self.within}, {chance}"

    def _numbers(self) -> dict[str, Any]:
        numbers = {"ratio": None, "error": None} if self.void else {"ratio": self.ratio, "error": self.error}
        return {**numbers, "unit": self.unit, "within": self.within}


@dataclass(frozen=True, slots=True)
class ReportBound(Utility):
    """Every item that at least ``error`` users have is reported, and none that at most ``level`` have, except with probability ``failure``.

    Where every user has at most ``k`` pairs (time, item) that more than ``level`` users have. ``hypotheses``, ``reason``: as for
    :class:`UtilityBound`.
    """

    side: ClassVar[Side] = "both"  # what is missed is bounded from above, what is reported from below

    level: int
    error: int
    k: int
    failure: Fraction | None
    hypotheses: tuple[Hypothesis, ...]
    reason: str | None = None

    def _say(self, chance: str) -> str:
        return (
            f"an item that {self.error} users have is reported, and one that at most {self.level} have is not, {chance}, if each user "
            f"has at most {self.k} items that more users have"
        )

    def _numbers(self) -> dict[str, Any]:
        numbers = {"level": None, "error": None} if self.void else {"level": self.level, "error": self.error}
        return {**numbers, "k": self.k}


def void_cost(reason: str, unit: str) -> CostBound:
    """Return a bound that says nothing, and why."""
    return CostBound(float("inf"), float("inf"), None, (), unit, "no data", reason)
