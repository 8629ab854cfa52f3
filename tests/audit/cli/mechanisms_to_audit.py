"""Implementations to audit: right ones, leaky ones, and broken ones."""

from __future__ import annotations

import os
import sys
import time

import numpy as np

CALLS = []


def total(dataset):
    data, weights = dataset if isinstance(dataset, tuple) else (dataset, None)
    return float(np.sum(data) if weights is None else weights @ data)


def laplace(dataset, rng, size):
    """ε = 1 for a record of size 1."""
    return total(dataset) + rng.laplace(0, 1, size)


def leaky(dataset, rng, size):
    """ε = 4 for a record of size 1."""
    return total(dataset) + rng.laplace(0, 0.25, size)


def one(dataset, rng):
    return total(dataset) + rng.laplace()


def vector(dataset, rng, size):
    return len(dataset) * np.array([1, 0, 1]) + rng.laplace(0, 1, (size, 3))


def sparse(dataset, rng, size):
    """Words: None, or a tuple of answers."""
    return [None if rng.random() < 0.3 else ("yes",) * int(rng.integers(1, 3)) for _ in range(size)]


def one_sided(dataset, rng, size):
    """P(1) is 1/2 for two records and 1/8 for one: log 4 for adding, less for removing."""
    return (rng.random(size) < (0.5 if len(dataset) > 1 else 0.125)).astype(int)


def raises(dataset, rng, size):
    raise ZeroDivisionError("weights\nadd up to 0")


def interrupts(dataset, rng, size):
    raise KeyboardInterrupt


def hangs(dataset, rng, size):
    time.sleep(1000)


def nan(dataset, rng, size):
    return np.full(size, np.nan)


def too_many(dataset, rng, size):
    return rng.laplace(0, 1, size + 1)


def constant(dataset, rng, size):
    return np.full(size, total(dataset))


def of_numpy(dataset, rng, size):
    return total(dataset) + np.random.laplace(0, 1, size)  # noqa: NPY002


def leaves(dataset, rng, size):
    sys.exit(0)


def speaks(dataset, rng, size):
    print("a word")  # noqa: T201
    os.write(1, b"a byte\n")
    return laplace(dataset, rng, size)


def changes(dataset, rng, size):
    dataset[0] += 1
    return laplace(dataset, rng, size)


def fails_after_a_while(dataset, rng, size):
    CALLS.append(size)
    if sum(CALLS) > 4_000:
        raise MemoryError
    return laplace(dataset, rng, size)


def sign(outputs):
    return np.sign(np.asarray(outputs))


def constant_statistic(outputs):
    return np.zeros(len(outputs))


def failing_statistic(outputs):
    raise ValueError("no statistic")


def ratio(outputs):
    """The log-likelihood ratio of ``laplace`` on sums 2 and 1, |y − 1| − |y − 2|, in a form without rounding errors at ±1."""
    return 2 * np.clip(np.asarray(outputs) - 1.5, -0.5, 0.5)


class WithBrokenStatistic:
    def __call__(self, dataset, rng, size):
        return laplace(dataset, rng, size)

    def statistic(self, data):
        raise RuntimeError("no\nnorm")


broken_statistic = WithBrokenStatistic()
not_callable = 3


def exact(dataset, neighbor):
    from proofs_check.exact import Bounds  # noqa: PLC0415 - worker processes need not import it

    return Bounds(total(dataset) - total(neighbor), total(dataset) - total(neighbor))
