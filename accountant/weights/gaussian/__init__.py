"""Weights under Gaussian noise for a target (ε*, δ*): docs/gaussian-weights.md."""

from accountant.weights.gaussian.weight import GaussianWeight, gaussian_weight

__all__ = ["GaussianWeight", "gaussian_weight"]
