"""Accounts in a table that engines compute: the same spending and the same rows as in the store, whatever dies, lies or is damaged."""

from __future__ import annotations

import importlib.util
import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accountant.ledger import Ledger
from accountant.ledger.anchor import Anchor
from accountant.ledger.backup import back_up, migrate, restore
from accountant.ledger.statements import make_statement, read_statement, write_statement
from accountant.ledger.store import Store
from accountant.ledger.tables import accounts_table
from accountant.ledger.tables.choosing import to_engine
from accountant.ledger.tables.sums import weigh_units, weighted_sum
from accountant.ledger.tables.versions import Folder, VersionWriter
from profiles import InvalidArgument, InvalidData, MissingExtra, UnreadableFile, UnwritableOutput, declare
from profiles.errors import LedgerRejected, OverBudget
from profiles.mechanisms import LaplaceSum
from tests.ledger.conftest import PEOPLE, SUM, table
from tests.ledger.test_kills import KILLS, Death, check, kill_writers

NAMES = ["duckdb", "polars", "spark"]
ENGINES = [
    pytest.param(
        name,
        marks=[
            pytest.mark.skipif(importlib.util.find_spec(extra) is None, reason=f"{extra} is not installed"),
            *([pytest.mark.slow] if name == "spark" else []),
        ],
    )
    for name, extra in zip(NAMES, ("duckdb", "polars", "pyspark"), strict=True)
]
SQUARE = declare("noisy sum", notion="gaussian", mu="z", record={"z": [0, 1]}, ignores_weights=True)


@pytest.fixture
def engine():
    """An engine that is installed."""
    try:
        return to_engine()
    except MissingExtra:
        pytest.skip("neither DuckDB nor Polars is installed")


@pytest.fixture(scope="module", autouse=True)
def _few_partitions():
    """A session of Spark that works in this process, where Spark is asked for."""
    yield
    if importlib.util.find_spec("pyspark") is not None:
        from pyspark.sql import SparkSession  # noqa: PLC0415

        session = SparkSession.getActiveSession()
        if session is not None:
            session.stop()


def to_named(name):
    """An engine by its name; Spark in this process with few partitions."""
    if name != "spark":
        return to_engine(name)
    from pyspark.sql import SparkSession  # noqa: PLC0415 - an extra

    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", 2)
    session = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    return to_engine(session)


def create(folder, data=PEOPLE, *, name="l", engine=None, **options):
    options = {"budget": "1", "anchor": folder / f"{name}.anchor", **options}
    return Ledger.create(folder / f"{name}.db", data, table=folder / f"{name}.table", engine=engine, **options)


def accounts(ledger, names):
    found = {}
    for name in names:
        try:
            found[name] = ledger.account(name)
        except InvalidData:
            found[name] = None
    return found


UNITS = [f"u{number}" for number in range(7)]
ROWS = st.lists(st.tuples(st.sampled_from(UNITS), st.integers(0, 64)), min_size=1, max_size=25)


def to_table(rows, names):
    return pa.table({"id": pa.array([name for name, _ in rows], pa.string()), names: pa.array([z / 64 for _, z in rows], pa.float64())})


def compare(folder, engine, notion, first, releases):
    """Do the same to two ledgers, and compare what can be seen of them: tables round costs to the same codes as pages."""
    profile = SUM if notion == "pure" else SQUARE
    options = {"budget": "3/4", "notion": notion}
    with (
        create(folder, to_table(first, "z"), engine=engine, **options) as tabled,
        Ledger.create(folder / "c.db", to_table(first, "z"), anchor=folder / "c.anchor", **options) as stored,
    ):
        for number, rows in enumerate(releases):
            data = to_table(rows, "z")
            seen = [ledger.charge(f"release {number}", profile, data).active.tolist() for ledger in (tabled, stored)]
            assert seen[0] == seen[1]
        for ledger in (tabled, stored):
            ledger.raise_budget("1", to_table(first[:3], "z"))
            assert ledger.verify() == 0
        found = accounts(tabled, UNITS)
        assert found == accounts(stored, UNITS)
        assert all(float(item["spent"]) <= float(item["budget"]) for item in found.values() if item)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("notion", ["pure", "zcdp"])
