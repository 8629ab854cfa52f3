"""One-sided privacy (add-DP) and two-directional guarantees: docs/one-sided.md."""

from accountant.guarantees import TwoSidedDP, realise_draws
from accountant.onesided.amplification import amplify_minus, amplify_plus
from accountant.onesided.calibration import OneSidedCalibration, calibrate_one_sided, largest_epsilon0, largest_probability
from accountant.onesided.personal import worst_case_directions
from accountant.onesided.rules import (
    both_directions,
    compose,
    compose_directions,
    declare_add_dp,
    declare_directions,
    prove_losses,
    subsample,
)
from accountant.onesided.weights import FeasibleWeights, feasible_weights

__all__ = [
    "FeasibleWeights",
    "OneSidedCalibration",
    "TwoSidedDP",
    "amplify_minus",
    "amplify_plus",
    "both_directions",
    "calibrate_one_sided",
    "compose",
    "compose_directions",
    "declare_add_dp",
    "declare_directions",
    "feasible_weights",
    "largest_epsilon0",
    "largest_probability",
    "prove_losses",
    "realise_draws",
    "subsample",
    "worst_case_directions",
]
