"""A death at each statement and each flush of what is rarer than a charge: opening, raising, restoring, migrating."""

from __future__ import annotations

import os
import shutil

import pytest

from accountant.ledger import Ledger
from accountant.ledger.backup import back_up, migrate, restore
from accountant.ledger.sqlite import FileDatabase
from profiles import PDPError
from tests.ledger.conftest import PEOPLE, SUM

DEAD, FAILED = 7, 9


def live(act, folder, number):
    """Do something in a process that dies at the statement or flush with this number; return whether it came to its end."""
    child = os.fork()
    if not child:
        count, execute, fsync = 0, FileDatabase.execute, os.fsync

        def step():
            nonlocal count
            count += 1
            if count == number:
                os._exit(DEAD)

        def statement(self, *words):
            step()
            execute(self, *words)
            step()

        def flush(handle):
            step()
            fsync(handle)
            step()

        FileDatabase.execute, os.fsync = statement, flush
        try:
            act(folder)
        except BaseException:  # nothing of this process goes on in pytest
            os._exit(FAILED)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, DEAD)
    return code == 0


def deaths(act, tmp_path, prepare, every):
    """Yield the folder after each death, and after none."""
    done, number = False, 1
    while not done:
        folder = tmp_path / str(number)
        folder.mkdir()
        prepare(folder)
        done, number = live(act, folder, number), number + every
        yield folder, done


def nothing(_):
    """There is nothing before."""


def charged(folder):
    with Ledger.create(folder / "l.db", PEOPLE, budget=3, anchor=folder / "anchor") as ledger:
        ledger.charge("one", SUM, PEOPLE)
        back_up(ledger, folder / "log")


def tell(place, **files):
    """What a ledger says of itself after it was repaired; None for one that is refused."""
    try:
        with Ledger.open(place, **files) as ledger:
            ledger.verify(repair=True)
            assert ledger.verify() == 0
            told = ledger.account("cleo")
            if not ledger.is_raised:  # without a cap there is no bound then, and nobody asks for one
                assert float(told["budget"]) == ledger.guarantee().bound.epsilon
            return len(ledger.journal.entries), told["spent"], told["budget"]
    except PDPError:
        return None


def test_an_opening_is_whole_or_refused(tmp_path):
    def create(folder):
        Ledger.create(folder / "l.db", PEOPLE, budget=3, anchor=folder / "anchor").close()

    found = {tell(folder / "l.db") for folder, _ in deaths(create, tmp_path, nothing, 16)}
    assert found == {None, (1, "0", "3")}


@pytest.mark.thorough
def test_budgets_are_raised_together_with_the_guarantee(tmp_path):
    def lift(folder):
        with Ledger.open(folder / "l.db") as ledger:
            ledger.raise_budget(5, PEOPLE)

    found = {tell(folder / "l.db") for folder, _ in deaths(lift, tmp_path, charged, 1)}
    assert found == {(2, "1", "3"), (3, "1", "5")}


@pytest.mark.thorough
def test_half_a_restored_ledger_is_refused_or_repaired(tmp_path):
    def prepare(folder):
        charged(folder)
        (folder / "l.db").unlink()

    def again(folder):
        restore(folder / "r.db", folder / "log", anchor=folder / "anchor", secret=folder / "l.db.key")[0].close()

    for folder, done in deaths(again, tmp_path, prepare, 4):
        found = tell(folder / "r.db", anchor=folder / "anchor", secret=folder / "l.db.key")
        assert found == (2, "1", "3") if done else found in (None, (2, "1", "3"))


@pytest.mark.thorough
def test_a_migration_loses_nothing_and_its_success_is_told_once_the_old_ledger_ended(tmp_path):
    def move(folder):
        with Ledger.open(folder / "l.db") as ledger:
            migrate(ledger, folder / "n.db", anchor=folder / "n.anchor").close()

    for folder, done in deaths(move, tmp_path, charged, 4):
        old, new = tell(folder / "l.db"), tell(folder / "n.db")
        assert old in ((2, "1", "3"), (3, "1", "3"))
        assert new == (1, "1", "3") if done or old[0] == 3 else new in (None, (1, "1", "3"))
        if old[0] == 2:  # as the page says: what is new is removed, and it is migrated again
            for path in folder.glob("n.*"):
                path.unlink()
            move(folder)
        with Ledger.open(folder / "l.db") as ledger, pytest.raises(PDPError, match="charged no more"):
            ledger.charge("two", SUM, PEOPLE)
        with Ledger.open(folder / "n.db") as ledger:
            assert ledger.charge("two", SUM, PEOPLE).active.all()
        shutil.rmtree(folder)
