"""Ledgers of many units, killed while they are charged and their log is copied back, and while they are migrated.

``python -m tests.ledger.large_kills UNITS KILLS SEED FOLDER``: one writer charges all, all but one, or 1,000; it is killed within 0.4 s
of a commit. Then as many kills of migrations, from versions 1 and 2, with a new secret or without.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from accountant.ledger import Ledger
from accountant.ledger.backup import migrate
from profiles import PDPError
from tests.ledger.conftest import SUM

MODE: dict[str, Any] = {"mode": "individual", "partial": True}


def choose(units: int, number: int) -> Any:
    """Return the units of a charge, which follow from its number."""
    rng = np.random.default_rng(number)
    return np.arange(units) if number % 3 == 0 else rng.permutation(units)[: 1_000 if number % 3 == 1 else units - 1]


def rows(ids: Any) -> Any:
    """Return a table of units, each with a cost that follows from its id."""
    return pa.table({"id": ids, "z": ids % 64 / 64})


def fork(work: Callable[[], None], folder: Path) -> int:
    """Return a process that works."""
    child = os.fork()
    if child:
        return child
    try:
        work()
    except BaseException:
        (folder / "failed").write_text(traceback.format_exc())
    os._exit(0)


def kill(child: int, folder: Path) -> None:
    """Kill a process. Raises :class:`RuntimeError` where it failed before."""
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    if (folder / "failed").exists():
        raise RuntimeError((folder / "failed").read_text())


def kill_charges(units: int, kills: int, rng: random.Random, folder: Path) -> None:
    """Every charge that was told is in the log, and accounts are the sums of the costs."""
    told = folder / "told"
    told.touch()
    Ledger.create(folder / "l.db", rows(np.arange(units)), budget="1000000", anchor=folder / "a", **MODE).close()

    def work(first: int) -> None:
        with Ledger.open(folder / "l.db", partial=True) as ledger, told.open("ab", buffering=0) as stream:
            for number in range(first, first + 10**6):
                ledger.charge(f"c{number}", SUM, rows(choose(units, number)))
                stream.write(f"c{number}\n".encode())

    for count in range(kills):
        before = told.stat().st_size
        child = fork(lambda: work(1_000 * count), folder)  # noqa: B023
        while told.stat().st_size == before and not (folder / "failed").exists():
            time.sleep(0.001)
        time.sleep(rng.random() * (0.12 if count % 2 else 0.4))
        kill(child, folder)
        with Ledger.open(folder / "l.db") as ledger:
            charged = {entry.name for entry in ledger.journal.charges}
            assert set(told.read_text().split()) <= charged
            if count % 5 == 4 or count == kills - 1:
                assert ledger.verify() == 0
                for unit in (1, 63, units - 1):
                    costs = (unit % 64 / 64 for name in charged if unit in choose(units, int(name[1:])))
                    assert float(ledger.account(unit)["spent"]) == sum(costs)


def kill_migrations(units: int, kills: int, version: int, rng: random.Random, folder: Path) -> None:
    """One of the two ledgers can be charged, and has all that was spent."""
    whole, place = folder / "whole", folder / "killed"
    whole.mkdir()
    with Ledger.create(whole / "l.db", rows(np.arange(units)), budget="9", anchor=whole / "a", version=version, **MODE) as ledger:
        ledger.charge("one", SUM, rows(np.arange(units)))

    def work() -> None:
        with Ledger.open(place / "l.db", anchor=place / "a", secret=place / "l.db.key") as ledger:
            migrate(ledger, place / "new.db", anchor=place / "b", rotate=count % 2 == 0).close()

    took = 1.0
    for count in range(-1, kills):  # the first one shows how long it takes
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(whole, place)
        start, child = time.perf_counter(), fork(work, folder)
        if count < 0:
            os.waitpid(child, 0)
            took = time.perf_counter() - start
            continue
        time.sleep(rng.random() * took * 1.15)
        kill(child, folder)
        charged = 0
        for name, anchor in (("l.db", "a"), ("new.db", "b")):
            try:
                with Ledger.open(place / name, anchor=place / anchor, secret=place / f"{name}.key", partial=True) as ledger:
                    ledger.charge("two", SUM, rows(np.arange(units)))
                    assert ledger.verify() == 0
                    assert ledger.account(63)["spent"] == "1.96875"
                    charged += 1
            except PDPError:
                pass
        assert charged == 1
    shutil.rmtree(whole)


def main(units: int, kills: int, seed: int, folder: Path) -> None:
    """Kill charges, and migrations from both versions."""
    rng = random.Random(seed)
    kill_charges(units, kills, rng, folder)
    for version in (1, 2):
        kill_migrations(units, kills, version, rng, folder)
    print(f"{3 * kills} kills with {units} units")  # noqa: T201


if __name__ == "__main__":
    main(int(float(sys.argv[1])), int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
