"""The mechanisms of the cases: ``mechanism(dataset, rng, size)`` gives independent outputs as rows.

Sources: Laplace and noisy histograms, noisy maxima: Ding et al. 2018; SVT 1 to 6: Lyu, Su, Li 2017, Algorithms 1 to 6; truncated geometric:
Balcer, Vadhan 2018, Algorithm 4.8; RAPPOR: Erlingsson et al. 2014; prefix sums and numerical SVT: Wang et al. 2019.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Outputs = NDArray[np.generic]
Dataset = Sequence[float]
Mechanism = Callable[[Dataset, np.random.Generator, int], Outputs]
ABORTED, BELOW, ABORTED_NUMERICAL = -1, -1000.0, -2000.0


def laplace(epsilon: float) -> Mechanism:
    """The first number with Laplace noise of scale 1/ε."""
    return lambda data, rng, size: data[0] + rng.laplace(scale=1 / epsilon, size=size)


def histogram(scale: float) -> Mechanism:
    """All counts with Laplace noise."""
    return lambda data, rng, size: np.asarray(data) + rng.laplace(scale=scale, size=(size, len(data)))


def truncated_geometric(epsilon: float, n: int) -> Mechanism:
    """A two-sided geometric distribution on 0 … n in integer arithmetic: P(Z ≤ z) = (9/17)(8/9)^(c−z) below the count c, for ε = 0.1."""
    power = 2 ** math.ceil(math.log(2 / epsilon))
    total = (2 * power + 1) * (power + 1) ** (n - 1)

    def mechanism(data: Dataset, rng: np.random.Generator, size: int) -> Outputs:
        count = int(data[0])
        below = [power ** (count - z) * (power + 1) ** (n - count + z) for z in range(count)]
        above = [total - power ** (z - count + 1) * (power + 1) ** (n - 1 - z + count) for z in range(count, n)]
        return np.searchsorted(np.array([*below, *above, total]), rng.integers(1, total, size=size, endpoint=True))

    return mechanism


def noisy_max(epsilon: float, *, exponential: bool, value: bool) -> Mechanism:
    """The index (or, wrongly, the value) of the largest number with Laplace or exponential noise of scale 2/ε."""

    def mechanism(data: Dataset, rng: np.random.Generator, size: int) -> Outputs:
        draw = rng.exponential if exponential else rng.laplace
        noisy = np.asarray(data) + draw(scale=2 / epsilon, size=(size, len(data)))
        return noisy.max(axis=1) if value else noisy.argmax(axis=1)

    return mechanism


def svt(
    threshold_scale: float,
    query_scale: float,
    *,
    limit: float = 1,
    threshold: float = 1.0,
    resample: bool = False,
    values: bool = False,
) -> Mechanism:
    """Sparse vector: 1 where a noisy query reaches the noisy threshold, else 0, ABORTED after ``limit`` ones.

    ``values`` gives out the noisy query for 1, BELOW for 0, and ABORTED_NUMERICAL; ``resample`` draws a new threshold after each 1.
    """

    def mechanism(data: Dataset, rng: np.random.Generator, size: int) -> Outputs:
        count = len(data)
        noisy = np.asarray(data) + (rng.laplace(scale=query_scale, size=(size, count)) if query_scale else np.zeros((size, count)))
        bar = threshold + rng.laplace(scale=threshold_scale, size=(size, 1))
        if resample:
            bar = _renewed(noisy, bar[:, 0], threshold, threshold_scale, rng)
        above = noisy >= bar
        done = np.cumsum(above, axis=1) - above >= limit
        if values:
            return np.where(done, ABORTED_NUMERICAL, np.where(above, noisy, BELOW))
        return np.where(done, ABORTED, above.astype(int))

    return mechanism


def _renewed(
    noisy: NDArray[np.float64], bar: NDArray[np.float64], threshold: float, scale: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    bars = np.empty_like(noisy)
    for column in range(noisy.shape[1]):
        bars[:, column] = bar
        bar = np.where(noisy[:, column] >= bar, threshold + rng.laplace(scale=scale, size=len(bar)), bar)
    return bars


def numerical_svt(epsilon: float, limit: int, threshold: float = 1.0) -> Mechanism:
    """0 below the noisy threshold, a freshly noised query above it, BELOW after ``limit`` answers."""

    def mechanism(data: Dataset, rng: np.random.Generator, size: int) -> Outputs:
        shape, values = (size, len(data)), np.asarray(data)
        bar = threshold + rng.laplace(scale=3 / epsilon, size=(size, 1))
        above = values + rng.laplace(scale=6 * limit / epsilon, size=shape) >= bar
        answers = np.where(above, values + rng.laplace(scale=3 * limit / epsilon, size=shape), 0.0)
        return np.where(np.cumsum(above, axis=1) - above >= limit, BELOW, answers)

    return mechanism


def rappor(bits: dict[int, Sequence[int]], length: int, permanent: float, instantaneous: tuple[float, float] | None = None) -> Mechanism:
    """Bloom filter bits of a value, randomised once (0 and 1 with probability f/2 each), and then again (1 with probability p or q)."""

    def mechanism(data: Dataset, rng: np.random.Generator, size: int) -> Outputs:
        own = np.zeros(length, dtype=bool)
        own[list(bits[int(data[0])])] = True
        chance = rng.random((size, length))
        kept = np.where(chance < permanent, chance < permanent / 2, own)
        if instantaneous is None:
            return kept.astype(int)
        p, q = instantaneous
        return (rng.random((size, length)) < np.where(kept, q, p)).astype(int)

    return mechanism


def parallel(*mechanisms: Mechanism) -> Mechanism:
    """Several mechanisms on the same data, all outputs beside each other."""
    return lambda data, rng, size: np.column_stack([mechanism(data, rng, size) for mechanism in mechanisms])


def prefix_sums(epsilon: float) -> Mechanism:
    """Partial sums of numbers with Laplace noise."""
    return lambda data, rng, size: np.cumsum(np.asarray(data) + rng.laplace(scale=1 / epsilon, size=(size, len(data))), axis=1)
