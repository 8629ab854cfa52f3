"""Command line of the study: what is run, then figures and tables. See ``python -m benchmarks.onesided --help``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.onesided import figures
from benchmarks.onesided.greedy import relate_hidden
from benchmarks.onesided.hitters import relate_hard
from benchmarks.onesided.plans import PARTS, WORK, make_tasks, run_one
from benchmarks.onesided.tables import medians_table
from benchmarks.study.command import add_options, run_parts
from benchmarks.study.store import PartStore, Task
from benchmarks.study.summary import plain_table

_BESIDE = {"hidden": ("errors", "error", relate_hidden), "hard": ("errors", "error", relate_hard)}


def report(store: PartStore, tasks: dict[str, list[Task]], out: Path) -> list[str]:
    """Make figures and tables of what is there; return the tables with their titles."""
    sections: list[str] = []
    for study in WORK:
        rows = store.collect(task for part in tasks.values() for task in part if task.study == study)
        if not rows:
            continue
        if study == "budgets":
            sections.append(f"## {study}\n\n{plain_table(rows)}\n")
        else:
            sections.append(f"## {study}\n\n{medians_table(rows)}\n")
        if study in _BESIDE:
            title, column, relate = _BESIDE[study]
            related = relate(rows)
            sections.append(f"## {study}, {title}\n\n{medians_table(related, column)}\n")
            figures.PLOTS[f"{study}-{title}"](related, out)
        figures.PLOTS[study](rows, out)
    return sections


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.onesided", description=__doc__)
    add_options(
        parser,
        PARTS,
        out="out/study-onesided",
        seeds="runs of each configuration (default: 8 to 60, by part)",
        quick="a small version of every part: below a minute",
        full="more seeds and a larger set cover: some hours",
    )
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is missing, then make figures and tables."""
    return run_parts(parse(arguments), PARTS, make_tasks, run_one, report)


if __name__ == "__main__":
    sys.exit(main())
