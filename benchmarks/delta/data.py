"""The data sets of the study, each with records to train on and others to test on, and the clipping norm that is used for it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accountant.applications.dpsgd.losses import RecordColumns
from benchmarks.study.data import SHARED, ijcnn1_path
from profiles import InvalidArgument

Array = NDArray[np.float64]
_TEST = "extra_ijcnn1.tst.bz2"


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Records and test records with labels from 0 on; ``clip`` is C, ``epsilon`` the target, ``rates`` learning rates to try."""

    name: str
    train: RecordColumns
    test: RecordColumns
    classes: int
    clip: float
    epsilon: str
    rates: tuple[float, ...]


def ijcnn1_test() -> Path | None:
    """Return the file of the test points of ijcnn1, beside that of the training points, or None."""
    path = ijcnn1_path()
    found = None if path is None else path.parent / _TEST
    return found if found is not None and found.exists() else None


def known_names() -> list[str]:
    """Return the data sets that are here."""
    return ["digits", "heavy", *(["ijcnn1"] if ijcnn1_test() is not None else [])]


@lru_cache(maxsize=1)
def load(name: str) -> Problem:
    """Return a data set: ``ijcnn1``, ``digits``, or ``heavy``, which is synthetic. Raises :class:`InvalidArgument` for others."""
    if name == "ijcnn1":
        return _load_ijcnn1()
    if name == "digits":
        return _load_digits()
    if name == "heavy":
        return _make_heavy()
    raise InvalidArgument(f"the data set {name[:40]!r} is unknown; known are ijcnn1, digits and heavy")


def _load_ijcnn1() -> Problem:
    train, test = ijcnn1_path(), ijcnn1_test()
    if train is None or test is None:
        raise InvalidArgument(f"ijcnn1 is not here; put ijcnn1.trn.bz2 and {_TEST} into ../shared/data or set {SHARED}")
    return Problem("ijcnn1", _read(train), _read(test), 2, 1.0, "1", (8.0, 32.0))


def _read(path: Path) -> RecordColumns:
    from sklearn.datasets import load_svmlight_file  # noqa: PLC0415

    points, labels = load_svmlight_file(str(path), n_features=22)
    return RecordColumns.of(np.asarray(points.toarray(), dtype=np.float64), (np.asarray(labels) > 0).astype(np.intp), intercept=True)


def _load_digits() -> Problem:
    """1,797 images, a fifth of them for the test, split once for all runs."""
    from sklearn.datasets import load_digits  # noqa: PLC0415

    found: Any = load_digits()
    order = np.random.default_rng(20).permutation(len(found.data))
    points, labels = found.data[order] / 16.0, found.target[order].astype(np.intp)
    cut = len(points) // 5
    return Problem(
        "digits",
        RecordColumns.of(points[cut:], labels[cut:], intercept=True),
        RecordColumns.of(points[:cut], labels[:cut], intercept=True),
        10, 2.0, "4", (1.0, 4.0),
    )  # fmt: skip


def _make_heavy() -> Problem:
    """20,000 records and as many for the test: directions uniform in 20 dimensions, norms 0.3 U^(−2/3) up to 10 (tail exponent 3/2), labels
    of a logistic model of the record.
    """
    rng = np.random.default_rng(2020)
    truth = rng.normal(size=20)
    truth *= 8.0 / np.linalg.norm(truth)

    def draw(count: int) -> RecordColumns:
        directions = rng.normal(size=(count, 20))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        points = directions * np.minimum(0.3 * rng.random((count, 1)) ** (-2 / 3), 10.0)
        labels = (rng.random(count) < 1 / (1 + np.exp(-points @ truth))).astype(np.intp)
        return RecordColumns.of(points, labels, intercept=False)

    return Problem("heavy", draw(20_000), draw(20_000), 2, 10.0, "1", (2.0, 8.0))
