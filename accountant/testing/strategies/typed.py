"""Strategies for types where there is nothing to start from: ``st.from_type`` gives them."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from accountant.rules.named import SamplingRule
from accountant.testing.domains import RecordBall
from accountant.testing.strategies.datasets import weighted_datasets
from accountant.testing.strategies.declared import profiles
from accountant.testing.strategies.numbers import positive_numbers
from accountant.testing.strategies.sampling_rules import sampling_rules
from profiles.mechanisms.datasets import WeightedData


def weighted_data() -> st.SearchStrategy[WeightedData]:
    """Return a strategy for checked data sets of points in the unit ball."""
    return balls(most=3).flatmap(weighted_datasets).map(lambda table: WeightedData(*table))


def any_rule() -> st.SearchStrategy[SamplingRule]:
    """Return a strategy for sampling rules of some profile."""
    return profiles().flatmap(sampling_rules)


def balls(*, most: int = 5) -> st.SearchStrategy[RecordBall]:
    """Return a strategy for record domains of up to ``most`` dimensions."""
    return st.builds(RecordBall, st.integers(1, most), positive_numbers(), st.sampled_from([2.0, 1.0, math.inf, 1.5]))
