"""Data sets: read in batches, weighed, and written whole or not at all."""

from accountant.dataset.arrow import ArrowWeights, arrow_weights
from accountant.dataset.frames import Batch, Source
from accountant.dataset.opening import open_dataset
from accountant.dataset.pairs import ArrowPairs, arrow_pairs
from accountant.dataset.selection import ArrowSample, Draw, arrow_sample, select_rows, spawn_generator
from accountant.dataset.specs import StatisticSpec, parse_statistic
from accountant.dataset.weighing import WeightsSummary, check_range, complete_specs, compute_weights_file, find_target, iter_weights
from accountant.dataset.writers import open_writer

__all__ = [
    "ArrowPairs",
    "ArrowSample",
    "ArrowWeights",
    "Batch",
    "Draw",
    "Source",
    "StatisticSpec",
    "WeightsSummary",
    "arrow_pairs",
    "arrow_sample",
    "arrow_weights",
    "check_range",
    "complete_specs",
    "compute_weights_file",
    "find_target",
    "iter_weights",
    "open_dataset",
    "open_writer",
    "parse_statistic",
    "select_rows",
    "spawn_generator",
]
