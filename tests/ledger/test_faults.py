"""Crashes, damage, old copies and edits: refused or repaired, in one sentence (docs/ledger.md, sections 3 to 5)."""

from __future__ import annotations

import os
import shutil
import sqlite3
from datetime import datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from accountant.ledger import Ledger, settings
from accountant.ledger.anchor import Anchor
from accountant.ledger.backup import back_up, migrate, restore
from accountant.ledger.database import NEWEST
from accountant.ledger.report import report_public
from accountant.ledger.settings import LedgerSettings
from profiles import InvalidArgument, InvalidData, PDPError, UnreadableFile, UnwritableOutput, declare
from profiles.errors import LedgerRejected, OverBudget, ReleaseUsed
from profiles.mechanisms import LaplaceSum
from tests.ledger.conftest import PEOPLE, SUM, in_chunks, in_files, table


def spending(ledger):
    """What everybody spent and may spend, also in a ledger that is refused because it is older than its anchor."""
    journal = ledger.journal
    return {name: journal.accounts.look_up(journal.accounts.hash_text(name)) for name in PEOPLE["id"].to_pylist()}


def one_sentence(error):
    """Whether an error, or its text, is one."""
    return str(error).count("\n") == 0 and ("; " in str(error) or ": " in str(error)) and len(str(error)) < 400


@pytest.fixture(params=[in_files, in_chunks])
def where(request):
    """These faults are those of files; test_server.py has those of servers."""
    return request.param(request)


@pytest.fixture
def files(tmp_path, make):
    """A closed ledger with two charges and an output."""
    ledger = make(budget="1.5")
    ledger.charge("one", SUM, PEOPLE)
    ledger.run("two", LaplaceSum(b=2, radius=1), PEOPLE)
    ledger.charge("three", SUM, PEOPLE)
    ledger.close()
    return tmp_path / "l.db", tmp_path / "l.anchor"


def test_an_opened_ledger_is_what_was_closed(files):
    with Ledger.open(files[0]) as ledger:
        assert [entry.kind for entry in ledger.journal.entries] == ["open", "charge", "charge", "output", "charge"]
        assert ledger.account("cleo") == {"spent": "1.5", "budget": "1.5", "left": "0"}
        assert ledger.verify() == 0


@pytest.mark.parametrize("act", ["DELETE FROM {}", "UPDATE {} SET seq = seq + 1"])
@pytest.mark.parametrize("table", ["log", "changes", "outputs"])
def test_history_is_neither_changed_nor_deleted(files, act, table):
    with sqlite3.connect(files[0]) as database, pytest.raises(sqlite3.IntegrityError, match="history"):
        database.execute(act.format(table))


EDITS = {
    "a charge is taken out": ["DROP TRIGGER log_delete", "DELETE FROM log WHERE seq = 4"],
    "a charge is taken out, and the trigger is put back": "log",
    "a worst cost is lowered": ["DROP TRIGGER log_update", "UPDATE log SET body = replace(body, 'w*z', 'w*z/9') WHERE seq = 1"],
    "a trigger is missing": ["DROP TRIGGER changes_update"],
    "a version of the future": ["PRAGMA user_version = 3"],
    "another database": ["PRAGMA application_id = 7"],
    "another table": ["CREATE TABLE more (x)"],
}


@pytest.mark.parametrize("edit", EDITS)
def test_edited_history_is_refused(files, edit):
    with sqlite3.connect(files[0]) as database:
        if isinstance(EDITS[edit], str):  # behind the back of the trigger
            (text,) = database.execute("SELECT sql FROM sqlite_master WHERE name = 'log_delete'").fetchone()
            database.execute("DROP TRIGGER log_delete")
            database.execute("DELETE FROM log WHERE seq = 4")
            database.execute(text)
        else:
            for statement in EDITS[edit]:
                database.execute(statement)
    with pytest.raises(PDPError) as refused, Ledger.open(files[0]) as ledger:
        ledger.verify()
    assert one_sentence(refused.value)


