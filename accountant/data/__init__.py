"""Data sets: read in batches, weighed, and written whole or not at all."""

from accountant.data.frames import Batch, Source
from accountant.data.opening import open_dataset
from accountant.data.specs import StatisticSpec, parse_statistic
from accountant.data.weighing import WeightsSummary, check_range, complete_specs, compute_weights_file, find_target, iter_weights
from accountant.data.writers import open_writer
from accountant.engines.pairs import ArrowPairs, arrow_pairs
from accountant.engines.samples import ArrowSample, Draw, arrow_sample, select_rows, spawn_generator
from accountant.engines.weights import ArrowWeights, arrow_weights

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
