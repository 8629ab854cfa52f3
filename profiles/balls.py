"""The basics of ball arithmetic (Arb through python-flint): its precision, and balls from and to exact numbers.

This module loads FLINT, which takes a tenth of a second; what may do without balls imports it where they are needed.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from fractions import Fraction

import flint
from flint import arb, fmpq

__all__ = ["ball", "interval", "lower_fraction", "upper_fraction", "working_precision"]

#: FLINT's precision belongs to the process: a second thread that sets it would change the results of the first (all still enclosures, but
#: of other points and widths), and might leave its own behind for good.
_one_thread = threading.RLock()


def _renew_lock() -> None:
    """In a forked process: a thread that does not exist there may hold the old lock, and would never give it back."""
    global _one_thread  # noqa: PLW0603 - a lock cannot be reset in place
    _one_thread = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


@contextlib.contextmanager
def working_precision(bits: int) -> Iterator[None]:
    """Set the precision of ball arithmetic to ``bits`` for a ``with`` block, in which other threads wait at their own blocks."""
    with _one_thread:
        before = flint.ctx.prec
        flint.ctx.prec = bits
        try:
            yield
        finally:
            flint.ctx.prec = before


#: Of the exact numbers that are made from balls: larger ones would fill the memory.
_LARGEST_EXPONENT = 10**7


def ball(value: Fraction) -> arb:
    """Return the tightest ball around an exact number at the working precision."""
    return arb(fmpq(value.numerator, value.denominator))


def interval(lo: Fraction, hi: Fraction) -> arb:
    """Return a ball that contains the closed interval [lo, hi]."""
    return ball(lo).union(ball(hi))


def lower_fraction(value: arb) -> Fraction | None:
    """Return the exact lower end of a ball, None where it is not finite or its exponent is astronomic."""
    return _exact(value.lower())


def upper_fraction(value: arb) -> Fraction | None:
    """Return the exact upper end of a ball, None where it is not finite or its exponent is astronomic."""
    return _exact(value.upper())


def _exact(value: arb) -> Fraction | None:
    if not value.is_finite():
        return None
    mantissa, exponent = value.man_exp()
    power = int(exponent)
    if abs(power) > _LARGEST_EXPONENT:
        return None
    return Fraction(int(mantissa) * 2**power) if power >= 0 else Fraction(int(mantissa), 2**-power)