@pytest.mark.parametrize("table", ["segments", "runs", "ids"])
def test_hashes_of_units_are_neither_changed_nor_deleted(files, table):
    with sqlite3.connect(files[0]) as database:
        if not database.execute(f"SELECT count(*) FROM sqlite_master WHERE name = '{table}'").fetchone()[0]:
            pytest.skip("version 1 has one table of hashes")
        if table == "segments":
            blob = bytes(16)
            database.execute("INSERT INTO segments VALUES (7000, 9, ?, ?, ?)", (blob, blob, blob))
        with pytest.raises(sqlite3.IntegrityError, match="history"):
            database.execute(f"DELETE FROM {table}")


def test_lowered_spending_is_refused_at_the_next_charge_and_repaired_from_the_log(files):
    with Ledger.open(files[0]) as ledger:
        before, paged = spending(ledger), ledger.journal.store.database.version == NEWEST
    with sqlite3.connect(files[0]) as database:
        if paged:
            (body,) = database.execute("SELECT body FROM accounts WHERE page = 0").fetchone()
            database.execute("UPDATE accounts SET body = ? WHERE page = 0", (body[:24] + bytes(len(body) - 24),))
        else:
            (spent,) = database.execute("SELECT spent FROM accounts").fetchone()
            database.execute("UPDATE accounts SET spent = ?", (spent[:6] + bytes(len(spent) - 6),))
    with Ledger.open(files[0]) as ledger:
        with pytest.raises(LedgerRejected, match="verify --repair"):
            ledger.charge("four", SUM, PEOPLE)
        with pytest.raises(LedgerRejected, match="verify --repair"):
            ledger.verify()
        assert ledger.verify(repair=True) == 1
        assert spending(ledger) == before
        ledger.charge("four", SUM, PEOPLE)


def test_accounts_of_an_earlier_day_are_refused_though_their_seal_is_right(files):
    with sqlite3.connect(files[0]) as database:
        columns = [row[1] for row in database.execute("PRAGMA table_info(accounts)")]
        old = database.execute("SELECT * FROM accounts").fetchall()
    with Ledger.open(files[0]) as ledger:
        ledger.charge("four", SUM, PEOPLE)
    with sqlite3.connect(files[0]) as database:
        for row in old:
            database.execute(f"UPDATE accounts SET {', '.join(f'{name} = ?' for name in columns)} WHERE {columns[0]} = ?", (*row, row[0]))
    with Ledger.open(files[0]) as ledger:
        with pytest.raises(LedgerRejected, match="not what was written"):
            ledger.charge("five", SUM, PEOPLE)
        with pytest.raises(LedgerRejected, match="not what was written"):
            ledger.account("ada")


def test_an_old_copy_is_refused_and_what_is_lost_is_named(files, tmp_path):
    shutil.copy(files[0], tmp_path / "old.db")
    with Ledger.open(files[0]) as ledger:
        ledger.charge("four", SUM, PEOPLE)
    shutil.copy(tmp_path / "old.db", files[0])
    with pytest.raises(LedgerRejected, match=r"entry 5 \(charge 'four'\)"):
        Ledger.open(files[0])


def test_two_copies_cannot_both_go_on(files, tmp_path):
    shutil.copy(files[0], tmp_path / "copy.db")
    with Ledger.open(files[0]) as ledger, Ledger.open(tmp_path / "copy.db") as copy:
        ledger.charge("four", SUM, PEOPLE)
        with pytest.raises(LedgerRejected):
            copy.charge("four again", SUM, PEOPLE)
    shutil.copy(files[1], tmp_path / "other.anchor")
    with pytest.raises(LedgerRejected, match="older than its anchor"):
        Ledger.open(tmp_path / "copy.db")


def test_copies_that_went_on_with_anchors_of_their_own_are_told_apart(files, tmp_path):
    anchors = [files[1], tmp_path / "copy.anchor"]
    shutil.copy(files[1], anchors[1])
    ledgers = [files[0], tmp_path / "copy.db"]
    shutil.copy(files[0], ledgers[1])
    for number, (place, anchor) in enumerate(zip(ledgers, anchors, strict=True)):
        with Ledger.open(place, anchor=anchor, secret=f"{files[0]}.key") as ledger:
            ledger.charge(f"four {number}", SUM, PEOPLE)
    for place, anchor in zip(ledgers, reversed(anchors), strict=True):
        with pytest.raises(LedgerRejected, match="two copies of it went on") as refused:
            Ledger.open(place, anchor=anchor)
        assert one_sentence(refused.value)


