"""The figures, from the rows of the parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt

from benchmarks.delta.summary import SCHEMES, best_rates
from benchmarks.study.figures import save_figure
from benchmarks.study.store import Row

_STYLE = {
    "uniform": ("#0072B2", ":", "o", "uniform"),
    "coreset-gradient": ("#009E73", "--", "s", "coreset, by gradient"),
    "norm-gradient": ("#D55E00", "-", "^", "proportional to size, by gradient"),
    "norm-bound": ("#E69F00", "-.", "v", "proportional to size, by bound"),
    "weights-T": ("#CC79A7", "-", "D", "$W_T$ of the bound"),
}


def plot_runs(rows: Sequence[Row], out: Path) -> None:
    """Test error and objective against the expected batch: means with 95 % intervals."""
    names = list(dict.fromkeys(row["dataset"] for row in rows))
    figure, axes = plt.subplots(2, len(names), figsize=(5 * len(names), 7), squeeze=False)
    for line, column in enumerate(("error", "objective")):
        found = best_rates(rows, column)
        for axis, name in zip(axes[line], names, strict=True):
            for shift, scheme in enumerate(SCHEMES):
                color, dash, mark, label = _STYLE[scheme]
                mine = sorted(
                    (row["m"] * 1.03 ** (shift - 2), row["mean"], row["half"])
                    for row in found
                    if (row["dataset"], row["scheme"]) == (name, scheme)
                )
                if mine:
                    x, y, half = (np.array(values) for values in zip(*mine, strict=True))
                    axis.errorbar(x, y, half, color=color, ls=dash, marker=mark, ms=4, capsize=2, label=label)
            axis.set(
                xscale="log",
                xlabel="expected batch m",
                ylabel="test error" if column == "error" else "objective on the training data",
                title=name,
            )
            axis.grid(visible=True, alpha=0.3)
    max(axes[0], key=lambda axis: len(axis.get_legend_handles_labels()[0])).legend(fontsize=8)
    save_figure(figure, out / "runs.png")


def plot_variance(rows: Sequence[Row], out: Path) -> None:
    """Variance of one step's estimate after the steps without noise: the total, and the part of the noise."""
    names = list(dict.fromkeys(row["dataset"] for row in rows))
    figure, axes = plt.subplots(2, len(names), figsize=(5 * len(names), 7), squeeze=False)
    for line, where in enumerate(("start", "end")):
        for axis, name in zip(axes[line], names, strict=True):
            for scheme in SCHEMES:
                color, dash, mark, label = _STYLE[scheme]
                mine = sorted(
                    (row["m"], row["sampling"] + row["noise"], row["noise"])
                    for row in rows
                    if (row["dataset"], row["scheme"], row["where"]) == (name, scheme, where)
                )
                if mine:
                    x, whole, noise = zip(*mine, strict=True)
                    axis.plot(x, whole, dash, color=color, marker=mark, ms=4, label=label)
                    axis.plot(x, noise, dash, color=color, lw=0.7, alpha=0.6)
            axis.set(
                xscale="log",
                yscale="log",
                xlabel="expected batch m",
                ylabel="variance of the mean gradient",
                title=f"{name}, {where} of training",
            )
            axis.grid(visible=True, alpha=0.3)
    most = max(axes[0], key=lambda axis: len(axis.get_legend_handles_labels()[0]))
    most.legend(fontsize=8, title="thin: of it, the noise", title_fontsize=8)
    save_figure(figure, out / "variance.png")


def plot_epsilons(rows: Sequence[Row], out: Path) -> None:
    """ε against m at one noise of the sum."""
    names = list(dict.fromkeys(row["dataset"] for row in rows))
    figure, axes = plt.subplots(1, len(names), figsize=(5 * len(names), 4), squeeze=False)
    for axis, name in zip(axes[0], names, strict=True):
        for scheme in SCHEMES:
            color, dash, mark, label = _STYLE[scheme]
            mine = sorted((row["m"], row["upper"]) for row in rows if (row["dataset"], row["scheme"]) == (name, scheme))
            if mine:
                axis.plot(*zip(*mine, strict=True), dash, color=color, marker=mark, ms=4, label=label)
        sigma = next(row["sigma"] for row in rows if row["dataset"] == name)
        axis.set(
            xscale="log",
            yscale="log",
            xlabel="expected batch m",
            ylabel="certified ε (upper end)",
            title=f"{name}: noise of the sum {sigma} C",
        )
        axis.grid(visible=True, alpha=0.3)
    axes[0][0].legend(fontsize=8)
    save_figure(figure, out / "epsilons.png")


PLOTS: dict[str, Callable[[Sequence[Row], Path], None]] = {"runs": plot_runs, "variance": plot_variance, "epsilons": plot_epsilons}
