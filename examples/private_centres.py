"""Private k-means from a file to the centres with nothing public but the format of the file: one ε, no open hypothesis about data or code.

The records are the digits of scikit-learn as 16 blocks of ink (examples/digits_kmeans.py). Each block lies between 0 and 16 by the format,
so that every possible image is in the ball of radius 32 about (8, ..., 8): these two numbers, k and ε are all that is given. How many
images there are, their mean and their spread are released with noise out of the same ε (docs/private-kmeans.md).

``pdp kmeans`` makes centres, certificate and report of all records. Beside it the same is done on one uniform, coreset and
privacy-constrained sample, each as if it were the only release. ``make run`` runs it; the files are in ``out/``.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from digits_kmeans import MIDDLE, RADIUS, SIDE, Floats, measure_cost, read_digits

from accountant import DPKMeans
from accountant.applications.kmeans import UtilityWarning
from accountant.checking import check
from accountant.cli.main import invoke
from accountant.cli.output import print_line, print_table
from profiles import decimal_text, to_exact
from profiles.hypotheses import ONLY_RELEASE, PHYSICS

CLUSTERS, EPSILON, SAMPLE_SIZE = 10, 4, 800


@dataclass(frozen=True, slots=True)
class Row:
    """One way to use the records: its bound of epsilon, how many records it is expected to use, its mean squared distance (private)."""

    name: str
    epsilon: Fraction
    size: float
    cost: float


def fit_samples(points: Floats) -> list[Row]:
    """Fit one sample by each rule; each fit is a release of its own."""
    rows = []
    for name, size in (("uniform", SAMPLE_SIZE), ("coreset", SAMPLE_SIZE), ("privacy-constrained", None)):
        model = DPKMeans(CLUSTERS, epsilon=EPSILON, radius=RADIUS, sample=name, sample_size=size)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UtilityWarning)  # the costs are printed
            model.fit(points)
        expected = float(model.choices_["expected size of the sample"])
        rows.append(Row(name, find_epsilon(model), expected, measure_cost(points, model.cluster_centers_)))
    return rows


def find_epsilon(model: DPKMeans) -> Fraction:
    """Return the upper bound of ε in the direction in which it is larger."""
    bound = model.guarantee_.bound
    found: Fraction = max(bound.remove, bound.add) if hasattr(bound, "remove") else bound.upper
    return found


def show_samples(rows: list[Row], points: Floats) -> None:
    """Print what each way costs and gains."""
    single = float(np.mean(np.sum((points - points.mean(axis=0)) ** 2, axis=1)))
    print_table(
        "the same on samples, each as if it were the only release (the last column is private and may not be published)",
        ("records used", "epsilon, rounded up", "records, about", "mean squared distance"),
        [(row.name, decimal_text(row.epsilon, 6, round_up=True), f"{row.size:.0f}", f"{row.cost:.1f}") for row in rows],
    )
    print_line(f"one centre at the true mean has {single:.1f}; this number is computed without noise, and no epsilon covers it")


def draw_centres(points: Floats, centres: Floats, path: Path) -> None:
    """Save the records in the plane of their two main directions with the centres, and the centres as images: it shows records."""
    import matplotlib as mpl  # noqa: PLC0415

    mpl.use("Agg")
    import matplotlib.pyplot as plt  # noqa: PLC0415

    mean = points.mean(axis=0)
    plane = np.linalg.svd(points - mean, full_matrices=False)[2][:2].T
    figure, panels = plt.subplot_mosaic(
        [["plane", *(str(number) for number in range(5))], ["plane", *(str(number) for number in range(5, 10))]],
        figsize=(11, 4.4),
        width_ratios=[3.2, 1, 1, 1, 1, 1],
        layout="constrained",
    )
    seen, found = (points - mean) @ plane, (centres - mean) @ plane
    panels["plane"].scatter(*seen.T, s=4, alpha=0.35, color="tab:gray", label="images")
    panels["plane"].scatter(*found.T, s=70, marker="X", color="tab:red", edgecolor="white", label="released centres")
    for number, place in enumerate(found):
        panels["plane"].annotate(str(number), place, xytext=(5, 5), textcoords="offset points")
        image = panels[str(number)]
        image.imshow(centres[number].reshape(SIDE, SIDE) + MIDDLE, cmap="gray_r", vmin=0, vmax=2 * MIDDLE)
        image.set(xticks=[], yticks=[], title=str(number))
    panels["plane"].set(title="the plane of the two main directions", xticks=[], yticks=[])
    panels["plane"].legend(loc="lower left")
    figure.suptitle(f"Private k-means from a file to the centres, epsilon <= {EPSILON}")
    figure.savefig(path, dpi=140)
    plt.close(figure)


def main(arguments: list[str] | None = None) -> int:
    """Run the job; the exit code is 0 if the certificate is accepted and no hypothesis is open."""
    parser = argparse.ArgumentParser(description="private k-means of scikit-learn's digits with nothing public but their format")
    parser.add_argument("--out", type=Path, default=Path("out"))
    out: Path = parser.parse_args(arguments).out
    out.mkdir(parents=True, exist_ok=True)
    points = read_digits()
    data, centres, certificate = out / "images.npy", out / "private-centres.csv", out / "private-centres.json"
    np.save(data, points + MIDDLE)  # as they come, each block from 0 to 16
    center = out / "center.npy"
    np.save(center, np.full((1, SIDE**2), MIDDLE))
    report = out / "private-centres.html"
    words = ["kmeans", data, "--clusters", CLUSTERS, "--epsilon", EPSILON, "--radius", RADIUS, "--center", center]
    outputs = ["--out", centres, "--certificate", certificate, "--report", report]
    print_line("$ pdp " + " ".join(map(str, words + outputs)))
    code = invoke([str(word) for word in words + outputs])
    if code:
        return code
    accepted = check(certificate).accepted
    print_line(f"kernel: {certificate}: {'accepted' if accepted else 'rejected'}")
    released = np.loadtxt(centres, delimiter=",", skiprows=1) - MIDDLE
    draw_centres(points, released, out / "private-centres.png")
    told = json.loads(certificate.read_text(encoding="utf-8"))
    count, bound = float(told["released"]["records"]), to_exact(told["epsilon"]["upper"])
    show_samples([Row("all records", bound, count, measure_cost(points, released)), *fit_samples(points)], points)
    standard = {hypothesis.id for hypothesis in (*PHYSICS, ONLY_RELEASE)}
    about_data = [hypothesis["sentence"] for hypothesis in told["premises"] if hypothesis["id"] not in standard]
    print_line("valid only if the following holds of the data, which no program can check:")
    for sentence in about_data:
        print_line(f"  - {sentence}")
    print_line(f"{centres}, {certificate} and {report} may be published; {data} and {out / 'private-centres.png'} show records and may not")
    return 0 if accepted else 1


if __name__ == "__main__":
    sys.exit(main())
