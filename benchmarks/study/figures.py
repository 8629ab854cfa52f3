"""The figures, from the rows of the parts: PNG files of at most about 150 kB."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from benchmarks.study.store import Row
from benchmarks.study.summary import quartiles

mpl.use("Agg")


_STYLE = {
    "uniform": ("#0072B2", ":", "uniform"),
    "coreset": ("#009E73", "--", "coreset"),
    "constrained": ("#E69F00", "-.", "privacy-constrained"),
    "variance-optimal": ("#CC79A7", "-", "variance-optimal (oracle)"),
    "full": ("black", "-", "all points"),
}
_DPI = 72


def save_figure(figure: Any, path: Path) -> Path:
    """Write a figure as a PNG file and close it."""
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=_DPI, bbox_inches="tight")  # a legend may stand beside the axes
    plt.close(figure)
    return path


def plot_weights(rows: Sequence[Row], path: Path) -> Path:
    """Figure 2, left: the weights of the points in the order of their l1 norm, one panel a reading."""
    readings = sorted({row["reading"] for row in rows}, reverse=True)
    figure, axes = plt.subplots(1, len(readings), figsize=(5 * len(readings), 4), squeeze=False)
    for axis, reading in zip(axes[0], readings, strict=True):
        for rule in ("uniform", "variance-optimal", "constrained"):
            mine = sorted((row["l1"], row["weight"]) for row in rows if row["reading"] == reading and row["rule"] == rule)
            color, _, label = _STYLE[rule]
            axis.plot(range(len(mine)), [weight for _, weight in mine], ".", ms=2.5, color=color, label=label)
        first = next(row for row in rows if row["reading"] == reading)
        axis.set(yscale="log", xlabel="point, in the order of its l1 norm", ylabel="weight 1/q")
        axis.set_title(f"{reading}: b = {first['b']:.4g}, ε* = {first['target']:.4g}")
        axis.grid(visible=True, alpha=0.3)
        axis.legend(markerscale=4)
    return save_figure(figure, path)


def plot_errors(rows: Sequence[Row], path: Path) -> Path:
    """Figure 2, right: mean squared error against the largest ψ over the data set, one point a noise scale b."""
    readings = list(dict.fromkeys(row["reading"] for row in rows))
    figure, axes = plt.subplots(1, len(readings), figsize=(5 * len(readings), 4), squeeze=False)
    for axis, reading in zip(axes[0], readings, strict=True):
        for rule in ("uniform", "variance-optimal", "constrained"):
            mine = sorted((row["worst_loss"], row["mse"]) for row in rows if row["reading"] == reading and row["rule"] == rule)
            color, line, label = _STYLE[rule]
            axis.plot(*zip(*mine, strict=True), line, marker="o", ms=4, color=color, label=label)
        axis.set(xscale="log", yscale="log", xlabel="max ψ over the data set (nats)", ylabel="mean squared error", title=reading)
        axis.grid(visible=True, alpha=0.3)
        axis.legend()
    return save_figure(figure, path)


def draw_band(axis: Axes, style: tuple[str, str, str], points: Iterable[tuple[float, tuple[float, float, float]]]) -> None:
    """Draw medians and quartiles against x. ``style``: colour, line, label."""
    color, line, label = style
    found = sorted(points)
    if not found:
        return
    x = [at for at, _ in found]
    low, middle, high = (np.array(values) for values in zip(*(numbers for _, numbers in found), strict=True))
    axis.plot(x, middle, line, color=color, label=label, marker=".", ms=4)
    axis.fill_between(x, low, high, color=color, alpha=0.15, lw=0)


def plot_costs(rows: Sequence[Row], dataset: str, over: str, mean_square: float, path: Path) -> Path:
    """Figures 3 and 4 for one data set, a column for each protocol: cost against ε for each m, or against m for each ε."""
    mine = [row for row in rows if row["dataset"] == dataset]
    protocols = [name for name in dict.fromkeys(row["protocol"] for row in mine) if name != "no-noise"]
    panels, choose = _panels(mine, over)
    highest = max(row["cost"] for row in mine)
    size = (3.4 * len(protocols), 2.7 * len(panels) + 0.5)
    figure, axes = plt.subplots(len(panels), len(protocols), figsize=size, squeeze=False, sharex=True, sharey="row")
    for line, panel in zip(axes, panels, strict=True):
        for axis, protocol in zip(line, protocols, strict=True):
            for method in ("uniform", "coreset", "constrained"):
                found = [row for row in mine if row["protocol"] == protocol and row["method"] == method and choose(row, panel)]
                draw_band(axis, _STYLE[method], quartiles(found, over))
            _references(axis, mine, protocol, over, panel)
            if highest > mean_square / 3:
                axis.axhline(mean_square, color="grey", lw=0.8)
            axis.set_title(f"{protocol}, {'m' if over == 'epsilon' else 'ε'} = {panel:g}", fontsize=9)
            axis.set_yscale("log")
            if over == "epsilon":
                axis.set_xscale("log")
            axis.grid(visible=True, alpha=0.3, which="both", lw=0.5)
        line[0].set_ylabel("cost per point")
    for axis in axes[-1]:
        axis.set_xlabel("ε" if over == "epsilon" else "m")
    axes[0, 0].legend(fontsize=7)
    figure.suptitle(f"{dataset}: median and quartiles (one centre at 0 costs {mean_square:.4g}: grey)", fontsize=9)
    return save_figure(figure, path)


def _panels(rows: Sequence[Row], over: str) -> tuple[list[float], Callable[[Row, float], bool]]:
    private = [row for row in rows if row["method"] != "full" and row["protocol"] != "no-noise"]
    if over == "epsilon":
        counts: dict[float, set[float]] = {}
        for row in private:
            counts.setdefault(row["m"], set()).add(row["epsilon"])
        most = max(map(len, counts.values()))
        return sorted(size for size, seen in counts.items() if len(seen) == most), lambda row, panel: row["m"] == panel
    sizes: dict[float, set[float]] = {}
    for row in private:
        sizes.setdefault(row["epsilon"], set()).add(row["m"])
    most = max(map(len, sizes.values()))
    chosen = sorted(e for e, seen in sizes.items() if len(seen) == most)
    return [e for e in chosen if e in (3.0, 100.0)] or chosen[:2], lambda row, panel: row["epsilon"] == panel


def _references(axis: Axes, rows: Sequence[Row], protocol: str, over: str, panel: float) -> None:
    """All points: a curve over ε, a level over m; without noise: a level."""
    full = [row for row in rows if row["protocol"] == protocol and row["method"] == "full"]
    if over == "epsilon":
        draw_band(axis, _STYLE["full"], quartiles(full, "epsilon"))
    else:
        for _, (_, middle, _) in quartiles([row for row in full if row["epsilon"] == panel], "epsilon"):
            axis.axhline(middle, color="black", lw=1, label="all points")
    free = [row for row in rows if row["protocol"] == "no-noise" and row["method"] == "coreset" and (over == "m" or row["m"] == panel)]
    if over == "epsilon":
        for _, (_, middle, _) in quartiles(free, "epsilon"):
            axis.axhline(middle, color="#009E73", lw=1, ls=(0, (1, 3)), label="coreset, ε = ∞")


def plot_times(rows: Sequence[Row], path: Path) -> Path:
    """Figure 5: relative time against m (left), and its parts for one data set (right)."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5))
    names = list(dict.fromkeys(row["dataset"] for row in rows))
    for name in names:
        for method in ("uniform", "coreset", "constrained"):
            mine = sorted((row["m"], 100 * row["relative_time"]) for row in rows if row["dataset"] == name and row["method"] == method)
            if mine:
                color, line, _ = _STYLE[method]
                left.plot(*zip(*mine, strict=True), line, color=color, marker=".", ms=3)
        sizes = sorted({(row["m"], 100 * row["relative_size"]) for row in rows if row["dataset"] == name})
        left.plot(*zip(*sizes, strict=True), color="black", lw=0.6)
        left.annotate(name, sizes[-1], fontsize=7)
    for method in ("uniform", "coreset", "constrained"):
        left.plot([], [], _STYLE[method][1], color=_STYLE[method][0], label=_STYLE[method][2])
    left.plot([], [], color="black", lw=0.6, label="m/n")
    left.set(xscale="log", yscale="log", xlabel="m", ylabel="time relative to DP-Lloyd on all points (%)")
    left.legend(fontsize=7)
    name = names[0]
    size = max(row["m"] for row in rows if row["dataset"] == name)
    base = np.zeros(3)
    methods = ("uniform", "coreset", "constrained")
    chosen = [row for method in methods for row in rows if (row["dataset"], row["m"], row["method"]) == (name, size, method)]
    for part, color in (("lloyd", "#8FBC8F"), ("sampling", "#966FD6"), ("weights", "#779ECB")):
        heights = np.array([100 * row[part] / row["full"] for row in chosen])
        right.bar([row["method"] for row in chosen], heights, bottom=base[: len(heights)], color=color, label=part)
        base = base[: len(heights)] + heights
    right.axhline(100 * chosen[0]["relative_size"], color="black", lw=0.8, label="m/n")
    right.set(title=f"{name}, m = {size}", ylabel="%")
    right.legend(fontsize=8)
    return save_figure(figure, path)


def plot_bounds(rows: Sequence[Row], path: Path) -> Path:
    """What the end points and the grid leave out of the certified ε, relatively, for the middle m of every row of Table 1."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
    half = [row for row in rows if row["lam"] == "0.5"]
    for name in dict.fromkeys(row["row"] for row in half):
        sizes = sorted({row["m"] for row in half if row["row"] == name})
        mine = sorted((row["target"], row) for row in half if row["row"] == name and row["m"] == sizes[len(sizes) // 2])
        left.plot([t for t, _ in mine], [100 * row["ends_share"] for _, row in mine], marker="o", ms=3, label=name)
        right.plot([t for t, _ in mine], [max(row["grid_share"], 1e-12) for _, row in mine], marker="o", ms=3, label=name)
    left.set(xscale="log", xlabel="ε reported by the grid", ylabel="missing in the end-point formula (%)")
    right.set(xscale="log", yscale="log", xlabel="ε reported by the grid", ylabel="missing in the 100-point grid (relative)")
    left.legend(fontsize=7)
    return save_figure(figure, path)
