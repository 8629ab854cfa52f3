"""Monotone submodular maximisation under a cardinality constraint, and set cover as its special case: docs/submodular.md."""

from accountant.applications.quality import UtilityBound
from accountant.applications.running import Choice
from accountant.applications.submodular.bounds import bound_one_sided, bound_plan, bound_utility, expect_loss
from accountant.applications.submodular.coverage import CoverageInstance
from accountant.applications.submodular.functions import DecomposableFunction, MarginalGains, find_violation, lazy_greedy, selection_value
from accountant.applications.submodular.greedy import GreedyAnswer, OneSidedGreedy, PrivateGreedy
from accountant.applications.submodular.predecessor import approximate_dp, approximate_guarantee, epsilon0_for
from accountant.applications.submodular.readers import read_coverage, read_weighted_coverage
from accountant.applications.submodular.weighted import WeightedCoverage

__all__ = [
    "Choice",
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
    "bound_one_sided",
    "bound_plan",
    "bound_utility",
    "epsilon0_for",
    "expect_loss",
    "find_violation",
    "lazy_greedy",
    "read_coverage",
    "read_weighted_coverage",
    "selection_value",
]