def test_the_same_as_in_the_store(tmp_path, name, notion):
    """Units with several rows, without any, and new ones."""
    first = [(f"u{number}", 9 * number) for number in range(5)]
    releases = [
        [("u0", 0), ("u1", 40), ("u1", 20), ("u2", 48), ("u4", 3)],
        [("u5", 12), ("u2", 1), ("u0", 1), ("u5", 30), ("u1", 8)],
        [("u6", 64), ("u3", 32), ("u3", 16), ("u3", 1)],
        [("u3", 32), ("u6", 0)],
    ]
    compare(tmp_path, to_named(name), notion, first, releases)


@pytest.mark.thorough
@pytest.mark.hypothesis
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=ROWS, releases=st.lists(ROWS, max_size=4), notion=st.sampled_from(["pure", "zcdp"]))
def test_the_same_as_in_the_store_for_all_rows(tmp_path_factory, engine, first, releases, notion):
    compare(tmp_path_factory.mktemp("t"), engine, notion, first, releases)


@pytest.mark.thorough
@pytest.mark.parametrize("name", ENGINES)
def test_many_units_of_random_costs(tmp_path, name):
    """More units than a batch has, in another order each time, with budgets from a column."""
    rng = np.random.default_rng(5)
    people = pa.table({"id": np.arange(70_000), "z": rng.random(70_000), "years": rng.integers(0, 40, 70_000)})
    options = {"budget": "1 + years/40", "attributes": {"years": [0, 40]}}
    with (
        create(tmp_path, people, engine=to_named(name), **options) as tabled,
        Ledger.create(tmp_path / "c.db", people, anchor=tmp_path / "c.anchor", **options) as stored,
    ):
        for number in range(3):
            rows = people.take(rng.permutation(70_000)[:50_000])
            first, second = (ledger.charge(str(number), SUM, rows).active for ledger in (tabled, stored))
            assert (first == second).all()
        assert not first.all()
        assert tabled.verify() == 0
        for unit in rng.integers(0, 70_000, 5).tolist():
            assert tabled.account(unit) == stored.account(unit)


@pytest.mark.thorough
def test_one_engine_goes_on_from_another(tmp_path):
    pytest.importorskip("duckdb")
    pytest.importorskip("polars")
    create(tmp_path, engine="duckdb").close()
    for number, name in enumerate(("polars", "duckdb", "polars")):
        with Ledger.open(tmp_path / "l.db", engine=name) as ledger:
            ledger.charge(str(number), SUM, PEOPLE)
    with Ledger.open(tmp_path / "l.db") as ledger:
        assert {name: ledger.account(name)["spent"] for name in ("ada", "ben", "cleo", "emil")} == {
            "ada": "1", "ben": "0.75", "cleo": "1", "emil": "0.75"
        }  # fmt: skip
        assert ledger.verify() == 0


@pytest.mark.thorough
def test_releases_and_public_mode(tmp_path, engine):
    mechanism = LaplaceSum(b=2, radius=1, arithmetic="binary64")
    with create(tmp_path, engine=engine, mode="public", budget="5/4") as ledger:
        first = ledger.run("one", mechanism, PEOPLE, rng=np.random.default_rng(1))
        assert (ledger.run("one", mechanism, PEOPLE) == first).all()
        ledger.run("two", mechanism, PEOPLE, rng=np.random.default_rng(1))
        with pytest.raises(OverBudget):
            ledger.run("three", mechanism, PEOPLE)
        assert ledger.account("ada")["spent"] == "0.5"
        with pytest.raises(InvalidData, match="at most 1 record"):
            ledger.charge("twice", declare("small", "w*z/9", record={"z": [0, 1]}), pa.concat_tables([PEOPLE, PEOPLE]))
        assert ledger.journal.find("charge", "twice") is None


