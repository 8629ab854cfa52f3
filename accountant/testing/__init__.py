"""The testing kit: Hypothesis strategies, and a pytest plugin that audits implementations. See docs/testing-kit.md.

The names below are loaded when first used: neither Hypothesis nor pytest is needed to import this package, and importing it costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from profiles.lazy import load_from

if TYPE_CHECKING:
    from accountant.testing.checking import ClaimChecker, Satisfaction
    from accountant.testing.domains import RecordBall
    from accountant.testing.errors import ClaimRefuted, ClaimTooLarge, NotAudited, NotRefuted
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
    "errors": ("ClaimRefuted", "ClaimTooLarge", "NotAudited", "NotRefuted"),
    "neighbors": ("NeighboringPair",),
    "strategies": (
        "adversarial_datasets", "adversarial_records", "adversarial_weights", "neighboring_pairs", "parameters", "points", "profiles",
        "records", "sampling_rules", "statistics", "unchecked_profiles", "weighted_datasets", "weights",
    ),
}  # fmt: skip
_HOME = {name: f"{__name__}.{module}" for module, names in _PLACES.items() for name in names}

__all__ = [
    "ClaimChecker",
    "ClaimRefuted",
    "ClaimTooLarge",
    "NeighboringPair",
    "NotAudited",
    "NotRefuted",
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

__getattr__ = load_from(__name__, _HOME)
