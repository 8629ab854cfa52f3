"""Samples, noise and its release, as all cases draw it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from profiles.arrays import Booleans, Floats
from profiles.mechanisms import LaplaceSum
from profiles.randomness.bernoulli import PoissonSampler
from tests.targets.suite.case import Sampler

#: Released numbers are rounded to multiples of 1/GRID.
GRID = 2.0**30
#: The same step as an exact number.
STEP = Fraction(1, 2**30)

_NOBODY: Floats = np.zeros((0, 1))
_BLOCK = 2**21  # numbers in one temporary array


def draw_laplace(rng: np.random.Generator, scale: Fraction, size: int | tuple[int, ...]) -> Floats:
    """Return independent draws from Laplace(0, scale): density exp(−|t|/scale)/(2·scale).

    They are the catalogue's: its noisy sum of no records.
    """
    shape = (size,) if isinstance(size, int) else size
    return LaplaceSum(b=scale).sample(_NOBODY, rng, math.prod(shape)).reshape(shape)


def draw_selected(rng: np.random.Generator, q: Fraction, shape: tuple[int, ...]) -> Booleans:
    """Return which records are selected, each independently with probability q (rounded to a double), by the sampler that ships."""
    return PoissonSampler(rng).select(np.full(math.prod(shape), float(q))).reshape(shape)


def release(values: Floats) -> Floats:
    """Return the values rounded to the nearest multiples of 2⁻³⁰ (in place).

    Why: the last bits of x + noise in doubles give x away (Mironov 2012), as the case ``floating-point-laplace`` shows; every continuous
    mechanism would be refuted for that, whatever its law. Rounding is post-processing, so that no ε grows. Where log p and log p′ of
    the two output densities have slopes of at most L, the ratio of the probabilities of a cell is within a factor e^{±2L·2⁻³⁰} of
    the ratio of the densities anywhere in it, so that ε falls by at most 2L·2⁻³⁰. (Where a density has a pole, an infinite ε becomes
    finite: such outputs are left as they are.)
    """
    np.multiply(values, GRID, out=values)
    np.rint(values, out=values)
    np.divide(values, GRID, out=values)
    return values


@dataclass(frozen=True, slots=True)
class Blocks:
    """Claim: the outputs of ``inner``, where ``rounded`` is set after :func:`release`.

    They are drawn in blocks, so that little memory is needed beside them.
    """

    inner: Any
    rounded: bool

    def __call__(self, dataset: Any, rng: np.random.Generator, size: int, /) -> Floats:
        """Return ``size`` outputs of the inner mechanism."""
        inner: Sampler = self.inner
        first = np.array(inner(dataset, rng, min(size, 1)), dtype=np.float64)
        outputs = np.empty((size, *first.shape[1:]))
        outputs[:1] = first
        block = max(1, _BLOCK // max(1, first.size))
        for start in range(1, size, block):
            stop = min(size, start + block)
            outputs[start:stop] = inner(dataset, rng, stop - start)
        for start in range(0, size if self.rounded else 0, block):
            release(outputs[start : start + block])
        return outputs
