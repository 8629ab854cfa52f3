"""The public names of accountant.calibration, each with the module that it is at home in: the one list (profiles/lazy.py)."""

from accountant.calibration.choices import Comparison as Comparison
from accountant.calibration.choices import RuleResult as RuleResult
from accountant.calibration.choices import calibrate as calibrate
from accountant.calibration.lloyd import least_error_ratio as least_error_ratio
from accountant.calibration.lloyd import published_ratio as published_ratio
from accountant.calibration.noise import Calibration as Calibration
from accountant.calibration.noise import calibrate_noise as calibrate_noise
from accountant.calibration.sizes import calibrate_noise_for_size as calibrate_noise_for_size
from accountant.calibration.sizes import constrained_rule_for_size as constrained_rule_for_size
