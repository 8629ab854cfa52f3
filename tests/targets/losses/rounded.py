"""A bracket of δ for any composition: the losses of each use are rounded up, or down, to a lattice; in binary64, after tilting.

Tilting: masses times e^{cl}/E e^{cL}. What is convolved then has its weight where δ is decided, so that rounding errors, relative to the
largest mass, are small beside δ. The transform is circular: losses that are a window's length apart are counted as one; the window is so
wide that what falls outside has less than e^−32 of the tilted weight. Arithmetic is not directed: ``SLACK`` is far above its errors, and
the bracket is evidence to that many digits, no proof.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import log, log1p

import numpy as np
from scipy.special import ndtr

from profiles.arrays import Floats
from tests.targets.losses.inversion import place_of_least

SLACK = 1e-7
_CELLS = 1 << 19
_OUTSIDE = -32.0


@dataclass(frozen=True, slots=True)
class Cells:
    """One use: masses of the first law in cells, the least and the largest loss in each, and its mass at infinity or anywhere."""

    masses: Floats
    low: Floats
    high: Floats
    beyond: float = 0.0


def sampled_gaussian_cells(sigma: float, q: float, *, remove: bool, reach: float = 16.0) -> Cells:
    """Cells of x; q = 1 as well. What lies beyond both ends is moved there, or to infinity."""
    x = np.linspace(-reach * sigma, 1 + reach * sigma, _CELLS + 1)

    def between(centre: float) -> Floats:
        z = (x - centre) / sigma
        below, above = ndtr(z), ndtr(-z)
        found: Floats = np.where(z[1:] < 0, below[1:] - below[:-1], above[:-1] - above[1:])
        return found

    masses = (1 - q) * between(0.0) + (q * between(1.0) if q > 0 else 0.0) if remove else between(0.0)
    with np.errstate(divide="ignore"):
        losses = np.logaddexp(np.log1p(-q) if q < 1 else -np.inf, log(q) + (2 * x - 1) / (2 * sigma**2))
    low, high = (losses[:-1], losses[1:]) if remove else (-losses[1:], -losses[:-1])
    return Cells(masses, low, high, 2 * float(ndtr(-reach)))


def laplace_cells(c: float, q: float, *, remove: bool) -> Cells:
    """Cells of the numbers between 0 and 1, and what lies outside of them."""
    y = np.linspace(0.0, 1.0, _CELLS // 4 + 1)
    without = np.concatenate([[0.5], -np.exp(-c * y[:-1]) * np.expm1(-c * np.diff(y)) / 2, [np.exp(-c) / 2]])
    places = np.concatenate([[0.0], y, [1.0]])
    losses = np.logaddexp(np.log1p(-q) if q < 1 else -np.inf, log(q) + c * (2 * places - 1))
    low, high = losses[:-1], losses[1:]
    if remove:
        shifted = without[::-1]
        return Cells((1 - q) * without + q * shifted, low, high)
    return Cells(without, -high, -low)


def to_array(numbers: Iterable[object]) -> Floats:
    """Return balls as binary64 numbers."""
    return np.array([float(x) for x in numbers])  # type: ignore[arg-type]


def bracket(parts: Sequence[tuple[Cells, int]], epsilon: float) -> tuple[float, float] | None:
    """Return numbers between which δ(ε) lies; None where no window is found, or numbers leave the range of binary64."""
    middle = [(*_coarsened(cells), count) for cells, count in parts]

    def log_moment(c: float) -> float:
        total = 0.0
        for masses, losses, count in middle:
            top = float(np.max(c * losses))
            total += count * (top + float(np.log(np.sum(masses * np.exp(c * losses - top)))))
        return total

    with np.errstate(all="ignore"):
        c = place_of_least(lambda c: log_moment(c) - c * epsilon - log(c) - log1p(c), 1e-4, 1e7)
        window = _window(log_moment, c, epsilon)
        if window is None:
            return None
        found = [_rounded(parts, c, epsilon, window / _CELLS, up=up) for up in (False, True)]
    return (found[0] * (1 - SLACK), found[1] * (1 + SLACK)) if np.isfinite(found).all() else None


def _coarsened(cells: Cells) -> tuple[Floats, Floats]:
    """Return about the masses and losses in fewer cells: they place the contour and the window, and bound nothing."""
    masses, losses = cells.masses, (cells.low + cells.high) / 2
    if len(masses) < 1 << 14:
        return masses, losses
    starts = np.arange(0, len(masses), len(masses) >> 13)
    return np.add.reduceat(masses, starts), losses[starts]


def _window(log_moment: Callable[[float], float], c: float, epsilon: float) -> float | None:
    """Return a width such that the tilted law has little weight further than half of it from ε, by Chernoff's bound."""
    shifts = np.array([0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 0.95, 1.5, 3.0, 8.0]) * c
    base = log_moment(c)
    ups = [(k, log_moment(c + k) - base - k * epsilon) for k in shifts]
    downs = [(k, log_moment(c - k) - base + k * epsilon) for k in shifts]
    width = 4 / c
    for _ in range(60):
        if max(min(value - k * width / 2 for k, value in side) for side in (ups, downs)) < _OUTSIDE:
            return width
        width *= 1.5
    return None


def _rounded(parts: Sequence[tuple[Cells, int]], c: float, epsilon: float, h: float, *, up: bool) -> float:
    total, logs, kept = np.ones(_CELLS // 2 + 1, dtype=complex), 0.0, 1.0
    for cells, count in parts:
        index = np.ceil(cells.high / h) if up else np.floor(cells.low / h)
        exponent = c * h * index
        top = float(exponent.max())
        weights = cells.masses * np.exp(exponent - top)
        size = float(weights.sum())
        once = np.bincount(np.mod(index, _CELLS).astype(np.int64), weights / size, _CELLS)
        total *= np.fft.rfft(once) ** count
        logs += count * (top + log(size))
        kept *= (1 - cells.beyond) ** count
    law = np.fft.irfft(total, _CELLS)
    start = int(np.floor(epsilon / h)) - _CELLS // 2
    places = start + np.arange(_CELLS)
    law = law[np.mod(places, _CELLS)]
    losses = (places * h).astype(np.float64)
    above = losses > epsilon
    gains = np.exp(logs - c * losses[above]) * -np.expm1(epsilon - losses[above])
    return float(np.sum(law[above] * gains)) + (1 - kept if up else 0.0)
