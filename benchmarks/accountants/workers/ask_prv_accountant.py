"""prv_accountant's upper bound, with the errors that its README names (0.1 in epsilon, 1e-3 delta in delta), and a tenth of the first."""

from __future__ import annotations

from typing import Any

from answering import answer
from prv_accountant import PRVAccountant
from prv_accountant.privacy_random_variables import GaussianMechanism, LaplaceMechanism, PoissonSubsampledGaussianMechanism


def _epsilon(setting: dict[str, Any], error: float) -> float:
    scale, rate, count, delta = float(setting["scale"]), float(setting["rate"]), setting["count"], float(setting["delta"])
    if setting["mechanism"] == "laplace":
        prv = LaplaceMechanism(mu=1 / scale)
    elif rate == 1:
        prv = GaussianMechanism(noise_multiplier=scale)
    else:
        prv = PoissonSubsampledGaussianMechanism(noise_multiplier=scale, sampling_probability=rate)
    accountant = PRVAccountant(prvs=[prv], max_self_compositions=[count], eps_error=error, delta_error=delta / 1000)
    _, _, upper = accountant.compute_epsilon(delta=delta, num_self_compositions=[count])
    return float(upper)


answer("prv-accountant", {"default": lambda s: _epsilon(s, 0.1), "tuned": lambda s: _epsilon(s, 0.01)})