def test_the_anchor_is_appended_to_where_a_process_died_before_it(files):
    text = files[1].read_text(encoding="utf-8")
    *whole, last = text.splitlines(keepends=True)
    for torn in range(len(last)):
        files[1].write_text("".join(whole) + last[:torn], encoding="utf-8")
        with Ledger.open(files[0]):
            pass
        assert files[1].read_text(encoding="utf-8") == text


def test_a_line_that_is_in_the_anchor_is_not_appended_again(files):
    text = files[1].read_text(encoding="utf-8")
    with Ledger.open(files[0]) as ledger:
        ledger.journal.anchor.append(ledger.journal.entries[-1])
    assert files[1].read_text(encoding="utf-8") == text


def test_other_anchors_are_refused(files, tmp_path, make):
    text = files[1].read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    wrong = [
        "".join(lines[:-2]),
        text.replace(" charge 'one'", " charge 'ore'"),
        "".join([lines[0], *lines[2:]]),
        text + "x",
        text.replace("anchor 1", "anchor 2"),
        "",
        lines[0].replace(lines[0].split()[2], "0" * 32) + "".join(lines[1:]),
    ]
    for other in wrong:
        files[1].write_text(other, encoding="utf-8")
        with pytest.raises(LedgerRejected) as refused:
            Ledger.open(files[0])
        assert one_sentence(refused.value)
    files[1].unlink()
    with pytest.raises(UnreadableFile, match="--anchor"):
        Ledger.open(files[0])
    moved = tmp_path / "moved.anchor"
    moved.write_text(text, encoding="utf-8")
    with Ledger.open(files[0], anchor=moved):
        pass
    with Ledger.open(files[0]) as ledger:  # it is remembered
        assert ledger.journal.anchor.path == moved


def test_the_secret_is_needed_and_is_the_right_one(files, tmp_path, make):
    key = Path(f"{files[0]}.key")
    right = key.read_text(encoding="ascii")
    assert key.stat().st_mode & 0o777 == 0o600
    key.unlink()
    with pytest.raises(UnreadableFile, match="not there"):
        Ledger.open(files[0])
    for wrong in ("", "zz", right[:-3], "é"):
        key.write_text(wrong, encoding="utf-8")
        with pytest.raises(UnreadableFile):
            Ledger.open(files[0])
    key.write_text("0" * 64, encoding="ascii")
    with pytest.raises(InvalidArgument, match="another one"):
        Ledger.open(files[0])


def test_no_id_is_in_any_file(tmp_path, make):
    ledger = make(pa.table({"id": ["adalovelace", "alanturing"], "z": [0.5, 0.5]}))
    ledger.charge("one", SUM, pa.table({"id": ["adalovelace"], "z": [0.5]}))
    back_up(ledger, tmp_path / "log")
    ledger.close()
    for path in tmp_path.iterdir():
        assert b"lovelace" not in path.read_bytes(), path


def test_a_full_disk_charges_nothing(files, monkeypatch):
    with Ledger.open(files[0]) as ledger:
        before = spending(ledger)
        database = ledger.journal.store.database
        database.execute("PRAGMA max_page_count = 1")
        many = pa.table({"id": np.arange(40_000), "z": np.random.default_rng(0).random(40_000)})
        with pytest.raises(UnwritableOutput, match="disk is full"):
            ledger.charge("four", SUM, many)
        database.execute("PRAGMA max_page_count = 1000000")
        assert spending(ledger) == before
        assert ledger.verify() == 0
        ledger.charge("four", SUM, PEOPLE)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("which", ["the anchor", "the secret", "the ledger", "the backup"])
@pytest.mark.parametrize("kind", ["a pipe", "a device"])
def test_what_is_no_regular_file_is_refused_and_not_read(files, tmp_path, which, kind):
    """A pipe would be waited for, and a device read until memory is full."""
    names = {"the anchor": files[1], "the secret": Path(f"{files[0]}.key"), "the ledger": files[0], "the backup": tmp_path / "log"}
    path = names[which]
    path.unlink(missing_ok=True)
    if kind == "a pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    options = {"anchor": files[1], "secret": names["the secret"]}
    with pytest.raises(UnreadableFile, match="is not a regular file; name another one") as refused:
        restore(tmp_path / "new.db", path, **options) if which == "the backup" else Ledger.open(files[0])
    assert one_sentence(refused.value)
    assert which in str(refused.value)


