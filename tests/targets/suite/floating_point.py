"""The Laplace mechanism as doubles compute it, and the snapping mechanism that repairs it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from profiles.arrays import Floats
from tests.targets.suite.case import SuiteCase, Truth, answers

_UNIT = 2.0**53


@dataclass(frozen=True, slots=True)
class NaiveLaplace:
    """x ± scale·log(U) in doubles with U uniform on the multiples of 2⁻⁵³ in (0, 1]: inversion as in every textbook.

    Claim: ε(0, 1) = ∞ for the outputs as doubles, whatever the library's logarithm returns. Let

        S = {y : |y| < 1/2 and 2⁵³·y is not an integer}.

    On x = 1 an output is fl(1 + z) for a double z. If |fl(1 + z)| < 1/2 then −2 < z < −1/2, since otherwise 1 + z is at least 1/2 in
    size, and so is its rounded value. Such a z is a multiple of 2⁻⁵³; so is 1 + z, which is below 1 and therefore a double: the
    output is in no case in S. On x = 0 the output is z itself, which is in S for most of the u with |z| < 1/2 (small numbers have finer
    steps), a set of probability 0.03 or so for scale 10.

    Outputs have shape (size,).

    Source: Mironov 2012, Section 3.
    """

    scale: Fraction

    def __call__(self, dataset: Any, rng: np.random.Generator, size: int, /) -> Floats:
        """Return ``size`` outputs, not rounded."""
        uniform = 1.0 - rng.random(size)
        signs = 2.0 * rng.integers(0, 2, size=size) - 1.0
        noise: Floats = float(self.scale) * np.log(uniform) * signs
        return np.asarray(float(dataset) + noise, dtype=np.float64)


def off_grid(outputs: Floats) -> Floats:
    """Return 1 for the outputs in the set S of :class:`NaiveLaplace`, 0 for the others.

    >>> off_grid(np.array([0.25, 1e-20, 0.75])).tolist()
    [0.0, 1.0, 0.0]
    """
    scaled = outputs * _UNIT
    return np.asarray((np.abs(outputs) < 0.5) & (scaled != np.rint(scaled)), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class SnappingLaplace:
    """clamp_B(round_Λ(clamp_B(x) + S·λ·LN(U))): Λ the least power of two ≥ λ, S a fair sign, U a *double* of (0, 1) as a uniform real is
    rounded.

    Claim: ε ≤ (1 + 2⁻⁴⁹·B)/λ for answers that differ by 1, if λ < B < 2⁴⁶ λ and LN is the correctly rounded logarithm. (NumPy's
    logarithm is within one unit in the last place: a change of thresholds by less than 2⁻⁴⁸.)

    U is drawn as (1 + m/2⁵²)·2^{−e} with m uniform on {0, …, 2⁵² − 1} and P(e) = 2^{−e}. Outputs have shape (size,).

    Source: Mironov 2012, Section 5.2, Theorem 1.
    """

    scale: Fraction
    bound: Fraction

    @property
    def step(self) -> float:
        """Λ."""
        return float(2.0 ** math.ceil(math.log2(self.scale)))

    def __call__(self, dataset: Any, rng: np.random.Generator, size: int, /) -> Floats:
        """Return ``size`` outputs, multiples of Λ within [−B, B] (and ±B)."""
        limit = float(self.bound)
        words = rng.integers(0, 2**53, size=size)
        uniform = np.ldexp(1.0 + (words >> 1) * 2.0**-52, -rng.geometric(0.5, size=size))
        signs = np.where(words & 1, 1.0, -1.0)
        noisy = min(limit, max(-limit, float(dataset))) + signs * (float(self.scale) * np.log(uniform))
        return np.asarray(np.clip(np.rint(noisy / self.step) * self.step, -limit, limit), dtype=np.float64)


_BOUND = Fraction(100)
#: λ as a double, so that what is claimed is about the number that is used.
_LAMBDA = Fraction(float((1 + _BOUND / 2**49) * 10))

CASES = (
    SuiteCase(
        name="floating-point-laplace",
        mechanism=NaiveLaplace(Fraction(10)),
        dataset=answers(0),
        neighbor=answers(1),
        neighboring="stated",
        claimed=Fraction("0.1"),
        truth=Truth.infinite(
            "an output y with |y| < 1/2 that is no multiple of 2^-53 is impossible on the neighbor, where 1 + z is exact for such y; on "
            "the data set it has probability 0.03 or so"
        ),
        correct=False,
        bits=True,
        statistic=off_grid,
        note="right in exact arithmetic; the low bits of doubles tell the answer",
        source="Mironov 2012, Section 3",
    ),
    SuiteCase(
        name="snapping-laplace",
        mechanism=SnappingLaplace(_LAMBDA, _BOUND),
        dataset=answers(0),
        neighbor=answers(1),
        neighboring="stated",
        claimed=(1 + _BOUND / 2**49) / _LAMBDA,
        truth=Truth(
            Fraction("0.099999999"),
            (1 + _BOUND / 2**49) / _LAMBDA,
            "at most Theorem 1's (1 + 2^-49 B)/lambda; at least 1/lambda up to rounding, by the event of outputs of at least 16, which is "
            "-lambda log U >= 8 - x with sign +",
        ),
        correct=True,
        bits=True,
        note="lambda = 10 (1 + 2^-49 B), B = 100, steps of 16, as DP-Sniper's LaplaceFixed",
        source="Mironov 2012, Theorem 1",
    ),
)
