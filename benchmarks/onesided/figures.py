"""The figures, from the rows of the parts: PNG files of at most about 150 kB."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogFormatter, NullFormatter

from benchmarks.study.figures import draw_band, save_figure
from benchmarks.study.store import Row
from benchmarks.study.summary import quartiles

mpl.use("Agg")

Style = tuple[str, str, str]
_BLUE, _GREEN, _ORANGE, _PINK, _SKY, _RED, _GREY = "#0072B2", "#009E73", "#E69F00", "#CC79A7", "#56B4E9", "#D55E00", "grey"
_PURPLE = "#6A3D9A"
_UPRIGHT = "dotted"  # a bound on what is drawn to the right: an upright line
_NAMES = {"epsilon": "ε", "m": "m", "k": "k", "items": "|Y|, items", "users": "users", "hidden": "users of a hidden candidate"}


@dataclass(frozen=True, slots=True)
class Panel:
    """Rows of one instance, drawn against one parameter."""

    title: str
    over: str
    where: dict[str, object]


_GREEDY: dict[str, Style] = {
    "automatic": (_BLUE, "-", "ours, automatic"),
    "balanced": (_GREEN, "-", "ours, guess of users"),
    "optimal": (_SKY, "-", "ours, fresh noise"),
    "corollary": (_SKY, "--", "ours, corollary (ε₀ = ln 2)"),
    "rounds": (_GREEN, ":", "ours, calibrated for k rounds"),
    "approximate": (_ORANGE, "-", "no sampling, (ε, 10⁻⁶)-DP"),
    "composed": (_PINK, "-.", "no sampling, ε/k a round"),
    "random": (_GREY, ":", "random"),
    "bound": ("black", "--", "Theorem 1.2 guarantees"),
    "limit": (_RED, "-", "no ε-DP algorithm exceeds"),
}
_MATROID: dict[str, Style] = {
    "automatic": (_GREEN, "-", "ours, automatic T"),
    "four-rounds": (_BLUE, "-", "ours, T = 4"),
    "one-round": (_GREEN, "--", "ours, T = 1"),
    "paper": (_SKY, "--", "T = 4, ε₀ = ln 2, halves"),
    "approximate": (_ORANGE, "-", "no sampling, T = 4, (ε, 10⁻⁶)-DP"),
    "greedy": (_RED, ":", "plain greedy, not private"),
    "random": (_GREY, ":", "random base"),
    "bound": ("black", "--", "Theorem 1.3 guarantees"),
    "expected": ("black", ":", "guaranteed in expectation"),
}
_COVER: dict[str, Style] = {
    "noisy": (_BLUE, "-", "noisy greedy"),
    "one-sample": (_SKY, "--", "scaling, one sample"),
    "fresh": (_GREEN, "-", "scaling, fresh samples"),
    "fresh-corollary": (_GREEN, ":", "the same, as in the paper"),
    "exponential": (_PINK, "-.", "repeated exponential"),
    "gupta": (_ORANGE, "-", "Gupta et al., (ε, 10⁻⁶)-DP"),
    "random": (_GREY, ":", "any order"),
    "greedy": (_RED, ":", "greedy, not private"),
    "best": ("black", "-", "smallest cover known"),
    "bound": ("black", "--", "Theorem 1.4 guarantees"),
}
_CLUSTERS: dict[str, Style] = {
    "automatic": (_BLUE, "-", "ours, automatic"),
    "optimal": (_SKY, "-", "ours, sampled histogram"),
    "full": (_GREEN, "--", "ours, full histogram"),
    "corollary": (_SKY, "--", "ours, corollary (ε₀ = ln 2)"),
    "all": (_RED, ":", "all candidates counted"),
    "approximate": (_ORANGE, "-", "no sampling, (ε, 10⁻⁶)-DP"),
    "exchanges": (_PINK, "-.", "Gupta et al., ε-DP exchanges"),
    "random": (_GREY, ":", "random centres"),
    "bound": ("black", "--", "Theorem 1.5 guarantees"),
    "anything": ("black", ":", "what any centres have"),
}
_HARD: dict[str, Style] = {
    "paper": (_PINK, "-.", "paper, 2000 k log(M/β)/ε"),
    "closed": ("black", ":", "closed form, 24 k log(2M/β)/ε"),
    "each-step": (_ORANGE, "-", "Laplace histogram each step"),
    "planned-corollary": (_SKY, "--", "Theorem 2, corollary (ε₀ = ln 2)"),
    "planned-optimal": (_BLUE, "--", "Theorem 2"),
    "optimal": (_BLUE, "-", "measured (95 % right)"),
    "planned-nothing": (_GREEN, "--", "Theorem 2, nothing else in the stream"),
    "nothing": (_GREEN, "-", "measured, nothing else in the stream"),
    "planned-laplace": (_PURPLE, "--", "(ε, 10⁻⁶)-DP predecessor, proved"),
    "laplace": (_PURPLE, "-", "(ε, 10⁻⁶)-DP predecessor, measured"),
    "limit-optimal": (_RED, "-", "no ε-DP algorithm is below"),
}


def _draw(axis: Axes, rows: Sequence[Row], panel: Panel, styles: dict[str, Style], column: str) -> None:
    mine = [row for row in rows if all(row.get(name) == value for name, value in panel.where.items())]
    for method, style in styles.items():
        chosen = [row for row in mine if row["method"] == method]
        if style[1] == _UPRIGHT:
            for row in chosen:
                axis.axvline(row[panel.over], color=style[0], ls=_UPRIGHT, lw=1, label=style[2])
        else:
            draw_band(axis, style, quartiles(chosen, panel.over, column))
    axis.set(xscale="log", xlabel=_NAMES[panel.over])
    if panel.over == "k":
        ticks = sorted({row["k"] for row in mine})
        axis.set_xticks(ticks, [str(tick) for tick in ticks])
    axis.xaxis.set_minor_formatter(NullFormatter())
    if panel.over == "users":
        axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
        axis.xaxis.set_minor_formatter(LogFormatter(minor_thresholds=(2, 0.4)))
        axis.tick_params(which="both", axis="x", labelsize=7)
    axis.set_title(panel.title, fontsize=9)
    axis.grid(visible=True, alpha=0.3, lw=0.5)


def plot(
    rows: Sequence[Row],
    panels: Sequence[Panel],
    styles: dict[str, Style],
    path: Path,
    *,
    label: str,
    column: str = "value",
    log: bool = False,
    columns: int = 3,
    ends: tuple[float | None, float | None] | None = None,
) -> None:
    """Draw a grid of panels with medians and quartiles, and one legend beside it. Panels without rows are left out."""
    shown = [panel for panel in panels if any(all(row.get(name) == value for name, value in panel.where.items()) for row in rows)]
    if not shown:
        return
    columns = min(columns, len(shown))
    lines = -(-len(shown) // columns)
    figure, axes = plt.subplots(lines, columns, figsize=(4.0 * columns, 3.1 * lines + 0.2), squeeze=False)
    for axis, panel in zip(axes.flat, shown, strict=False):
        _draw(axis, rows, panel, styles, column)
        if log:
            axis.set_yscale("log")
            axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
            axis.yaxis.set_minor_formatter(LogFormatter(minor_thresholds=(2, 0.4)))
        if ends is not None:
            axis.set_ylim(*ends)
    for axis in axes.flat[len(shown) :]:
        axis.set_visible(False)
    for line in axes:
        line[0].set_ylabel(label)
    found = {text: handle for axis in axes.flat for handle, text in zip(*axis.get_legend_handles_labels(), strict=True)}
    order = [style[2] for style in styles.values() if style[2] in found]
    figure.legend([found[text] for text in order], order, loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8)
    save_figure(figure, path)


def plot_budgets(rows: Sequence[Row], out: Path) -> None:
    """p·ε₀ of the calibrations over that of the corollary."""
    base = {float(row["epsilon"]): row["p"] * row["epsilon0"] for row in rows if row["method"] == "corollary"}
    shown = [
        {**row, "kind": f"{row['method']}-{row['rounds']}", "value": row["p"] * row["epsilon0"] / base[float(row["epsilon"])]}
        for row in rows
    ]
    styles: dict[str, Style] = {
        "rounds-1": ("black", ":", "1 round (no sampling)"),
        "rounds-2": (_GREEN, ":", "known: 2 rounds"),
        "rounds-3": (_GREEN, "--", "known: 3 rounds"),
        "rounds-10": (_GREEN, "-", "known: 10 rounds"),
        "optimal-0": (_BLUE, "-", "any number of rounds, optimal"),
        "corollary-0": (_SKY, "--", "corollary (ε₀ = ln 2)"),
        "approximate-0": (_ORANGE, "-", "no sampling, (ε, 10⁻⁶)-DP, coverage"),
    }
    figure, axis = plt.subplots(figsize=(7.5, 3.6))
    for kind, style in styles.items():
        draw_band(axis, style, quartiles([{**row, "cost": row["value"]} for row in shown if row["kind"] == kind], "epsilon"))
    axis.set(xscale="log", yscale="log", xlabel="ε", ylabel="p·ε₀, relative to the corollary")
    axis.grid(visible=True, alpha=0.3, which="both", lw=0.5)
    axis.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))
    save_figure(figure, out / "budgets.png")


def plot_greedy(rows: Sequence[Row], out: Path) -> None:
    """Shares of the optimum or of greedy."""
    panels = [
        Panel("digits, k = 8 (share of the optimum)", "epsilon", {"instance": "digits", "sweep": "epsilon"}),
        Panel("ijcnn1, k = 20 (share of greedy)", "epsilon", {"instance": "ijcnn1", "sweep": "epsilon"}),
        Panel("skewed, n = 5,000, ε = 0.3, k = 10", "m", {"instance": "skewed", "sweep": "m"}),
        Panel("digits, ε = 0.1", "k", {"instance": "digits", "sweep": "k"}),
        Panel("ijcnn1, ε = 0.1", "k", {"instance": "ijcnn1", "sweep": "k"}),
        Panel("skewed, n = 5,000, ε = 0.3, m = 1,000", "k", {"instance": "skewed", "sweep": "k"}),
    ]
    plot(rows, panels, _GREEDY, out / "greedy.png", label="share of the best value", ends=(0, 1.05))


def plot_hidden(rows: Sequence[Row], out: Path) -> None:
    """The hard instance: shares against the number of users."""
    panels = [
        Panel("ε = 1, m = 1,000, k = 10", "hidden", {"epsilon": "1", "m": 1_000, "k": 10, "sweep": "epsilon"}),
        Panel("ε = 1, m = 100,000, k = 10", "hidden", {"m": 100_000, "sweep": "m"}),
        Panel("ε = 1, m = 1,000, k = 100", "hidden", {"k": 100, "sweep": "k"}),
    ]
    plot(rows, panels, _GREEDY, out / "greedy-hard.png", label="share of the optimum", ends=(0, 1.05))


def plot_hidden_errors(rows: Sequence[Row], out: Path) -> None:
    """The error in the sense of Theorem 1.2 on the hard instance."""
    panels = [
        Panel("m = 1,000, k = 10", "epsilon", {"sweep": "epsilon"}),
        Panel("ε = 1, k = 10", "m", {"sweep": "m"}),
        Panel("ε = 1, m = 1,000", "k", {"sweep": "k"}),
    ]
    styles = {**_GREEDY, "limit": (_RED, "-", "no ε-DP algorithm is below"), "bound": ("black", "--", "Theorem 1.2")}
    plot(rows, panels, styles, out / "greedy-hard-errors.png", label="error, users (η = 0.1)", column="error", log=True)


def plot_matroid(rows: Sequence[Row], out: Path) -> None:
    """Shares of the best value under a matroid."""
    panels = [
        Panel("digits, one pixel a row (k = 8)", "epsilon", {"instance": "digits"}),
        Panel("decoys, n = 20,500, k = 20", "epsilon", {"instance": "decoys"}),
        Panel("skewed, n = 20,000, ε = 0.3, k = 10 (share of greedy)", "m", {"instance": "skewed", "sweep": "m"}),
        Panel("skewed, n = 20,000, ε = 0.3, m = 1,000", "k", {"instance": "skewed", "sweep": "k"}),
    ]
    plot(rows, panels, _MATROID, out / "matroid.png", label="share of the best value", columns=2, ends=(0, 1.05))


def plot_cover(rows: Sequence[Row], out: Path) -> None:
    """Costs of set cover."""
    panels = [
        Panel("planted, n = 20,000, m = 500, k = 20", "epsilon", {"instance": "planted", "sweep": "epsilon", "m": 500}),
        Panel("spread, n = 20,000, m = 500", "epsilon", {"instance": "spread", "sweep": "epsilon"}),
        Panel("digits, n = 1,765, m = 64", "epsilon", {"instance": "digits"}),
        Panel("ijcnn1, n = 49,990, m = 768", "epsilon", {"instance": "ijcnn1"}),
        Panel("planted, n = 20,000, ε = 0.3, k = 20", "m", {"instance": "planted", "sweep": "m"}),
        Panel("planted, n = 20,000, ε = 0.3, m = 500", "k", {"instance": "planted", "sweep": "k"}),
    ]
    without = {name: style for name, style in _COVER.items() if name != "bound"}
    plot(rows, panels, without, out / "cover.png", label="cost (sets)", log=True)
    large = [Panel("planted, m = 20,000, k = 3", "epsilon", {"m": 20_000, "sweep": "epsilon"})]
    plot(rows, large, _COVER, out / "cover-bound.png", label="cost (sets)", log=True)


def plot_clusters(rows: Sequence[Row], out: Path) -> None:
    """Costs of clustering as multiples of local search without privacy, one figure a power; and the bounds, one for both."""
    names = {1: "median", 2: "means"}
    without = {name: style for name, style in _CLUSTERS.items() if name not in ("bound", "anything")}
    for power, name in names.items():
        panels = [
            Panel(f"discs, k-{name}, n = 20,000, m = 400, k = 8", "epsilon", {"instance": "discs", "sweep": "epsilon", "power": power}),
            Panel(f"pixels, k-{name}, n = 273,280, m = 125, k = 8", "epsilon", {"instance": "pixels", "power": power}),
            Panel(f"images, k-{name}, n = 1,597, m = 200, k = 10", "epsilon", {"instance": "images", "power": power}),
            Panel(f"discs, k-{name}, n = 2,000, ε = 0.3, k = 8", "m", {"instance": "discs", "sweep": "m", "power": power}),
            Panel(f"discs, k-{name}, n = 20,000, m = 400, ε = 0.3", "k", {"instance": "discs", "sweep": "k", "power": power}),
            Panel(f"roads, k-{name}, n = 2,000, m = 300, k = 5", "epsilon", {"instance": "roads", "power": power}),
        ]
        high = 2.2 if power == 1 else 3.5
        plot(rows, panels, without, out / f"clusters-{name}.png", label="cost / cost without privacy", ends=(0.97, high))
    panels = [
        Panel(f"{instance}, k-{name}", "epsilon", {"instance": instance, "sweep": "epsilon", "power": power})
        for power, name in names.items()
        for instance in ("discs", "pixels")
    ]
    few = {name: _CLUSTERS[name] for name in ("optimal", "random", "bound", "anything")}
    plot(rows, panels, few, out / "clusters-bound.png", label="cost / cost without privacy", log=True, columns=2)


def plot_hard(rows: Sequence[Row], out: Path) -> None:
    """How often the path of Appendix B is read right."""
    shown = [row for row in rows if row["users"]]
    groups: dict[tuple[object, ...], list[float]] = {}
    for row in shown:
        groups.setdefault(tuple(row[name] for name in ("sweep", "k", "epsilon", "items", "method", "users")), []).append(row["value"])
    names = ("sweep", "k", "epsilon", "items", "method", "users")
    shares = [{**dict(zip(names, place, strict=True)), "value": sum(values) / len(values)} for place, values in groups.items()]
    marks = [{**row, "users": row["value"]} for row in rows if not row["users"]]
    panels = [
        Panel(f"k = {k}, ε = {epsilon}, |Y| = 1,000, T = 20", "users", {"sweep": sweep, "k": k, "epsilon": epsilon})
        for sweep, k, epsilon in (("epsilon", 3, "0.1"), ("epsilon", 3, "1"), ("k", 20, "1"))
    ]
    styles = {
        "optimal": (_BLUE, "-", "ours, two fillers"),
        "corollary": (_SKY, "--", "the same, corollary (ε₀ = ln 2)"),
        "nothing": (_GREEN, "-", "ours, nothing else in the stream"),
        "planned-optimal": (_BLUE, _UPRIGHT, "proved error"),
        "planned-corollary": (_SKY, _UPRIGHT, "proved, corollary"),
        "planned-nothing": (_GREEN, _UPRIGHT, "proved, nothing else"),
        "limit-optimal": (_RED, _UPRIGHT, "no ε-DP algorithm before"),
    }
    plot([*shares, *marks], panels, styles, out / "hitters-hard.png", label="path read right (share of runs)", ends=(-0.05, 1.05))


def plot_hard_errors(rows: Sequence[Row], out: Path) -> None:
    """Errors on the hard instance beside the bounds."""
    panels = [
        Panel("k = 3, T = 20, |Y| = 1,000", "epsilon", {"sweep": "epsilon"}),
        Panel("ε = 1, T = 20, |Y| = 1,000", "k", {"sweep": "k"}),
        Panel("ε = 1, T = 20, k = 3", "items", {"sweep": "items"}),
    ]
    plot(rows, panels, _HARD, out / "hitters-errors.png", label="error, users", column="error", log=True)


def plot_many(rows: Sequence[Row], out: Path) -> None:
    """Proved errors where users are in many heavy hitters."""
    panels = [Panel(f"ε = {epsilon}, T = 1,000, |Y| = 1,000", "k", {"epsilon": epsilon}) for epsilon in ("0.1", "1")]
    few = {name: _HARD[name] for name in ("each-step", "planned-optimal", "planned-laplace", "limit-optimal")}
    plot(rows, panels, few, out / "hitters-many.png", label="error, users", log=True)


def plot_bursts(rows: Sequence[Row], out: Path) -> None:
    """A stream with bursts: what is missed and what is reported."""
    styles: dict[str, Style] = {
        "planned": ("black", "--", "proved: all from here on are reported"),
        "missed-optimal": (_BLUE, "-", "most users of a missed item"),
        "missed-corollary": (_SKY, "--", "most of a missed item, corollary"),
        "reported-optimal": (_GREEN, "-", "fewest users of a reported item"),
        "reported-corollary": (_GREEN, ":", "fewest of a reported item, corollary"),
        "level": ("black", ":", "proved: none up to here is reported"),
    }
    panels = [Panel("bursts, k = 3, T = 60, |Y| = 1,000, n = 20,000", "epsilon", {})]
    plot(rows, panels, styles, out / "hitters-bursts.png", label="users", log=True)


PLOTS: dict[str, Callable[[Sequence[Row], Path], None]] = {
    "budgets": plot_budgets,
    "greedy": plot_greedy,
    "hidden": plot_hidden,
    "hidden-errors": plot_hidden_errors,
    "matroid": plot_matroid,
    "cover": plot_cover,
    "clusters": plot_clusters,
    "hard": plot_hard,
    "hard-errors": plot_hard_errors,
    "many": plot_many,
    "bursts": plot_bursts,
}
