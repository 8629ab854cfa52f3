"""Killed at random moments, with four writers: no output without a durable charge, nobody over budget, accounts as the log says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from accountant.ledger import Ledger
from accountant.ledger.anchor import Anchor
from accountant.ledger.release import LedgerRelease
from accountant.ledger.store import Store
from profiles.errors import ReleaseUsed
from profiles.mechanisms import LaplaceSum
from tests.ledger.conftest import PEOPLE

ROOT = Path(__file__).parents[2]
KILLS = int(os.environ.get("KILLS", "1000"))


def check(place, folder):
    """Everything that was handed out is a published output of a durable charge, and the accounts are the fold of the log."""
    with Ledger.open(place, partial=True) as ledger:
        assert ledger.verify() == 0
        if not ledger.settings.table:  # whose units verify has compared with their budgets
            for _, spent, budgets in ledger.journal.accounts.list_state(ledger.journal.entries):
                assert (spent <= budgets).all()
        for path in folder.glob("handed.*"):
            for line in path.read_text().splitlines():
                number, value = line.split()
                charge, output = (ledger.journal.find(kind, f"release {number}") for kind in ("charge", "output"))
                assert charge is not None
                assert output is not None
                assert charge.sequence < output.sequence
                assert float(ledger.output(f"release {number}")[0]).hex() == value
        return len(ledger.journal.entries)


def kill_writers(place, folder, kills, seed):
    """Kill one of four writers after the other, and check what is left every hundred kills."""
    for start in range(0, kills, 100):
        words = (place, folder, min(100, kills - start), 4, seed + start, 2000 * start)
        command = [sys.executable, "-m", "tests.ledger.writers", *map(str, words)]
        done = subprocess.run(
            command, cwd=ROOT, env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr.decode()[-500:]
        failed = [path.read_text()[-800:] for path in folder.glob("failed.*")]
        assert not failed, failed[0]
        check(place, folder)
        for path in folder.glob("handed.*"):
            path.unlink()


@pytest.mark.thorough
def test_killed_writers_leave_a_whole_ledger(make, where, tmp_path):
    make(PEOPLE, budget="3").close()
    kill_writers(where("l"), tmp_path, 20, 1)
    assert check(where("l"), tmp_path) > 20


@pytest.mark.slow
def test_a_thousand_kills(make, where, tmp_path):
    for part in range(0, KILLS, 250):  # a ledger of some thousand releases each
        name = f"l{part}"
        make(PEOPLE, budget="300", name=name).close()
        folder = tmp_path / name
        folder.mkdir()
        kill_writers(where(name), folder, min(250, KILLS - part), 1000 + part)
        print(f"{min(part + 250, KILLS)} kills, {check(where(name), folder)} entries in the last ledger")  # noqa: T201


class Death(BaseException):
    """A process that dies: nothing after it runs."""


STEPS = ("write_entry", "append", "run", "write_output", "publish")


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("after", [False, True])
def test_a_death_at_each_step_loses_budget_and_never_privacy(make, where, monkeypatch, step, after):
    """L4, step by step: the process dies before or after it."""
    make(PEOPLE, budget="3").close()
    runs = []

    class Counting(LaplaceSum):
        def run(self, *arguments):
            with Ledger.open(where("l")) as other:  # what is durable when the mechanism runs
                assert other.journal.find("charge", "one") is not None
            runs.append(1)
            return super().run(*arguments)

    owner = {"write_entry": Store, "append": Anchor, "run": Counting, "write_output": Store, "publish": LedgerRelease}[step]
    true = getattr(owner, step)

    def die(self, *arguments):
        if after:
            true(self, *arguments)
        raise Death

    ledger = Ledger.open(where("l"))
    monkeypatch.setattr(owner, step, die)
    with pytest.raises(Death):
        ledger.run("one", Counting(b=2, radius=1, arithmetic="binary64"), PEOPLE, rng=np.random.default_rng(1))
    monkeypatch.undo()
    ledger.close()
    with Ledger.open(where("l")) as ledger:
        assert ledger.verify() == 0
        charged = ledger.journal.find("charge", "one") is not None
        published = ledger.journal.find("output", "one") is not None
        assert charged == (step != "write_entry")
        assert published == (step == "publish" and after)
        assert ledger.account("cleo")["spent"] == ("0.5" if charged else "0")
        before = len(runs)
        mechanism = Counting(b=2, radius=1, arithmetic="binary64")
        if published:
            assert ledger.run("one", mechanism, PEOPLE).shape == (1,)
        elif charged:
            with pytest.raises(ReleaseUsed):
                ledger.run("one", mechanism, PEOPLE)
        assert len(runs) == before
        assert len(runs) <= int(charged)
