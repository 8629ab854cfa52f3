"""DP-SGD with importance sampling: a plan for training loops, and an estimator with scikit-learn's conventions (docs/dp-sgd.md)."""

from profiles.lazy import offer_names

__getattr__, __dir__, __all__ = offer_names(__name__)
