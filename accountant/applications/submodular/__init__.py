"""Monotone submodular maximisation under a cardinality constraint, and set cover as its special case: docs/submodular.md."""

from accountant.applications.submodular.checking import find_violation
from accountant.applications.submodular.coverage import CoverageInstance
from accountant.applications.submodular.evaluation import lazy_greedy, selection_value, set_cover_cost
from accountant.applications.submodular.greedy import GreedyAnswer, OneSidedGreedy, PrivateGreedy
from accountant.applications.submodular.interface import DecomposableFunction, MarginalGains
from accountant.applications.submodular.predecessor import approximate_dp, approximate_guarantee, epsilon0_for
from accountant.applications.submodular.readers import read_coverage, read_weighted_coverage
from accountant.applications.submodular.utility import UtilityBound, one_sided_bound, utility_bound
from accountant.applications.submodular.weighted import WeightedCoverage

__all__ = [
    "CoverageInstance",
    "DecomposableFunction",
    "GreedyAnswer",
    "MarginalGains",
    "OneSidedGreedy",
    "PrivateGreedy",
    "UtilityBound",
    "WeightedCoverage",
    "approximate_dp",
    "approximate_guarantee",
    "epsilon0_for",
    "find_violation",
    "lazy_greedy",
    "one_sided_bound",
    "read_coverage",
    "read_weighted_coverage",
    "selection_value",
    "set_cover_cost",
    "utility_bound",
]
