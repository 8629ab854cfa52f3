"""Ledgers of many units, killed while SQLite copies the write-ahead log back: after a commit, and when they are closed.

``python -m tests.ledger.checkpoint_kills UNITS KILLS SEED [FOLDER]``: kills are counted that left the file between what it was and what it
is to be, until there are so many. Every charge that was told is in the log then, and accounts are the sums of the costs.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from accountant.ledger import Ledger
from tests.ledger.conftest import SUM
from tests.ledger.large_kills import MODE, choose, fork, rows

#: The files of a ledger that are put back before each kill, and how many kills there are between two checks of all accounts.
FILES = ("l.db", "l.db-wal", "l.db.key", "a")
_WHOLE = 25


@dataclass(frozen=True, slots=True)
class Dying:
    """Work in which a process is killed. ``state``: the files that it begins with; ``charged``: the charges in them."""

    work: Callable[[Path], None]
    state: dict[str, bytes]
    charged: int

    def run(self, folder: Path, moment: float | None) -> float:
        """Put the files back and do the work in a process, which is killed ``moment`` seconds after the database changed, unless that is
        None; return how long it went on after that.
        """
        for name in (*FILES, "l.db-shm"):
            (folder / name).unlink(missing_ok=True)
        for name, data in self.state.items():
            (folder / name).write_bytes(data)
        before = (folder / "l.db").stat().st_mtime_ns
        child = fork(lambda: self.work(folder), folder)
        while (folder / "l.db").stat().st_mtime_ns == before:
            assert os.waitpid(child, os.WNOHANG) == (0, 0), "a process ended, and had copied nothing back"
            time.sleep(0.0001)
        start = time.perf_counter()
        if moment is not None:
            time.sleep(moment)
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        assert not (folder / "failed").exists(), (folder / "failed").read_text()
        return time.perf_counter() - start


def charge(units: int, number: int) -> Callable[[Path], None]:
    """Return what charges all units, or all but one."""

    def work(folder: Path) -> None:
        with Ledger.open(folder / "l.db", anchor=folder / "a", secret=folder / "l.db.key", partial=True) as ledger:
            ledger.charge(f"c{number}", SUM, rows(choose(units, number)))

    return work


def close(folder: Path) -> None:
    """Open a ledger whose log was not copied back, and close it."""
    Ledger.open(folder / "l.db", anchor=folder / "a", secret=folder / "l.db.key", partial=True).close()


def read(folder: Path) -> dict[str, bytes]:
    """Return the files of a ledger."""
    return {name: (folder / name).read_bytes() for name in FILES if (folder / name).exists()}


def prepare(units: int, folder: Path) -> list[Dying]:
    """Return what is killed: a charge of all units, and of all but one, that commits; and a closing after three such charges."""
    Ledger.create(folder / "l.db", rows(np.arange(units)), budget="1000000", anchor=folder / "a", **MODE).close()
    made = [Dying(charge(units, number), read(folder), 0) for number in (0, 2)]
    with Ledger.open(folder / "l.db", partial=True) as ledger:
        ledger.journal.store.database.execute("PRAGMA wal_autocheckpoint = 0")
        for number in (0, 2, 3):
            ledger.charge(f"c{number}", SUM, rows(choose(units, number)))
        made.append(Dying(close, read(folder), 3))
    return made


def check(units: int, folder: Path, dying: Dying, *, whole: bool) -> None:
    """Nothing is lost, and nothing counted twice; and the ledger goes on."""
    with Ledger.open(folder / "l.db", anchor=folder / "a", secret=folder / "l.db.key", partial=True) as ledger:
        charged = [entry.name for entry in ledger.journal.charges]
        assert len(set(charged)) == len(charged)
        assert dying.charged <= len(charged) <= max(dying.charged, 1)
        for unit in (1, 63, units // 2 + 7, units - 1):
            costs = (unit % 64 / 64 for name in charged if unit in choose(units, int(name[1:])))
            assert float(ledger.account(unit)["spent"]) == sum(costs)
        if whole:
            assert ledger.verify() == 0
            ledger.charge("c4", SUM, rows(choose(units, 4)))
            assert ledger.verify() == 0


def main(units: int, kills: int, seed: int, folder: Path) -> None:
    """Kill until so many kills fell into a checkpoint, and print how many did."""
    rng, came, start = random.Random(seed), Counter[str](), time.perf_counter()
    (folder / "whole").mkdir()
    *charging, closing = prepare(units, folder / "whole")
    spans = {id(dying): min(dying.run(folder, None) for _ in range(3)) for dying in (*charging, closing)}
    while came["during a checkpoint"] < kills:
        number = came.total()
        dying = charging[number // 4 % 2] if number % 4 == 3 else closing
        dying.run(folder, rng.random() * spans[id(dying)])
        killed = (folder / "l.db").read_bytes()
        check(units, folder, dying, whole=number % _WHOLE == 0)  # and closes it, so that its log is copied back
        inside = number % _WHOLE > 0 and killed not in (dying.state["l.db"], (folder / "l.db").read_bytes())
        came["during a checkpoint" if inside else "outside, or not known"] += 1
    print(  # noqa: T201
        f"{came.total()} kills with {units} units, {came['during a checkpoint']} of them during a checkpoint (seed {seed}), "
        f"{time.perf_counter() - start:.0f} s"
    )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(dir=sys.argv[4] if len(sys.argv) > 4 else None) as made:
        main(int(float(sys.argv[1])), int(sys.argv[2]), int(sys.argv[3]), Path(made))
