"""Exact ε and δ of mechanisms with finitely many outputs, over all neighboring data sets of a small universe. See docs/exact-epsilon.md."""

from proofs_check.exact.enclosed import Bounds, Enclosed, log_ratio
from proofs_check.exact.exponentials import ExpRational, Log, exp
from proofs_check.exact.extremal import extremal_law, extremal_pair, renyi_divergence, sampled_renyi_bound
from proofs_check.exact.finite import Choices, enumerate_outputs
from proofs_check.exact.laws import (
    exponential_law,
    repeated_above_threshold_law,
    repeated_exponential_law,
    sample_first,
    sequence_law,
    subsampled_law,
)
from proofs_check.exact.tables import Direction, ExactEpsilon, delta_of_tables, epsilon_of_tables
from proofs_check.exact.worst import WorstCase, WorstDelta, WorstPair, exact_delta, exact_epsilon

__all__ = [
    "Bounds",
    "Choices",
    "Direction",
    "Enclosed",
    "ExactEpsilon",
    "ExpRational",
    "Log",
    "WorstCase",
    "WorstDelta",
    "WorstPair",
    "delta_of_tables",
    "enumerate_outputs",
    "epsilon_of_tables",
    "exact_delta",
    "exact_epsilon",
    "exp",
    "exponential_law",
    "extremal_law",
    "extremal_pair",
    "log_ratio",
    "renyi_divergence",
    "repeated_above_threshold_law",
    "repeated_exponential_law",
    "sample_first",
    "sampled_renyi_bound",
    "sequence_law",
    "subsampled_law",
]
