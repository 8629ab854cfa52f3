"""The main job on real data: what ε may be printed for differentially private k-means on a weighted subsample of scikit-learn's digits?

Verifies the weighted DP-Lloyd profile (Fay et al. 2024, Proposition 13), computes certified ε for uniform, coreset and
privacy-constrained sampling at the same expected sample size, computes and writes the optimal weight of every record, saves a plot,
writes certificates, and has the kernel check them. ``make run`` runs it; results are in ``out/``.

The preparation follows section 5 of the paper: centre, drop the points above the 97.5 percentile of the l2 norm, centre again. The
range, n, the mean squared norm and the centre are taken as public here; the guarantees say so.
"""

from __future__ import annotations

import argparse
import sys
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits

from accountant.cli.output import print_as_it_is, print_line, print_table
from accountant.dataset import compute_weights_file, parse_statistic
from accountant.epsilon import DerivedEpsilon, derive_epsilon
from accountant.files import write_whole
from accountant.weights.premise import prove_premise
from profiles import Profile, decimal_text, exact_text, to_exact
from profiles.mechanisms import WeightedLloyd
from proofs_check.certificates import to_file_text
from proofs_check.kernel import check
from proofs_check.verify import Verification, verify

ROUNDS, SAMPLE_SIZE = 10, 300
BETA_COUNT, BETA_SUM = "60", "400"


def prepare_digits() -> NDArray[np.float64]:
    """Return the digits as an (n, 64) array: centred, without the outermost 2.5 percent, centred again."""
    points = np.asarray(load_digits().data, dtype=np.float64)
    points = points - points.mean(axis=0)
    norms = np.linalg.norm(points, axis=1)
    points = points[norms <= np.quantile(norms, 0.975)]
    return points - points.mean(axis=0)


def declare_lloyd(points: NDArray[np.float64]) -> Profile:
    """Return the profile of weighted DP-Lloyd, composed from its sum and count, on the records with l2 norm at most r (rounded up)."""
    radius = Fraction(int(np.ceil(np.linalg.norm(points, axis=1).max() * 100)), 100)
    centres = np.zeros((1, points.shape[1]))
    mechanism = WeightedLloyd(
        initial_centres=centres, iterations=ROUNDS, beta_count=BETA_COUNT, beta_sum=BETA_SUM, p=2, radius=exact_text(radius)
    )
    return mechanism.profile


def show_verification(found: Verification) -> None:
    """Print the verdicts."""
    rows = [
        (name, decision.verdict.value, "yes" if decision.checked else "no", decision.method) for name, decision in found.decisions.items()
    ]
    print_table(
        f"{found.profile.name}: epsilon(w, x) = {found.profile.text}", ("condition", "verdict", "checked by kernel", "method"), rows
    )
    print_line(f"mu_x = {found.to_json()['strong_convexity']['formula']}")


def bound_rules(profile: Profile, points: NDArray[np.float64], target: Fraction) -> dict[str, DerivedEpsilon]:
    """Return the certified worst case for three sampling rules with the same expected sample size."""
    size = {"m": SAMPLE_SIZE, "n": len(points)}
    mean = to_exact(float(np.mean(np.sum(points**2, axis=1))))
    return {
        "uniform": derive_epsilon(profile, rule="uniform", constants=size),
        "coreset-l2": derive_epsilon(profile, rule="coreset-l2", constants={**size, "lam": "0.5", "mean": mean}),
        "privacy-constrained": derive_epsilon(profile, rule="privacy-constrained", target_epsilon=target),
    }


def show_rules(bounds: dict[str, DerivedEpsilon]) -> None:
    """Print one row a rule."""
    rows = []
    for name, derived in bounds.items():
        found = derived.to_json()
        at = ", ".join(f"{key} = {float(Fraction(value)):.6g}" for key, value in found["at"].items())
        rows.append((name, found["epsilon"]["lower"], found["epsilon"]["upper"], at, "yes" if found["checked_by_kernel"] else "no"))
    columns = ("sampling rule", "sup psi, rounded down", "sup psi, rounded up", "worst record", "checked by kernel")
    print_table(f"certified epsilon (nats) for an expected sample of {SAMPLE_SIZE}", columns, rows)


