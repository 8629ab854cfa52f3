"""The largest feasible weight without convexity: certified isolation from the right.

Statement: if F > 0 beyond ``hi``, the largest w in [1, hi] with F(w) ≤ 0 lies in the interval that is returned, and everything to its
right is certified infeasible. Pieces where the sign of F is not certain and F is not certainly monotone are halved; a piece that
stays undecided down to the resolution (a root where F touches zero) ends the search with a refusal, never with another root; but where F
may jump and is certainly at most 0 at the lower end of such a piece, or at a short number inside, the answer lies in the piece.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from accountant.weights.constraint import Constraint
from profiles.balls import working_precision

RESOLUTION = Fraction(1, 2**60)
BUDGET = 20_000
BITS = 192


@dataclass(frozen=True, slots=True)
class RootInterval:
    """F(lo) ≤ 0 < F(hi), F increasing in between; or lo = hi: the largest feasible weight is exactly that number.

    ``jump``: F may do anything in between, and F(lo) ≤ 0 and F > 0 from ``hi`` on is all that is known.
    """

    lo: Fraction
    hi: Fraction
    jump: bool = False


class UndecidedPiece(Exception):
    """The sign of F could not be certified on a piece; carries the piece."""

    def __init__(self, lo: Fraction, hi: Fraction) -> None:
        super().__init__(lo, hi)
        self.lo, self.hi = lo, hi


def isolate_largest(constraint: Constraint, hi: Fraction, digits: int = 18) -> RootInterval | None:
    """Return where the largest feasible weight in [1, hi] lies, given F > 0 beyond ``hi``; None if no weight is feasible.
    A jump of F is found to ``digits`` significant digits.

    Raises :class:`UndecidedPiece` where F touches zero or the budget is spent.
    """
    stack = [(Fraction(1), max(hi, Fraction(1)))]
    resolution = min(RESOLUTION, Fraction(1, 10 ** (digits + 2)))
    with working_precision(max(BITS, 4 * digits + 64)):
        for _ in range(BUDGET):
            if not stack:
                return None
            lo, top = stack.pop()
            if lo == top:
                sign = constraint.sign(lo)
                if sign is None:
                    raise UndecidedPiece(lo, top)
                if sign <= 0:
                    return RootInterval(lo, lo)
                continue
            if constraint.enclose(lo, top) > 0:
                continue
            isolated = _monotone(constraint, lo, top)
            if isinstance(isolated, RootInterval):
                return isolated
            if isolated:
                continue
            if top - lo <= resolution * top:
                return _beside_jump(constraint, lo, top)
            middle = (lo + top) / 2
            stack.append((lo, middle))
            stack.append((middle, top))
    lo, top = stack[-1]
    raise UndecidedPiece(lo, top)


def _beside_jump(constraint: Constraint, lo: Fraction, hi: Fraction) -> RootInterval:
    """Return a piece that is too small to be halved, from a short number in it on, or its lower end, at which F is certainly at most 0."""
    for weight in (_simplest(lo, hi), lo) if constraint.may_jump else ():
        sign = constraint.sign(weight)
        if sign is not None and sign <= 0:
            return RootInterval(weight, hi, jump=True)
    raise UndecidedPiece(lo, hi)


def _simplest(lo: Fraction, hi: Fraction) -> Fraction:
    """Return the fraction with the smallest denominator in [lo, hi], lo ≥ 0."""
    whole = -(-lo.numerator // lo.denominator)
    if whole <= hi:
        return Fraction(whole)
    below = whole - 1
    return below + 1 / _simplest(1 / (hi - below), 1 / (lo - below))


def _monotone(constraint: Constraint, lo: Fraction, hi: Fraction) -> RootInterval | bool:
    """Settle a piece on which F is certainly monotone: its root, True if F > 0 there but possibly at ends already settled, False if not."""
    slope = constraint.enclose_slope(lo, hi)
    if not (slope > 0 or slope < 0):
        return False
    at_lo, at_hi = constraint.sign(lo), constraint.sign(hi)
    if at_lo is None or at_hi is None:
        return False
    if at_hi <= 0:
        return RootInterval(hi, hi)
    if at_lo > 0:
        return True
    return RootInterval(lo, lo) if at_lo == 0 and slope > 0 else RootInterval(lo, hi)
