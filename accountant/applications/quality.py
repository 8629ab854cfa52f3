"""What answers say of their quality: a proved bound with its side, or that there is none, and why.

Each kind has ``side``, ``void``, ``reason``, ``failure`` and ``hypotheses``, is one line as text, and an object in JSON (:class:`Utility`).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, Protocol

from accountant.guarantees import Hypothesis
from profiles import decimal_text

Side = Literal["lower", "upper", "both"]


class Utility(Protocol):
    """A statement over all data sets about the answer, except with probability ``failure`` (None: in expectation).

    ``side``: "lower" bounds a value from below, "upper" a cost from above. ``reason``: why it is void, where it is: it then says nothing.
    ``hypotheses``: what is taken for granted of the constraint, the function or the data.
    """

    @property
    def side(self) -> Side:
        """Which way the bound goes."""

    @property
    def failure(self) -> Fraction | None:
        """The probability that it does not hold, at most."""

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """What is taken for granted."""

    @property
    def reason(self) -> str | None:
        """Why it is void."""

    @property
    def void(self) -> bool:
        """Whether it says nothing."""

    def to_json(self) -> dict[str, Any]:
        """Return it as an object of JSON."""


@dataclass(frozen=True, slots=True)
class UtilityBound:
    """F(T) ≥ ``ratio``·OPT − ``error`` for the answer T, over all data sets, except with probability ``failure`` (None: in expectation).

    OPT is the largest F of a set that the constraint allows. ``ratio`` is rounded down, ``error`` (in users) up. ``hypotheses``: what is
    taken for granted of the constraint and the function. ``reason``: why the bound is void, where it is: it then says nothing at all.
    """

    ratio: float
    error: float
    failure: Fraction | None
    hypotheses: tuple[Hypothesis, ...]
    reason: str | None = None

    @property
    def side(self) -> Side:
        """The value is bounded from below."""
        return "lower"

    @property
    def beta(self) -> Fraction | None:
        """The probability of failure."""
        return self.failure

    @property
    def void(self) -> bool:
        """Whether the bound says nothing, whatever the optimum is."""
        return self.reason is not None or self.ratio <= 0

    def value(self, optimum: float) -> float:
        """Return the value that is guaranteed where OPT is at least ``optimum``; 0 where the bound is vacuous."""
        return 0.0 if self.void else max(0.0, self.ratio * optimum - self.error)

    def __str__(self) -> str:
        """Say the bound in one line."""
        if self.void:
            return f"void: {self.reason or 'the ratio is 0'}"
        ratio = decimal_text(Fraction(self.ratio), 4, round_up=False)
        error = decimal_text(Fraction(self.error), 6, round_up=True)
        return f"value >= {ratio} of the optimum - {error} users, {_describe_chance(self.failure)}"

    def to_json(self) -> dict[str, Any]:
        """Return it as an object of JSON."""
        return {**_head(self), "ratio": self.ratio, "error": self.error}


@dataclass(frozen=True, slots=True)
class CostBound:
    """cost ≤ ``ratio``·OPT + ``error`` for the answer, over all data sets of the size ``within``, except with probability ``failure``.

    OPT is the least cost. Both numbers are rounded up; ``unit`` is that of the cost. ``hypotheses`` and ``reason`` as for
    :class:`UtilityBound`; a void bound has an infinite error.
    """

    ratio: float
    error: float
    failure: Fraction | None
    hypotheses: tuple[Hypothesis, ...]
    unit: str
    within: str
    reason: str | None = None

    @property
    def side(self) -> Side:
        """The cost is bounded from above."""
        return "upper"

    @property
    def void(self) -> bool:
        """Whether the bound says nothing, whatever the optimum is."""
        return self.reason is not None

    def value(self, optimum: float) -> float:
        """Return what the cost is at most where OPT is at most ``optimum``; infinite where the bound is void."""
        return float("inf") if self.void else self.ratio * optimum + self.error

    def __str__(self) -> str:
        """Say the bound in one line."""
        if self.void:
            return f"void: {self.reason}"
        ratio, error = (decimal_text(Fraction(value), digits, round_up=True) for value, digits in ((self.ratio, 4), (self.error, 6)))
        return f"cost <= {ratio} times the least + {error} {self.unit} for {self.within}, {_describe_chance(self.failure)}"

    def to_json(self) -> dict[str, Any]:
        """Return it as an object of JSON."""
        numbers = {"ratio": None, "error": None} if self.void else {"ratio": self.ratio, "error": self.error}
        return {**_head(self), **numbers, "unit": self.unit, "within": self.within}


@dataclass(frozen=True, slots=True)
class ReportBound:
    """Every item that at least ``error`` users have is reported, and none that at most ``level`` have, except with probability ``failure``.

    Where every user has at most ``k`` pairs (time, item) that more than ``level`` users have. ``hypotheses``, ``reason``: as for
    :class:`UtilityBound`.
    """

    level: int
    error: int
    k: int
    failure: Fraction | None
    hypotheses: tuple[Hypothesis, ...]
    reason: str | None = None

    @property
    def side(self) -> Side:
        """What is missed is bounded from above, what is reported from below."""
        return "both"

    @property
    def void(self) -> bool:
        """Whether the bound says nothing."""
        return self.reason is not None

    def __str__(self) -> str:
        """Say the bound in one line."""
        if self.void:
            return f"void: {self.reason}"
        return (
            f"what {self.error} users have is reported, what at most {self.level} have is not, {_describe_chance(self.failure)}, "
            f"where users have at most {self.k} items above that"
        )

    def to_json(self) -> dict[str, Any]:
        """Return it as an object of JSON."""
        numbers = {"level": None, "error": None} if self.void else {"level": self.level, "error": self.error}
        return {**_head(self), **numbers, "k": self.k}


def void_cost(reason: str, unit: str) -> CostBound:
    """Return a bound that says nothing, and why."""
    return CostBound(float("inf"), float("inf"), None, (), unit, "no data", reason)


def _describe_chance(failure: Fraction | None) -> str:
    return "in expectation" if failure is None else f"but for a probability of {decimal_text(failure, 3, round_up=True)}"


def _head(bound: Utility) -> dict[str, Any]:
    failure = None if bound.failure is None else str(bound.failure)
    supposed = [item.sentence for item in bound.hypotheses]
    return {"void": bound.void, "side": bound.side, "failure": failure, "reason": bound.reason, "hypotheses": supposed}


__all__ = ["CostBound", "ReportBound", "Utility", "UtilityBound", "void_cost"]
