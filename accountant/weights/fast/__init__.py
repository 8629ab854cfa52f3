"""Optimal weights of many records at once: guaranteed feasible in exact arithmetic, and within 1e-12 of the optimum."""

from accountant.weights.fast.results import ProvedConvexity, WeightsResult, probabilities
from accountant.weights.fast.size import SizedTarget, epsilon_for_size
from accountant.weights.fast.solver import WeightSolver, optimal_weights, prepare_solver

__all__ = [
    "ProvedConvexity", "SizedTarget", "WeightSolver", "WeightsResult",
    "epsilon_for_size", "optimal_weights", "prepare_solver", "probabilities",
]  # fmt: skip
