"""Private k-means, from a file or an array to centres. The estimators have scikit-learn's conventions and need it: the extra
``scikit-learn``; what they and ``pdp kmeans`` run does not.
"""

from typing import TYPE_CHECKING, Any

from accountant.applications.kmeans.planning import NoiseScales, choose_scales

if TYPE_CHECKING:
    from accountant.applications.kmeans.estimator import DPLloyd
    from accountant.applications.kmeans.private import DPKMeans, UtilityWarning

__all__ = ["DPKMeans", "DPLloyd", "NoiseScales", "UtilityWarning", "choose_scales"]


def __getattr__(name: str) -> Any:
    """Return an estimator, with the module that it is at home in loaded first."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from accountant.applications.kmeans import estimator, private  # noqa: PLC0415 - scikit-learn is an extra
    except ModuleNotFoundError as error:
        if error.name is not None and error.name.startswith("sklearn"):
            raise ModuleNotFoundError(
                "estimators need scikit-learn, which is not installed; install pdp-accountant[scikit-learn]"
            ) from error
        raise
    return getattr(estimator if name == "DPLloyd" else private, name)
