"""One-sided privacy (add-DP) and two-directional guarantees: docs/one-sided.md."""

from accountant.amplification import amplify_minus, amplify_plus
from accountant.calibration.one_sided import OneSidedCalibration, calibrate_one_sided, largest_epsilon0, largest_probability
from accountant.guarantees import (
    TwoSidedDP,
    both_directions,
    compose,
    compose_directions,
    declare_add_dp,
    declare_directions,
    prove_losses,
    realise_draws,
    subsample,
    worst_case_directions,
)
from accountant.weights.one_sided import FeasibleWeights, feasible_weights

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
