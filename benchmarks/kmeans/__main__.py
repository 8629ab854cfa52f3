"""Command line of the study: what is run, then figures and tables. See ``python -m benchmarks.kmeans --help``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.kmeans.data import CASES
from benchmarks.kmeans.figures import plot_costs, plot_raw_costs, plot_signal
from benchmarks.kmeans.methods import METHODS, PEERS
from benchmarks.kmeans.runs import PARTS, make_tasks, run_one
from benchmarks.kmeans.summary import make_checks, make_raw_table, make_table, make_times
from benchmarks.study.command import add_options, run_parts
from benchmarks.study.store import PartStore, Task


def report(store: PartStore, tasks: dict[str, list[Task]], out: Path) -> list[str]:
    """Make figures and tables of what is there."""
    rows = store.collect(task for part in tasks.values() for task in part)
    if not rows:
        return []
    plot_costs(rows, out / "costs.png", kept=False)
    plot_costs(rows, out / "costs-kept.png", kept=True)
    plot_raw_costs(rows, out / "costs-raw.png")
    plot_signal(rows, out / "signal.png")
    made = {"Normalised medians": make_table, "Mean squared distances": make_raw_table, "Claims": make_checks, "Times": make_times}
    return [f"## {title}\n\n{make(rows)}\n" for title, make in made.items()]


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kmeans", description=__doc__)
    add_options(
        parser,
        PARTS,
        out="out/study-kmeans",
        seeds="runs of each configuration (default 20)",
        quick="two small data sets, one epsilon, two seeds: seconds",
        full="all seeds of diffprivlib on photographs as well",
    )
    parser.add_argument("--method", choices=METHODS, action="append", help="run this method alone; may be given several times")
    names = tuple(dict.fromkeys(case.name for case in CASES))
    parser.add_argument("--data", choices=names, action="append", help="on this data set alone; may be given several times")
    parser.add_argument("--peers", metavar="DIR", help=f"folder with an environment for each peer (or {PEERS})")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is missing, then make figures and tables."""
    chosen = parse(arguments)
    if chosen.peers:
        os.environ[PEERS] = str(Path(chosen.peers).resolve())
    return run_parts(chosen, PARTS, make_tasks, run_one, report)


if __name__ == "__main__":
    sys.exit(main())
