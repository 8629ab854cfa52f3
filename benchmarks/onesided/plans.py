"""What is run: the tasks of every part, in three sizes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from benchmarks.onesided.clusters import run_clusters
from benchmarks.onesided.cover import run_cover
from benchmarks.onesided.greedy import run_budgets, run_greedy, run_hidden
from benchmarks.onesided.hitters import run_bursts, run_hard, run_many
from benchmarks.onesided.matroids import run_matroid
from benchmarks.study.data import SHARED, ijcnn1_path
from benchmarks.study.runner import Work
from benchmarks.study.store import Row, Task

#: The studies of every part.
STUDIES = {
    "budgets": ("budgets",),
    "greedy": ("greedy", "hidden"),
    "matroid": ("matroid",),
    "cover": ("cover",),
    "clusters": ("clusters",),
    "hitters": ("hard", "many", "bursts"),
}
PARTS = tuple(STUDIES)
WORK: dict[str, Work] = {
    "budgets": run_budgets,
    "greedy": run_greedy,
    "hidden": run_hidden,
    "matroid": run_matroid,
    "cover": run_cover,
    "clusters": run_clusters,
    "hard": run_hard,
    "many": run_many,
    "bursts": run_bursts,
}

EPSILONS = ("0.01", "0.03", "0.1", "0.3", "1", "3")


def run_one(task: Task) -> list[Row]:
    """Return the rows of a task."""
    return WORK[task.study](task)


def sweep(study: str, base: dict[str, Any], over: str, values: Sequence[Any], seeds: int) -> list[Task]:
    """Return a task for each value of one parameter."""
    return [Task(study, {**base, over: value, "sweep": over, "seeds": seeds}) for value in values]


def make_tasks(part: str, chosen: argparse.Namespace) -> list[Task]:
    """Return the tasks of a part of the study."""
    return _MAKERS[part](chosen)


def _seeds(chosen: argparse.Namespace, quick: int, normal: int, full: int) -> int:
    return chosen.seeds or (quick if chosen.quick else full if chosen.full else normal)


def _real(part: str, *, quick: bool) -> list[str]:
    if quick:
        return ["digits"]
    if ijcnn1_path() is None:
        print(f"{part}: ijcnn1 is not here and is left out (set {SHARED})", file=sys.stderr)
        return ["digits"]
    return ["digits", "ijcnn1"]


def _budgets(chosen: argparse.Namespace) -> list[Task]:  # noqa: ARG001 - the same in all sizes
    return [Task("budgets", {"epsilon": epsilon}) for epsilon in ("0.01", "0.03", "0.1", "0.2", "0.5", "1", "1.5", "2", "3", "5", "8")]


def _greedy(chosen: argparse.Namespace) -> list[Task]:
    seeds = _seeds(chosen, 2, 15, 50)
    tasks: list[Task] = []
    for name in _real("greedy", quick=chosen.quick):
        k = 8 if name == "digits" else 20
        base = {"instance": name, "n": 0, "m": 0, "k": k, "epsilon": "0.1"}
        tasks += sweep("greedy", base, "epsilon", ("0.1",) if chosen.quick else ("0.001", "0.003", *EPSILONS[:5]), seeds)
        if not chosen.quick:
            tasks += sweep("greedy", base, "k", (1, 2, 4, 8, 16, 32), seeds)
    n, sizes = (500, (30, 100)) if chosen.quick else (5_000, (30, 100, 300, 1_000, 3_000, 10_000, 30_000))
    base = {"instance": "skewed", "n": n, "m": sizes[-1] if chosen.quick else 1_000, "k": 10, "epsilon": "0.3"}
    tasks += sweep("greedy", base, "m", sizes, seeds)
    tasks += sweep("greedy", base, "k", (2, 10) if chosen.quick else (1, 3, 10, 30, 100, 300), seeds)
    hard = {"m": 100 if chosen.quick else 1_000, "k": 5 if chosen.quick else 10, "epsilon": "1"}
    seeds = _seeds(chosen, 2, 20, 100)
    tasks += sweep("hidden", hard, "epsilon", ("1",) if chosen.quick else ("0.03", "0.1", "0.3", "1", "3"), seeds)
    if not chosen.quick:
        tasks += sweep("hidden", hard, "m", (30, 100, 1_000, 10_000, 100_000), seeds)
        tasks += sweep("hidden", hard, "k", (1, 3, 10, 30, 100), seeds)
    return tasks


def _matroid(chosen: argparse.Namespace) -> list[Task]:
    seeds, quick = _seeds(chosen, 2, 10, 50), chosen.quick
    digits = {"instance": "digits", "n": 0, "m": 64, "k": 8}
    decoys = {"instance": "decoys", "n": 20 if quick else 1_000, "m": 0, "k": 4 if quick else 20}
    if quick:
        return sweep("matroid", decoys, "epsilon", ("1", "3"), seeds)
    tasks = [task for base in (digits, decoys) for task in sweep("matroid", base, "epsilon", EPSILONS, seeds)]
    skewed = {"instance": "skewed", "n": 20_000, "m": 1_000, "k": 10, "epsilon": "0.3"}
    tasks += sweep("matroid", skewed, "m", (100, 300, 1_000, 3_000, 10_000), seeds)
    return tasks + sweep("matroid", skewed, "k", (2, 4, 10, 20, 40, 80), seeds)


def _cover(chosen: argparse.Namespace) -> list[Task]:
    seeds, quick = _seeds(chosen, 1, 10, 30), chosen.quick
    if quick:
        planted = {"instance": "planted", "n": 500, "m": 40, "k": 4}
        return sweep("cover", planted, "epsilon", ("0.3", "1"), seeds)
    tasks: list[Task] = []
    for name in _real("cover", quick=False):
        tasks += sweep("cover", {"instance": name, "n": 0, "m": 0, "k": 0}, "epsilon", EPSILONS, seeds)
    planted = {"instance": "planted", "n": 20_000, "m": 500, "k": 20, "epsilon": "0.3"}
    for base in (planted, {**planted, "instance": "spread", "k": 0}):
        tasks += sweep("cover", base, "epsilon", EPSILONS, seeds)
    tasks += sweep("cover", planted, "m", (100, 300, 1_000, 3_000, 10_000), seeds)
    tasks += sweep("cover", planted, "k", (5, 10, 20, 40, 80), seeds)
    large = {"instance": "planted", "n": 1_000_000 if chosen.full else 200_000, "m": 20_000, "k": 3}
    return tasks + sweep("cover", large, "epsilon", EPSILONS[1:], seeds if chosen.full else min(seeds, 3))


def _clusters(chosen: argparse.Namespace) -> list[Task]:
    seeds, quick = _seeds(chosen, 1, 8, 50), chosen.quick
    tasks: list[Task] = []
    for power in (1, 2):
        options = {"power": power, "exchanges": not quick, "prove": False}
        discs = {"instance": "discs", "n": 1_000 if quick else 20_000, "m": 40 if quick else 400, "k": 8, **options}
        tasks += sweep("clusters", discs, "epsilon", ("1",) if quick else EPSILONS, seeds)
        if quick:
            continue
        tasks += sweep("clusters", {**discs, "epsilon": "0.3"}, "k", (1, 2, 4, 8, 16), seeds)
        few = {**options, "exchanges": False}
        tasks += sweep("clusters", {**discs, **few, "n": 2_000, "epsilon": "0.3"}, "m", (100, 300, 1_000, 3_000), seeds)
        images = {"instance": "images", "n": 0, "m": 200, "k": 10, **options}
        tasks += sweep("clusters", images, "epsilon", ("0.1", "0.3", "1", "3", "10"), seeds)
        roads = {"instance": "roads", "n": 2_000, "m": 300, "k": 5, **few}
        tasks += sweep("clusters", roads, "epsilon", EPSILONS[1:5], seeds)
        pixels = {"instance": "pixels", "n": 0, "m": 125, "k": 8, **options, "prove": True}
        tasks += sweep("clusters", pixels, "epsilon", ("0.001", "0.003", *EPSILONS[:5]), seeds)
    return tasks


def _hitters(chosen: argparse.Namespace) -> list[Task]:
    seeds, quick = _seeds(chosen, 5, 40, 400), chosen.quick
    base = {"k": 3, "epsilon": "1", "steps": 20, "items": 1_000}
    tasks = sweep("hard", base, "epsilon", ("1",) if quick else ("0.1", "0.3", "1", "3"), seeds)
    if not quick:
        tasks += sweep("hard", base, "k", (1, 3, 10, 20), seeds)
        tasks += sweep("hard", base, "items", (10, 1_000, 100_000, 10_000_000), seeds)
    if not quick:
        for epsilon in ("0.1", "1"):
            tasks += sweep("many", {"epsilon": epsilon, "steps": 1_000, "items": 1_000}, "k", (1, 3, 10, 30, 100, 300, 1_000), 1)
    bursts = {"k": 3, "steps": 10 if quick else 60, "items": 1_000, "users": 1_000 if quick else 20_000}
    return tasks + sweep("bursts", bursts, "epsilon", ("1",) if quick else EPSILONS[2:], _seeds(chosen, 1, 10, 50))


_MAKERS = {"budgets": _budgets, "greedy": _greedy, "matroid": _matroid, "cover": _cover, "clusters": _clusters, "hitters": _hitters}
