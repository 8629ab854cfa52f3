"""Real disks: no rights, no room. What is refused leaves everything as it was, and what is charged stays."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from accountant.ledger import Ledger
from profiles import PDPError, UnwritableOutput
from profiles.mechanisms import LaplaceSum
from tests.ledger.conftest import PEOPLE, SUM
from tests.ledger.test_faults import one_sentence, spending

ROOT = Path(__file__).parents[2]
#: What is taken away: of which file, and which rights are left.
RIGHTS = {
    "nothing": ("", 0o700),
    "writing the ledger": ("l.db", 0o400),
    "reading the ledger": ("l.db", 0o000),
    "writing the folder": (".", 0o500),
    "entering the folder": (".", 0o000),
    "writing the anchor": ("anchor", 0o400),
    "reading the anchor": ("anchor", 0o200),
    "reading the secret": ("l.db.key", 0o000),
    "making a ledger": (".", 0o555),
}


@pytest.fixture
def folder():
    """A folder that everybody reaches."""
    made = Path(tempfile.mkdtemp(prefix="pdp-ledger-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


def charge_as_somebody(*folders, **more):
    command = [sys.executable, "-m", "tests.ledger.somebody", *map(str, folders)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | more
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-800:]
    return json.loads(done.stdout)


def create(folder):
    """A ledger with two charges, and what it is."""
    folder.mkdir()
    with Ledger.create(folder / "l.db", PEOPLE, budget="9", anchor=folder / "anchor") as ledger:
        ledger.charge("one", SUM, PEOPLE)
        ledger.charge("two", SUM, PEOPLE)
        return ledger.journal.entries, spending(ledger)


def give(folder):
    if not os.geteuid():
        owner = pwd.getpwnam("nobody").pw_uid
        for path in (folder, *folder.iterdir()):
            os.chown(path, owner, -1)


@pytest.mark.thorough
def test_without_rights_nothing_is_charged_and_nothing_is_changed(folder):
    before = {}
    for number, (taken, (name, mode)) in enumerate(RIGHTS.items()):
        place = folder / str(number)
        if taken == "making a ledger":
            place.mkdir()
        else:
            before[taken] = create(place)
        give(place)
        if name:
            (place / name).chmod(mode)
    new = {"making a ledger": "new:"}
    told = charge_as_somebody(*(f"{new.get(taken, '')}{folder / str(number)}" for number, taken in enumerate(RIGHTS)))
    assert told[0] == ["charged", ""]
    for number, (taken, (name, _)) in enumerate(RIGHTS.items()):
        kind, text = told[number]
        place = folder / str(number)
        if not name:
            continue
        assert kind in ("UnwritableOutput", "UnreadableFile"), (taken, kind, text)
        assert one_sentence(text), (taken, text)
        place.chmod(0o700)
        (place / name).chmod(0o700)
        if taken == "making a ledger":
            assert list(place.iterdir()) == []
            continue
        with Ledger.open(place / "l.db") as ledger:
            assert (ledger.journal.entries, spending(ledger)) == before[taken]
            assert ledger.verify() == 0


@pytest.mark.thorough
def test_a_file_that_may_not_grow_charges_nothing(folder):
    before = create(folder / "l")
    give(folder / "l")
    for room in (0, 15_000, 30_000):  # less than the pages that a charge writes
        ((kind, text),) = charge_as_somebody(folder / "l", ROOM=str(room))
        assert kind == "UnwritableOutput", text
        assert one_sentence(text)
        with Ledger.open(folder / "l" / "l.db") as ledger:
            assert (ledger.journal.entries, spending(ledger)) == before
            assert ledger.verify() == 0
    assert charge_as_somebody(folder / "l", ROOM="10000000") == [["charged", ""]]


@pytest.fixture
def disk(folder):
    """A disk of four megabytes."""
    place = folder / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "none", str(place)]
    if os.geteuid() or not shutil.which("mount") or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a small disk is mounted for this test, which takes the rights of root")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.mark.thorough
def test_on_a_full_disk_a_charge_is_whole_or_not_there_and_nothing_is_run_without_it(disk):
    runs = []

    class Counting(LaplaceSum):
        def run(self, *arguments):
            runs.append(1)
            return super().run(*arguments)

    mechanism = Counting(b=4, radius=1)
    Ledger.create(disk / "l.db", PEOPLE, budget="9", anchor=disk / "anchor").close()
    refused = charged = published = 0
    for number, room in enumerate((0, 1, 4, 8, 12, 16, 17, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256)):  # pages of 4,096 bytes
        with (disk / "filler").open("wb") as filler, Ledger.open(disk / "l.db") as ledger:
            pages = os.statvfs(disk).f_bavail - room
            filler.write(bytes(4096 * max(pages, 0)))
            filler.flush()
            done = len(runs)
            try:
                ledger.run(f"release {number}", mechanism, PEOPLE)
            except PDPError as error:
                told = str(error)
            else:
                told = ""
        (disk / "filler").unlink()
        assert not told or one_sentence(told)
        refused += bool(told)
        with Ledger.open(disk / "l.db") as ledger:
            assert ledger.verify() == 0
            found = [ledger.journal.find(kind, f"release {number}") is not None for kind in ("charge", "output")]
        charged, published = charged + found[0], published + found[1]
        assert found[1] == (not told)
        assert len(runs) - done <= found[0]
    assert refused > 2
    assert published > 2
    assert charged >= published


def test_an_anchor_without_room_keeps_the_charge_and_is_completed_later(folder, monkeypatch):
    """The disk of the anchor is full in the middle of a line: /dev/full would take none of it."""
    create(folder / "l")
    with Ledger.open(folder / "l" / "l.db") as ledger:
        sync = os.fsync

        def fail(handle):
            os.truncate(folder / "l" / "anchor", (folder / "l" / "anchor").stat().st_size - 40)
            sync(handle)
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", fail)
        with pytest.raises(UnwritableOutput, match="the charge stays, and nothing was run"):
            ledger.charge("three", SUM, PEOPLE)
        monkeypatch.undo()
    with Ledger.open(folder / "l" / "l.db") as ledger:
        assert [entry.name for entry in ledger.journal.charges] == ["one", "two", "three"]
        assert ledger.verify() == 0
    assert (folder / "l" / "anchor").read_text(encoding="utf-8").endswith(" charge 'three'\n")