class Lying:
    """An engine that changes what another one returns."""

    def __init__(self, true, lie, what):
        self.true, self.lie, self.what = true, lie, what

    def join(self, *arguments):
        return self.tell("join", self.true.join(*arguments))

    def match(self, *arguments):
        return self.tell("match", self.true.match(*arguments))

    def sort(self, *arguments):
        return self.tell("sort", self.true.sort(*arguments))

    def count_repeated(self, paths):
        return self.true.count_repeated(paths)

    def tell(self, what, batches):
        found = pa.Table.from_batches(list(batches))
        yield from (self.lie(found.to_pylist(), found.schema) if what == self.what else found).to_batches()


def lie(change):
    def tell(rows, schema):
        return pa.Table.from_pylist(change(rows), schema=schema)

    return tell


def give(rows, name, amount, to=0, of=1):
    """Move an amount from one unit to another."""
    changed = [dict(row) for row in rows]
    changed[to][name] += amount
    changed[of][name] -= amount
    return changed


def exchange(rows, *names):
    """Exchange what two units have."""
    first, second = ({name: row[name] for name in names} for row in rows[:2])
    return [rows[0] | second, rows[1] | first, *rows[2:]]


def anew(rows):
    """Say of a unit with an account that it has none."""
    return [*rows[1:], rows[0] | {"slot": None}]


LIES = {
    "loses a unit": ("join", lambda rows: rows[1:]),
    "has a unit twice": ("join", lambda rows: [rows[0], *rows]),
    "charges one unit for another": ("join", lambda rows: give(rows, "steps", 1)),
    "gives a row of one unit to another": ("join", lambda rows: give(give(rows, "records", 1, 0, 1), "records", 1, 1, 2)),
    "forgets the rows of a unit": ("join", lambda rows: [rows[0] | {"steps": 0, "records": 0}, *rows[1:]]),
    "exchanges two accounts": ("join", lambda rows: exchange(rows, "slot")),
    "exchanges two hashes": ("join", lambda rows: exchange(rows, "high", "low")),
    "exchanges two accounts, in their order": ("join", lambda rows: exchange(rows, "high", "low", "steps", "records", "places", "budget")),
    "exchanges two rows": ("join", lambda rows: exchange(rows, "places")),
    "changes the halves of a hash": ("join", lambda rows: [rows[0] | {"low": rows[0]["high"], "high": rows[0]["low"]}, *rows[1:]]),
    "names an account that is not there": ("join", lambda rows: [*rows[:-1], rows[-1] | {"slot": 99}]),
    "opens a second account": ("join", anew),
    "opens second accounts for all": ("join", lambda rows: [row | {"slot": None} for row in rows]),
    "loses a row": ("match", lambda rows: rows[1:]),
    "has a row twice": ("match", lambda rows: [*rows, rows[0]]),
    "names a row that is not there": ("match", lambda rows: [rows[0] | {"row": 5}, *rows[1:]]),
    "gives the row of one who is left out": ("match", lambda rows: [rows[0] | {"row": 2}, *rows[1:]]),
}


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("name", LIES)
def test_an_engine_that_lies_charges_nothing(tmp_path, engine, name):
    with create(tmp_path, engine=engine, budget="1") as ledger:
        ledger.charge("one", SUM, PEOPLE)
        before = accounts(ledger, PEOPLE["id"].to_pylist())
    what, change = LIES[name]
    with Ledger.open(tmp_path / "l.db", engine=Lying(engine, lie(change), what)) as ledger:
        with pytest.raises(LedgerRejected, match="the engine did not return"):
            ledger.charge("two", SUM, PEOPLE)
        assert ledger.journal.find("charge", "two") is None
    with Ledger.open(tmp_path / "l.db", engine=engine) as ledger:
        assert ledger.verify() == 0
        assert accounts(ledger, PEOPLE["id"].to_pylist()) == before
        ledger.charge("two", SUM, PEOPLE)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("step", ["write_codes", "end_codes", "publish", "write_change", "write_entry", "append"])
