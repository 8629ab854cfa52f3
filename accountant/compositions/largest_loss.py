"""The largest loss of a composition: above it δ(ε) is the mass at infinity, 0 for most, and below it δ(ε) is positive.

Proofs: docs/composition-bounds.md, section 13.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from accountant.compositions.events import Direction
from profiles import exact_text
from profiles.numbers import decimal_above, decimal_below
from proofs_check.kernel.theories.compositions import bounds as compositions
from proofs_check.kernel.theories.compositions.bounds import Event as KernelEvent

#: The largest ε of a claim.
MOST_EPSILON = Fraction(10**10)
_BITS, _DIGITS = 100, 40  # of a denominator that is kept, and of the decimals that others become


@dataclass(frozen=True, slots=True)
class LargestLoss:
    """The supremum of the finite losses in one direction, in nats, from both sides; None: there is no bound, or none up to 10^10.

    ``mass``: δ at ``upper`` is at most this; it is 0 where nothing can be lost wholly.
    """

    direction: Direction
    lower: Fraction | None
    upper: Fraction | None
    mass: Fraction

    def claim_upper(self, epsilon: Fraction, delta: Fraction) -> Mapping[str, object]:
        """Return the claim that δ at ε is at most δ, which needs no grid."""
        return _claim("delta-upper", self.direction, epsilon, delta)

    def claim_positive(self) -> tuple[Mapping[str, object], ...]:
        """Return the claim that δ(ε) is above 0 at every ε below ``lower``, if that says anything."""
        if self.lower == 0:
            return ()
        return (_claim("delta-positive", self.direction, MOST_EPSILON if self.lower is None else self.lower, Fraction(0)),)


def find_largest_loss(events: Sequence[KernelEvent], direction: Direction) -> LargestLoss:
    """Return the largest loss of events as the kernel read them. Raises ``Rejected`` beyond the kernel's limits."""
    (low, beyond), (high, mass) = (compositions.find_end(list(events), remove=direction is Direction.REMOVE, up=up) for up in (False, True))
    lower = None if low is None or beyond else min(_shorten(max(low, Fraction(0)), up=False), MOST_EPSILON)
    upper = None if high is None else _shorten(high, up=True)
    return LargestLoss(direction, lower, None if upper is None or upper > MOST_EPSILON else upper, mass)


def _shorten(loss: Fraction, *, up: bool) -> Fraction:
    """Return a number that is written in few letters, on one side: the exact one where it has few digits."""
    return loss if loss.denominator.bit_length() <= _BITS else (decimal_above if up else decimal_below)(loss, _DIGITS)


def _claim(name: str, direction: Direction, epsilon: Fraction, bound: Fraction) -> dict[str, object]:
    return {"claim": name, "verdict": "proved", "direction": direction.value, "epsilon": exact_text(epsilon), "bound": exact_text(bound)}
