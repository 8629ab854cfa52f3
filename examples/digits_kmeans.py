"""The main job on real data: private k-means on a weighted sample of scikit-learn's digits, and the ε that may be printed for it.

Verifies the weighted DP-Lloyd profile (Fay et al. 2024, Proposition 13), bounds ε for uniform, coreset and privacy-constrained sampling,
has the kernel check the proofs, draws the privacy-constrained sample, clusters it once with noise, and draws the centres as small pictures.
``make run`` runs it; results are in ``out/``, and the output says of each file what it is and whether it may be published.

No ε here rests on the data: all of them are computed before a record is read. An image is cut into 16 blocks of 2 by 2 pixels, and a
record holds the mean ink of each block. A pixel counts the ink in 4 by 4 dots, so that a mean lies between 0 and 16 by the format of the
images. Hence the centre (8, ..., 8) and the radius 8·√16 = 32 are public, and every image lies in that ball: nothing is centred by a mean,
trimmed at a quantile or measured for its largest norm, as section 5 of the paper does. The other constants are guesses: the collection is
said to have about 1800 images, and half of the largest squared norm is a guess of the mean one. k-means starts from the ten figures as a
display of dots draws them, not from images of the collection. A wrong guess costs utility, never privacy.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits

from accountant import draw_sample, plan_sample
from accountant.cli.output import print_line, print_table
from accountant.data import compute_weights_file, parse_statistic
from accountant.files import write_whole
from accountant.guarantees.derive import DerivedEpsilon, derive_epsilon
from accountant.samples import SamplingPlan
from accountant.samples.certificate import to_certificate_text
from accountant.samples.checking import check_certificate, read_certificate
from accountant.weights.convexity import prove_convexity
from profiles import Declaration, Profile, exact_text
from profiles.hypotheses import Head
from profiles.mechanisms import WeightedLloyd
from profiles.randomness.bits import SecureBits
from proofs_check.certificates import to_file_text
from proofs_check.kernel import check
from proofs_check.verify import Verification, verify

Floats = NDArray[np.float64]

#: Public constants, all of them: see above.
SIDE, MIDDLE, RADIUS, DARKNESS = 4, 8, 32, 30
ROUNDS, BETA_COUNT, BETA_SUM, LEAST_COUNT = 2, "6", "24", 20
SAMPLE_SIZE, SIZE, LAM, MEAN = 800, 1800, "0.5", 512
TARGET = Fraction("4.2")

#: The figures 0, ..., 9 as seven lines of five dots; k-means starts here.
FIGURES = (
    "01110 10001 10001 10001 10001 10001 01110",
    "00100 01100 00100 00100 00100 00100 01110",
    "01110 10001 00001 00010 00100 01000 11111",
    "11110 00001 00001 01110 00001 00001 11110",
    "00010 00110 01010 10010 11111 00010 00010",
    "11111 10000 11110 00001 00001 10001 01110",
    "01110 10000 10000 11110 10001 10001 01110",
    "11111 00001 00010 00100 01000 01000 01000",
    "01110 10001 10001 01110 10001 10001 01110",
    "01110 10001 10001 01111 00001 00001 01110",
)

PRIVATE = "private, for your eyes only: from here to the line that begins with 'released'. No epsilon covers what stands between them"

#: What is written, in the order in which it is explained.
PUBLIC_FILES = {
    "conditions.json": "certificate: what was decided about the conditions above, with proofs; pdp check reads it",
    "epsilon-uniform.json": "certificate: the bound for uniform sampling",
    "epsilon-coreset-l2.json": "certificate: the bound for coreset sampling",
    "sample.certificate.json": "certificate: the bound for one analysis of the privacy-constrained sample",
    "centres.csv": "the ten centres that were released, 16 numbers in a row",
    "centres.png": "the same as pictures, below the figures from which they started",
}
PRIVATE_FILES = {
    "digits.npy": "the records",
    "weights.npy": "the optimal weight of each record",
    "weights-and-psi.png": "weight and privacy loss of each record, by three rules of sampling",
}


@dataclass(frozen=True, slots=True)
class Clustering:
    """The centres that were released, shape (10, 16), and their bound in words."""

    centres: Floats
    bound: str


def draw_figures() -> Floats:
    """Return the ten figures as records, all equally dark, so that thick ones win no images from thin ones: public, shape (10, 16)."""
    dots = np.zeros((len(FIGURES), 2 * SIDE, 2 * SIDE))
    for dot, figure in zip(dots, FIGURES, strict=True):
        lines = np.array([[int(ink) for ink in line] for line in figure.split()])
        dot[:, 2:7] = lines[[0, 1, 2, 3, 3, 4, 5, 6]]  # the line in the middle twice
    blocks = to_blocks(dots) + MIDDLE
    darkness = np.sqrt(np.sum(blocks**2, axis=1, keepdims=True))
    return np.minimum(2 * MIDDLE, DARKNESS * blocks / darkness) - MIDDLE


def to_blocks(images: Floats) -> Floats:
    """Return the mean ink of the 16 blocks of each image, around the public centre: each record by itself, shape (n, 16)."""
    blocks: Floats = images.reshape(-1, SIDE, 2, SIDE, 2).mean(axis=(2, 4))
    return blocks.reshape(-1, SIDE * SIDE) - MIDDLE


def declare_lloyd() -> Declaration:
    """Return weighted DP-Lloyd with its profile, composed from its sum and count, on the ball that holds every possible image."""
    mechanism = WeightedLloyd(
        initial_centres=draw_figures(),
        iterations=ROUNDS,
        beta_count=BETA_COUNT,
        beta_sum=BETA_SUM,
        p=2,
        radius=RADIUS,
        min_count=LEAST_COUNT,
        confine=True,
    )
    return Declaration(mechanism.profile, hypotheses=mechanism.hypotheses, mechanism=mechanism)


def read_digits() -> Floats:
    """Return the digits as an (n, 16) array, around the public centre."""
    return to_blocks(np.asarray(load_digits().images, dtype=np.float64))


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
    """Print one row a rule, and below it every hypothesis of every row; one of some rows names them."""
    rows = []
    for name, derived in bounds.items():
        found = derived.to_json()
        at = ", ".join(f"{key} = {float(Fraction(value)):.6g}" for key, value in found["at"].items())
        rows.append((name, found["epsilon"]["lower"], found["epsilon"]["upper"], at, "yes" if found["checked_by_kernel"] else "no"))
    columns = ("sampling rule", "sup psi, rounded down", "sup psi, rounded up", "worst record", "checked by kernel")
    print_table("certified epsilon (nats) of one run on one sample, under the assumptions below", columns, rows)
    print_line("Valid only under these unverified assumptions:")
    hypotheses = dict.fromkeys(item for derived in bounds.values() for item in derived.guarantee.hypotheses)
    for head in Head:
        print_line(f"  {head.value}")
        for hypothesis in (item for item in hypotheses if item.head is head):
            resting = [name for name, derived in bounds.items() if hypothesis in derived.guarantee.hypotheses]
            rows_named = "" if len(resting) == len(bounds) else f" [{', '.join(resting)}]"
            print_line(f"    - {hypothesis.sentence}{rows_named}")
    print_line()


def select(norms: Floats, weights: Floats) -> dict[str, Floats]:
    """Return the selection probability of each record by each rule, for sizes and plots."""
    rate = SAMPLE_SIZE / SIZE
    return {
        "uniform": np.full_like(norms, rate),
        "coreset-l2": rate * (float(LAM) + (1 - float(LAM)) * norms**2 / MEAN),
        "privacy-constrained": 1 / weights,
    }


def draw_plot(profile: Profile, bounds: dict[str, DerivedEpsilon], norms: Floats, weights: Floats, path: Path) -> None:
    """Save weights and sampled profile against the norm, one line a rule (the lines are for the eye; the bounds are proved)."""
    import matplotlib as mpl  # noqa: PLC0415

    mpl.use("Agg")
    import matplotlib.pyplot as plt  # noqa: PLC0415

    from accountant.amplification import amplify_array  # noqa: PLC0415

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


def cluster(plan: SamplingPlan, mechanism: WeightedLloyd, points: Floats, certificate: Path) -> Clustering:
    """Draw a sample, run k-means with noise on it, once, and write the certificate of that one analysis."""
    sample = draw_sample(plan, points, specs=[parse_statistic("z=l2")])
    release = sample.release(mechanism)
    write_whole(certificate, to_certificate_text(sample.plan, sample.guarantee, SecureBits.name))
    return Clustering(release.output, f"epsilon <= {exact_text(release.guarantee.bound.upper)}")


def measure_cost(points: Floats, centres: Floats) -> float:
    """Return the mean squared distance of a record to its nearest centre (private)."""
    distances = ((points[:, np.newaxis] - centres[np.newaxis]) ** 2).sum(axis=2)
    return float(distances.min(axis=1).mean())


def draw_centres(start: Floats, centres: Floats, path: Path) -> None:
    """Save the figures and the centres as pictures of 4 by 4 blocks; both may be published."""
    import matplotlib as mpl  # noqa: PLC0415

    mpl.use("Agg")
    import matplotlib.pyplot as plt  # noqa: PLC0415

    figure, rows = plt.subplots(2, len(start), figsize=(11, 2.9), layout="constrained")
    for axes, images in zip(rows, (start, centres), strict=True):
        for number, (cell, image) in enumerate(zip(axes, images, strict=True)):
            cell.imshow(image.reshape(SIDE, SIDE) + MIDDLE, cmap="gray_r", vmin=0, vmax=2 * MIDDLE)
            cell.set(xticks=[], yticks=[], title=str(number) if axes is rows[0] else "")
    rows[0][0].set_ylabel("start")
    rows[1][0].set_ylabel("released")
    figure.suptitle(f"Centres of private k-means on a weighted sample of the digits, epsilon <= {exact_text(TARGET)}")
    figure.savefig(path, dpi=140)
    plt.close(figure)


def check_certificates(paths: list[Path]) -> list[str]:
    """Run the kernel on certificates, say what it found, and return the names of those that it accepted."""
    accepted = []
    for path in paths:
        text = path.read_text(encoding="utf-8")
        sample = read_certificate(text)
        report = check(text) if sample is None else check_certificate(sample)
        if report.accepted:
            accepted.append(path.name)
        print_line(f"kernel: {path.name}: " + ("accepted" if report.accepted else f"rejected at {report.step}: {report.reason}"))
    return accepted


def explain_files(out: Path) -> None:
    """Say of each file what it is, and whether it may be published."""
    for title, files in (("may be published", PUBLIC_FILES), ("private, not to be published", PRIVATE_FILES)):
        print_table(f"files in {out}/: {title}", ("file", "what it is"), [(name, words) for name, words in files.items()])


def main(arguments: list[str] | None = None) -> int:
    """Run the job; the exit code is 0 if the kernel accepts every certificate."""
    parser = argparse.ArgumentParser(description="private k-means on a weighted sample of scikit-learn's digits, with a certified epsilon")
    parser.add_argument("--out", type=Path, default=Path("out"))
    out: Path = parser.parse_args(arguments).out
    out.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    declared = declare_lloyd()
    profile, mechanism = declared.profile, declared.mechanism
    print_line(
        f"public constants: the ink of a block lies in 0, ..., {2 * MIDDLE} by the format, so that around {MIDDLE} every image has an l2 "
        f"norm in [0, {exact_text(profile.record[0].hi)}]; no record is read before the line that begins with 'private'"
    )
    verification = verify(profile, TARGET)
    show_verification(verification)
    bounds = bound_rules(declared)
    show_rules(bounds)
    plan = plan_sample(mechanism, target_epsilon=TARGET)
    certificates = {"conditions.json": verification.certificate()}
    certificates |= {f"epsilon-{name}.json": bounds[name].certificate() for name in ("uniform", "coreset-l2")}
    for name, certificate in certificates.items():
        write_whole(out / name, to_file_text(certificate))

    print_line(PRIVATE)
    points = read_digits()
    data, weights_file = out / "digits.npy", out / "weights.npy"
    np.save(data, points)
    spec = parse_statistic("z=l2")
    summary = compute_weights_file(
        profile, data, weights_file, convexity=prove_convexity(profile, TARGET), target_epsilon=TARGET, specs=(spec,)
    )
    norms, weights = np.sqrt(np.sum(points**2, axis=1)), np.load(weights_file)
    sizes = ", ".join(f"{np.sum(q):.1f} ({name})" for name, q in select(norms, weights).items())
    print_line(f"digits: n = {summary.rows}; expected sample sizes: {sizes}")
    print_line(
        f"privacy-constrained weights for the target epsilon {exact_text(TARGET)}: {summary.rows} weights in "
        f"[{summary.min_weight:.4g}, {summary.max_weight:.4g}], all feasible"
    )
    draw_plot(profile, bounds, norms, weights, out / "weights-and-psi.png")
    found = cluster(plan, mechanism, points, out / "sample.certificate.json")
    costs = [measure_cost(points, centres) for centres in (mechanism.centres, found.centres)]
    print_line(
        f"k-means on the sampled digits: the mean squared distance to the nearest centre falls from {costs[0]:.1f} (the figures) "
        f"to {costs[1]:.1f} (the released centres)"
    )
    print_line(f"released: ten centres, with {found.bound} for them, if the hypotheses above hold; the noise is new in every run")
    write_whole(out / "centres.csv", "".join(",".join(f"{value:.17g}" for value in row) + "\n" for row in found.centres + MIDDLE))
    draw_centres(mechanism.centres, found.centres, out / "centres.png")
    explain_files(out)
    files = [out / name for name in PUBLIC_FILES if name.endswith(".json")]
    accepted = check_certificates(files)
    rejected = [path.name for path in files if path.name not in accepted]
    print_line(f"{time.perf_counter() - start:.1f} seconds")
    if rejected:
        print_line(f"NOT accepted by the proof checker (kernel): {', '.join(rejected)}; publish nothing")
        return 1
    print_line(f"accepted by the proof checker (kernel): {', '.join(accepted)}; {found.bound} for {out / 'centres.csv'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
