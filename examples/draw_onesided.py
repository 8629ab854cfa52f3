"""Draw what the first examples of select, cover, cluster and monitor answer, on the tables that make_onesided.py makes.

    python examples/draw_onesided.py [FILE.svg]

One picture of four panels, docs/one-sided-examples.svg: each answer over the data, which are public here, with the seeds of the examples.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pyarrow.csv
from matplotlib.patches import Rectangle

from accountant.applications.clustering import PrivateMetricClustering, measure_points
from accountant.applications.heavyhitters import HeavyHitterMonitor, open_stream, plan_threshold
from accountant.applications.setcover import PrivateSetCover, greedy_cover
from accountant.applications.submodular import CoverageInstance, PrivateGreedy, read_coverage

HERE = Path(__file__).parent
GREY, RED, BLUE = "0.45", "#c1272d", "#0072b2"


def draw_selection(axes: plt.Axes, images: CoverageInstance) -> None:
    """Shade pixels by how many images have them; number those that were selected."""
    answer = PrivateGreedy(5, 1).run(images, **_seeds())
    axes.imshow(images.track().gains.reshape(8, 8), cmap="Greys", vmin=0, vmax=images.users)
    for rank, pixel in enumerate(answer.selected, start=1):
        _frame(axes, pixel % 8, pixel // 8)
        axes.text(pixel % 8, pixel // 8, str(rank), color=RED, ha="center", va="center", fontweight="bold",
                  bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5})  # fmt: skip
    axes.set(title="select: 5 pixels that many images have, ε = 1", xticks=[], yticks=[])


def draw_cover(axes: plt.Axes, images: CoverageInstance) -> None:
    """Draw how many images the first sets of the order cover, beside greedy without privacy."""
    private = PrivateSetCover(1, 64).run(images, **_seeds()).permutation
    for order, colour, name in ((private, RED, "private, ε = 1"), (greedy_cover(images), GREY, "greedy without privacy")):
        tracker, covered = images.track(), [0]
        for pixel in order[:6].tolist():
            covered.append(covered[-1] + int(tracker.gains[pixel]))
            tracker.add(pixel)
        axes.step(range(7), covered, where="post", color=colour, label=name)
    axes.set(title="cover: an order in which few pixels cover all images", xlabel="pixels", ylabel="images covered")
    axes.legend(loc="lower right", frameon=False)


def draw_centres(axes: plt.Axes) -> None:
    """Draw irises, public candidates and the centres."""
    petals, grid = (_columns(name) for name in ("petals.csv", "grid.csv"))
    model = PrivateMetricClustering(measure_points(grid), 3, 1, n_bound=1000, method="auto")
    centres = grid[list(model.run(petals, **_seeds()).centres)]
    axes.plot(*grid.T, ".", color="0.8", markersize=3, label="public candidates")
    axes.plot(*petals.T, "o", color=BLUE, markersize=2.5, alpha=0.6, label="irises")
    axes.plot(*centres.T, "x", color=RED, markersize=10, markeredgewidth=2.5, label="centres, ε = 1")
    axes.set(title="cluster: 3 centres of irises", xlabel="petal length, cm", ylabel="petal width, cm")
    axes.legend(loc="upper left", frameon=False)


def draw_reports(axes: plt.Axes) -> None:
    """Shade items by how many users have them at each time; frame those that are reported."""
    stream = HERE / "lines.csv"
    table = pyarrow.csv.read_csv(stream)
    counts = np.zeros((8, 8))
    np.add.at(counts, (table["item"].to_numpy(), table["time"].to_numpy()), 1)
    plan = plan_threshold(2, 1, "0.05", steps=8, domain_size=8)
    monitor = HeavyHitterMonitor.from_plan(plan, domain=range(8), times=range(8))
    reports = monitor.run(open_stream(stream, items="integer"), bits=1).reports
    axes.imshow(counts, cmap="Greys", vmin=0, origin="lower")
    for report in reports:
        for item in report.items:
            _frame(axes, report.time, int(item))
    axes.set(title=f"monitor: items of {plan.error} users and more, ε = 1, k = 2", xlabel="time", ylabel="item")


def _frame(axes: plt.Axes, x: int, y: int) -> None:
    axes.add_patch(Rectangle((x - 0.45, y - 0.45), 0.9, 0.9, fill=False, edgecolor=RED, linewidth=2))


def _columns(name: str) -> np.ndarray:
    table = pyarrow.csv.read_csv(HERE / name)
    return np.column_stack([table[column].to_numpy() for column in ("length", "width")])


def _seeds() -> dict[str, np.random.Generator]:
    """Return the generators that --seed 1 makes."""
    return {"rng": np.random.default_rng([1, 1]), "bits": np.random.default_rng([1, 2])}


def main(path: Path) -> None:
    """Write the picture."""
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "one-sided", "font.size": 9, "axes.titlesize": 9})
    figure, axes = plt.subplots(2, 2, figsize=(9, 8), layout="constrained")
    images = read_coverage(HERE / "pixels.csv", user="image", item="pixel", candidates=64)
    draw_selection(axes[0, 0], images)
    draw_cover(axes[0, 1], images)
    draw_centres(axes[1, 0])
    draw_reports(axes[1, 1])
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parent / "docs" / "one-sided-examples.svg")
