"""Lattices for epochs of random allocation: how finely the kernel adds up their likelihood ratios. Nothing here is trusted."""

from __future__ import annotations

from collections.abc import Callable
from decimal import localcontext
from fractions import Fraction
from functools import lru_cache
from math import asinh, ceil, exp, expm1, floor, inf, log, log2, log10, sinh, sqrt
from statistics import NormalDist

from profiles import exact_text
from proofs_check.kernel.core.documents import Meter
from proofs_check.kernel.theories.compositions import curves
from proofs_check.kernel.theories.compositions.allocations import replacement
from proofs_check.kernel.theories.compositions.bounds import Event as KernelEvent

#: Halvings of the cells, relative to what they are at, on the lower and on the upper side: there two laws more are kept.
_CELLS = {False: 7, True: 8}
_LEAST_CELLS, _MOST_CELLS, _MOST_LEVELS = 3, 12, 80
_CUT, _FAR = {False: 1e-4, True: 1e-6}, 37.0  # of delta: what is cut where a likelihood ratio is large; deviations beyond which nothing is
_DIGITS = {False: 2, True: 3}  # what roundings may add up to is so many digits below delta
_TAIL = 1e-5  # of delta: what each sum of some steps may lose at its ends
_WIDEST = 32.0  # where the equal cells end, while the mean of a likelihood ratio is 1
_MOST_SQUARE = 36  # of 1/σ, where a record is replaced: with less noise a lattice has too many cells
_CELLS_OF_REPLACED, _SLOPE_DIGITS = 6, 30
#: For several epochs where a record is replaced: so many slopes, at least so many, and halvings of cells beside the usual ones.
_SLOPES, _LEAST_SLOPES, _HARDLY = {False: 10, True: 16}, 3, {False: -3, True: -2}
_RARE, _FARTHEST = 1e-6, 1e-2  # what does not count; of the last slope
_TURNS, _CLOSE, _DIGITS_OF_LOOKS = 8, 3e-7, 80  # of the search for an epsilon
#: The largest ε at which one epoch is looked at where a record is replaced.
MOST_LOOKED_AT = 230
_NARROW = 16  # cells in a deviation of one likelihood ratio


def plan_allocation(
    event: KernelEvent, delta: float, *, remove: bool, up: bool, finer: int = 0, slope: str | None = None
) -> dict[str, object] | None:
    """Return a lattice in the words of a certificate for δ of all epochs, None for other events; ``finer``: by so many halvings.

    ``slope``: where a record is replaced, the one e^ε at which a single epoch is looked at; without it several are chosen.
    """
    batches = event.batches
    if batches is None or not batches.is_summed(up=up):
        return None
    mu, steps = sqrt(float(batches.m)), batches.size["steps_per_epoch"] // batches.size["participations"]
    small = max(delta, 1e-290) / event.count
    if batches.neighbors == "replace-one":
        if not is_replacement(event, up=up):
            return None
        if slope is not None:
            return _plan_replacement(mu, steps, small, (slope,), up=up, finer=finer)
        number = max(round(_SLOPES[up] * 2 ** ((finer + 1) / 2)), _LEAST_SLOPES)
        return _plan_replacement(mu, steps, small, choose_slopes(mu, steps, small, number), up=up, finer=_HARDLY[up])
    spread = sqrt(expm1(min(mu * mu, 500.0)))
    least = 2.0 if spread <= 0.5 else 0.5 if remove else exp(-min(mu * mu, 20.0)) / 2  # a record that comes loses where all are small
    width = 2.0 ** round(log2(min(max(sqrt(steps) / 12, least), _WIDEST)))
    cells = max(_CELLS[up], ceil(log2(_NARROW * width / spread)) - 1 if spread < 1 else 0) + finer
    cells = min(max(cells, _LEAST_CELLS), _MOST_CELLS)
    far = _deviations(max(small * _CUT[up] / (1 if remove else steps), 1e-300))
    largest = (mu * mu / 2 if remove else -mu * mu / 2) + mu * far  # the logarithm of the likelihood ratio that is cut at
    return _write(steps, small, up=up, cells=cells, width=width, largest=largest)


def _plan_replacement(mu: float, steps: int, small: float, slopes: tuple[str, ...], *, up: bool, finer: int) -> dict[str, object]:
    """Return the lattice for terms l − a l', of both signs, and the slopes a."""
    a = float(slopes[-1])
    spread = sqrt(max(_variance(mu, a), 1e-12))
    least = min(2 * spread, (1 + a) * exp(-min(mu * mu, 20.0)) / 2)
    typical = min(sqrt(steps) * spread / 12, (1 + a) * steps * exp(-min(mu * mu, 20.0)) / 2)  # of sums, which great terms hardly meet
    if mu >= 1:  # what is added to these sums, where the record loses much
        typical, least = (min(x, exp(mu * mu / 2 + mu * _deviations(small) / 2)) for x in (typical, least))
    width = 2.0 ** round(log2(min(max(typical, least), _WIDEST * (1 + a))))
    cells = min(max(_CELLS_OF_REPLACED + finer, _LEAST_CELLS), _MOST_CELLS)
    largest = mu * mu / 2 + mu * _deviations(max(small * _CUT[up], 1e-300))
    lowest = log(a) - mu * mu / 2 + mu * _deviations(max(_RARE / steps, 1e-300))  # what is below does not come above 0 again
    plan = _write(steps, small / (1 + a), up=up, cells=cells, width=width, largest=largest)
    return plan | {"below": _levels(lowest, width), "slopes": list(slopes)}


