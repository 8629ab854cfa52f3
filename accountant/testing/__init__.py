"""The testing kit: Hypothesis strategies, and a pytest plugin that audits implementations. See docs/testing-kit.md.

The names below are loaded when first used: neither Hypothesis nor pytest is needed to import this package, and importing it costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from accountant.testing.checking import ClaimChecker, Satisfaction
    from accountant.testing.domains import RecordBall
    from accountant.testing.errors import ClaimRefuted, ClaimTooLarge, NotAudited
    from accountant.testing.neighbors import NeighboringPair
    from accountant.testing.strategies import (
        adversarial_datasets,
        adversarial_records,
        adversarial_weights,
        neighboring_pairs,
        parameters,
        points,
        profiles,
        records,
        sampling_rules,
        statistics,
        unchecked_profiles,
        weighted_datasets,
        weights,
    )

_PLACES = {
    "checking": ("ClaimChecker", "Satisfaction"),
    "domains": ("RecordBall",),
    "errors": ("ClaimRefuted", "ClaimTooLarge", "NotAudited"),
    "neighbors": ("NeighboringPair",),
    "strategies": (
        "adversarial_datasets", "adversarial_records", "adversarial_weights", "neighboring_pairs", "parameters", "points", "profiles",
        "records", "sampling_rules", "statistics", "unchecked_profiles", "weighted_datasets", "weights",
    ),
}  # fmt: skip
_MODULES = {name: module for module, names in _PLACES.items() for name in names}

__all__ = [
    "ClaimChecker",
    "ClaimRefuted",
    "ClaimTooLarge",
    "NeighboringPair",
    "NotAudited",
    "RecordBall",
    "Satisfaction",
    "adversarial_datasets",
    "adversarial_records",
    "adversarial_weights",
    "neighboring_pairs",
    "parameters",
    "points",
    "profiles",
    "records",
    "sampling_rules",
    "statistics",
    "unchecked_profiles",
    "weighted_datasets",
    "weights",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
