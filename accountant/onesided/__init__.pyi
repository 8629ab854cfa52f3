"""The public names of accountant.onesided, each with the module that it is at home in: the one list (profiles/lazy.py)."""

from accountant.amplification import amplify_add as amplify_add
from accountant.amplification import amplify_remove as amplify_remove
from accountant.calibration.one_sided import OneSidedCalibration as OneSidedCalibration
from accountant.calibration.one_sided import calibrate_one_sided as calibrate_one_sided
from accountant.calibration.one_sided import largest_epsilon0 as largest_epsilon0
from accountant.calibration.one_sided import largest_probability as largest_probability
from accountant.guarantees import Losses as Losses
from accountant.guarantees import both_directions as both_directions
from accountant.guarantees import compose as compose
from accountant.guarantees import declare_add_dp as declare_add_dp
from accountant.guarantees import declare_directions as declare_directions
from accountant.guarantees import prove_losses as prove_losses
from accountant.guarantees import realise_draws as realise_draws
from accountant.guarantees import subsample as subsample
from accountant.guarantees import worst_case_directions as worst_case_directions
from accountant.weights.one_sided import FeasibleWeights as FeasibleWeights
from accountant.weights.one_sided import feasible_weights as feasible_weights
