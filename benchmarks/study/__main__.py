"""Command line of the study: what is run, then figures and tables. See ``python -m benchmarks.study --help``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.study import authors, certified, figures, kmeans, laplace, summary, timing
from benchmarks.study.command import add_options, run_parts
from benchmarks.study.data import SHARED, ijcnn1_path, load
from benchmarks.study.kmeans import Plan
from benchmarks.study.store import PartStore, Row, Task
from benchmarks.study.table1 import ROWS
from benchmarks.study.work import WORK, run_one
from profiles import PDPError

PARTS = ("figure-2", "bounds", "figures-3-4", "authors", "figure-5")
_ALONE = ("timing", "authors-weights", "authors-lloyd")  # what is timed runs by itself
_PROTOCOLS = tuple(kmeans.PROTOCOLS)
_MAIN = ("private", "paper", "no-noise")
_SMALLER = {"song": "like-song/10", "covertype": "like-covertype/10", "fma": "like-fma/10"}


def synthetic(*, full: bool) -> list[str]:
    """Return the synthetic data sets: at full size, or three of them at a tenth."""
    return [f"like-{name}" if full else _SMALLER.get(name, f"like-{name}") for name in ROWS if name != "ijcnn1"]


def make_plans(chosen: argparse.Namespace) -> list[Plan]:
    """Return what Figures 3 and 4 run."""
    has_ijcnn1 = ijcnn1_path() is not None
    if chosen.quick:
        seeds = chosen.seeds or 2
        sets = ["ijcnn1"] if has_ijcnn1 else ["digits"]
        return [Plan(name, _PROTOCOLS, seeds, (1.0, 100.0), middle_only=True, figure_4=False) for name in [*sets, "like-pose"]]
    if chosen.full:
        seeds = chosen.seeds or 50
        return [Plan(name, _PROTOCOLS, seeds) for name in [*(["ijcnn1"] if has_ijcnn1 else []), "pixels", "digits", *synthetic(full=True)]]
    plans = [Plan("ijcnn1", _PROTOCOLS, chosen.seeds or 10)] if has_ijcnn1 else []
    plans += [Plan("pixels", _MAIN, chosen.seeds or 10), Plan("digits", _PROTOCOLS, chosen.seeds or 10)]
    few = (1.0, 10.0, 100.0, 1000.0)
    return plans + [Plan(name, _PROTOCOLS, chosen.seeds or 5, few, middle_only=True, figure_4=False) for name in synthetic(full=False)]


def make_tasks(part: str, chosen: argparse.Namespace) -> list[Task]:
    """Return the tasks of a part of the study."""
    real = ["ijcnn1", "pixels", "digits"]
    if part == "figure-2":
        return laplace.make_tasks(100 if chosen.quick else 1_000)
    if part == "bounds":
        return certified.make_tasks(real if chosen.quick else [*real, *synthetic(full=chosen.full)], quick=chosen.quick)
    if part == "figures-3-4":
        return kmeans.make_tasks(make_plans(chosen))
    if part == "figure-5":
        names = [f"like-{name}" for name in timing.SIZES if name != "ijcnn1"] if not chosen.quick else ["like-pose"]
        names += ["ijcnn1"] if ijcnn1_path() is not None else []
        return timing.make_tasks(names, repeats=2 if chosen.quick else 5, full_repeats=1 if chosen.quick else 3, quick=chosen.quick)
    if not os.environ.get(authors.HOME):
        print(f"the authors' code is not compared: name its checkout with --authors or {authors.HOME}", file=sys.stderr)
        return []
    if ijcnn1_path() is None:
        print(f"the authors' code is not compared: ijcnn1 is not here (set {SHARED})", file=sys.stderr)
        return []
    return authors.make_tasks(quick=chosen.quick)


def report(store: PartStore, tasks: dict[str, list[Task]], out: Path) -> list[str]:
    """Make figures and tables of what is there; return the tables with their titles."""
    rows = {study: store.collect(task for part in tasks.values() for task in part if task.study == study) for study in WORK}
    rows["timing"] = timing.relate(rows["timing"])
    sections: list[str] = []

    def add(title: str, render: Callable[[Sequence[Row]], str], study: str) -> None:
        if rows[study]:
            sections.append(f"## {title}\n\n{render(rows[study])}\n")

    add("Figure 2, left", summary.weights_summary, "figure-2-left")
    add("Figure 2, right", summary.errors_table, "figure-2-right")
    add("Table 1", summary.facts_table, "table-1")
    add("Certified ε of the coreset rule", summary.bounds_table, "bounds")
    for study in WORK:
        if study.startswith("authors-"):
            add(study, summary.speed_table if study == "authors-lloyd" else summary.plain_table, study)
    add("Figure 5", summary.times_table, "timing")
    add("Figures 3 and 4", summary.costs_table, "kmeans")
    if rows["figure-2-left"]:
        figures.plot_weights(rows["figure-2-left"], out / "figure-2-left.png")
    if rows["figure-2-right"]:
        figures.plot_errors(rows["figure-2-right"], out / "figure-2-right.png")
    if rows["bounds"]:
        figures.plot_bounds(rows["bounds"], out / "bounds.png")
    if rows["timing"]:
        figures.plot_times(rows["timing"], out / "figure-5.png")
    for dataset in dict.fromkeys(row["dataset"] for row in rows["kmeans"]):
        mean = float(load(dataset).facts.mean_square)
        for name, over in (("figure-3", "epsilon"), ("figure-4", "m")):
            if over == "epsilon" or len({row["m"] for row in rows["kmeans"] if row["dataset"] == dataset and row["m"]}) > 1:
                figures.plot_costs(rows["kmeans"], dataset, over, mean, out / f"{name}-{dataset.replace('/', '-tenth-')}.png")
    return sections


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.study", description=__doc__)
    add_options(
        parser,
        PARTS,
        out="out/study",
        seeds="runs of each configuration of Figures 3 and 4 (default 10 and 5; 50 with --full)",
        quick="a small version of every part: about two minutes",
        full="everything as in the paper, at full size with 50 seeds: a day or more",
    )
    parser.add_argument("--authors", metavar="DIR", help=f"checkout of the authors' code, ready to run (or {authors.HOME})")
    parser.add_argument("--authors-python", metavar="FILE", help=f"interpreter for it (or {authors.PYTHON})")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is missing, then make figures and tables."""
    chosen = parse(arguments)
    try:
        folder = authors.find_code(chosen.authors)
        if folder is not None:
            os.environ[authors.HOME] = str(folder.resolve())
        if chosen.authors_python:
            os.environ[authors.PYTHON] = chosen.authors_python
    except PDPError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return run_parts(chosen, PARTS, make_tasks, run_one, report, alone=_ALONE)


if __name__ == "__main__":
    sys.exit(main())
