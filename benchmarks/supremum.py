"""The certified supremum for l2 coreset rules: bounds, time, kernel; beside a 100-point grid and the end-point formula.

    python -m benchmarks.supremum

"grid" is what the paper's grid search returns (Section 4, binary64); "ends" is max ψ over the two ends (right for the l1 rule, version 1,
Proposition 6). Both columns are (value − certified lower bound) / lower bound: negative means that the ε it prints is too small.
"""

from __future__ import annotations

import time

import numpy as np

from accountant.guarantees import bound_epsilon
from accountant.rules import SamplingRule, make_rule, rule_from_expression
from profiles import Profile, declare


def declare_lloyd(radius: str, beta_count: str = "20.5", beta_sum: str = "30") -> Profile:
    """Return the profile of weighted DP-Lloyd with T = 10."""
    return declare(
        "weighted DP-Lloyd", "T*w*(1/beta_count + z/beta_sum)", record={"z": [0, radius]},
        parameters={"T": 10, "beta_count": beta_count, "beta_sum": beta_sum}, source="Fay et al. 2024, Proposition 13",
    )  # fmt: skip


def cases() -> list[tuple[str, Profile, SamplingRule]]:
    """Return (name, profile, rule) of every line."""
    lloyd, ijcnn = declare_lloyd("4"), declare_lloyd("1.5113")
    ijcnn_constants = {"n": 48_740, "lam": "0.5", "mean": "1.26396"}
    found = [("q = 1/20 + z^2/50", lloyd, rule_from_expression("1/20 + z**2/50", lloyd))]
    found += [(f"ijcnn1, l2, m = {m}", ijcnn, make_rule("coreset-l2", ijcnn, {"m": m, **ijcnn_constants})) for m in (5_000, 10_000, 20_000)]
    quiet = declare_lloyd("1.5113", "2050", "3000")
    found.append(("ijcnn1, 100 times the noise", quiet, make_rule("coreset-l2", quiet, {"m": 20_000, **ijcnn_constants})))
    found.append(("l1 rule, q = 1/20 + z/20", lloyd, rule_from_expression("1/20 + z/20", lloyd)))
    found.append(("uniform, rate 1/10", lloyd, make_rule("uniform", lloyd, {"rate": "0.1"})))
    return found


def sampled_floats(profile: Profile, rule: SamplingRule, points: np.ndarray) -> np.ndarray:
    """Return ψ in binary64 as the paper's experiments compute it."""
    values = {parameter.name: float(parameter.value or 0) for parameter in profile.parameters}
    constants = dict(rule.constants)
    if rule.name == "expression":
        q = 1 / 20 + (points**2 / 50 if "50" in str(rule.q) else points / 20)
    elif rule.name == "uniform":
        q = np.full_like(points, float(constants["rate"]))
    else:
        share, lam = float(constants["m"] / constants["n"]), float(constants["lam"])
        q = lam * share + (1 - lam) * share * points**2 / float(constants["mean"])
    epsilon = values["T"] / q * (1 / values["beta_count"] + points / values["beta_sum"])
    return np.log1p(q * np.expm1(epsilon))


def run() -> None:
    """Print the table."""
    warm = declare_lloyd("1")
    bound_epsilon(warm, rule_from_expression("1/3", warm))
    print(
        f"{'case':<30} {'lower':>16} {'upper':>16} {'at z':>9} {'gap':>8} {'seconds':>8} {'kernel':>6} {'boxes':>6} {'grid':>9} {'ends':>9}"
    )
    for name, profile, rule in cases():
        start = time.perf_counter()
        bound = bound_epsilon(profile, rule)
        seconds = time.perf_counter() - start
        hi = float(profile.record[0].hi)
        lower = float(bound.lower)
        grid = float(sampled_floats(profile, rule, np.linspace(0, hi, 100)).max())
        ends = float(sampled_floats(profile, rule, np.array([0.0, hi])).max())
        kernel = "yes" if bound.checked_by_kernel else "no"
        print(
            f"{name:<30} {bound.lower_text(12):>16} {bound.upper_text(12):>16} {float(bound.at['z']):>9.5f} "
            f"{float(bound.relative_gap):>8.1e} {seconds:>8.3f} {kernel:>6} {bound.boxes:>6} "
            f"{grid / lower - 1:>9.1e} {ends / lower - 1:>9.1e}"
        )


if __name__ == "__main__":
    run()
