"""The data sets: real ones, centred and cut as in Section 5, and synthetic ones with the numbers of Table 1."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.study.table1 import ROWS, Facts, generate
from profiles import InvalidArgument

Array = NDArray[np.float64]
SHARED = "PDP_SHARED_DATA"
_KEPT = 97.5
_DECIMALS = 10**6


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """A data set of the study: ``points`` of shape (n, d), their l2 norms, and the numbers that are taken as public."""

    name: str
    points: Array
    norms: Array
    facts: Facts


def preprocess(points: Array) -> Array:
    """Return the points centred, those with an l2 norm at or above the 97.5th percentile dropped, and centred again (Section 5).

    None of the three steps is private: the study, like the paper, takes centre and cut-off as public.
    """
    centred = points - points.mean(axis=0)
    norms = np.linalg.norm(centred, axis=1)
    kept = centred[norms < np.percentile(norms, _KEPT)]
    return kept - kept.mean(axis=0)


def measure(name: str, points: Array) -> Data:
    """Return the data set with its numbers: r rounded up to 6 decimals, x̃ to 12 significant digits."""
    norms = np.linalg.norm(points, axis=1)
    radius = Fraction(math.ceil(Fraction(float(norms.max())) * _DECIMALS), _DECIMALS)
    mean = Fraction(f"{float(np.mean(norms**2)):.12g}")
    return Data(name, points, norms, Facts(*points.shape, radius, mean))


@lru_cache(maxsize=1)
def load(name: str) -> Data:
    """Return a data set: ``ijcnn1``, ``pixels``, ``digits``, or ``like-ROW`` or ``like-ROW/10`` with the numbers of a row of Table 1.

    Raises :class:`InvalidArgument` for an unknown name and where ijcnn1 is not there.
    """
    if name == "ijcnn1":
        return measure(name, preprocess(read_ijcnn1()))
    if name == "pixels":
        from sklearn.datasets import load_sample_image  # noqa: PLC0415

        return measure(name, preprocess(load_sample_image("china.jpg").reshape(-1, 3) / 255.0))
    if name == "digits":
        from sklearn.datasets import load_digits  # noqa: PLC0415

        return measure(name, preprocess(load_digits().data / 16.0))
    row, _, scale = name.removeprefix("like-").partition("/")
    if not name.startswith("like-") or row not in ROWS or (scale and not scale.isdigit()):
        raise InvalidArgument(
            f"the data set {name!r} is unknown; known are ijcnn1, pixels, digits, and like-ROW with a row of {', '.join(ROWS)}"
        )
    return measure(name, generate(row, int(scale or 1)))


def ijcnn1_path() -> Path | None:
    """Return the file ijcnn1.trn.bz2 in $PDP_SHARED_DATA or in ../shared/data beside the repository, or None."""
    folder = Path(os.environ.get(SHARED, Path(__file__).resolve().parents[3] / "shared" / "data"))
    path = folder / "ijcnn1.trn.bz2"
    return path if path.exists() else None


def read_ijcnn1() -> Array:
    """Return the 49,990 training points of ijcnn1, shape (49990, 22). Raises :class:`InvalidArgument` where the file is not there."""
    from sklearn.datasets import load_svmlight_file  # noqa: PLC0415

    path = ijcnn1_path()
    if path is None:
        raise InvalidArgument(f"the data set ijcnn1 is not here; put ijcnn1.trn.bz2 into ../shared/data or set {SHARED} to its folder")
    return np.asarray(load_svmlight_file(str(path), n_features=22)[0].toarray(), dtype=np.float64)
