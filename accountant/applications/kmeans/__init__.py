"""Estimators with scikit-learn's conventions that carry a guarantee. They need scikit-learn: the extra ``scikit-learn``."""

try:
    from accountant.applications.kmeans.estimator import DPLloyd
except ModuleNotFoundError as error:
    if error.name is not None and error.name.startswith("sklearn"):
        raise ModuleNotFoundError("estimators need scikit-learn, which is not installed; install pdp-accountant[scikit-learn]") from error
    raise
from accountant.applications.kmeans.planning import NoiseScales, choose_scales

__all__ = ["DPLloyd", "NoiseScales", "choose_scales"]