def test_a_death_at_each_step_leaves_the_version_before_or_the_next(tmp_path, engine, monkeypatch, step, after):
    """L7: what no entry names was not charged, and what an entry names is there."""
    create(tmp_path, engine=engine, budget="3").close()
    owner = {
        "write_codes": VersionWriter,
        "end_codes": VersionWriter,
        "publish": Folder,
        "write_change": Store,
        "write_entry": Store,
        "append": Anchor,
    }[step]
    true = getattr(owner, step)

    def die(self, *arguments):
        if after:
            true(self, *arguments)
        raise Death

    ledger = Ledger.open(tmp_path / "l.db", engine=engine)
    monkeypatch.setattr(owner, step, die)
    with pytest.raises(Death):
        ledger.charge("one", SUM, PEOPLE)
    monkeypatch.undo()
    ledger.close()
    with Ledger.open(tmp_path / "l.db", engine=engine) as ledger:
        charged = ledger.journal.find("charge", "one") is not None
        assert charged == (step == "append")
        assert ledger.account("cleo")["spent"] == ("1" if charged else "0")
        ledger.charge("two", SUM, PEOPLE)
        assert ledger.account("cleo")["spent"] == ("2" if charged else "1")
        assert ledger.verify() == 0
    assert not list((tmp_path / "l.table").glob(".work-*"))


@pytest.mark.thorough
def test_killed_writers_leave_a_whole_table(tmp_path, engine):
    create(tmp_path, engine=engine, budget="3").close()
    kill_writers(tmp_path / "l.db", tmp_path, 6, 1)
    assert check(tmp_path / "l.db", tmp_path) > 6


