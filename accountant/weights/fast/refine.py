"""One record at a time, by ball arithmetic: the weight for rows that binary64 cannot certify. Slow, and always right."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

from flint import arb

from profiles import Infeasible, Undecided
from profiles.balls import ball, working_precision
from profiles.evaluation import exact_value
from profiles.numbers import MAX_FLOAT
from profiles.private import name_rows
from profiles.structure import fold, may_jump
from profiles.terms import Term
from profiles.variables import WEIGHT
from proofs_check.enclosures import Enclosure

_FIRST_BITS, _MOST_BITS = 128, 4096
_STEP = 2.0**-43
_MOST_SECANTS = 80


def _is_tight(low: float, high: float) -> bool:
    """Tell whether a feasible ``low`` is near enough to an infeasible ``high``."""
    return high <= low * (1 + 6 * _STEP) or high <= math.nextafter(low, math.inf)


class Refiner:
    """The constraint of one profile and target, for repeated exact decisions."""

    __slots__ = ("_enclosure", "_epsilon", "_jumps", "_known", "_target")

    def __init__(self, epsilon: Term, target: Fraction) -> None:
        self._epsilon, self._target, self._enclosure = epsilon, target, Enclosure(epsilon)
        self._jumps = may_jump(epsilon)
        self._known: tuple[Mapping[str, Fraction], Enclosure] = ({}, self._enclosure)

    def _at(self, record: Mapping[str, Fraction]) -> Enclosure:
        """Return ε at a record: where it may jump, with exact numbers for what is rational, so that no ball meets a jump by rounding."""
        if not self._jumps:
            return self._enclosure
        if self._known[0] != record:
            self._known = (dict(record), Enclosure(fold(self._epsilon, record)))
        return self._known[1]

    def decide(self, weight: float, record: Mapping[str, Fraction]) -> bool | None:
        """Tell whether ψ(weight) ≤ ε* for the record, exactly; None where 4096 bits do not decide it."""
        if weight == 1.0:
            value = exact_value(self._epsilon, {**record, WEIGHT: Fraction(1)}, defined=True)
            if value is not None:
                return value <= self._target
        bits = _FIRST_BITS
        while bits <= _MOST_BITS:
            excess = self._excess(weight, record, bits)
            if excess <= 0:
                return True
            if excess > 0:
                return False
            bits *= 2
        return None

    def _excess(self, weight: float, record: Mapping[str, Fraction], bits: int) -> arb:
        """Return a ball around F(w) = ε(w, x) − log(1 + E w)."""
        with working_precision(bits):
            box = {name: ball(value) for name, value in record.items()}
            box[WEIGHT] = arb(weight)
            return self._at(record).evaluate(box) - (ball(self._target).expm1() * box[WEIGHT]).log1p()

    def refine(self, record: Mapping[str, Fraction], guess: float) -> float:
        """Return the weight of a record with ψ(1) ≤ ε*: a binary64 w with ψ(w) ≤ ε* and w ≥ w*(1 − 1e-12); inf where ε is 0 for every w,
        the largest binary64 number where w* is above it. ``guess`` only affects the speed.
        """
        if exact_value(self._epsilon, record, defined=True) == 0:
            return math.inf
        low, high = self._probe(record, guess, 1.0, None)
        if high is None:
            low, high = self._bracket(record, low)
        if high is not None and not _is_tight(low, high):
            low, high = self._probe(record, self._approach(low, high, record), low, high)
        while high is not None and not _is_tight(low, high):
            low, high = self._narrow(low, high, record)
        return low

    def _probe(self, record: Mapping[str, Fraction], guess: float, low: float, high: float | None) -> tuple[float, float | None]:
        """Return the bracket [low, high) narrowed by decisions just below and just above ``guess``."""
        if not (math.isfinite(guess) and 1 <= guess < 1e300):
            return low, high
        below, above = guess * (1 - 2 * _STEP), guess * (1 + 2 * _STEP)
        if below > low and (high is None or below < high):
            inside = self.decide(below, record)
            if inside is False:
                return low, below
            low = below if inside else low
        if above > low and (high is None or above < high):
            inside = self.decide(above, record)
            if inside is False:
                return low, above
            low = above if inside else low
        return low, high

    def _approach(self, low: float, high: float, record: Mapping[str, Fraction]) -> float:
        """Return an approximation of the root of F in (low, high), by safeguarded secants on ball midpoints; nothing is proved by it."""

        def excess(weight: float) -> float:
            return float(self._excess(weight, record, 2 * _FIRST_BITS).mid())

        older, latest = low, high
        at_older, at_latest = min(excess(low), -1e-300), excess(high)
        for step in range(_MOST_SECANTS):
            change = at_latest - at_older
            tried = latest - at_latest * ((latest - older) / change) if change and math.isfinite(change) else math.nan
            if not low < tried < high or step % 5 == 4:
                tried = low + (high - low) * 0.5 if high < 4 * low else math.sqrt(low) * math.sqrt(high)
            above = excess(tried)
            if math.isnan(above) or abs(tried - latest) <= _STEP / 8 * tried:
                return tried
            low, high = (tried, high) if above <= 0 else (low, tried)
            older, at_older, latest, at_latest = latest, at_latest, tried, above
        return latest

    def _bracket(self, record: Mapping[str, Fraction], low: float) -> tuple[float, float | None]:
        """Return (feasible, infeasible) weights, the second None where the largest binary64 number is feasible."""
        step = 2.0
        while True:
            tried = min(MAX_FLOAT, low * step)
            inside = self.decide(tried, record)
            if inside is False:
                return low, tried
            if tried == MAX_FLOAT:
                if inside:
                    return MAX_FLOAT, None
                raise Undecided("the constraint at the largest binary64 weight could not be decided; use `pdp weight` for this record")
            low = tried if inside else low
            step = min(step * step, 2.0**200)

    def _narrow(self, low: float, high: float, record: Mapping[str, Fraction]) -> tuple[float, float]:
        """Return the bracket halved (on a logarithmic scale while it is wide)."""
        for share in (0.5, 0.375, 0.625):
            middle = low * (high / low) ** share if high > 2 * low else low + (high - low) * share
            if not low < middle < high:
                middle = math.nextafter(low, math.inf)
            inside = self.decide(middle, record)
            if inside is not None:
                return (middle, high) if inside else (low, middle)
        raise Undecided("three neighboring weights of one record could not be decided at 4096 bits; use `pdp weight` for it")

    def require_feasible(self, record: Mapping[str, Fraction]) -> bool:
        """Tell whether ε(1, x) ≤ ε*; where balls and exact fractions do not decide it, assumption-8, which is proved, does."""
        return self.decide(1.0, record) is not False


def refuse_records(count: int, rows: list[int], shown: list[str]) -> Infeasible:
    """Return the error for records that violate assumption-8."""
    listed = "; ".join(f"row {row}: {text}" for row, text in zip(rows, shown, strict=True))
    return Infeasible(
        f"assumption-8 fails at {name_rows(rows, more=count > len(rows))} (rows count from 0): ε(1, x) is above the target; raise the "
        "target ε*",
        private=f"{count} in all; {listed}",
    )
