"""Mechanisms for worker processes: they have to be importable there."""

from __future__ import annotations

import ctypes
import os
import random
import subprocess
import sys
import time

import numpy as np


def laplace(dataset, rng, size):
    return float(np.sum(dataset)) + rng.laplace(0, 1, size)


def one(dataset, rng):
    return float(np.sum(dataset)) + rng.laplace()


def words(dataset, rng):
    return ["yes", None, 1.5][int(rng.integers(3))] if len(dataset) else ("no",)


def vectors(dataset, rng, size):
    return rng.normal(len(dataset), 1, (size, 3))


def copies(dataset, rng, size):
    return np.full(size, rng.laplace())


def raises(dataset, rng, size):
    raise RuntimeError("no\nluck")


def leaves(dataset, rng, size):
    sys.exit(0)


def crashes(dataset, rng, size):
    ctypes.string_at(0)


def ends(dataset, rng, size):
    os._exit(0)


def hangs(dataset, rng, size):
    time.sleep(1000)


def hangs_with_a_child(dataset, rng, size):
    subprocess.run(["sleep", str(dataset[0])], check=True)


def of_numpy(dataset, rng, size):
    return np.random.laplace(0, 1, size)  # noqa: NPY002


def of_python(dataset, rng, size):
    return [random.random() for _ in range(size)]


def changes(dataset, rng, size):
    dataset.append(1.0)
    return len(dataset) + rng.laplace(0, 1, size)


def too_few(dataset, rng, size):
    return rng.laplace(0, 1, max(size - 1, 0))


def of_shape(dataset, rng, size):
    return rng.laplace(0, 1, (size, 1 + int(rng.integers(5))))


def scalar(dataset, rng, size):
    return 1.0


def speaks(dataset, rng, size):
    print("hello")  # noqa: T201
    return rng.laplace(0, 1, size)


def unreadable(dataset, rng, size):
    return [lambda: 1] * size


def lazily(dataset, rng, size):
    return (k + 1 for k in range(size))