@pytest.mark.slow
def test_a_hundred_kills(tmp_path, engine):
    create(tmp_path, engine=engine, budget="300").close()
    kill_writers(tmp_path / "l.db", tmp_path, KILLS // 10, 7)
    print(f"{KILLS // 10} kills, {check(tmp_path / 'l.db', tmp_path)} entries")  # noqa: T201


def current(folder):
    """The file of the newest version."""
    return max((folder / "l.table").glob("v*/charged.codes"))


@pytest.mark.thorough
def test_a_changed_file_is_refused(tmp_path, engine):
    with create(tmp_path, engine=engine) as ledger:
        ledger.charge("one", SUM, PEOPLE)
    file = current(tmp_path)
    whole = file.read_bytes()
    for place in range(0, len(whole), max(len(whole) // 15, 1)):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with Ledger.open(tmp_path / "l.db", engine=engine) as ledger:
            for act in (ledger.verify, lambda: ledger.charge("two", SUM, PEOPLE), lambda: ledger.account("ada")):
                with pytest.raises(LedgerRejected, match="is not what was written"):
                    act()
    file.unlink()
    with Ledger.open(tmp_path / "l.db", engine=engine) as ledger, pytest.raises(LedgerRejected, match="is missing"):
        ledger.charge("two", SUM, PEOPLE)
    file.write_bytes(whole)
    with Ledger.open(tmp_path / "l.db", engine=engine) as ledger:
        ledger.charge("two", SUM, PEOPLE)
        assert ledger.verify() == 0


@pytest.mark.thorough
def test_what_later_accounts_do_not_need_may_be_missing_but_not_changed(tmp_path, engine, monkeypatch):
    """Accounts are written anew from time to time; before that codes are needed, after it they are not."""
    monkeypatch.setattr(accounts_table, "_MOST_CODES", 3)
    with create(tmp_path, engine=engine, budget="4") as ledger:
        ledger.charge("one", SUM, PEOPLE)
        file = current(tmp_path)
        ledger.charge("two", SUM, PEOPLE)
        whole = file.read_bytes()
        file.write_bytes(whole[:-1])
        for act in (ledger.verify, lambda: ledger.charge("three", SUM, PEOPLE), lambda: ledger.account("cleo")):
            with pytest.raises(LedgerRejected, match="is not what was written"):
                act()
        file.write_bytes(whole)
        ledger.charge("three", SUM, PEOPLE)
        file.write_bytes(whole[:-1])
        with pytest.raises(LedgerRejected, match="is not what was written"):
            ledger.verify()
        for version in sorted((tmp_path / "l.table").glob("v*"))[:-1]:
            shutil.rmtree(version)
        assert ledger.verify() == 0
        assert ledger.account("cleo")["spent"] == "3"
        assert ledger.charge("four", SUM, PEOPLE).active.all()
        assert not ledger.charge("five", SUM, PEOPLE).active[2]
        assert ledger.verify() == 0
        with pytest.raises(InvalidData, match="was removed"):
            make_statement(ledger, "cleo")


@pytest.mark.thorough
def test_a_charge_adds_two_bytes_a_unit_and_sizes_tell_nothing_of_amounts(tmp_path, engine):
    """Pairs of ledgers: the largest costs and none, everybody left out and nobody, and who has a row. Names of folders are by chance."""
    units, sizes = 70_000, []
    for name, cost, budget, missing in (("a", 1.0, "1", 0), ("b", 0.0, "100", 0), ("c", 0.37, "1", 5)):
        people = pa.table({"id": np.arange(units), "z": np.arange(units) % 8 / 8 * cost})
        with create(tmp_path, people, engine=engine, name=name, budget=budget) as ledger:
            for number in range(3):
                ledger.charge(str(number), SUM, people.slice(missing))
            folders = sorted((tmp_path / f"{name}.table").glob("v*"))
            sizes.append([sum(file.stat().st_size for file in folder.iterdir()) for folder in folders])
            assert all(file.stat().st_mode & 0o77 == 0 for folder in folders for file in folder.iterdir())
    assert sizes[0] == sizes[1] == sizes[2]
    assert sizes[0][1:] == [2 * units] * 3
    assert sizes[0][0] < 33 * units


EARLIER = Path(__file__).parent / "earlier"
SPENT = {"ada": "0.80000000028", "ben": "0", "cleo": "2", "emil": "0.950000000187", "fred": "0.125"}


@pytest.fixture
def earlier(tmp_path, engine):
    """A ledger with a table of an earlier release, whose versions have no slots and no codes."""
    shutil.copytree(EARLIER / "table", tmp_path / "table")
    for name in ("log", "anchor", "secret"):
        shutil.copy(EARLIER / f"table.{name}", tmp_path)
    names = {name: tmp_path / f"table.{name}" for name in ("anchor", "secret")}
    made, lost = restore(tmp_path / "l.db", tmp_path / "table.log", table=tmp_path / "table", **names)
    assert not lost
    made.close()
    return lambda: Ledger.open(tmp_path / "l.db", engine=engine)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("name", ENGINES)
def test_a_table_of_an_earlier_release_is_read_stated_and_charged(tmp_path, earlier, name):
    with earlier() as ledger:
        assert {unit: ledger.account(unit)["spent"] for unit in SPENT} == SPENT
        assert ledger.verify() == 0
        stated = read_statement(write_statement(make_statement(ledger, "fred")))
        assert [float(entry["cost"]) for entry in stated["entries"] if entry["kind"] == "charge"] == [0.125, 0]
    files = {path: path.read_bytes() for path in (tmp_path / "table").rglob("*") if path.is_file()}
    with Ledger.open(tmp_path / "l.db", engine=to_named(name)) as ledger:
        receipt = ledger.charge("four", SUM, table(ada=0.5, cleo=0.5, gina=0.25))
        assert receipt.active.tolist() == [True, False, True]
        assert float(ledger.account("ada")["spent"]) == pytest.approx(1.3)
        assert ledger.verify() == 0
        ledger.raise_budget("3", PEOPLE)
        assert ledger.charge("five", SUM, table(cleo=0.5)).active.all()
        assert {unit: float(ledger.account(unit)["spent"]) for unit in ("ben", "cleo", "gina", "fred")} == {
            "ben": 0, "cleo": 2.5, "gina": 0.25, "fred": 0.125
        }  # fmt: skip
        assert ledger.verify() == 0
    assert {path: path.read_bytes() for path in files} == files  # what was written is never changed


@pytest.mark.thorough
@pytest.mark.parametrize("step", ["write", "end_part", "write_codes", "publish", "write_entry", "append"])
def test_a_death_while_an_earlier_table_is_written_anew_loses_nothing(earlier, monkeypatch, step):
    owner = {"publish": Folder, "write_entry": Store, "append": Anchor}.get(step, VersionWriter)

    def die(self, *arguments):
        raise Death

    ledger = earlier()
    with monkeypatch.context() as patch:
        patch.setattr(owner, step, die)
        with pytest.raises(Death):
            ledger.charge("four", SUM, table(ada=0.5))
    ledger.close()
    with earlier() as ledger:
        charged = ledger.journal.find("charge", "four") is not None
        assert charged == (step == "append")
        assert float(ledger.account("ada")["spent"]) == pytest.approx(1.3 if charged else 0.8)
        ledger.charge("five", SUM, table(ada=0.5))
        assert float(ledger.account("ada")["spent"]) == pytest.approx(1.8 if charged else 1.3)
        assert ledger.verify() == 0


@pytest.mark.thorough
@pytest.mark.parametrize("rotate", [False, True])
def test_a_table_is_migrated_into_pages(tmp_path, earlier, rotate):
    pytest.importorskip("cryptography")
    with earlier() as old:
        made = migrate(old, tmp_path / "n.db", anchor=tmp_path / "n.anchor", rotate=rotate)
        with made:
            assert {unit: made.account(unit)["spent"] for unit in SPENT} == SPENT
            assert made.verify() == 0
            assert made.charge("four", SUM, table(ada=0.5, cleo=0.5), partial=True).active.tolist() == [True, False]
        with pytest.raises(LedgerRejected, match="migrated"):
            old.charge("four", SUM, table(ada=0.5))


@pytest.mark.thorough
@pytest.mark.parametrize("lie", ["order", "spent", "twice"])
def test_an_engine_that_lies_about_an_earlier_table_charges_nothing(tmp_path, earlier, engine, lie):
    lies = {
        "order": lambda rows, schema: pa.Table.from_pylist(rows[::-1], schema=schema),
        "spent": lambda rows, schema: pa.Table.from_pylist(give(rows, "spent", 1 << 20), schema=schema),
        "twice": lambda rows, schema: pa.Table.from_pylist([*rows, rows[-1]], schema=schema),
    }
    earlier().close()
    with Ledger.open(tmp_path / "l.db", engine=Lying(engine, lies[lie], "sort")) as ledger:
        with pytest.raises(LedgerRejected, match="the engine did not return"):
            ledger.charge("four", SUM, PEOPLE)
        assert ledger.journal.find("charge", "four") is None


@pytest.mark.thorough
@pytest.mark.parametrize("act", ["charge", "raise", "account", "verify", "release"])
def test_a_table_that_is_one_version_behind_is_refused_until_its_copy_is_back(tmp_path, engine, act):
    """An old copy of the folder: units would spend again what the last charge took."""
    folder, old, new = (tmp_path / name for name in ("l.table", "old", "new"))
    create(tmp_path, engine=engine, budget="2").close()
    shutil.copytree(folder, old)
    with Ledger.open(tmp_path / "l.db", engine=engine) as ledger:
        ledger.charge("one", SUM, PEOPLE)
    folder.rename(new)
    old.rename(folder)
    held = sorted(path.name for path in folder.iterdir())
    with Ledger.open(tmp_path / "l.db", engine=engine) as ledger:
        acts = {
            "charge": lambda: ledger.charge("two", SUM, PEOPLE),
            "raise": lambda: ledger.raise_budget("3", PEOPLE),
            "account": lambda: ledger.account("ada"),
            "verify": lambda: ledger.verify(repair=True),
            "release": lambda: ledger.run("two", LaplaceSum(b=2, radius=1), PEOPLE),
        }
        with pytest.raises(LedgerRejected, match=r"the file v00000001-\w+/charged.codes of the table of the ledger is missing; put back"):
            acts[act]()
        assert [entry.name for entry in ledger.journal.entries] == ["", "one"]
    assert sorted(path.name for path in folder.iterdir()) == held
    for version in new.glob("v*"):  # the newest version out of the copy is enough
        if not (folder / version.name).exists():
            version.rename(folder / version.name)
    with Ledger.open(tmp_path / "l.db", engine=engine) as ledger:
        assert ledger.account("cleo")["spent"] == "1"
        assert ledger.charge("two", SUM, PEOPLE).active.all()
        assert not ledger.charge("three", SUM, PEOPLE).active[2]
        assert ledger.verify() == 0


@pytest.mark.thorough
def test_a_version_that_is_ahead_of_the_log_is_passed_over(tmp_path, engine):
    """What a death between the version and the entry leaves: it was not charged, nothing was run for it, and nobody reads it."""
    folder = tmp_path / "l.table"
    with create(tmp_path, engine=engine, budget="2") as ledger:
        ledger.charge("one", SUM, PEOPLE)
    kept = {name: (tmp_path / name).read_bytes() for name in ("l.db", "l.anchor")}
    with Ledger.open(tmp_path / "l.db", engine=engine) as ledger:
        ledger.charge("lost", SUM, PEOPLE)
    for name, data in kept.items():
        (tmp_path / name).write_bytes(data)
    ahead = max(folder.glob("v*"))
    assert ahead.name.startswith("v00000002-")
    with Ledger.open(tmp_path / "l.db", engine=engine) as ledger:
        assert ledger.account("cleo")["spent"] == "1"
        assert ledger.verify() == 0
        assert ledger.charge("two", SUM, PEOPLE).active.all()
        assert ledger.account("cleo")["spent"] == "2"
        shutil.rmtree(ahead)  # it costs space alone
        assert ledger.verify() == 0
        assert not ledger.charge("three", SUM, PEOPLE).active[2]
        assert ledger.verify() == 0


@pytest.mark.thorough
@pytest.mark.parametrize("folder", ["t[1]", "t*", "t?", "t{a,b}", "t'q", "t%20", "t#1"])
@pytest.mark.parametrize("name", ENGINES)
def test_a_folder_is_no_pattern(tmp_path, name, folder):
    (tmp_path / "t1").mkdir()
    with Ledger.create(
        tmp_path / "l.db", PEOPLE, budget=2, anchor=tmp_path / "anchor", table=tmp_path / folder, engine=to_named(name)
    ) as ledger:
        assert ledger.charge("one", SUM, PEOPLE).active.all()
        assert ledger.verify() == 0


@pytest.mark.thorough
def test_a_log_that_is_behind_its_table_is_refused_by_its_anchor(tmp_path, engine):
    """The same with the true anchor is an old copy of the log, and no death."""
    create(tmp_path, engine=engine, budget="2").close()
    kept = (tmp_path / "l.db").read_bytes()
    with Ledger.open(tmp_path / "l.db", engine=engine) as ledger:
        ledger.charge("one", SUM, PEOPLE)
    (tmp_path / "l.db").write_bytes(kept)
    with pytest.raises(LedgerRejected, match="older than its anchor"):
        Ledger.open(tmp_path / "l.db", engine=engine)


def test_a_changed_manifest_is_refused(tmp_path, engine):
    create(tmp_path, engine=engine).close()
    base = sqlite3.connect(tmp_path / "l.db")
    with pytest.raises(sqlite3.IntegrityError, match="history is not changed"):
        base.execute("UPDATE changes SET packed = x'00'")
    (rule,) = base.execute("SELECT sql FROM sqlite_master WHERE name = 'changes_update'").fetchone()
    base.execute("DROP TRIGGER changes_update")
    base.execute("UPDATE changes SET packed = replace(packed, '\"sums\":[', '\"sums\":[1')")
    base.execute(rule)
    base.commit()
    base.close()
    with pytest.raises(LedgerRejected), Ledger.open(tmp_path / "l.db", engine=engine) as ledger:
        ledger.charge("one", SUM, PEOPLE)


@pytest.mark.thorough
def test_a_table_of_another_ledger_and_one_that_moved(tmp_path, engine):
    for name in ("l", "m"):
        create(tmp_path, engine=engine, name=name).close()
    with (
        Ledger.open(tmp_path / "l.db", engine=engine, table=tmp_path / "m.table") as ledger,
        pytest.raises(LedgerRejected, match="another one was found"),
    ):
        ledger.charge("one", SUM, PEOPLE)
    (tmp_path / "l.table").rename(tmp_path / "moved")
    with (
        Ledger.open(tmp_path / "l.db", engine=engine, table=tmp_path / "l.table") as ledger,
        pytest.raises(UnreadableFile, match="--table"),
    ):
        ledger.charge("one", SUM, PEOPLE)
    with Ledger.open(tmp_path / "l.db", engine=engine, table=tmp_path / "moved") as ledger:
        ledger.charge("one", SUM, PEOPLE)
    with Ledger.open(tmp_path / "l.db", engine=engine) as ledger:
        assert ledger.account("cleo")["spent"] == "1"


@pytest.mark.thorough
def test_backup_restore_and_migration(tmp_path, engine):
    with create(tmp_path, engine=engine) as ledger:
        ledger.charge("one", SUM, PEOPLE)
        back_up(ledger, tmp_path / "log")
    options = {"anchor": tmp_path / "l.anchor", "secret": tmp_path / "l.db.key"}
    with pytest.raises(InvalidArgument, match="needs the folder"):
        restore(tmp_path / "r.db", tmp_path / "log", **options)
    restored, lost = restore(tmp_path / "r.db", tmp_path / "log", table=tmp_path / "l.table", **options)
    with restored:
        assert not lost
        assert restored.account("cleo")["spent"] == "1"
        restored.charge("two", SUM, PEOPLE, partial=True)
    with pytest.raises(LedgerRejected):
        Ledger.open(tmp_path / "l.db", engine=engine)  # older than its anchor now


def test_duckdb_prints_no_bar_of_its_own():
    """It begins one after two seconds, in what a command prints."""
    pytest.importorskip("duckdb")
    from accountant.ledger.tables.duck import connect  # noqa: PLC0415 - an extra

    with connect() as connection:
        assert connection.execute("SELECT current_setting('enable_progress_bar')").fetchone() == (False,)


def test_what_is_refused(tmp_path, engine, monkeypatch):
    with pytest.raises(InvalidArgument, match="did you mean 'polars'"):
        create(tmp_path, engine="polar")
    with pytest.raises(InvalidArgument, match="a value of type int"):
        create(tmp_path, engine=3)
    with pytest.raises(InvalidArgument, match="no folder"):
        Ledger.create(tmp_path / "x.db", PEOPLE, budget=1, anchor=tmp_path / "x.anchor", engine=engine)
    with pytest.raises(InvalidArgument, match="two have one name"):
        Ledger.create(tmp_path / "x.db", PEOPLE, budget=1, anchor=tmp_path / "x.anchor", table=tmp_path / "x.anchor")
    assert not list(tmp_path.iterdir())
    Ledger.create(tmp_path / "x.db", PEOPLE, budget=1, anchor=tmp_path / "x.anchor").close()
    with pytest.raises(InvalidArgument, match="leave it out"):
        Ledger.open(tmp_path / "x.db", engine="duckdb")
    (tmp_path / "l.table").mkdir()
    with pytest.raises(UnwritableOutput, match="is there already"):
        create(tmp_path, engine=engine)
    assert not (tmp_path / "l.db").exists()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"pdp-accountant\[duckdb\]"):
        create(tmp_path, name="y")


def test_a_failed_opening_leaves_nothing(tmp_path, engine):
    with pytest.raises(InvalidData):
        create(
            tmp_path, table(ada=1).append_column("years", pa.array([90])), engine=engine, budget="1 + years", attributes={"years": [0, 1]}
        )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("values", [[2**63 - 1], [-(2**63), 2**63 - 1, 5]])
def test_sums_are_those_of_integers(values):
    high = np.array(values)
    weights = weigh_units(high, high[::-1].copy())
    first, second = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F
    true = sum(((a * first + b * second) % 2**64 | 1) * v for a, b, v in zip(values, values[::-1], values, strict=True)) % 2**64
    assert weighted_sum(weights, high) == true
