"""What is run: the tasks of every part. Later parts read what earlier ones have stored."""

from __future__ import annotations

import argparse
import os
from typing import Any

from benchmarks.delta import epsilons, runs, schemes
from benchmarks.delta.data import known_names, load
from benchmarks.study.runner import Work
from benchmarks.study.store import PartStore, Row, Task

PARTS = ("tables", "schemes", "variance", "runs", "epsilons", "peers")
WORK: dict[str, Work] = {
    "tables": schemes.run_table,
    "schemes": schemes.run_scheme,
    "variance": runs.run_variance,
    "reference": runs.run_reference,
    "runs": runs.run_training,
    "epsilons": epsilons.run_epsilon,
    "peers": epsilons.run_peers,
}
BATCHES = {"ijcnn1": (30, 100, 300, 1000), "digits": (10, 30, 100, 200), "heavy": (10, 30, 100, 300, 1000)}


def run_one(task: Task) -> list[Row]:
    """Return the rows of a task."""
    return WORK[task.study](task)


def list_names(chosen: argparse.Namespace) -> list[str]:
    """Return the data sets of a size of the study."""
    return ["digits"] if chosen.quick else known_names()


def list_batches(name: str, chosen: argparse.Namespace) -> tuple[int, ...]:
    """Return the expected batches of a data set."""
    return BATCHES[name][1:3] if chosen.quick else BATCHES[name]


def make_tasks(part: str, chosen: argparse.Namespace) -> list[Task]:
    """Return the tasks of a part of the study."""
    names = list_names(chosen)
    if part == "tables":
        return _tables(chosen)
    if part == "schemes":
        return _schemes(chosen)
    if part == "epsilons":
        return [task for name in names for task in epsilons.make_tasks([name], list_batches(name, chosen))]
    if part == "peers":
        return _peers(chosen)
    rows = read_schemes(chosen)
    if part == "variance":
        return [Task(part, _key_of(row)) for row in rows]
    found = [Task(part, {**_key_of(row), "seeds": _seeds(chosen), "rates": _rates(row["dataset"])}) for row in rows]
    return [*found, *(Task("reference", {"dataset": name, "steps": schemes.STEPS, "rates": _rates(name)}) for name in names)]


def read_schemes(chosen: argparse.Namespace) -> list[dict[str, Any]]:
    """Return the schemes that are stored, with their tables."""
    store, found = _store(chosen), []
    for task in _schemes(chosen):
        found += [{**task.key, **row} for row in store.read(task) or ()]
    return found


def _key_of(row: dict[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in ("dataset", "scheme", "m", "steps", "rate", "sigma", "table")}


def _rates(name: str) -> list[float]:
    return list(load(name).rates)


def _seeds(chosen: argparse.Namespace) -> int:
    return chosen.seeds or (2 if chosen.quick else 50 if chosen.full else 20)


def _store(chosen: argparse.Namespace) -> PartStore:
    return PartStore(chosen.out / "parts")


def _tables(chosen: argparse.Namespace) -> list[Task]:
    return schemes.make_table_tasks(sorted({load(name).epsilon for name in list_names(chosen)}))


def _schemes(chosen: argparse.Namespace) -> list[Task]:
    store, tables = _store(chosen), {}
    for epsilon in sorted({load(name).epsilon for name in list_names(chosen)}):
        rows = [row for task in schemes.make_table_tasks([epsilon]) for row in store.read(task) or ()]
        tables[epsilon] = sorted([row["zeta"], row["weight"]] for row in rows if row["weight"] >= 1)
    return [task for name in list_names(chosen) for task in schemes.make_tasks([name], list_batches(name, chosen), tables)]


def _peers(chosen: argparse.Namespace) -> list[Task]:
    store = _store(chosen)
    rows = [
        row
        for name in list_names(chosen)
        for task in epsilons.make_tasks([name], list_batches(name, chosen))
        for row in store.read(task) or ()
    ]
    settings = sorted({(row["multiplier"], row["rate"], row["lower"], row["upper"]) for row in rows})
    return epsilons.make_peer_tasks(os.environ.get(epsilons.PEER, ""), settings)
