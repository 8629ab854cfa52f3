"""scikit-learn's classifiers, loaded when they are first needed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from profiles.errors import InvalidArgument


@dataclass(frozen=True, slots=True)
class Models:
    """The classifiers that are used."""

    logistic: Any
    boosting: Any


@cache
def load_models() -> Models:
    """Return the classifiers. Raises :class:`InvalidArgument` where scikit-learn is not installed."""
    try:
        from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: PLC0415
        from sklearn.linear_model import LogisticRegression  # noqa: PLC0415
    except ImportError:
        raise InvalidArgument(
            "auditing vectors needs scikit-learn, which is not installed; pip install 'pdp-accountant[scikit-learn]'"
        ) from None
    return Models(LogisticRegression, HistGradientBoostingClassifier)
