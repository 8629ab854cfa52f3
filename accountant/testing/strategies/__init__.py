"""Hypothesis strategies for what the toolkit works with; each shrinks to something small that reads well."""

from profiles.errors import MissingExtra

try:
    import hypothesis  # noqa: F401 - looked for here, so that the error names the extra
except ModuleNotFoundError as error:
    raise MissingExtra("the strategies need Hypothesis, but it is not installed; install pdp-accountant[testing]") from error

from accountant.testing.strategies.datasets import (
    adversarial_datasets,
    adversarial_weights,
    neighboring_pairs,
    points,
    weighted_datasets,
    weights,
)
from accountant.testing.strategies.declared import parameters, profiles, statistics, unchecked_profiles
from accountant.testing.strategies.records import adversarial_records, records
from accountant.testing.strategies.sampling_rules import sampling_rules

__all__ = [
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
