"""What a careless or hostile user does with an open ledger: several of one file, forks, closed ones, stale ones, odd ids and outputs."""

from __future__ import annotations

import enum
import os
import shutil
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from accountant.guarantees.derive import derive_epsilon
from accountant.ledger import Ledger
from accountant.ledger.amounts import MOST
from accountant.ledger.anchor import Anchor
from accountant.ledger.backup import back_up
from accountant.ledger.charges import prepare_charge
from accountant.ledger.database import NEWEST, VERSION
from accountant.ledger.notions import LedgerNotion
from accountant.ledger.report import report_public
from profiles import InvalidArgument, InvalidData, UnreadableFile, UnwritableOutput, declare
from profiles.errors import LedgerRejected, ReleaseUsed
from profiles.mechanisms import LaplaceSum
from tests.ledger.conftest import PEOPLE, SUM, table

ROOT = Path(__file__).parents[2]
MECHANISM = LaplaceSum(b=2, radius=1, arithmetic="binary64")
POINTS, IDS = np.array([[0.5], [0.25]]), ["ada", "ben"]


@pytest.fixture
def create(tmp_path):
    """Make a ledger in a file; all are closed at the end."""
    made = []

    def begin(data=PEOPLE, name="l", **options):
        options = {"budget": "9", "anchor": tmp_path / f"{name}.anchor", **options}
        made.append(Ledger.create(tmp_path / f"{name}.db", data, **options))
        return made[-1]

    yield begin
    for ledger in made:
        ledger.close()


