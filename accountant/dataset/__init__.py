"""Data sets: read in batches, weighed, and written whole or not at all."""

from accountant.dataset.frames import Batch, Source
from accountant.dataset.opening import open_dataset
from accountant.dataset.specs import StatisticSpec, parse_statistic
from accountant.dataset.weighing import WeightsSummary, check_range, complete_specs, compute_weights_file, find_target, iter_weights
from accountant.dataset.writers import open_writer

__all__ = [
    "Batch",
    "Source",
    "StatisticSpec",
    "WeightsSummary",
    "check_range",
    "complete_specs",
    "compute_weights_file",
    "find_target",
    "iter_weights",
    "open_dataset",
    "open_writer",
    "parse_statistic",
]