def test_an_anchor_that_cannot_be_written_runs_nothing(files, monkeypatch):
    runs = []

    class Counting(LaplaceSum):
        def run(self, *arguments):
            runs.append(1)
            return super().run(*arguments)

    def fail(self, entry):
        raise UnwritableOutput("the anchor could not be appended to (no space); nothing was run")

    with Ledger.open(files[0]) as ledger:
        monkeypatch.setattr(Anchor, "append", fail)
        with pytest.raises(UnwritableOutput):
            ledger.run("four", Counting(b=2, radius=1), PEOPLE)
        monkeypatch.undo()
        with pytest.raises(ReleaseUsed):
            ledger.run("four", Counting(b=2, radius=1), PEOPLE)
        assert not runs


def test_files_without_rights_are_refused(files, tmp_path, monkeypatch):
    connect = sqlite3.connect

    def connect_to_read(path, **options):
        return connect(path, **options) if "uri" in options else connect(f"file:{path}?mode=ro", uri=True, **options)

    monkeypatch.setattr(sqlite3, "connect", connect_to_read)
    with pytest.raises(UnwritableOutput) as refused, Ledger.open(files[0]) as ledger:
        ledger.charge("four", SUM, PEOPLE)
    assert one_sentence(refused.value)


def test_other_files_are_refused_and_not_touched(tmp_path, files):
    for content in (b"", b"a,b\n1,2\n", b"SQLite format 3\x00" + bytes(200)):
        other = tmp_path / "other"
        other.write_bytes(content)
        with pytest.raises(PDPError) as refused:
            Ledger.open(other)
        assert one_sentence(refused.value)
        assert other.read_bytes() == content
    with pytest.raises(UnreadableFile, match="does not exist"):
        Ledger.open(tmp_path / "nothing")


@pytest.mark.thorough
def test_a_replayed_name_is_refused_or_served_and_never_run_again(files, tmp_path):
    """In the same ledger, in another one that is open, after it was opened again, and after it was restored."""
    runs = []

    class Counting(LaplaceSum):
        def run(self, *arguments):
            runs.append(1)
            return super().run(*arguments)

    def replay(ledger):
        before = spending(ledger)
        for name in ("one", " one", "three\u0020"):  # charged, and never published
            for act in (ledger.charge, ledger.run, ledger.release):
                with pytest.raises(ReleaseUsed) as refused:
                    act(name, SUM if act == ledger.charge else Counting(b=8, radius=1), PEOPLE)
                assert one_sentence(refused.value)
        with pytest.raises(ReleaseUsed, match="ask for that"):
            ledger.charge("two", SUM, PEOPLE)
        with pytest.raises(ReleaseUsed, match="another mechanism"):
            ledger.run("two", Counting(b=8, radius=1), PEOPLE)
        assert (ledger.run(" two ", LaplaceSum(b=2, radius=1), PEOPLE) == ledger.output("two")).all()
        assert spending(ledger) == before
        assert not runs

    with Ledger.open(files[0]) as first, Ledger.open(files[0]) as second:
        first.charge("late", SUM, table(zoe=0.5))
        with pytest.raises(ReleaseUsed):
            second.charge("late", SUM, table(zoe=0.5))
        replay(first)
        replay(second)
        back_up(first, tmp_path / "log")
    restored, lost = restore(tmp_path / "r.db", tmp_path / "log", anchor=files[1], secret=tmp_path / "l.db.key")
    with restored:
        assert not lost
        replay(restored)


def test_a_clock_that_is_set_back_does_not_set_the_log_back(files, monkeypatch):
    class Clock(datetime):
        @classmethod
        def now(cls, zone=None):
            return datetime(1999, 1, 1, tzinfo=zone)

    monkeypatch.setattr(settings, "datetime", Clock)
    with Ledger.open(files[0]) as ledger:
        ledger.charge("four", SUM, PEOPLE)
        times = [entry.body["time"] for entry in ledger.journal.entries]
        assert times[-1] == "1999-01-01T00:00:00Z" < "2020" < times[-2]
        assert [item["sequence"] for item in report_public(ledger)["entries"] if "clock_went_back" in item] == [len(times) - 1]
        assert ledger.verify() == 0


