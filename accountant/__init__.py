"""What promises add up to: certified ε bounds, optimal weights, guarantees that carry their hypotheses.

The names below are the public Python API; they are loaded when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from profiles.lazy import load_from

if TYPE_CHECKING:
    from accountant.calibration import calibrate, calibrate_noise, calibrate_noise_for_size
    from accountant.dataset import compute_weights_file
    from accountant.epsilon import derive_epsilon
    from accountant.estimators import DPKMeans
    from accountant.guarantees import render
    from accountant.interop import read_guarantee, replay, suppose, write_guarantee
    from accountant.onesided import calibrate_one_sided, compose, feasible_weights, subsample, worst_case_directions
    from accountant.sampled import amplify
    from accountant.sampler import amplify_once, draw_sample, plan_sample, sample_file
    from accountant.sampling import make_rule
    from accountant.sampling.selection import prepare_selection
    from accountant.weights.precise import optimal_weight
    from accountant.weights.premise import prove_premise
    from accountant.weights.vectorised import optimal_weights
    from proofs_check.admission import admit
    from proofs_check.exact import exact_delta, exact_epsilon
    from proofs_check.verify import verify

_HOME = {
    "DPKMeans": "accountant.estimators",
    "admit": "proofs_check.admission",
    "amplify": "accountant.sampled",
    "amplify_once": "accountant.sampler",
    "calibrate": "accountant.calibration",
    "calibrate_noise": "accountant.calibration",
    "calibrate_noise_for_size": "accountant.calibration",
    "calibrate_one_sided": "accountant.onesided",
    "compose": "accountant.onesided",
    "compute_weights_file": "accountant.dataset",
    "derive_epsilon": "accountant.epsilon",
    "draw_sample": "accountant.sampler",
    "exact_delta": "proofs_check.exact",
    "exact_epsilon": "proofs_check.exact",
    "feasible_weights": "accountant.onesided",
    "make_rule": "accountant.sampling",
    "optimal_weight": "accountant.weights.precise",
    "optimal_weights": "accountant.weights.vectorised",
    "plan_sample": "accountant.sampler",
    "prepare_selection": "accountant.sampling.selection",
    "prove_premise": "accountant.weights.premise",
    "render": "accountant.guarantees",
    "read_guarantee": "accountant.interop",
    "replay": "accountant.interop",
    "sample_file": "accountant.sampler",
    "suppose": "accountant.interop",
    "write_guarantee": "accountant.interop",
    "subsample": "accountant.onesided",
    "verify": "proofs_check.verify",
    "worst_case_directions": "accountant.onesided",
}

__all__ = [
    "DPKMeans",
    "admit",
    "amplify",
    "amplify_once",
    "calibrate",
    "calibrate_noise",
    "calibrate_noise_for_size",
    "calibrate_one_sided",
    "compose",
    "compute_weights_file",
    "derive_epsilon",
    "draw_sample",
    "exact_delta",
    "exact_epsilon",
    "feasible_weights",
    "make_rule",
    "optimal_weight",
    "optimal_weights",
    "plan_sample",
    "prepare_selection",
    "prove_premise",
    "read_guarantee",
    "render",
    "replay",
    "sample_file",
    "subsample",
    "suppose",
    "verify",
    "worst_case_directions",
    "write_guarantee",
]


__getattr__ = load_from(__name__, _HOME)
