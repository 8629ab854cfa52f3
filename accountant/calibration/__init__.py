"""Choosing the noise of a mechanism for a given ε* and a given sampling rule or sample size, with the guarantee that results."""

from accountant.calibration.choices import Choice, Comparison, calibrate
from accountant.calibration.lloyd import least_error_ratio, published_ratio
from accountant.calibration.noise import Calibration, calibrate_noise
from accountant.calibration.sizes import calibrate_noise_for_size, constrained_rule_for_size

__all__ = [
    "Calibration",
    "Choice",
    "Comparison",
    "calibrate",
    "calibrate_noise",
    "calibrate_noise_for_size",
    "constrained_rule_for_size",
    "least_error_ratio",
    "published_ratio",
]