def test_a_clock_that_jumped_ahead_does_not_freeze_times(files, monkeypatch):
    class Clock(datetime):
        year_now = 2999

        @classmethod
        def now(cls, zone=None):
            return datetime(cls.year_now, 1, 1, tzinfo=zone)

    monkeypatch.setattr(settings, "datetime", Clock)
    with Ledger.open(files[0]) as ledger:
        ledger.charge("four", SUM, PEOPLE)
        Clock.year_now = 2030
        ledger.charge("five", SUM, PEOPLE)
        Clock.year_now = 2031
        ledger.charge("six", SUM, PEOPLE)
        assert [entry.body["time"][:4] for entry in ledger.journal.charges[-3:]] == ["2999", "2030", "2031"]
        assert ledger.verify() == 0


def test_whether_a_charge_is_durable_is_not_said_where_it_is_not_known(files):
    class Failing:
        def __init__(self, true, text):
            self.true, self.text = true, text

        def execute(self, statement, values=()):
            if statement == "COMMIT":
                raise sqlite3.OperationalError(self.text)
            return self.true.execute(statement, values)

        def executemany(self, statement, rows):
            return self.true.executemany(statement, rows)

        def close(self):
            self.true.close()

    for text, known in (("disk I/O error", False), ("database or disk is full", True)):
        with Ledger.open(files[0]) as ledger:
            database = ledger.journal.store.database
            database._connection = Failing(database._connection, text)
            with pytest.raises(UnwritableOutput) as refused:
                ledger.charge(text, SUM, PEOPLE)
            assert ("is durable is not known" in str(refused.value)) is not known
            assert ("nothing was written" in str(refused.value)) is known


def test_a_charge_that_public_numbers_refuse_is_logged(make, tmp_path, where):
    ledger = make(PEOPLE, mode="public", budget="1.01", partial=False)
    ledger.charge("one", SUM, PEOPLE)
    for _ in range(2):
        with pytest.raises(OverBudget):
            ledger.charge("two", SUM, PEOPLE)
    found = ledger.journal.select("refused")
    assert [entry.name for entry in found] == ["two", "two"]
    body = found[0].body
    assert body["decided_by"] == "the smallest budget"
    assert float(body["before"]["left"]) < float(body["cost"])
    less = declare("less", "w*z/200", record={"z": [0, 1]})
    with pytest.raises(InvalidData):  # which the data decide: the log is public
        ledger.charge("three", less, table(ada=2.0))
    assert ledger.journal.entries[-1].kind == "refused"
    ledger.charge("two", less, PEOPLE)  # the name is free
    told = report_public(ledger)["entries"]
    assert [item["kind"] for item in told] == ["open", "charge", "refused", "refused", "charge"]
    assert ledger.verify() == 0
    back_up(ledger, tmp_path / "log")
    made, lost = restore(tmp_path / "again.db", tmp_path / "log", anchor=ledger.journal.anchor.path, secret=tmp_path / "l.db.key")
    with made:
        assert not lost
        assert len(made.journal.select("refused")) == 2


def test_a_backup_is_a_ledger_again(files, tmp_path):
    log = tmp_path / "log"
    with Ledger.open(files[0]) as ledger:
        before = spending(ledger)
        assert back_up(ledger, log) == 5
        output = ledger.output("two")
    key = Path(f"{files[0]}.key")
    made, lost = restore(tmp_path / "new.db", log, anchor=files[1], secret=key)
    with made:
        assert lost == ""
        assert spending(made) == before
        assert np.array_equal(made.output("two"), output)
        made.charge("four", SUM, PEOPLE, partial=True)
        assert made.verify() == 0


def test_migration_goes_on_from_the_old_head(files, tmp_path):
    with Ledger.open(files[0]) as old, migrate(old, tmp_path / "new.db", anchor=tmp_path / "new.anchor") as new:
        assert new.settings.continues == old.journal.entries[-2].hash.hex()
        assert spending(new) == spending(old)
        assert new.settings.spent.to_body() == old.journal.charges[-1].body["spent"]
        small = declare("small", "w*z/9", record={"z": [0, 1]})
        assert new.charge("next", small, PEOPLE).active.tolist() == [True, True, False, True, True]  # cleo had spent all
        assert new.verify() == 0


