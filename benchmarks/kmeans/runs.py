"""One task: a method on a data set at one ε, a few of its seeds; each row has the cost of one run on the data as they are.

All settings run with their first seeds before any runs with more, so that a study which is stopped has every cell.
"""

from __future__ import annotations

import argparse
from itertools import pairwise

import numpy as np

from benchmarks.kmeans.data import cases, load
from benchmarks.kmeans.methods import METHODS, WITHOUT_NOISE, is_here
from benchmarks.study.store import Row, Task
from profiles.arrays import Floats
from profiles.mechanisms.nearest import find_nearest

PARTS = ("baselines", "ours", "peers")
EPSILONS = ("0.3", "1", "3", "10")
_OF_PARTS = {
    "baselines": ("k-means++", "mean", "private mean"),
    "ours": ("ours", "ours, public", "ours, δ"),
    "peers": ("DPLloyd", "diffprivlib, charged", "diffprivlib", "google"),
}
#: diffprivlib runs so many seeds on photographs, unless --full: a run takes it up to a minute there.
_FEW = 3
_PHOTOGRAPHS = ("china", "flower")
#: After how many seeds of all settings those with more begin.
_STAGES = (0, 3, 7, 12, 20)


def make_tasks(part: str, chosen: argparse.Namespace) -> list[Task]:
    """Return the tasks of a part, first seeds first: with ``--quick`` two seeds of two small data sets at one ε.

    Where methods or data sets are named, theirs alone.
    """
    seeds = chosen.seeds or (2 if chosen.quick else 20)
    epsilons = EPSILONS[2:3] if chosen.quick else EPSILONS
    small = ("digits-8", "cancer")
    tasks = []
    for first, end in pairwise((*(stage for stage in _STAGES if stage < seeds), seeds)):
        for name in _OF_PARTS[part]:
            if not is_here(name) or (chosen.method and name not in chosen.method):
                continue
            for case in cases():
                if (chosen.quick and case.name not in small) or (chosen.data and case.name not in chosen.data):
                    continue
                few = name.startswith("diffprivlib") and case.name in _PHOTOGRAPHS and not chosen.full
                if few and first >= _FEW:
                    continue
                for epsilon in ("none",) if name in WITHOUT_NOISE else epsilons:
                    setting = {"method": name, "data": case.name, "k": case.clusters, "epsilon": epsilon}
                    tasks.append(Task("kmeans", {**setting, "first": first, "last": end}))
    return tasks


def run_one(task: Task) -> list[Row]:
    """Return a row for each seed."""
    key = task.key
    data = load(key["data"])
    seeds = range(key["first"], key["last"])
    found = METHODS[key["method"]](data, key["k"], key["epsilon"], seeds)
    return [
        {"seed": seed, "cost": measure_cost(data.points, one.centres), "time": one.seconds, "Q": one.signal}
        for seed, one in zip(seeds, found, strict=False)  # what has no randomness is run once
    ]


def measure_cost(points: Floats, centres: Floats) -> float:
    """Return the mean squared distance of all records, as they are, to their nearest centre."""
    labels = find_nearest(points, np.ascontiguousarray(centres))
    total = 0.0
    for start in range(0, len(points), 2**14):
        rows = slice(start, start + 2**14)
        total += float(np.square(points[rows] - centres[labels[rows]]).sum())
    return total / len(points)
