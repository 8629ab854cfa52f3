"""About what δ after several sampled Gaussian steps is, in binary64: it tells a search where to look; nothing certified rests on it.

Under the law of losses tilted by e^{tL}, with t such that the sum of T losses has its mean near ε, the T-fold convolution is a fast
Fourier transform, and δ(ε) = E (1 − e^{ε − S})₊ a sum over the middle of that law, to a relative error of about a thousandth.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, expm1, log, log1p, pi, sqrt

import numpy as np

from profiles.arrays import Floats, ignore_flags

#: Points at which the normal law is evaluated, for the tilt and then for the sum; cells of the lattice of losses.
_FEW, _MANY, _CELLS = 1_000, 6_000, 2**14
#: Standard deviations that are kept of each normal law, and on both sides of the sum; tilted masses below the last are left out.
_FAR, _WIDE, _LEAST = 12.0, 10.0, 1e-14
_TILTS = log(1e-6), log(1e6)
_HALVINGS = 24
#: What is returned for the logarithm of a δ that is too small to be told from 0.
NOTHING = -700.0


@dataclass(frozen=True, slots=True)
class _Law:
    """Losses of a record that goes, and the logarithms of their masses."""

    losses: Floats
    masses: Floats

    def tilt(self, exponent: float) -> tuple[float, float, float]:
        """Return log E e^{tL}, and mean and variance of L under the tilted law."""
        powers = self.masses + exponent * self.losses
        top = float(powers.max())
        weights = np.exp(powers - top)
        total = float(weights.sum())
        mean = float(weights @ self.losses) / total
        return top + log(total), mean, float(weights @ (self.losses - mean) ** 2) / total


def _make_law(mu: float, q: float, top: float, points: int) -> _Law:
    x, gap = np.linspace(-_FAR, _FAR + mu * (1 + top), points, retstep=True)
    shifted = log(q) + mu * x - mu * mu / 2
    losses = np.logaddexp(log1p(-q), shifted) if q < 1 else shifted
    return _Law(losses, losses - x * x / 2 + log(float(gap)) - log(2 * pi) / 2)


def _find_tilt(law: _Law, steps: int, epsilon: float) -> float:
    """Return the t at which e^{−tε} E e^{tS} / (t (1 + t)), about δ but for a factor, is least."""
    low, high = _TILTS
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        t = exp(middle)
        low, high = (middle, high) if steps * law.tilt(t)[1] - 1 / t - 1 / (1 + t) < epsilon else (low, middle)
    return exp(low)


@ignore_flags
def estimate_delta(mu: float, q: float, steps: int, epsilon: float) -> float:
    """Return about log δ(ε) after ``steps`` steps of (1 − q) N(0, 1) + q N(μ, 1) against N(0, 1).

    >>> from math import exp
    >>> round(exp(estimate_delta(0.94680, 1 / 80, 100, 1.0)) * 1e7, 2)
    9.07
    """
    if mu * mu / 2 - _FAR * mu + log(q) > epsilon + steps * q:  # a record that is kept once is seen
        return log(-expm1(steps * log1p(-q))) if q < 1 else 0.0
    top, tilt = 2.0, 4.0
    while tilt > top < exp(_TILTS[1]):  # else the tilted law reaches beyond the points
        top = 2 * tilt
        tilt = _find_tilt(_make_law(mu, q, top, _FEW), steps, epsilon)
    law = _make_law(mu, q, top, _MANY)
    constant, mean, variance = law.tilt(tilt)
    weights = np.exp(law.masses + tilt * law.losses - constant)
    kept = weights > _LEAST
    weights, losses = weights[kept], law.losses[kept]
    mode = float(losses[weights.argmax()])  # which may be next to an atom, and is a place of the lattice
    below = _WIDE * (sqrt(steps * variance) + 1 / tilt)
    cell = (below + max(float(losses.max()) - mean, below)) / _CELLS
    place = np.rint((losses - mode) / cell)
    rest, at = (losses - mode) / cell - place, place.astype(np.intp)
    # to three places, such that the sum keeps mean and variance; no Fourier coefficient is above 1
    shares = rest * (rest - 1) / 2, 1 - rest * rest, rest * (rest + 1) / 2
    cells = sum(np.bincount((at + k) % _CELLS, weights * share, _CELLS) for k, share in zip((-1, 0, 1), shares, strict=True))
    summed = np.fft.irfft(np.fft.rfft(cells) ** steps, _CELLS)
    first = round((steps * (mean - mode) - below) / cell)
    excess = steps * mode - epsilon + cell * (first + np.arange(_CELLS))
    summed = np.roll(summed, -(first % _CELLS))
    over = excess > 0
    delta = float(summed[over] @ (np.exp(-tilt * excess[over]) * -np.expm1(-excess[over])))
    return max(log(delta) + steps * constant - tilt * epsilon, NOTHING) if delta > 0 else NOTHING
