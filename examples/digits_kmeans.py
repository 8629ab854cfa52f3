"""The main job on real data: what ε may be printed for differentially private k-means on a weighted subsample of scikit-learn's digits?

Verifies the weighted DP-Lloyd profile (Fay et al. 2024, Proposition 13), computes certified ε for uniform, coreset and
privacy-constrained sampling, computes and writes the optimal weight of every record, saves a plot, writes certificates, and has the
kernel check them. ``make run`` runs it; results are in ``out/``.

No ε here rests on the data: all of them are computed before a record is read. A pixel counts the ink in 4 by 4 dots, so that it lies in
0, ..., 16 by the format of the images. Hence the centre (8, ..., 8) and the radius 8·√64 = 64 are public, and every image lies in that
ball: nothing is centred by a mean, trimmed at a quantile or measured for its largest norm, as section 5 of the paper does. The other
constants are guesses: the collection is said to have about 1800 images, and ink leaves most pixels near 0 or near 16, so that three
quarters of 64² is a guess of the mean squared norm. A wrong guess costs utility, never privacy.
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
from profiles import Declaration, Profile, exact_text
from profiles.hypotheses import Head
from profiles.mechanisms import WeightedLloyd
from proofs_check.certificates import to_file_text
from proofs_check.kernel import check
from proofs_check.verify import Verification, verify

#: Public constants, all of them: see above.
PIXELS, MIDDLE, RADIUS = 64, 8, 64
ROUNDS, BETA_COUNT, BETA_SUM = 10, "60", "640"
SAMPLE_SIZE, SIZE, LAM, MEAN = 300, 1800, "0.5", 3072
TARGET = Fraction("4.4")

PRIVATE = "private, for your eyes only: all from here on, with the files of records, weights and plot, is covered by no epsilon"


def declare_lloyd() -> Declaration:
    """Return weighted DP-Lloyd with its profile, composed from its sum and count, on the ball that holds every possible image."""
    mechanism = WeightedLloyd(
        initial_centres=np.zeros((1, PIXELS)), iterations=ROUNDS, beta_count=BETA_COUNT, beta_sum=BETA_SUM, p=2, radius=RADIUS
    )
    return Declaration(mechanism.profile, hypotheses=mechanism.hypotheses, mechanism=mechanism)


def read_digits() -> NDArray[np.float64]:
    """Return the digits as an (n, 64) array, around the public centre."""
    return np.asarray(load_digits().data, dtype=np.float64) - MIDDLE


def show_verification(found: Verification) -> None:
    """Print the verdicts."""
    rows = [
        (name, decision.verdict.value, "yes" if decision.checked else "no", decision.method) for name, decision in found.decisions.items()
    ]
    print_table(
        f"{found.profile.name}: epsilon(w, x) = {found.profile.text}", ("condition", "verdict", "checked by kernel", "method"), rows
    )
    print_line(f"mu_x = {found.to_json()['strong_convexity']['formula']}")


def bound_rules(declared: Declaration) -> dict[str, DerivedEpsilon]:
    """Return the certified worst case for three sampling rules, of public constants alone."""
    constants = {"m": SAMPLE_SIZE, "n": SIZE, "lam": LAM, "mean": MEAN}
    return {
        "uniform": derive_epsilon(declared, rule="uniform", constants={"m": SAMPLE_SIZE, "n": SIZE}),
        "coreset-l2": derive_epsilon(declared, rule="coreset-l2", constants=constants),
        "privacy-constrained": derive_epsilon(declared, rule="privacy-constrained", target_epsilon=TARGET),
    }


def show_rules(bounds: dict[str, DerivedEpsilon]) -> None:
    """Print one row a rule, and below it every premise of every row; a premise of some rows names them."""
    rows = []
    for name, derived in bounds.items():
        found = derived.to_json()
        at = ", ".join(f"{key} = {float(Fraction(value)):.6g}" for key, value in found["at"].items())
        rows.append((name, found["epsilon"]["lower"], found["epsilon"]["upper"], at, "yes" if found["checked_by_kernel"] else "no"))
    columns = ("sampling rule", "sup psi, rounded down", "sup psi, rounded up", "worst record", "checked by kernel")
    print_table("certified epsilon (nats) of one run on one sample, if the premises below hold", columns, rows)
    print_line("It holds only if all of this is true, which nobody has discharged:")
    premises = dict.fromkeys(item for derived in bounds.values() for item in derived.guarantee.hypotheses)
    for head in Head:
        print_line(f"  {head.value}")
        for premise in (item for item in premises if item.head is head):
            resting = [name for name, derived in bounds.items() if premise in derived.guarantee.hypotheses]
            rows_named = "" if len(resting) == len(bounds) else f" [{', '.join(resting)}]"
            print_line(f"    - {premise.sentence}{rows_named}")
    print_line()


def select(norms: NDArray[np.float64], weights: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """Return the selection probability of each record by each rule, for sizes and plots."""
    rate = SAMPLE_SIZE / SIZE
    return {
        "uniform": np.full_like(norms, rate),
        "coreset-l2": rate * (float(LAM) + (1 - float(LAM)) * norms**2 / MEAN),
        "privacy-constrained": 1 / weights,
    }


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
    probability = select(z, weights[order])
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
    declared = declare_lloyd()
    profile = declared.profile
    print_line(
        f"public constants: pixels lie in 0, ..., {2 * MIDDLE} by the format, so that around {MIDDLE} every image has an l2 norm in "
        f"[0, {exact_text(profile.record[0].hi)}]; no record is read before the line that begins with 'private'"
    )
    verification = verify(profile, TARGET)
    show_verification(verification)
    bounds = bound_rules(declared)
    show_rules(bounds)
    print_as_it_is(bounds["coreset-l2"].render())
    files: dict[Path, Any] = {out / "conditions.json": verification.certificate()}
    files |= {out / f"epsilon-{name}.json": bounds[name].certificate() for name in ("uniform", "coreset-l2")}
    for path, certificate in files.items():
        write_whole(path, to_file_text(certificate))

    print_line(PRIVATE)
    points = read_digits()
    data, weights_file = out / "digits.npy", out / "weights.npy"
    np.save(data, points)
    spec = parse_statistic("z=l2")
    summary = compute_weights_file(
        profile, data, weights_file, premise=prove_premise(profile, TARGET), target_epsilon=TARGET, specs=(spec,)
    )
    norms, weights = np.sqrt(np.sum(points**2, axis=1)), np.load(weights_file)
    sizes = ", ".join(f"{np.sum(q):.1f} ({name})" for name, q in select(norms, weights).items())
    print_line(f"digits: n = {summary.rows}; expected sample sizes: {sizes}")
    print_line(
        f"privacy-constrained weights for the target epsilon {exact_text(TARGET)}: {summary.rows} weights in "
        f"[{summary.min_weight:.4g}, {summary.max_weight:.4g}], all feasible"
    )
    draw_plot(profile, bounds, norms, weights, out / "weights-and-psi.png")
    accepted = check_certificates(list(files))
    print_line(f"certificates (public), and records, weights and plot (private) are in {out}/ ({time.perf_counter() - start:.1f} s)")
    return 0 if accepted else 1


if __name__ == "__main__":
    sys.exit(main())
