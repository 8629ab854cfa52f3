"""The certified worst case: bounds of the sampled profile over all records, with certificates."""

from accountant.worst_case.bound import DEFAULT_BUDGET, DEFAULT_GAP, EpsilonBound, bound_epsilon
from accountant.worst_case.rechecking import recheck_epsilon

__all__ = ["DEFAULT_BUDGET", "DEFAULT_GAP", "EpsilonBound", "bound_epsilon", "recheck_epsilon"]
