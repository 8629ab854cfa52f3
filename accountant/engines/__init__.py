"""Weights and samples inside DuckDB, Polars and Spark, batch by batch: docs/engines.md."""

from accountant.engines.pairs import ArrowPairs, arrow_pairs
from accountant.engines.samples import ArrowSample, Draw, arrow_sample, select_rows, spawn_generator
from accountant.engines.weights import ArrowWeights, arrow_weights

__all__ = [
    "ArrowPairs",
    "ArrowSample",
    "ArrowWeights",
    "Draw",
    "arrow_pairs",
    "arrow_sample",
    "arrow_weights",
    "select_rows",
    "spawn_generator",
]