@pytest.mark.thorough
def test_a_migrated_ledger_is_charged_no_more(files, tmp_path):
    """Both together would be two budgets."""

    def refuse(old):
        before = spending(old)
        acts = (
            lambda: old.charge("next", SUM, PEOPLE),
            lambda: old.run("next", LaplaceSum(b=8, radius=1), PEOPLE),
            lambda: old.raise_budget("9", PEOPLE),
            lambda: migrate(old, tmp_path / "newer.db", anchor=tmp_path / "newer.anchor"),
        )
        for act in acts:
            with pytest.raises(LedgerRejected, match="is charged no more") as refused:
                act()
            assert one_sentence(refused.value)
        assert not list(tmp_path.glob("newer*"))
        assert spending(old) == before
        assert old.output("two").shape == (1,)
        assert old.verify() == 0
        assert report_public(old)["entries"][6]["kind"] == "end"

    with Ledger.open(files[0]) as old:
        waiting = old.release("waiting", LaplaceSum(b=8, radius=1), PEOPLE)
        migrate(old, tmp_path / "new.db", anchor=tmp_path / "new.anchor").close()
        refuse(old)
        with waiting:  # charged before, so that its output may be stored
            waiting.publish(waiting.active_data.shape[1])
        back_up(old, tmp_path / "log")
    with Ledger.open(files[0]) as old:
        refuse(old)
    restored, lost = restore(tmp_path / "r.db", tmp_path / "log", anchor=files[1], secret=tmp_path / "l.db.key")
    with restored:
        assert not lost
        refuse(restored)


@pytest.mark.thorough
def test_a_migration_that_fails_ends_nothing(files, tmp_path, monkeypatch):
    with Ledger.open(files[0]) as old:
        before = spending(old)
        with monkeypatch.context() as patch:
            patch.setattr(LedgerSettings, "to_body", lambda *_: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                migrate(old, tmp_path / "new.db", anchor=tmp_path / "new.anchor")
        assert not list(tmp_path.glob("new*"))
        old.charge("next", SUM, PEOPLE)
        with migrate(old, tmp_path / "new.db", anchor=tmp_path / "new.anchor") as new:
            assert spending(new) == spending(old) != before


def flip_bits(files, tmp_path, step, start=0):
    """Flip each ``step``-th bit of the file once: whatever is accepted afterwards has the same log, outputs and accounts."""
    with Ledger.open(files[0]) as ledger:
        before = (spending(ledger), ledger.output("two").tolist(), [entry.hash for entry in ledger.journal.entries])
    whole = files[0].read_bytes()
    anchor = files[1].read_bytes()
    refused, same, told = 0, 0, set()
    places = [place for place in range(len(whole)) if any(whole[max(place - 8, 0) : place + 8])]
    for bit in range(start, 8 * len(places), step):
        place = places[bit // 8]
        changed = bytearray(whole)
        changed[place] ^= 1 << bit % 8
        files[0].write_bytes(bytes(changed))
        for beside in ("-wal", "-shm"):
            Path(f"{files[0]}{beside}").unlink(missing_ok=True)
        files[1].write_bytes(anchor)
        try:
            with Ledger.open(files[0]) as ledger:
                ledger.verify(repair=True)
                assert (spending(ledger), ledger.output("two").tolist(), [entry.hash for entry in ledger.journal.entries]) == before
                same += 1
        except PDPError as error:
            told.add(str(error))  # not the error, whose frames hold the file
            refused += 1
    assert all(map(one_sentence, told))
    return refused, same


@pytest.mark.thorough
def test_flipped_bits_are_refused_or_repaired(files, tmp_path):
    refused, same = flip_bits(files, tmp_path, 2_003)
    assert refused > 10
    assert refused + same > 20


@pytest.mark.slow
def test_each_flipped_bit_is_refused_or_repaired(files, tmp_path):
    refused, same = flip_bits(files, tmp_path, int(os.environ.get("STEP", "1")), int(os.environ.get("START", "0")))
    print(f"{refused + same} bits flipped, {refused} refused")  # noqa: T201
    assert refused > same
