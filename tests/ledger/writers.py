"""Processes that release from a ledger until they are killed, and write down what they were handed.

``python -m tests.ledger.writers LEDGER FOLDER KILLS WRITERS SEED FIRST`` forks them from one process, so that a death is in the middle of
work and not of loading Python.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
import traceback
from pathlib import Path

import numpy as np

from accountant.ledger import Ledger
from accountant.ledger.places import to_place
from profiles.mechanisms import LaplaceSum
from tests.ledger.conftest import PEOPLE


def work(place: str, folder: Path, first: int) -> None:
    """Release from number ``first`` on; a line in the file of this process for each output that was handed out."""
    handed = os.open(folder / f"handed.{os.getpid()}.{first}", os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    mechanism = LaplaceSum(b=8, radius=1, arithmetic="binary64")
    with Ledger.open(place, partial=True) as ledger:
        for number in range(first, first + 1000):
            output = ledger.run(f"release {number}", mechanism, PEOPLE, rng=np.random.default_rng(number))
            os.write(handed, f"{number} {float(output[0]).hex()}\n".encode())


def fork(place: str, folder: Path, first: int) -> int:
    """Return a process that works."""
    child = os.fork()
    if child:
        return child
    try:
        work(place, folder, first)
    except BaseException:
        (folder / f"failed.{os.getpid()}").write_text(traceback.format_exc())
    os._exit(1)


def wait(folder: Path, before: int) -> None:
    """Wait until more was handed out than ``before``, so that a slow machine kills no later in the work than a fast one; or one failed."""
    while measure(folder) <= before and not any(folder.glob("failed.*")):
        time.sleep(0.001)


def measure(folder: Path) -> int:
    """How much was handed out."""
    return sum(path.stat().st_size for path in folder.glob("handed.*"))


def kill(place: str, folder: Path, kills: int, writers: int, rng: random.Random, first: int) -> None:
    """Keep ``writers`` processes at work, and kill one after the other at random moments, ``kills`` in all."""
    to_place(place)  # loads what a writer needs before there are any
    alive = [fork(place, folder, first + 1000 * number) for number in range(writers)]
    started = writers
    for _ in range(kills):
        wait(folder, measure(folder))
        time.sleep(rng.random() * 0.12)
        victim = alive.pop(rng.randrange(len(alive)))
        os.kill(victim, signal.SIGKILL)
        os.waitpid(victim, 0)
        alive.append(fork(place, folder, first + 1000 * started))
        started += 1
    for process in alive:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)


if __name__ == "__main__":
    kill(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), random.Random(int(sys.argv[5])), int(sys.argv[6]))
