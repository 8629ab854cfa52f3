"""Processes that release from a ledger until they are killed, and write down what they were handed.

``python -m tests.ledger.writers FOLDER KILLS WRITERS SEED FIRST`` forks them from one process, so that a death is in the middle of work
and not of loading Python.
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
from profiles.mechanisms import LaplaceSum
from tests.ledger.conftest import PEOPLE


def work(folder: Path, first: int) -> None:
    """Release from number ``first`` on; a line in the file of this process for each output that was handed out."""
    handed = os.open(folder / f"handed.{os.getpid()}.{first}", os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    mechanism = LaplaceSum(b=8, radius=1, arithmetic="binary64")
    with Ledger.open(folder / "l.db") as ledger:
        for number in range(first, first + 1000):
            output = ledger.run(f"release {number}", mechanism, PEOPLE, rng=np.random.default_rng(number))
            os.write(handed, f"{number} {float(output[0]).hex()}\n".encode())


def fork(folder: Path, first: int) -> int:
    """Return a process that works."""
    child = os.fork()
    if child:
        return child
    try:
        work(folder, first)
    except BaseException:
        (folder / f"failed.{os.getpid()}").write_text(traceback.format_exc())
    os._exit(1)


def kill(folder: Path, kills: int, writers: int, rng: random.Random, first: int) -> None:
    """Keep ``writers`` processes at work, and kill one after the other at random moments, ``kills`` in all."""
    alive = [fork(folder, first + 1000 * number) for number in range(writers)]
    started = writers
    for _ in range(kills):
        time.sleep(rng.random() * 0.12)
        victim = alive.pop(rng.randrange(len(alive)))
        os.kill(victim, signal.SIGKILL)
        os.waitpid(victim, 0)
        alive.append(fork(folder, first + 1000 * started))
        started += 1
    for process in alive:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)


if __name__ == "__main__":
    kill(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), random.Random(int(sys.argv[4])), int(sys.argv[5]))
