"""Command line of the study: what is run, then the figure and the table. See ``python -m benchmarks.delta_lloyd --help``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.ticker import NullLocator

from benchmarks.delta_lloyd.runs import PARTS, make_tasks, run_one
from benchmarks.delta_lloyd.summary import excesses, make_table, mean_interval, pick, settings
from benchmarks.study.command import add_options, run_parts
from benchmarks.study.figures import save_figure
from benchmarks.study.store import PartStore, Row, Task

_STYLE = {"laplace": ("#D55E00", "--", "s", "Laplace, ε"), "gaussian": ("#0072B2", "-", "o", "normal, (ε, 10⁻⁶)")}


def plot(rows: Sequence[Row], path: Path) -> Path:
    """Cost over that without noise against d, means with 95 % intervals: one panel for each T and ε."""
    panels = list(dict.fromkeys((found["T"], found["epsilon"]) for found in settings(rows)))
    figure, axes = plt.subplots(1, len(panels), figsize=(3.6 * len(panels), 3.6), squeeze=False, sharey=True)
    for axis, (rounds, epsilon) in zip(axes[0], panels, strict=True):
        for law, (color, dash, mark, label) in _STYLE.items():
            points = []
            for d in sorted({row["d"] for row in rows}):
                mine = pick(rows, law=law, d=d, T=rounds, epsilon=epsilon)
                if len(mine) > 1:
                    points.append((d, *mean_interval(excesses(mine))))
            x, y, half = (np.array(values) for values in zip(*points, strict=True))
            axis.errorbar(x, y, half, color=color, ls=dash, marker=mark, ms=4, capsize=2, label=label)
        axis.set(xscale="log", yscale="log", xlabel="d", title=f"T = {rounds}, ε = {epsilon}")
        axis.set_xticks(sorted({row["d"] for row in rows}), [str(d) for d in sorted({row["d"] for row in rows})])
        axis.xaxis.set_minor_locator(NullLocator())
        axis.axhline(1, color="black", lw=0.7)
        axis.grid(visible=True, which="both", alpha=0.3)
    axes[0][0].set_ylabel("cost / cost without noise")
    axes[0][0].legend(fontsize=8)
    return save_figure(figure, path)


def report(store: PartStore, tasks: dict[str, list[Task]], out: Path) -> list[str]:
    """Make the figure and the table of what is there."""
    rows = store.collect(task for part in tasks.values() for task in part)
    if not rows:
        return []
    plot(rows, out / "lloyd.png")
    return [f"## lloyd\n\n{make_table(rows)}\n"]


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.delta_lloyd", description=__doc__)
    add_options(
        parser,
        PARTS,
        out="out/study-delta-lloyd",
        seeds="runs of each configuration (default 25; 50 with --full)",
        quick="two dimensions, 2,000 records, two seeds: seconds",
        full="50 seeds",
    )
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is missing, then make the figure and the table."""
    return run_parts(parse(arguments), PARTS, make_tasks, run_one, report)


if __name__ == "__main__":
    sys.exit(main())
