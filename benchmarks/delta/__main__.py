"""Command line of the study: what is run, then figures and tables. See ``python -m benchmarks.delta --help``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.delta import epsilons, figures, summary
from benchmarks.delta.plans import PARTS, WORK, make_tasks, run_one
from benchmarks.study.command import add_options, run_parts
from benchmarks.study.store import PartStore, Task


def report(store: PartStore, tasks: dict[str, list[Task]], out: Path) -> list[str]:
    """Make figures and tables of what is there; return the tables with their titles."""
    rows = {study: store.collect(task for part in tasks.values() for task in part if task.study == study) for study in WORK}
    for study, plot in figures.PLOTS.items():
        if rows[study]:
            plot(rows[study], out)
    return [f"## {study}\n\n{render(rows[study])}\n" for study, render in summary.TABLES.items() if rows[study]]


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.delta", description=__doc__)
    add_options(
        parser,
        PARTS,
        out="out/study-delta",
        seeds="runs of each configuration (default 20; 50 with --full)",
        quick="digits alone, two batches, two seeds: about three minutes, most of them for the table of weights",
        full="50 seeds",
    )
    parser.add_argument("--peer-python", metavar="FILE", help=f"interpreter with dp_accounting (or {epsilons.PEER})")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is missing, then make figures and tables."""
    chosen = parse(arguments)
    if chosen.peer_python:
        os.environ[epsilons.PEER] = chosen.peer_python
    return run_parts(chosen, PARTS, make_tasks, run_one, report)


if __name__ == "__main__":
    sys.exit(main())
