"""One record at a time, by ball arithmetic: the weight for rows that binary64 cannot certify. Slow, and always right."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

from flint import arb

from accountant.weights.vectorised.exact import exact_value
from accountant.weights.vectorised.rounding import MAX_FLOAT
from profiles import Infeasible, Undecided
from profiles.profile import WEIGHT
from profiles.terms import Term
from proofs_check.enclosures import Enclosure, ball, working_precision

_FIRST_BITS, _MOST_BITS = 128, 4096
_STEP = 2.0**-43


class Refiner:
    """The constraint of one profile and target, for repeated exact decisions."""

    __slots__ = ("_enclosure", "_epsilon", "_target")

    def __init__(self, epsilon: Term, target: Fraction) -> None:
        self._epsilon, self._target, self._enclosure = epsilon, target, Enclosure(epsilon)

    def decide(self, weight: float, record: Mapping[str, Fraction]) -> bool | None:
        """Tell whether ψ(weight) ≤ ε* for the record, exactly; None where 4096 bits do not decide it."""
        if weight == 1.0:
            value = exact_value(self._epsilon, {**record, WEIGHT: Fraction(1)})
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
            return self._enclosure.evaluate(box) - (ball(self._target).expm1() * box[WEIGHT]).log1p()

    def refine(self, record: Mapping[str, Fraction], guess: float) -> float:
        """Return the weight of a record with ψ(1) ≤ ε*: a binary64 w with ψ(w) ≤ ε* and w ≥ w*(1 − 1e-12); inf where ε is 0 for every w,
        the largest binary64 number where w* is above it. ``guess`` only affects the speed.
        """
        if exact_value(self._epsilon, record) == 0:
            return math.inf
        low, high = self._bracket(record, guess)
        while high is not None and high > low * (1 + 4 * _STEP) and high > math.nextafter(low, math.inf):
            low, high = self._narrow(low, high, record)
        return low

    def _bracket(self, record: Mapping[str, Fraction], guess: float) -> tuple[float, float | None]:
        low, high = 1.0, None
        if math.isfinite(guess) and 1 <= guess < 1e300:
            below, above = max(1.0, guess * (1 - 2 * _STEP)), guess * (1 + 2 * _STEP)
            if below == 1.0 or self.decide(below, record):
                low = below
                if self.decide(above, record) is False:
                    return low, above
        step = 2.0
        while high is None:
            tried = min(MAX_FLOAT, low * step)
            if self.decide(tried, record) is False:
                high = tried
            elif tried == MAX_FLOAT:
                if self.decide(MAX_FLOAT, record):
                    return MAX_FLOAT, None
                raise Undecided("the constraint at the largest binary64 weight could not be decided; use `pdp weight` for this record")
            else:
                if self.decide(tried, record):
                    low = tried
                step = min(step * step, 2.0**200)
        return low, high

    def _narrow(self, low: float, high: float, record: Mapping[str, Fraction]) -> tuple[float, float]:
        # Bisection on a logarithmic scale until the factor is small, then two secant probes would save little: rows here are rare.
        for share in (0.5, 0.375, 0.625):
            middle = low * (high / low) ** share if high > 2 * low else low + (high - low) * share
            if not low < middle < high:
                middle = math.nextafter(low, math.inf)
            inside = self.decide(middle, record)
            if inside is not None:
                return (middle, high) if inside else (low, middle)
        raise Undecided("three neighbouring weights of one record could not be decided at 4096 bits; use `pdp weight` for it")

    def require_feasible(self, record: Mapping[str, Fraction]) -> bool:
        """Tell whether ε(1, x) ≤ ε*; where balls and exact fractions do not decide it, the premise (assumption-8, proved) does."""
        return self.decide(1.0, record) is not False


def refuse_records(count: int, rows: list[int], shown: list[str]) -> Infeasible:
    """Return the error for records that violate assumption-8."""
    listed = "; ".join(f"row {row} ({text})" for row, text in zip(rows, shown, strict=True))
    return Infeasible(
        f"assumption-8 fails for {count} record{'s' if count != 1 else ''}: ε(1, x) is above the target, first at {listed}; "
        "raise the target ε*"
    )
