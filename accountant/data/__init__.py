"""Data sets: read in batches, weighed, and written whole or not at all."""

from accountant.data.frames import Batch, Source
from accountant.data.opening import open_dataset
from accountant.data.shifts import WeighedFile, compute_gaussian_weights_file, find_size_scale
from accountant.data.specs import StatisticSpec, parse_statistic
from accountant.data.weighing import WeightsSummary, check_range, complete_specs, compute_weights_file, find_target, iter_weights
from accountant.data.writers import open_writer

__all__ = [
    "Batch",
    "Source",
    "StatisticSpec",
    "WeighedFile",
    "WeightsSummary",
    "check_range",
    "complete_specs",
    "compute_gaussian_weights_file",
    "compute_weights_file",
    "find_size_scale",
    "find_target",
    "iter_weights",
    "open_dataset",
    "open_writer",
    "parse_statistic",
]