def elsewhere(place, name):
    """Charge a ledger from another process, which is the last to close it if nobody holds it."""
    words = (
        "import sys; from accountant.ledger import Ledger; from tests.ledger.conftest import PEOPLE, SUM\n"
        "with Ledger.open(sys.argv[1], partial=True) as ledger: ledger.charge(sys.argv[2], SUM, PEOPLE)"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    subprocess.run([sys.executable, "-c", words, str(place), name], cwd=ROOT, env=environment, check=True)


def names(place):
    with Ledger.open(place) as ledger:
        assert ledger.verify() == 0
        return [entry.name for entry in ledger.journal.charges]


@pytest.mark.thorough
class TestDurability:
    """No charge that is not in the file, whatever else the process does with it."""

    def test_a_ledger_that_is_opened_twice_keeps_its_locks(self, create, tmp_path):
        """Whoever opened the file a second time and closed it dropped the locks of the first: another process then removed the
        write-ahead log under it, and its charges went into a file that was not there any more."""
        place = tmp_path / "l.db"
        first = create()
        first.charge("one", SUM, PEOPLE)
        Ledger.open(place).close()
        elsewhere(place, "two")
        first.charge("three", SUM, PEOPLE)
        copy = tmp_path / "copy"
        copy.mkdir()
        for path in tmp_path.glob("l.*"):  # as a death at this moment leaves them
            shutil.copy(path, copy / path.name)
        first.close()
        with Ledger.open(copy / "l.db", anchor=copy / "l.anchor", secret=copy / "l.db.key") as found:
            assert [entry.name for entry in found.journal.charges] == ["one", "two", "three"]

    def test_a_write_ahead_log_that_is_removed_is_noticed_before_anything_is_run(self, create, tmp_path):
        place = tmp_path / "l.db"
        first, runs = create(), []
        first.charge("one", SUM, PEOPLE)
        with place.open("rb"):  # which drops the locks when it is closed
            pass
        elsewhere(place, "two")
        assert not Path(f"{place}-wal").exists()

        class Counting(LaplaceSum):
            def run(self, *arguments):
                runs.append(1)
                return super().run(*arguments)

        mechanism = Counting(b=2, radius=1, arithmetic="binary64")
        for _ in range(2):
            with pytest.raises(UnwritableOutput, match="removed while it was open"):
                first.run("three", mechanism, POINTS, ids=IDS)
        with pytest.raises(UnwritableOutput):
            first.account("ada")
        assert not runs
        first.close()
        assert names(place) == ["one", "two"]

    def test_one_that_is_removed_during_a_charge_is_noticed_as_well(self, create, tmp_path, monkeypatch):
        ledger = create()
        spend = ledger.journal.accounts.spend

        def remove(*arguments):
            Path(f"{tmp_path / 'l.db'}-wal").unlink()
            return spend(*arguments)

        monkeypatch.setattr(type(ledger.journal.accounts), "spend", lambda _, *arguments: remove(*arguments))
        with pytest.raises(UnwritableOutput, match="whether the charge is durable is not known"):
            ledger.run("one", MECHANISM, POINTS, ids=IDS)

    def test_threads_take_turns_each_with_a_ledger_of_its_own(self, create, tmp_path):
        ledger = create(budget="99")
        with ThreadPoolExecutor(4) as pool:
            with pytest.raises(UnreadableFile, match="opened in another thread"):
                pool.submit(ledger.charge, "one", SUM, PEOPLE).result()

            def work(thread):
                with Ledger.open(tmp_path / "l.db") as own:
                    return [own.charge(f"{thread}.{number}", SUM, PEOPLE).sequence for number in range(5)]

            found = list(pool.map(work, range(4)))
        assert sorted(number for numbers in found for number in numbers) == list(range(1, 21))
        assert ledger.account("cleo")["spent"] == "20"

    def test_a_forked_process_opens_it_again(self, create, tmp_path):
        ledger = create()
        ledger.charge("one", SUM, PEOPLE)
        ready, told = os.pipe(), tmp_path / "told"
        child = os.fork()
        if not child:
            os.read(ready[0], 1)
            try:
                ledger.charge("two", SUM, PEOPLE)
            except BaseException as error:  # for the parent to see
                told.write_text(f"{type(error).__name__}: {error}")
            ledger.close()
            os._exit(0)
        ledger.close()
        os.write(ready[1], b"x")
        os.waitpid(child, 0)
        assert told.read_text().startswith("UnreadableFile: the ledger l.db was opened before this process was forked")
        assert names(tmp_path / "l.db") == ["one"]

    @pytest.mark.parametrize("name", [":memory:", "file:x?mode=memory", "file::memory:"])
    def test_a_name_that_sqlite_understands_is_a_file(self, tmp_path, monkeypatch, name):
        monkeypatch.chdir(tmp_path)
        with Ledger.create(name, PEOPLE, budget=1, anchor="anchor") as ledger:
            ledger.charge("one", SUM, PEOPLE)
        assert names(name) == ["one"]

    def test_a_file_system_without_a_log_ahead_is_refused(self, tmp_path, monkeypatch):
        from accountant.ledger.sqlite import FileDatabase  # noqa: PLC0415

        find_row = FileDatabase.find_row

        def deny(self, statement, values=()):
            return ("delete",) if "journal_mode" in statement else find_row(self, statement, values)

        monkeypatch.setattr(FileDatabase, "find_row", deny)
        with pytest.raises(UnwritableOutput, match="put it on a local disk"):
            Ledger.create(tmp_path / "l.db", PEOPLE, budget=1, anchor=tmp_path / "anchor")
        assert not list(tmp_path.iterdir())

    def test_folders_of_anchor_and_secret_are_flushed(self, tmp_path, monkeypatch):
        flushed, fsync = set(), os.fsync

        def note(handle):
            flushed.add(os.readlink(f"/proc/self/fd/{handle}"))
            fsync(handle)

        monkeypatch.setattr(os, "fsync", note)
        folders = [tmp_path / "a", tmp_path / "s"]
        for folder in folders:
            folder.mkdir()
        Ledger.create(tmp_path / "l.db", PEOPLE, budget=1, anchor=folders[0] / "anchor", secret=folders[1] / "key").close()
        assert {str(folder) for folder in folders} <= flushed

    def test_an_anchor_that_is_further_already_is_not_appended_to(self, create, tmp_path):
        """A writer found the entry of another one, whose line was late, and went on."""
        ledger = create()
        ledger.charge("one", SUM, PEOPLE)
        ledger.charge("two", SUM, PEOPLE)
        before = (tmp_path / "l.anchor").read_bytes()
        Anchor(tmp_path / "l.anchor", ledger.settings.ledger).append(ledger.journal.entries[1])
        assert (tmp_path / "l.anchor").read_bytes() == before

    def test_another_working_folder_changes_no_file(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        with Ledger.create("l.db", PEOPLE, budget="9", anchor="anchor") as ledger:
            (tmp_path / "other").mkdir()
            shutil.copy("anchor", "other/anchor")
            monkeypatch.chdir(tmp_path / "other")
            before = Path("anchor").read_bytes()
            ledger.charge("one", SUM, PEOPLE)
            assert Path("anchor").read_bytes() == before
        assert names(tmp_path / "l.db") == ["one"]


class TestStale:
    """Two open ledgers of one file: what the other one did is known before anything is told or decided."""

    def test_a_raise_is_compared_with_the_budgets_that_are_in_force(self, create, tmp_path):
        """The log said 5 after 9, the accounts kept 9: a guarantee below what units may spend."""
        first = create(budget="1")
        with Ledger.open(tmp_path / "l.db") as second:
            second.raise_budget("9", PEOPLE)
        with pytest.raises(InvalidArgument, match="can only be raised"):
            first.raise_budget("5", PEOPLE)
        assert first.report_ex_post().epsilon == 9
        assert first.account("ada")["budget"] == "9"

    @pytest.mark.thorough
    def test_what_is_told_is_up_to_date(self, create, tmp_path):
        first = create(budget="1")
        with Ledger.open(tmp_path / "l.db") as second:
            second.charge("one", SUM, PEOPLE)
            second.raise_budget("9", PEOPLE)
        assert first.report_ex_post().epsilon == 9
        with Ledger.open(tmp_path / "l.db") as second:
            second.charge("two", SUM, PEOPLE)
        assert first.account("cleo")["spent"] == "2"
        with Ledger.open(tmp_path / "l.db") as second:
            second.charge("three", SUM, PEOPLE)
        assert [item.get("name") for item in report_public(first)["entries"]] == [None, "one", None, "two", "three"]

    @pytest.mark.thorough
    def test_a_closed_ledger_says_so(self, create):
        ledger = create()
        release = ledger.release("one", MECHANISM, POINTS, ids=IDS)
        ledger.close()
        for act in (lambda: ledger.charge("two", SUM, PEOPLE), lambda: release.publish(1), ledger.verify, lambda: ledger.account("ada")):
            with pytest.raises(UnreadableFile, match="was closed; open it again"):
                act()


@pytest.mark.thorough
class TestRelease:
    """One run, one output, in one block."""

    def test_nothing_is_published_after_the_block(self, create):
        ledger = create()
        with ledger.release("one", MECHANISM, POINTS, ids=IDS) as release:
            pass
        with pytest.raises(ReleaseUsed, match="its block was left before"):
            release.publish(1)

        def leave():
            with ledger.release("two", MECHANISM, POINTS, ids=IDS) as found:
                yield found

        waiting = leave()
        found = next(waiting)
        waiting.close()
        with pytest.raises(ReleaseUsed):
            found.publish(1)
        with pytest.raises(ZeroDivisionError), ledger.release("three", MECHANISM, POINTS, ids=IDS) as found:
            1 / 0  # noqa: B018
        with pytest.raises(ReleaseUsed):
            found.publish(1)
        assert not ledger.journal.select("output")
        assert ledger.account("ada")["spent"] == "0.75"

    def test_releases_in_one_another_are_charged_one_after_the_other(self, create):
        ledger = create(budget="1/2")
        with ledger.release("one", MECHANISM, POINTS, ids=IDS) as outer:
            with ledger.release("two", MECHANISM, POINTS, ids=IDS) as inner:
                assert inner.active.tolist() == [True, True]
                inner.publish(inner.active_data.shape[0])
            with ledger.release("three", MECHANISM, POINTS, ids=IDS) as last:
                assert last.active.tolist() == [False, True]
            outer.publish(2)
        assert ledger.account("ada")["spent"] == "0.5"

    def test_a_mask_hides_nothing_and_is_refused(self, create):
        ledger = create()
        with ledger.release("one", MECHANISM, POINTS, ids=IDS) as release:
            with pytest.raises(InvalidArgument, match="MaskedArray"):
                release.publish(np.ma.masked_array([1.0, 2.0], mask=[False, True]))
            assert release.publish(1) == 1

    def test_what_is_stored_can_be_read(self, create):
        kind = enum.Enum("kind", {"ONE": 1}, type=int)
        ledger = create()
        with ledger.release("one", MECHANISM, POINTS, ids=IDS) as release:
            assert release.publish([kind.ONE, True, np.int8(3)]) == [1, True, 3]
        assert ledger.output("one") == [1, True, 3]


@pytest.mark.thorough
class TestRoom:
    """A unit with many rows is left out like any other that has no room, and no refusal tells of it."""

    @pytest.mark.parametrize("notion", ["pure", "zcdp"])
    def test_more_than_the_largest_amount_is_no_room(self, create, notion):
        costly = declare("costly", "w*z", record={"z": [0, 1000]})
        profile = costly if notion == "pure" else declare("s", notion="gaussian", mu="z", record={"z": [0, 1]}, ignores_weights=True)
        most = 1000.0 if notion == "pure" else 1.0
        rows = pa.table({"id": ["ada"] * 5000 + ["ben"], "z": [most] * 5000 + [1.0]})
        ledger = create(notion=notion, budget="4194303")
        assert ledger.charge("one", profile, rows).active.tolist() == [False] * 5000 + [True]
        assert ledger.account("ada")["spent"] == "0"
        assert ledger.charge("two", profile, rows.slice(4990)).active.all()
        assert ledger.charge("three", profile, rows).active.tolist() == [False] * 5000 + [True]
        assert ledger.verify() == 0

    def test_the_largest_amount_is_above_all_budgets(self):
        charge = prepare_charge(declare("costly", "w*z", record={"z": [0, 4_000_000]}), LedgerNotion.PURE)
        steps = charge.shifts.round_up(charge.worst)
        assert charge.cost(np.array([steps, 2 * steps, 2**60])).tolist() == [steps << charge.shifts.shift, MOST, MOST]
        with pytest.raises(InvalidArgument, match=r"2\^22"):  # by public numbers alone
            charge.worst_cost(2)


NO_IDS = {
    "fractions in a dictionary": pa.array([1.0, 2.0]).dictionary_encode(),
    "truths in a dictionary": pa.array([True, False]).dictionary_encode(),
    "moments in a dictionary": pa.array([1, 2], pa.timestamp("s")).dictionary_encode(),
    "bytes in a dictionary": pa.array([b"a", b"\xff"]).dictionary_encode(),
    "no id in a dictionary": pa.array(["a", None]).dictionary_encode(),
    "fractions": [1.0, 2.0],
    "truths": [True, False],
    "a number and its digits": [1, "1"],
    "none": ["a", None],
    "no number": [float("nan"), 1.0],
    "bytes": [b"a", b"b"],
    "too large": [2**70, 1],
    "half a letter": ["\ud800", "b"],
    "without an order": {"a", "b"},
    "names": {"a": 1, "b": 2},
    "lists": [["a"], ["b"]],
}


@pytest.mark.thorough
@pytest.mark.parametrize("size", [0, 1, 3])
def test_each_row_has_a_statistic_of_its_own(create, size):
    """One number for all rows would charge everybody the cost of the first."""

    class Careless(LaplaceSum):
        def statistic(self, values):
            return {name: np.zeros(size) for name in super().statistic(values)}

    ledger = create()
    with pytest.raises(InvalidData, match="one number for each row"):
        ledger.run("one", Careless(b=2, radius=1, arithmetic="binary64"), POINTS, ids=IDS)
    assert not ledger.journal.charges


@pytest.mark.thorough
class TestIds:
    """One spelling is one unit, and what has none is refused in one sentence."""

    @pytest.mark.parametrize("name", NO_IDS)
    def test_what_is_no_id(self, create, tmp_path, name):
        with pytest.raises(InvalidData):
            create(POINTS, ids=NO_IDS[name])
        assert not list(tmp_path.iterdir())

    def test_a_dictionary_is_its_values(self, create):
        ledger = create(POINTS, ids=[7, 8])
        ledger.release("one", MECHANISM, POINTS, ids=pa.array([7, 8]).dictionary_encode())
        ledger.release("two", MECHANISM, POINTS, ids=pa.array(["7", "8"]).dictionary_encode())
        ledger.release("three", MECHANISM, POINTS, ids=pa.array([7, 8], pa.uint64()))
        assert {ledger.account(key)["spent"] for key in (7, "7", np.int8(7))} == {"0.75"}

    def test_ids_are_compared_as_they_are_written(self, create, tmp_path):
        spellings = ["7", "é", "Ada", "ada", "B07", "1e5", "x" * 100_000]
        rows = tmp_path / "rows.csv"
        rows.write_text("id,z\n" + "".join(f'"{text}",1\n' for text in spellings), encoding="utf-8")
        ledger = create(rows)
        ledger.charge("one", SUM)
        assert {ledger.account(text)["spent"] for text in spellings} == {"1"}
        ledger.charge("two", SUM, pa.table({"id": [7], "z": [1.0]}))
        assert [ledger.account(text)["spent"] for text in spellings[:2]] == ["2", "1"]

    @pytest.mark.parametrize("text", ["07", " 7", "7 ", "+7", "7.0", "7.", "-0", "1e+16", "e\u0301", "\u200bada", "ada\t"])
    def test_another_spelling_of_an_id_opens_no_second_account(self, create, tmp_path, text):
        """Was: "7.0" beside "7", as a spreadsheet writes it, was a unit with a budget of its own."""
        rows = tmp_path / "rows.csv"
        rows.write_text("id,z\n7,1\n", encoding="utf-8")
        ledger = create(rows)
        ledger.charge("one", SUM)
        rows.write_text(f'id,z\n"{text}",1\n', encoding="utf-8")
        with pytest.raises(InvalidData, match=r"in row 0 .* that may be another spelling of one") as refused:
            ledger.charge("two", SUM, rows)
        assert repr(text) in refused.value.private
        assert ledger.account("7")["spent"] == "1"
        with pytest.raises(InvalidData, match="no account"):
            ledger.account(text)

    @pytest.mark.parametrize("key", ["\ud800", 7.0, True, b"ada", None, object()])
    def test_a_key_that_is_nobodys(self, create, key):
        with pytest.raises(InvalidData, match="no account"):
            create().account(key)

    def test_neither_secret_nor_ids_are_in_what_objects_print(self, create):
        from accountant.ledger.units import to_ids  # noqa: PLC0415

        ledger = create()
        shown = repr(ledger.journal.hasher) + repr(to_ids(["ada", "ben"], 2)) + repr(ledger.release("one", MECHANISM, POINTS, ids=IDS))
        assert "ada" not in shown
        assert "secret" not in shown


@pytest.mark.thorough
class TestChangingData:
    """A file that is replaced between the charge and its second reading has rows that were not charged."""

    def test_rows_that_take_part_are_those_that_were_charged(self, pdp, tmp_path, monkeypatch):
        from accountant.ledger import writing  # noqa: PLC0415

        monkeypatch.chdir(tmp_path)
        Path("p.csv").write_text("id,z\nada,1\nben,0.5\n")
        Path("s.toml").write_text('name = "sum"\nepsilon = "w*z"\n[record]\nz = [0, 1]\n')
        pdp("ledger", "init", "l", "--data", "p.csv", "--key", "id", "--budget", "1", "--anchor", "a", "--mode", "individual")
        pdp("ledger", "charge", "l", "s.toml", "--name", "one", "--partial", "--active", "one.csv")
        write_active = writing.write_active

        def exchange(path, data, receipt):
            Path("n.csv").write_text("id,z\nben,0.5\nada,1.\n")  # ben has room for one more, ada has none; the second row takes part
            Path("n.csv").replace("p.csv")
            write_active(path, data, receipt)

        monkeypatch.setattr(writing, "write_active", exchange)
        done = pdp("ledger", "charge", "l", "s.toml", "--name", "two", "--partial", "--active", "two.csv")
        assert done.refused()
        assert "changed while it was charged or used" in done.err
        assert not Path("two.csv").exists()

    @pytest.mark.parametrize("more", [[], ["--private-statistics", "1/4"]])
    def test_samples_are_of_rows_that_were_charged(self, pdp, tmp_path, monkeypatch, more):
        monkeypatch.chdir(tmp_path)
        rows = "".join(f"p{number},{number / 50}\n" for number in range(50))
        Path("p.csv").write_text(f"id,z\n{rows}")
        Path("s.toml").write_text('name = "sum"\nepsilon = "w*z"\n[record]\nz = [0, 1]\n')
        pdp("ledger", "init", "l", "--data", "p.csv", "--key", "id", "--budget", "9", "--anchor", "a")
        charge = Ledger.charge

        def exchange(self, *arguments, **options):
            receipt = charge(self, *arguments, **options)
            Path("p.csv").write_text(f"id,z\n{rows}")
            os.utime("p.csv", ns=(1, 1))
            return receipt

        monkeypatch.setattr(Ledger, "charge", exchange)
        rule = ["--rule", "uniform", "--constant", "m=20"] if more else []
        words = ("sample", "s.toml", "--data", "p.csv", "-e", "3", "--out", "o.csv", "--ledger", "l", "--name", "one", *rule, *more)
        done = pdp(*words)
        assert done.code == 2
        assert "changed while it was charged or used" in done.err
        assert not list(tmp_path.glob("o.csv*"))

    def test_an_analysis_is_of_the_file_that_was_there_when_it_was_made(self, create, tmp_path):
        """Rows are read by the algorithm and ids by the ledger: the same file, before the charge, and until the output is there."""
        path, guarantee = tmp_path / "rows.csv", derive_epsilon(declare("half", "w/2"), q="1").guarantee
        path.write_text("id,z\nada,1\nben,1\n")
        ledger = create()

        def change(at):
            os.utime(path, ns=(at, at))
            return 1

        analysis = ledger.analysis("one", data=path)
        change(1)
        with pytest.raises(InvalidData, match="nothing was charged"):
            analysis.release(guarantee, 2, lambda active: 1, arguments="a")
        with pytest.raises(InvalidData, match="the charge stays"):
            ledger.analysis("one", data=path).release(guarantee, 2, lambda active: change(2), arguments="a")
        assert not ledger.journal.select("output")
        assert 0.5 <= float(ledger.account("ada")["spent"]) < 0.51
        assert ledger.analysis("two", data=path).release(guarantee, 2, lambda active: int(active.sum()), arguments="a")[0] == 2

    def test_a_file_that_changes_while_it_is_charged_charges_nothing(self, tmp_path, monkeypatch):
        path = tmp_path / "p.csv"
        path.write_text("id,z\nada,1\n")
        with Ledger.create(tmp_path / "l.db", path, budget=1, anchor=tmp_path / "anchor") as ledger:
            spend = type(ledger.journal.accounts).spend

            def exchange(self, *arguments):
                found = spend(self, *arguments)
                path.write_text("id,z\nben,1\n")
                return found

            monkeypatch.setattr(type(ledger.journal.accounts), "spend", exchange)
            with pytest.raises(InvalidData, match="nothing was charged"):
                ledger.charge("one", SUM)
            monkeypatch.undo()
            ledger.charge("one", SUM)
            assert ledger.account("ben")["spent"] == "1"
            assert ledger.account("ada")["spent"] == "0"


@pytest.mark.thorough
class TestFiles:
    """Nothing of the ledger is written over, and what is private is for its owner."""

    @pytest.mark.parametrize("target", ["p.csv", "a", "l.key", "l", "l-wal", "./l.key", "link"])
    @pytest.mark.parametrize("act", ["release", "guarantee", "composition", "backup", "sample"])
    def test_no_output_is_a_file_of_the_ledger(self, pdp, tmp_path, monkeypatch, act, target):
        monkeypatch.chdir(tmp_path)
        Path("p.csv").write_text("id,z\nada,1\nben,0.5\n")
        Path("q.csv").write_text("id,z\nada,1\nben,0.5\n")
        Path("s.toml").write_text('name = "sum"\nepsilon = "w*z"\n[record]\nz = [0, 1]\n')
        Path("link").symlink_to("a")
        pdp("ledger", "init", "l", "--data", "p.csv", "--key", "id", "--budget", "9", "--anchor", "a")
        before = {path: path.read_bytes() for path in tmp_path.iterdir()}
        counting = ("--mechanism", "profiles.mechanisms.weighted_count:default")
        words = {
            "release": ("ledger", "release", "l", "one", *counting, "--out", target),
            "guarantee": ("ledger", "report", "l", "--guarantee", target),
            "composition": ("ledger", "report", "l", "--composition", target),
            "backup": ("ledger", "backup", "l", "--log", target),
            "sample": ("sample", "s.toml", "--data", "q.csv", "-e", "1", "--out", "o.csv", "--certificate", target, "--ledger", "l",
                       "--name", "one"),
        }  # fmt: skip
        assert pdp(*words[act]).refused()
        assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before

    def test_no_output_is_inside_of_the_table(self, pdp, tmp_path, monkeypatch):
        pytest.importorskip("duckdb")
        monkeypatch.chdir(tmp_path)
        Path("p.csv").write_text("id,z\nada,1\nben,0.5\n")
        pdp("ledger", "init", "l", "--data", "p.csv", "--key", "id", "--budget", "9", "--anchor", "a", "--table", "t")
        assert pdp("ledger", "backup", "l", "--log", "t/pdp-ledger-table").refused()
        assert pdp("ledger", "verify", "l").code == 0

    def test_a_backup_is_for_its_owner(self, create, tmp_path):
        back_up(create(), tmp_path / "log")
        assert (tmp_path / "log").stat().st_mode & 0o777 == 0o600

    def test_a_copy_under_another_name_is_the_same_ledger(self, create, tmp_path):
        """Links, a new name and a second copy: one anchor, one history."""
        create().close()
        place = tmp_path / "l.db"
        (tmp_path / "soft").symlink_to(place)
        os.link(place, tmp_path / "hard")
        for number, name in enumerate(("soft", "hard", "l.db", "hard", "soft")):
            with Ledger.open(tmp_path / name) as ledger:
                ledger.charge(str(number), SUM, PEOPLE)
        assert len(names(place)) == 5
        with Ledger.open(place) as first:
            first.charge("5", SUM, PEOPLE)
            with pytest.raises((LedgerRejected, UnwritableOutput)):  # what is ahead is beside the other name
                Ledger.open(tmp_path / "hard")
        shutil.copy(place, tmp_path / "copy")
        place.rename(tmp_path / "moved")
        with Ledger.open(tmp_path / "moved") as ledger, Ledger.open(tmp_path / "copy") as copy:
            ledger.charge("6", SUM, PEOPLE)
            with pytest.raises(LedgerRejected, match="older than its anchor"):
                copy.charge("7", SUM, PEOPLE)


STRAYS = [
    "outputs SELECT 9, x'31'",
    "changes SELECT 9, kind, chunk, packed FROM changes WHERE kind = 'cost' AND seq = 1",
    "accounts SELECT 7, seq, spent, budgets, seal FROM accounts",
    "segments SELECT 5, 9, hashes, fingerprint, seal FROM segments",
    "log SELECT -1, kind, name, body, hash, digest, seal FROM log WHERE seq = 1",
]
REPLACED = [  # which deletes without a trigger
    "changes SELECT 1, kind, chunk, packed FROM changes WHERE seq = 0 AND kind = 'budget'",
    "outputs SELECT 3, x'31'",
    "log SELECT 1, kind, 'two', body, hash, digest, seal FROM log WHERE seq = 1",
    "segments SELECT first, seq, hashes, x'', seal FROM segments",
    "accounts SELECT chunk, 0, spent, budgets, seal FROM accounts",
]
#: The same in pages: 1,000 slots, which are two pages of accounts and four of ids; 1,024 buckets; one budget for all.
STRAY_PAGES = [
    "outputs SELECT 9, x'31'",
    "outputs SELECT 0, value FROM outputs WHERE seq = 3",
    "changes SELECT 9, kind, chunk, packed FROM changes WHERE kind = 'sparse' AND seq = 1",
    "changes SELECT 3, kind, chunk, packed FROM changes WHERE kind = 'sparse' AND seq = 1",  # an entry that changes no account
    "changes SELECT 1, kind, 1000, packed FROM changes WHERE kind = 'sparse' AND seq = 1",
    "changes SELECT 1, 'more', chunk, packed FROM changes WHERE kind = 'sparse' AND seq = 1",
    "accounts SELECT 2, body FROM accounts WHERE page = 0",
    "accounts SELECT -1, body FROM accounts WHERE page = 0",
    "budgets SELECT page, body FROM accounts",
    "budgets SELECT -1, body FROM accounts WHERE page = 0",
    "late SELECT 1024, body FROM late WHERE page = 0",
    "late SELECT -1, body FROM late WHERE page = 0",
    "segments SELECT 1000, 9, zeroblob(16), CAST('late' AS BLOB), zeroblob(32)",
    "segments SELECT 1000, 1, zeroblob(16), CAST('late' AS BLOB), zeroblob(32)",
    "segments SELECT 1000, 1, body, x'', seal FROM ids, runs WHERE page = 0",
    "runs SELECT 1000, 9, fences, seal FROM runs",
    "runs SELECT 1000, 1, fences, seal FROM runs",
    "runs SELECT -1000, 0, fences, seal FROM runs",
    "ids SELECT 4, body FROM ids WHERE page = 0",
    "ids SELECT -1, body FROM ids WHERE page = 0",
    "state SELECT 2, body FROM state",
    "log SELECT -1, kind, name, body, hash, digest, seal FROM log WHERE seq = 1",
]
REPLACED_PAGES = [
    "changes SELECT 1, kind, chunk, packed FROM changes WHERE seq = 0 AND kind = 'flat'",
    "changes SELECT 2, kind, chunk, packed FROM changes WHERE seq = 1",
    "outputs SELECT 3, x'31'",
    "log SELECT 1, kind, 'two', body, hash, digest, seal FROM log WHERE seq = 1",
    "accounts SELECT 1, body FROM accounts WHERE page = 0",
    "accounts SELECT 0, body FROM late WHERE page = 0",
    "late SELECT 1, body FROM late WHERE page = 0",
    "late SELECT 0, body FROM accounts WHERE page = 0",
    "runs SELECT first, 1, fences, seal FROM runs",
    "runs SELECT first, seq, substr(fences, 1, 24), seal FROM runs",
    "ids SELECT 1 - page, body FROM ids WHERE page < 2",
    "ids SELECT 0, body FROM late WHERE page = 0",
    "state SELECT 1, body FROM accounts WHERE page = 0",
    "state SELECT 1, substr(body, 1, 80) FROM state",
]
DELETED_PAGES = ["log", "changes", "runs", "ids", "outputs", "late", "accounts", "state"]
PLANTED = (
    [(VERSION, f"INSERT INTO {rows}") for rows in STRAYS]
    + [(VERSION, f"REPLACE INTO {rows}") for rows in REPLACED]
    + [(NEWEST, f"INSERT INTO {rows}") for rows in STRAY_PAGES]
    + [(NEWEST, f"REPLACE INTO {rows}") for rows in REPLACED_PAGES]
    + [(NEWEST, f"DELETE FROM {name} WHERE rowid = (SELECT max(rowid) FROM {name})") for name in DELETED_PAGES]
)


def write_rows(place, *statements):
    """Write into the file of a ledger, without the triggers that refuse to delete, and with them as they were afterwards."""
    base = sqlite3.connect(place, isolation_level=None)
    kept = base.execute("SELECT rowid, type, name, tbl_name, rootpage, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    base.execute("PRAGMA writable_schema = ON")
    base.execute("DELETE FROM sqlite_master WHERE type = 'trigger'")
    base.execute("PRAGMA writable_schema = RESET")
    for statement, *values in statements:
        assert base.execute(statement, values).rowcount
    base.execute("PRAGMA writable_schema = ON")
    base.executemany("INSERT INTO sqlite_master (rowid, type, name, tbl_name, rootpage, sql) VALUES (?, ?, ?, ?, ?, ?)", kept)
    base.execute("PRAGMA writable_schema = RESET")
    base.close()


@pytest.mark.thorough
@pytest.mark.parametrize(("version", "rows"), PLANTED)
def test_rows_that_were_put_into_the_file_are_refused(create, tmp_path, version, rows):
    ledger = create(version=version)
    ledger.charge("one", SUM, PEOPLE)
    ledger.run("two", MECHANISM, POINTS, ids=IDS)
    ledger.close()
    assert names(tmp_path / "l.db") == ["one", "two"]
    write_rows(tmp_path / "l.db", (rows,))
    with pytest.raises(LedgerRejected), Ledger.open(tmp_path / "l.db") as ledger:
        ledger.verify()


@pytest.mark.thorough
def test_a_column_of_budgets_that_changes_changes_no_budget(create):
    """The budget is that of the first rows; raising it is an entry of the log."""
    options = {"budget": "years", "attributes": {"years": [1, 4]}}

    def people(years):
        return table(ada=1.0, ben=1.0).append_column("years", pa.array(years, pa.float64()))

    ledger = create(people([1.0, 2.0]), **options)
    assert ledger.charge("one", SUM, people([4.0, 1.0])).active.all()
    assert ledger.charge("two", SUM, people([4.0, 1.0])).active.tolist() == [False, True]
    assert ledger.charge("three", SUM, people([4.0, 4.0])).active.tolist() == [False, False]
    ledger.raise_budget("years", people([3.0, 1.0]), attributes={"years": [1, 4]})
    assert [ledger.account(name)["budget"] for name in ("ada", "ben")] == ["3", "2"]
    for bad in (float("nan"), None, 5.0):
        with pytest.raises(InvalidData):
            ledger.charge("four", SUM, table(new=1.0).append_column("years", pa.array([bad], pa.float64())))
    assert ledger.charge("four", SUM, people([1.0, 1.0])).active.tolist() == [True, False]
