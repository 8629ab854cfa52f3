"""Monotone submodular maximisation under a cardinality constraint, and set cover as its special case: docs/submodular.md."""

from accountant.applications.submodular.coverage import CoverageInstance
from accountant.applications.submodular.greedy import GreedyAnswer, OneSidedGreedy, PrivateGreedy
from accountant.applications.submodular.interface import DecomposableFunction, MarginalGains
from accountant.applications.submodular.readers import read_coverage, read_weighted_coverage
from accountant.applications.submodular.weighted import WeightedCoverage

__all__ = [
    "CoverageInstance",
    "DecomposableFunction",
    "GreedyAnswer",
    "MarginalGains",
    "OneSidedGreedy",
    "PrivateGreedy",
    "WeightedCoverage",
    "read_coverage",
    "read_weighted_coverage",
]