def draw_plot(
    profile: Profile, bounds: dict[str, DerivedEpsilon], norms: NDArray[np.float64], weights: NDArray[np.float64], path: Path
) -> None:
    """Save weights and sampled profile against the norm, one line a rule (the lines are for the eye; the bounds are proved)."""
    import matplotlib as mpl  # noqa: PLC0415

    mpl.use("Agg")
    import matplotlib.pyplot as plt  # noqa: PLC0415

    from accountant.sampled import amplify_array  # noqa: PLC0415

    values = {p.name: float(p.value or 0) for p in profile.parameters}
    order = np.argsort(norms)
    z = norms[order]
    slope = values["T"] * (1 / values["beta_count"] + z / values["beta_sum"])
    probability: dict[str, NDArray[np.float64]] = {
        "uniform": np.full_like(z, SAMPLE_SIZE / len(z)),
        "coreset-l2": SAMPLE_SIZE / len(z) * (0.5 + 0.5 * z**2 / np.mean(norms**2)),
        "privacy-constrained": 1 / weights[order],
    }
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    for (name, q), style in zip(probability.items(), ("--", "-.", "-"), strict=True):
        left.plot(z, 1 / q, style, label=name)
        (line,) = right.plot(z, amplify_array(slope / q, q), style, label=name)
        right.axhline(float(bounds[name].bound.upper), color=line.get_color(), linewidth=0.6, alpha=0.7)
    left.set(xlabel="record norm ‖x‖₂", ylabel="importance weight w(x)", title="weights")
    right.set(xlabel="record norm ‖x‖₂", ylabel="sampled profile ψ(x), nats", title="privacy loss; thin lines: certified sup")
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.legend()
    figure.savefig(path, dpi=140)
    plt.close(figure)


def check_certificates(paths: list[Path]) -> bool:
    """Run the kernel on certificates and say what it found."""
    accepted = True
    for path in paths:
        report = check(path.read_text(encoding="utf-8"))
        accepted &= report.accepted
        print_line(f"kernel: {path.name}: " + ("accepted" if report.accepted else f"rejected at {report.step}: {report.reason}"))
    return accepted


def main(arguments: list[str] | None = None) -> int:
    """Run the job; the exit code is 0 if the kernel accepts every certificate."""
    parser = argparse.ArgumentParser(description="certified DP k-means sampling on scikit-learn's digits")
    parser.add_argument("--out", type=Path, default=Path("out"))
    out: Path = parser.parse_args(arguments).out
    out.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    points = prepare_digits()
    profile = declare_lloyd(points)
    data, weights_file = out / "digits.npy", out / "weights.npy"
    np.save(data, points)
    print_line(f"digits: n = {len(points)}, d = {points.shape[1]}, declared norm range [0, {exact_text(profile.record[0].hi)}]")

    spec = parse_statistic("z=l2")
    summary = compute_weights_file(
        profile, data, weights_file, premise=prove_premise(profile), target_size=Fraction(SAMPLE_SIZE), specs=(spec,)
    )
    target = summary.target_epsilon
    verification = verify(profile, target)
    show_verification(verification)
    print_line(
        f"privacy-constrained weights for an expected sample of {SAMPLE_SIZE}: target epsilon {decimal_text(target, 12, round_up=True)}, "
        f"expected size {summary.expected_size:.6f}, {summary.rows} weights in "
        f"[{summary.min_weight:.4g}, {summary.max_weight:.4g}], all feasible"
    )
    bounds = bound_rules(profile, points, target)
    show_rules(bounds)
    print_as_it_is(bounds["coreset-l2"].render())

    files: dict[Path, Any] = {out / "conditions.json": verification.certificate()}
    files |= {out / f"epsilon-{name}.json": bounds[name].certificate() for name in ("uniform", "coreset-l2")}
    for path, certificate in files.items():
        write_whole(path, to_file_text(certificate))
    norms = np.sqrt(np.sum(points**2, axis=1))
    draw_plot(profile, bounds, norms, np.load(weights_file), out / "weights-and-psi.png")
    accepted = check_certificates(list(files))
    print_line(f"plot, weights and certificates are in {out}/ ({time.perf_counter() - start:.1f} s)")
    return 0 if accepted else 1


if __name__ == "__main__":
    sys.exit(main())