def _variance(mu: float, a: float) -> float:
    """Return the variance of a term l − a l'."""
    square = min(mu * mu, 500.0)
    return exp(square) * (1 + a * a) - 2 * a * exp(-square) - (1 - a) ** 2


def _levels(largest: float, width: float) -> int:
    return min(max(ceil((largest - log(width)) / log(2)) + 1, 1), _MOST_LEVELS)


def _write(steps: int, small: float, *, up: bool, cells: int, width: float, largest: float) -> dict[str, object]:
    levels = _levels(largest, width)
    number = (levels + 1) << cells
    digits = ceil(-log10(small) + max(largest - log(steps), 0.0) / log(10) + log10(4 * steps * number) + _DIGITS[up])
    floors = [max(0, floor(log2(steps >> (steps.bit_length() - 1 - k)) / 2 - 1)) for k in range(1, steps.bit_length())]
    unit = Fraction(2) ** (int(log2(width)) - cells - 1)
    tail = f"{max(small * _TAIL, 1e-300):.3e}"
    return {
        "digits": digits,
        "unit": exact_text(unit),
        "cells": cells,
        "levels": levels,
        "tails": [tail, tail],
        "floors": floors,
    }


@lru_cache(maxsize=64)
def choose_slopes(mu: float, steps: int, small: float, number: int) -> tuple[str, ...]:
    """Return so many slopes e^ε at which the curve of a replaced record is known: close ones near 1, the last one where it is small."""
    scale = sqrt(max(_variance(mu, 1.0), 1e-12) / steps)  # of a loss, about
    most, _ = find_crossing(Fraction(mu * mu), steps, small * _FARTHEST)
    high = most if 0 < most < inf else scale
    return tuple(slope_text(scale * sinh(k / (number - 1) * asinh(high / scale))) for k in range(number))


def is_replacement(event: KernelEvent, *, up: bool) -> bool:
    """Tell whether an event is random allocation where a record is replaced, whose curve has a lattice for each slope."""
    batches = event.batches
    return batches is not None and batches.is_summed(up=up) and batches.neighbors == "replace-one" and batches.m <= _MOST_SQUARE


@lru_cache(maxsize=64)
def find_crossing(m: Fraction, steps: int, target: float) -> tuple[float, float]:
    """Return about the ε at which one epoch where a record is replaced has a δ, on a coarse lattice, and the slope of log δ there.

    It is 0 where any is enough, and infinite where none is that is looked at.
    """
    mu = sqrt(float(m))

    def miss(epsilon: float) -> float:
        slope = slope_text(epsilon)
        plan = _plan_replacement(mu, steps, target, (slope,), up=True, finer=_LEAST_CELLS - _CELLS_OF_REPLACED)
        with localcontext(curves.context(_DIGITS_OF_LOOKS)):
            v, s = replacement(m, steps, plan, up=True, meter=Meter())(curves.decimal(Fraction(slope)))
            return log(max(float(v - curves.decimal(Fraction(slope)) * s), 1e-300)) - log(target)

    low, above = 0.0, miss(0.0)
    if above <= 0:
        return 0.0, -1.0
    high = min(2 * sqrt(max(_variance(mu, 1.0), 1e-12) / steps), 1.0)
    while (below := miss(high)) > 0:
        if high >= MOST_LOOKED_AT:
            return inf, -1.0
        low, above, high = high, below, min(2 * high, float(MOST_LOOKED_AT))
    for turn in range(_TURNS):  # halves, as the logarithm falls faster and faster, and secants
        middle = (low + high) / 2 if turn < _TURNS // 2 else low + above * (high - low) / (above - below)
        value = miss(middle)
        low, above, high, below = (middle, value, high, below) if value > 0 else (low, above, middle, value)
    slope = (below - above) / (high - low)
    return low - above / slope, slope


def polish(curve: Callable[[Fraction], Fraction], target: Fraction, about: tuple[float, float]) -> float:
    """Return where a curve passes a value, from a point near it and the slope of its logarithm there: by few looks, which are slow."""
    at, slope = about
    value = _log(curve(Fraction(at)) / target)
    for _ in range(_TURNS):
        following = max(at - value / slope, 0.0)
        if abs(following - at) <= _CLOSE * at:
            break
        before, value = value, _log(curve(Fraction(following)) / target)
        slope, at = min((value - before) / (following - at), slope / 4), following
    return max(at - value / slope, 0.0)


def _log(x: Fraction) -> float:
    return log(x.numerator) - log(x.denominator) if x > 0 else -_FAR


def slope_text(loss: float | Fraction) -> str:
    """Return e^loss in the words of a certificate, rounded down."""
    with localcontext(curves.context(_SLOPE_DIGITS + 10)):
        a = curves.decimal(Fraction(loss)).exp()
        return exact_text(Fraction(floor(a.scaleb(_SLOPE_DIGITS)), 10**_SLOPE_DIGITS))


def _deviations(mass: float) -> float:
    """Return about how many deviations a normal number exceeds with this probability."""
    return min(-NormalDist().inv_cdf(mass) if mass > 1e-290 else _FAR, _FAR)
