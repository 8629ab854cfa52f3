"""A death while SQLite copies its log back locks nobody out; and a file of another length than was written is refused when opened."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pytest

from accountant.ledger import Ledger
from accountant.ledger.write_ahead import list_pages
from profiles import UnreadableFile, declare
from profiles.errors import LedgerRejected

SUM = declare("sum", "w*z", record={"z": [0, 1]})
PEOPLE = 20_000


def people() -> pa.Table:
    """Many people, so that a charge makes the file longer."""
    return pa.table({"id": range(PEOPLE), "z": [(number * number % 9973) / 10**4 for number in range(PEOPLE)]})


def copy(source: Path, target: Path, database: bytes, log: bytes) -> None:
    """Put a ledger together as a death left it."""
    target.mkdir()
    for name in ("l.db.key", "anchor"):
        shutil.copy(source / name, target / name)
    (target / "l.db").write_bytes(database)
    (target / "l.db-wal").write_bytes(log)


@pytest.fixture
def states(tmp_path: Path) -> tuple[Path, bytes, bytes, bytes, int]:
    """The file before and after its log was copied back, the log, and the size of a page."""
    ledger = Ledger.create(tmp_path / "l.db", people(), budget=9, anchor=tmp_path / "anchor")
    ledger.close()
    short = (tmp_path / "l.db").read_bytes()
    with Ledger.open(tmp_path / "l.db") as ledger:
        database = ledger.journal.store.database
        database.execute("PRAGMA wal_autocheckpoint = 0")
        for number in range(3):
            ledger.charge(f"c{number}", SUM, people())
        log = (tmp_path / "l.db-wal").read_bytes()
        (page,) = database.find_row("PRAGMA page_size") or (0,)
        database.find_row("PRAGMA wal_checkpoint(PASSIVE)")
        full = (tmp_path / "l.db").read_bytes()
    assert len(full) > len(short)
    return tmp_path, short, full, log, page


@pytest.mark.thorough
def test_a_death_at_any_page_of_the_copy_locks_nobody_out(states: tuple[Path, bytes, bytes, bytes, int]) -> None:
    """The pages are written in the order of their numbers, the first with the new number of pages; a page may be torn."""
    folder, short, full, log, page = states
    for number, written in enumerate([0, 512, *range(page, len(full) + 1, page), len(full) - 100]):
        database = full[:written] + short[written:]
        copy(folder, folder / f"s{number}", database, log)
        place = folder / f"s{number}"
        with Ledger.open(place / "l.db", anchor=place / "anchor", secret=place / "l.db.key") as ledger:
            assert len(ledger.journal.charges) == 3
            assert ledger.verify() == 0
            assert ledger.charge("one more", SUM, people()).active.all()


def test_a_stranger_is_not_opened_by_its_log(states: tuple[Path, bytes, bytes, bytes, int], tmp_path: Path) -> None:
    """A file that is no ledger stays what it is, byte for byte, as does a log beside it that is no ledger's."""
    folder, _, full, log, _ = states
    changed = bytearray(log)
    while (at := bytes(changed).find(b"SQLite format 3\0")) >= 0:
        changed[at] ^= 1
    copy(folder, folder / "stranger", full[:100], bytes(changed))
    with pytest.raises(UnreadableFile, match="another file was found"):
        Ledger.open(folder / "stranger" / "l.db")
    assert (folder / "stranger" / "l.db").read_bytes() == full[:100]
    assert (folder / "stranger" / "l.db-wal").read_bytes() == bytes(changed)


def test_a_file_of_another_length_is_refused_when_it_is_opened(states: tuple[Path, bytes, bytes, bytes, int]) -> None:
    """Pages that are missing, and not in the log; and pages that nobody wrote, with a log and without one."""
    folder, _, full, _, page = states
    for number, database in enumerate((full[:-page], full[:-1], full + bytes(page), full + b"x")):
        copy(folder, folder / f"s{number}", database, b"")
        place = folder / f"s{number}"
        (place / "l.db-wal").unlink()
        with pytest.raises((LedgerRejected, UnreadableFile), match=r"damaged|another file"):
            Ledger.open(place / "l.db", anchor=place / "anchor", secret=place / "l.db.key")


def test_pages_that_are_missing_are_noticed_with_a_log_that_lacks_them(states: tuple[Path, bytes, bytes, bytes, int]) -> None:
    """SQLite takes the number of pages from the log, and would find the end of the file when it comes to it."""
    folder, short, _, log, page = states
    (folder / "log").write_bytes(log)
    lost = next(number for number in range(len(short) // page, 1, -1) if number not in list_pages(folder / "log"))
    copy(folder, folder / "cut", short[: (lost - 1) * page], log)
    place = folder / "cut"
    with pytest.raises(LedgerRejected, match="another length"):
        Ledger.open(place / "l.db", anchor=place / "anchor", secret=place / "l.db.key")
