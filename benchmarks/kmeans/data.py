"""The data sets: those the rule was chosen with, and six that were kept apart until it was fixed. None is centred, cut or scaled.

Every data set has a public ball that says nothing about its records: the box of all possible values, the ball that it was made in, or a
round number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from benchmarks.study.data import ijcnn1_path, read_ijcnn1
from profiles import InvalidArgument
from profiles.arrays import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """``points`` of shape (n, d); the public ball of ``radius`` about ``center``, shape (d,)."""

    points: Floats
    center: Floats
    radius: str


@dataclass(frozen=True, slots=True)
class Case:
    """A data set and a number of clusters; ``kept`` apart while the rule was chosen."""

    name: str
    clusters: int
    kept: bool = False


CASES = (
    Case("ijcnn1", 8),
    Case("ijcnn1", 25),
    Case("digits", 8),
    Case("digits-8", 8),
    Case("china", 8),
    Case("china", 25),
    Case("mixture-10", 25),
    Case("flower", 16, kept=True),
    Case("patches", 12, kept=True),
    Case("cancer", 4, kept=True),
    Case("heavy", 15, kept=True),
    Case("cube", 10, kept=True),
    Case("skewed", 20, kept=True),
)


def cases() -> tuple[Case, ...]:
    """Return the cases whose data are here."""
    return tuple(case for case in CASES if case.name != "ijcnn1" or ijcnn1_path() is not None)


@lru_cache(maxsize=1)
def load(name: str) -> Data:
    """Return a data set. Raises :class:`InvalidArgument` for an unknown name and where ijcnn1 is not there."""
    if name not in _MAKERS:
        raise InvalidArgument(f"the data set {name!r} is unknown; known are {', '.join(_MAKERS)}")
    return _MAKERS[name]()


def _in_box(points: Floats, low: float, high: float) -> Data:
    """The ball about a box of possible values."""
    dimension = points.shape[1]
    radius = (high - low) / 2 * dimension**0.5
    return Data(points, np.full(dimension, (low + high) / 2), f"{radius * (1 + 1e-9):.9g}")


def _about_0(points: Floats, radius: str) -> Data:
    return Data(points, np.zeros(points.shape[1]), radius)


def _ijcnn1() -> Data:
    return _about_0(read_ijcnn1(), "2.5")


def _digits() -> Data:
    from sklearn.datasets import load_digits  # noqa: PLC0415

    return _in_box(load_digits().data / 16.0, 0.0, 1.0)


def _digits_8() -> Data:
    """The first eight principal components, which are taken as public, of the images."""
    points = _digits().points
    centred = points - points.mean(axis=0)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    return _about_0(centred @ directions[:8].T, "3")


def _pixels(file: str) -> Data:
    from sklearn.datasets import load_sample_image  # noqa: PLC0415

    return _in_box(load_sample_image(file).reshape(-1, 3) / 255.0, 0.0, 1.0)


def _mixture_10() -> Data:
    """12 clusters in the unit ball, n = 10⁵."""
    rng = np.random.default_rng(12)
    means = rng.normal(size=(12, 10))
    means *= 0.7 / np.linalg.norm(means, axis=1, keepdims=True)
    points = means[rng.integers(0, 12, 100_000)] + rng.normal(size=(100_000, 10)) * (0.15 / 10**0.5)
    return _about_0(points / np.maximum(1, np.linalg.norm(points, axis=1, keepdims=True)), "1")


def _patches() -> Data:
    """The grey 6 × 6 patches of a photograph: 7,455 records, 36 dimensions."""
    from sklearn.datasets import load_sample_image  # noqa: PLC0415

    grey = load_sample_image("flower.jpg").mean(axis=2)[:426, :636] / 255.0
    return _in_box(grey.reshape(71, 6, 106, 6).swapaxes(1, 2).reshape(-1, 36), 0.0, 1.0)


def _cancer() -> Data:
    """569 records with 30 measurements, over public round numbers: of each kind (mean, error, worst) in tens of units."""
    from sklearn.datasets import load_breast_cancer  # noqa: PLC0415

    unit = np.array([30, 40, 200, 2500, 0.2, 0.4, 0.5, 0.2, 0.4, 0.1])
    errors = np.array([3, 5, 25, 550, 0.04, 0.15, 0.4, 0.06, 0.08, 0.03])
    worst = np.array([40, 50, 260, 4500, 0.25, 1.1, 1.3, 0.3, 0.7, 0.25])
    return _in_box(np.clip(load_breast_cancer().data / np.concatenate([unit, errors, worst]), 0, 1), 0.0, 1.0)


def _heavy() -> Data:
    """15 clusters with tails of Student's t with 3 degrees of freedom, 5 dimensions."""
    rng = np.random.default_rng(31)
    means = rng.uniform(-1, 1, size=(15, 5))
    points = means[rng.integers(0, 15, 40_000)] + rng.standard_t(3, size=(40_000, 5)) * 0.08
    return _about_0(points, "4")


def _cube() -> Data:
    """Uniform in a cube: no clusters, 6 dimensions."""
    return _in_box(np.random.default_rng(32).uniform(0, 1, size=(20_000, 6)), 0.0, 1.0)


def _skewed() -> Data:
    """20 clusters whose sizes fall like 1/j, 16 dimensions of falling spread, 30,000 records."""
    rng = np.random.default_rng(33)
    means = rng.normal(size=(20, 16)) * np.exp(-np.arange(16) / 5)
    sizes = 1 / np.arange(1, 21)
    points = means[rng.choice(20, 30_000, p=sizes / sizes.sum())] + rng.normal(size=(30_000, 16)) * 0.1
    return _about_0(points, "5")


_MAKERS: dict[str, Callable[[], Data]] = {
    "ijcnn1": _ijcnn1,
    "digits": _digits,
    "digits-8": _digits_8,
    "china": lambda: _pixels("china.jpg"),
    "mixture-10": _mixture_10,
    "flower": lambda: _pixels("flower.jpg"),
    "patches": _patches,
    "cancer": _cancer,
    "heavy": _heavy,
    "cube": _cube,
    "skewed": _skewed,
}
