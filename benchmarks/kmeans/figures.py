"""The figures, from the rows of the parts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.kmeans.data import Case
from benchmarks.kmeans.runs import EPSILONS
from benchmarks.kmeans.summary import ends, label, pick, present
from benchmarks.study.figures import draw_band, save_figure
from benchmarks.study.store import Row

_STYLE = {
    "ours": ("#0072B2", "-", "ours, from the file"),
    "ours, public": ("#56B4E9", "--", "ours, constants public"),
    "ours, δ": ("#009E73", "-.", "ours, (ε, 10⁻⁶)"),
    "DPLloyd": ("#E69F00", ":", "DPLloyd, constants public"),
    "diffprivlib, charged": ("#CC79A7", "-", "diffprivlib, charged right"),
    "diffprivlib": ("#CC79A7", ":", "diffprivlib, uncharged"),
    "google": ("#D55E00", "--", "Google, (ε, 10⁻⁶)"),
    "private mean": ("grey", ":", "one private mean"),
}


def plot_costs(rows: Sequence[Row], path: Path, *, kept: bool) -> Path | None:
    """Normalised costs against ε, medians and quartiles, one panel a case: of the cases that were ``kept`` apart, or of the others."""
    cases = [case for case in present(rows) if case.kept == kept]
    if not cases:
        return None
    figure, axes = _make_panels(cases)
    for axis, case in zip(axes, cases, strict=True):
        low, high = ends(rows, case)
        _draw_methods(axis, rows, case, low, high - low)
        # around 0 the scale is linear: runs may be better than the median of k-means++
        axis.set_yscale("symlog", linthresh=0.01)
        axis.set(ylim=(-0.02, 5))
        axis.set_yticks([0, 0.01, 0.1, 1], ["0", "0.01", "0.1", "1"])
    axes[0].set_ylabel("cost: 0 k-means++, 1 one centre")
    return _finish(figure, axes, path)


def plot_raw_costs(rows: Sequence[Row], path: Path) -> Path | None:
    """Mean squared distances in the unit of the data against ε, medians and quartiles, one panel a case; level lines are both ends."""
    cases = present(rows)
    if not cases:
        return None
    figure, axes = _make_panels(cases)
    for axis, case in zip(axes, cases, strict=True):
        low, high = ends(rows, case)
        _draw_methods(axis, rows, case, 0.0, 1.0)
        axis.axhline(low, color="black", lw=0.8, ls="--", label="k-means++ without privacy")
        axis.axhline(high, color="black", lw=0.8, label="one centre at the mean")
        axis.set(yscale="log", ylim=(low / 1.3, 4 * high))
    axes[0].set_ylabel("mean squared distance")
    return _finish(figure, axes, path)


def _make_panels(cases: Sequence[Case]) -> tuple[Figure, list[Axes]]:
    across = -(-len(cases) // 2) if len(cases) < 8 else 5
    down = -(-len(cases) // across)
    figure, axes = plt.subplots(down, across, figsize=(3.3 * across, 3.2 * down), squeeze=False)
    for axis in axes.flat[len(cases) :]:
        axis.set_axis_off()
    for axis, case in zip(axes.flat, cases, strict=False):
        axis.set(xscale="log", xlabel="ε", title=label(case))
        axis.grid(visible=True, alpha=0.3)
    return figure, list(axes.flat[: len(cases)])


def _draw_methods(axis: Axes, rows: Sequence[Row], case: Case, zero: float, unit: float) -> None:
    for name, style in _STYLE.items():
        points = []
        for epsilon in EPSILONS:
            costs = [(row["cost"] - zero) / unit for row in pick(rows, method=name, data=case.name, k=case.clusters, epsilon=epsilon)]
            if costs:
                points.append((float(epsilon), tuple(np.quantile(costs, (0.25, 0.5, 0.75)))))
        draw_band(axis, style, points)


def _finish(figure: Figure, axes: Sequence[Axes], path: Path) -> Path:
    """Save a figure with one legend of what is in any of its panels."""
    shown = {text: handle for axis in axes for handle, text in zip(*axis.get_legend_handles_labels(), strict=True)}
    figure.legend(shown.values(), shown.keys(), fontsize=8, loc="upper center", bbox_to_anchor=(0.5, 0.02), ncols=4)
    return save_figure(figure, path)


def plot_signal(rows: Sequence[Row], path: Path) -> Path:
    """Normalised medians against Q, one point a case and ε, for ours from the file."""
    figure, axis = plt.subplots(figsize=(6.4, 4.2))
    for number, case in enumerate(present(rows)):
        low, high = ends(rows, case)
        points = []
        for epsilon in EPSILONS:
            found = pick(rows, method="ours", data=case.name, k=case.clusters, epsilon=epsilon)
            if found:
                costs = np.median([row["cost"] for row in found])
                points.append((np.median([row["Q"] for row in found]), (costs - low) / (high - low)))
        if points:
            x, y = zip(*points, strict=True)
            mark = "s" if case.kept else "o"
            axis.plot(x, np.maximum(y, 1e-3), marker=mark, ms=4, lw=0.8, color=plt.get_cmap("tab20")(number), label=label(case))
    for edge in (4, 7, 10, 25, 200):
        axis.axvline(edge, color="black", lw=0.5, ls=":")
    axis.axhline(1, color="black", lw=0.7)
    axis.set(xscale="log", yscale="log", xlabel="Q", ylabel="cost: 0 k-means++ (drawn at 0.001), 1 one centre")
    axis.grid(visible=True, alpha=0.3)
    axis.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.01, 0.5))
    return save_figure(figure, path)
