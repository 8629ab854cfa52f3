"""Lattices for epochs of random allocation: how finely the kernel adds up their likelihood ratios. Nothing here is trusted."""

from __future__ import annotations

from math import ceil, exp, expm1, floor, log, log2, log10, sqrt
from statistics import NormalDist

from proofs_check.kernel.theories.compositions.bounds import Event as KernelEvent

#: Halvings of the cells, relative to what they are at, on the lower and on the upper side: there two laws more are kept.
_CELLS = {False: 7, True: 8}
_LEAST_CELLS, _MOST_CELLS, _MOST_LEVELS = 3, 12, 80
_CUT, _FAR = {False: 1e-4, True: 1e-6}, 37.0  # of delta: what is cut where a likelihood ratio is large; deviations beyond which nothing is
_DIGITS = {False: 2, True: 3}  # what roundings may add up to is so many digits below delta
_TAIL = 1e-5  # of delta: what each sum of some steps may lose at its ends
_WIDEST = 32.0  # where the equal cells end, while the mean of a likelihood ratio is 1
_NARROW = 16  # cells in a deviation of one likelihood ratio


def plan_allocation(event: KernelEvent, delta: float, *, remove: bool, up: bool, finer: int = 0) -> dict[str, object] | None:
    """Return a lattice in the words of a certificate for δ of all epochs, None for other events; ``finer``: by so many halvings."""
    if event.batches is None or not event.batches.is_allocated:
        return None
    mu, steps = sqrt(float(event.batches.m)), event.batches.size["steps_per_epoch"]
    small = max(delta, 1e-290) / event.count
    spread = sqrt(expm1(min(mu * mu, 500.0)))
    least = 2.0 if spread <= 0.5 else 0.5 if remove else exp(-min(mu * mu, 20.0)) / 2  # a record that comes loses where all are small
    width = 2.0 ** round(log2(min(max(sqrt(steps) / 12, least), _WIDEST)))
    cells = max(_CELLS[up], ceil(log2(_NARROW * width / spread)) - 1 if spread < 1 else 0) + finer
    cells = min(max(cells, _LEAST_CELLS), _MOST_CELLS)
    far = _deviations(max(small * _CUT[up] / (1 if remove else steps), 1e-300))
    largest = (mu * mu / 2 if remove else -mu * mu / 2) + mu * far  # the logarithm of the likelihood ratio that is cut at
    levels = min(max(ceil((largest - log(width)) / log(2)) + 1, 1), _MOST_LEVELS)
    number = (levels + 1) << cells
    digits = ceil(-log10(small) + max(largest - log(steps), 0.0) / log(10) + log10(4 * steps * number) + _DIGITS[up])
    floors = [max(0, floor(log2(steps >> (steps.bit_length() - 1 - k)) / 2 - 1)) for k in range(1, steps.bit_length())]
    unit = 2 ** (cells + 1 - int(log2(width)))
    tail = f"{max(small * _TAIL, 1e-300):.3e}"
    return {
        "digits": digits,
        "unit": f"1/{unit}" if unit > 1 else "1",
        "cells": cells,
        "levels": levels,
        "tails": [tail, tail],
        "floors": floors,
    }


def _deviations(mass: float) -> float:
    """Return about how many deviations a normal number exceeds with this probability."""
    return min(-NormalDist().inv_cdf(mass) if mass > 1e-290 else _FAR, _FAR)
