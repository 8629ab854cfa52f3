"""Ledgers of version 2: the accounts are those of a model, files have one size whatever is in them, flipped bits are noticed, and a
migration that dies leaves one ledger that can be charged.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accountant.ledger import Ledger
from accountant.ledger.amounts import MOST
from accountant.ledger.backup import back_up, migrate, restore
from accountant.ledger.database import NEWEST, VERSION
from accountant.ledger.paged.codes import FREE, decode, encode
from accountant.ledger.paged.cutting import LEAST, cut
from accountant.ledger.paged.hashing import Hashing, PageHasher
from accountant.ledger.paged.store import PageStore
from accountant.ledger.store import Store
from accountant.ledger.units import Hasher, Ids
from profiles import PDPError, UnreadableFile, declare
from profiles.errors import LedgerRejected
from tests.ledger.conftest import PEOPLE, SUM, in_chunks, in_files, table

FLIPS = int(os.environ.get("FLIPS", "30"))


@given(st.lists(st.integers(0, MOST), min_size=1, max_size=20), st.integers(0, MOST))
def test_codes_are_rounded_up_by_little_and_never_above_the_worst_cost(amounts, worst):
    found = decode(encode(np.array([*amounts, worst]), worst), worst).tolist()
    assert found[-1] == worst
    for amount, charged in zip(amounts, found, strict=False):
        assert amount <= charged <= amount + (amount >> 10) + (amount > 2**11)
        assert charged <= worst or amount > worst
    order = np.argsort(amounts)
    assert np.array(found)[order].tolist() == sorted(found[:-1])


def test_other_numbers_are_no_codes():
    assert encode(np.array([0]), 5).tolist() == [FREE]
    with pytest.raises(UnreadableFile, match="another number"):
        decode(np.array([2**16 - 1], np.uint16), 5)


def test_an_id_has_one_hash_however_it_is_written():
    hasher = PageHasher.of(Hasher(bytes(32)))
    texts = ["7", "-7", "0", "007", "a", "a\0", "fourteen bytes", "fifteen letters", "sixteen letters!", str(10**18), str(2**63), "ß"]
    hashed = hasher.hash_ids(Ids(pa.array(texts), 0), Hashing.AES)
    assert len({tuple(pair) for pair in hashed.tolist()}) == len(texts)
    assert [hasher.hash_text(text, Hashing.AES).tolist()[0] for text in texts] == hashed.tolist()
    numbers = hasher.hash_ids(Ids(pa.array([7, -7, 0]), 0), Hashing.AES)
    assert numbers.tolist() == hashed[:3].tolist()
    large = hasher.hash_ids(Ids(pa.array([7, 10**18]), 0), Hashing.AES)
    assert large.tolist() == [hashed[0].tolist(), hashed[9].tolist()]
    nobody = hasher.hash_nobody(5, 3)
    assert hasher.is_somebody(hashed).all()
    assert not hasher.is_somebody(nobody).any()


@pytest.mark.parametrize("kind", [pa.int64(), pa.string()])
def test_one_row_less_changes_few_pieces(kind):
    ids = pa.array(np.random.default_rng(2).permutation(400_000)).cast(kind)

    def pieces(values):
        found = list(cut(Ids(values[start : start + 65_536], start) for start in range(0, len(values), 65_536)))
        assert pa.concat_arrays([piece.values for piece in found]).equals(values)
        assert [piece.first_row for piece in found] == [0, *np.cumsum([piece.size for piece in found])[:-1].tolist()]
        assert all(piece.size >= LEAST for piece in found[:-1])
        return {str(piece.values) + str(piece.size) for piece in found}

    before, after = pieces(ids), pieces(pa.concat_arrays([ids[:9], ids[10:]]))
    assert len(before - after) <= 3


def spent(ledger, name):
    return float(ledger.account(name)["spent"])


@pytest.mark.parametrize("notion", ["pure", "zcdp"])
@pytest.mark.parametrize("budget", ["2", "Min(3, 1 + years/4)"])
def test_accounts_are_those_of_a_model(make, notion, budget):
    """Charges of few and of many units in any order, with several rows, and units that come later: each as it would be alone."""
    rng = np.random.default_rng(7)
    ranges = {} if budget == "2" else {"attributes": {"years": [0, 8]}}

    def rows(ids):
        return pa.table({"id": ids, "z": rng.integers(0, 65, len(ids)) / 64, "years": ids % 9})

    def most(unit):
        return 2 if budget == "2" else min(3, 1 + unit % 9 / 4)

    profile = declare("sum", "w*z", record={"z": [0, 1]}) if notion == "pure" else declare(
        "noisy", notion="gaussian", mu="w*z", record={"z": [0, 1]}
    )  # fmt: skip
    ledger = make(rows(np.arange(2_500)), budget=budget, notion=notion, **ranges)
    held: dict[int, float] = {}
    paged = ledger.journal.store.database.version == NEWEST
    for number, size in enumerate([2_500, 40, 3_000, 1, 5, 2_000, 150]):
        ids = rng.integers(0, 2_500 + 300 * number, size) if number % 3 else rng.permutation(3_200)[:size]
        data = rows(ids)
        active = ledger.charge(str(number), profile, data).active
        shifts: dict[int, float] = {}
        for unit, shift in zip(ids.tolist(), data["z"].to_pylist(), strict=True):
            shifts[unit] = shifts.get(unit, 0) + shift
        takes = {}
        for unit, shift in shifts.items():
            cost = shift if notion == "pure" else shift**2 / 2
            if paged and cost:
                cost = float(decode(encode(np.array([int(cost * 2**40)]), MOST), MOST)[0]) / 2**40
            takes[unit] = held.get(unit, 0) + cost <= most(unit)
            held[unit] = held.get(unit, 0) + cost * takes[unit]
        assert active.tolist() == [takes[unit] for unit in ids.tolist()]
    assert ledger.verify() == 0
    for unit in [*range(60), *list(held)[-60:]]:
        assert spent(ledger, unit) == pytest.approx(held.get(unit, 0), rel=1e-9)


def test_a_run_after_units_that_came_late_and_many_at_once(make, tmp_path):
    """Two runs of 50,000 units and more, late ones before the second and after it; maps are used, and what is wrong in them is not.
    Those of a ledger on a server are beside its secret.
    """
    numbers = np.arange(120_000)
    values = numbers % 64 / 64

    def rows(ids):
        return pa.table({"id": ids, "z": values[ids]})

    ledger = make(rows(numbers[:60_000]), budget="100")
    times = np.zeros(120_000)
    first = np.concatenate([np.arange(100), np.arange(60_000, 60_050)])
    shuffled = np.random.default_rng(1).permutation(120_000)
    for number, ids in enumerate([first, numbers[:60_000], numbers[:60_000], numbers, shuffled, shuffled[1:], shuffled[7:40], shuffled]):
        assert ledger.charge(str(number), SUM, rows(ids)).active.all()
        times[ids] += 1
        if number == 5:
            database = ledger.journal.store.database
            maps = Path(f"{[*database.files, tmp_path / 'l.db.key'][0]}-maps")
            assert maps.exists() == (database.version == NEWEST)
            if maps.exists():
                assert maps.stat().st_mode & 0o777 == 0o600
                data = np.frombuffer(maps.read_bytes(), np.uint8).copy()
                data[np.random.default_rng(2).integers(0, data.size, 1_000)] ^= 1
                maps.write_bytes(data.tobytes())
    assert ledger.verify() == 0
    for unit in (1, 99, 100, 59_999, 60_001, 60_049, 60_050, 119_999):
        assert spent(ledger, unit) == pytest.approx(times[unit] * values[unit], abs=1e-12)
    ledger.raise_budget("200", rows(numbers[:5]))
    assert ledger.account(119_999)["budget"] == "200"


def sizes(folder):
    """The files of a ledger, with their sizes and modes."""
    return {path.name: (path.stat().st_size, path.stat().st_mode & 0o777) for path in folder.glob("l.db*")}


#: What one unit, or everybody, may be like: (the value of the unit, that of the others), and the budget of everybody.
PAIRS = {
    "the same": (0.5, 0.5, "9"),
    "one pays most": (1.0, 0.5, "9"),
    "one pays nothing": (0.0, 0.5, "9"),
    "all pay nothing": (0.0, 0.0, "9"),
    "all pay most": (1.0, 1.0, "9"),
    "one has run out": (1.0, 0.25, "3/2"),
    "all but one have run out": (0.25, 1.0, "3/2"),
    "all have run out": (1.0, 1.0, "3/2"),
}


@pytest.fixture
def measure(tmp_path, monkeypatch):
    """Make a ledger, charge it, and return the sizes of its files on the way. ``missing``: a unit without a row in the dense charges."""
    monkeypatch.setattr("accountant.ledger.opened.tell_time", lambda: "2026-01-01T00:00:00Z")

    def work(name, own, others, budget, missing=None, *, units=60_000, **options):
        folder = tmp_path / name.replace(" ", "-")
        folder.mkdir()
        monkeypatch.setattr("secrets.token_bytes", lambda size: bytes(range(size)))
        values = np.full(units, others)
        values[17] = own
        everybody = pa.table({"id": np.arange(units), "z": values})
        dense = everybody if missing is None else everybody.filter(pa.array(np.arange(units) != missing))
        found = []
        ledger = Ledger.create(folder / "l.db", everybody, budget=budget, anchor=folder / "a", secret=folder / "k", **options)
        with ledger:
            found.append(sizes(folder))
            for number, data in enumerate([dense, everybody[5:600], dense, dense, everybody[10:20]]):
                ledger.charge(str(number), SUM, data)
                found.append(sizes(folder))
        return [*found, sizes(folder)]

    return work


@pytest.mark.parametrize("pair", PAIRS)
def test_files_have_one_size_whatever_is_in_them(measure, pair):
    """Amounts, who ran out, and whether a unit has a row in a charge of most: the file, its log and the maps are the same to the byte."""
    budget = PAIRS[pair][2]
    assert measure("as it is", *PAIRS[pair]) == measure("compared", 0.5, 0.5, budget)


def test_files_of_other_ledgers_have_one_size_as_well(measure):
    """Accounts with components, and budgets of columns."""
    for name, budget, more in (
        ("mixed", "epsilon=3, mu2=1, delta=1e-6", {"notion": "mixed"}),
        ("columns", "1 + z", {"attributes": {"z": [0, 1]}}),
    ):
        found = [measure(f"{name} {number}", own, 0.5, budget, **more) for number, own in enumerate((0.5, 1.0, 0.0))]
        assert found[0] == found[1] == found[2]


def test_files_have_one_size_whoever_is_absent_from_a_charge_of_most(measure):
    assert measure("absent", 0.5, 0.5, "9", missing=30_000) == measure("present", 0.5, 0.5, "9")


@pytest.mark.parametrize("missing", [0, 1, -1])
def test_units_without_their_hashes_do_not_come_anew(tmp_path, monkeypatch, missing):
    """Who has an account and is not found in it would have a second budget."""
    people = pa.table({"id": np.arange(130_000), "z": np.full(130_000, 0.5)})
    with Ledger.create(tmp_path / "l.db", people, budget="8", anchor=tmp_path / "a") as ledger:
        ledger.charge("one", SUM, people[:50])
        ledger.charge("two", SUM, table(newer=0.5))
        true = PageStore.list_runs

        def less(*arguments):
            found = true(*arguments)
            del found[missing]
            return found

        monkeypatch.setattr(PageStore, "list_runs", less)
        for data in (people, people[:50], table(newest=0.25)):
            with pytest.raises(LedgerRejected, match="hashes of units of the ledger are missing"):
                ledger.charge("three", SUM, data)


@pytest.mark.thorough
def test_flipped_bits_are_noticed_or_of_no_effect(tmp_path):
    """What a ledger says after a bit was flipped is what it said before, or it is refused: there is no silent wrong account."""
    people = {f"p{number}": number % 8 / 8 for number in range(30)}
    folder = tmp_path / "whole"
    folder.mkdir()
    with Ledger.create(folder / "l.db", table(**people), budget="Min(3, 1 + z)", attributes={"z": [0, 1]}, anchor=folder / "a") as ledger:
        ledger.charge("one", SUM, table(**people))
        ledger.charge("two", SUM, table(**people, late=1.0))
        ledger.raise_budget("4", table(**people))
        expected = {name: ledger.account(name) for name in (*people, "late")}
    whole = (folder / "l.db").read_bytes()
    rng, noticed = np.random.default_rng(int(os.environ.get("SEED", "3"))), 0
    for number in range(FLIPS):
        place = tmp_path / f"f{number}"
        shutil.copytree(folder, place)
        data = bytearray(whole)
        data[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
        (place / "l.db").write_bytes(data)
        try:
            with Ledger.open(place / "l.db", anchor=place / "a", secret=place / "l.db.key") as ledger:
                for name, account in expected.items():
                    try:
                        assert ledger.account(name) == account
                    except PDPError:
                        noticed += 1
                before = None
                try:
                    before = ledger.verify()
                except PDPError:
                    noticed += 1
                receipt = ledger.charge("three", SUM, table(**people))
                assert receipt.active.all()
                assert before is None or ledger.verify() == 0
        except PDPError:
            noticed += 1
        shutil.rmtree(place)
    assert noticed


class Death(BaseException):
    """A process that dies: nothing after it runs."""


@pytest.mark.parametrize("source", [in_files, in_chunks])
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("calls", range(1, 5))
@pytest.mark.parametrize("step", ["write_entry", "forget_place", "append", "commit"])
def test_a_migration_that_dies_leaves_one_ledger_that_can_be_charged(request, tmp_path, monkeypatch, source, step, calls, after):
    from accountant.ledger.anchor import Anchor  # noqa: PLC0415
    from accountant.ledger.sqlite import FileDatabase  # noqa: PLC0415

    source(request)
    names = {name: tmp_path / f"{name}.db" for name in ("old", "new")}
    with Ledger.create(names["old"], PEOPLE, budget="3", anchor=tmp_path / "old") as ledger:
        ledger.charge("one", SUM, PEOPLE)
    owner, name = {"append": (Anchor, "append"), "commit": (FileDatabase, "_commit")}.get(step, (Store, step))
    true, seen = getattr(owner, name), []

    def die(self, *arguments):
        seen.append(1)
        if len(seen) == calls and not after:
            raise Death
        true(self, *arguments)
        if len(seen) == calls:
            raise Death

    ledger, died = Ledger.open(names["old"]), False
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, die)
        try:
            migrate(ledger, names["new"], anchor=tmp_path / "new", rotate=source is in_files).close()
        except Death:
            died = True
    ledger.close()
    charged = []
    for name, path in names.items():
        try:
            with Ledger.open(path) as ledger:
                ledger.charge("two", SUM, PEOPLE)
                assert ledger.verify() == 0
                assert ledger.account("cleo")["spent"] == "2"
                charged.append(name)
        except PDPError:
            pass
    assert len(charged) == 1
    assert died or charged == ["new"]


@pytest.mark.parametrize("source", [in_files, in_chunks])
def test_a_migrated_ledger_has_pages_and_the_same_accounts(request, tmp_path, source):
    source(request)
    people = pa.table({"id": [f"unit {number}" for number in range(70_000)], "z": np.arange(70_000) % 64 / 64})
    late = pa.table({"id": ["unit 3", "newer"], "z": [0.5, 0.25]})
    with Ledger.create(tmp_path / "old.db", people, budget="8", anchor=tmp_path / "old") as old:
        assert old.journal.store.database.version == (NEWEST if source is in_files else VERSION)
        old.charge("one", SUM, people)
        old.charge("two", SUM, late)
        before = {name: old.account(name) for name in ("unit 0", "unit 3", "unit 69999", "newer")}
        made = migrate(old, tmp_path / "new.db", anchor=tmp_path / "new")
    with made:
        assert made.journal.store.database.version == NEWEST
        assert {name: made.account(name) for name in before} == before
        assert made.verify() == 0
        assert made.charge("three", SUM, people).active.all()
        assert made.charge("four", SUM, late).active.all()
        assert spent(made, "newer") == 0.5
        assert back_up(made, tmp_path / "log") == len(made.journal.entries)
        made.raise_budget("9", late)
        assert made.verify() == 0


def test_a_backup_is_restored_page_by_page(tmp_path):
    values = table(ada=0.5, ben=1.0)
    with Ledger.create(tmp_path / "l.db", values, budget="8", anchor=tmp_path / "a") as ledger:
        ledger.charge("one", SUM, table(ada=0.5, newer=0.25))
        back_up(ledger, tmp_path / "log")
        pages = [ledger.journal.store.database.read_rows(f"SELECT * FROM {name}", ()) for name in ("accounts", "ids", "late", "state")]
    shutil.copy(tmp_path / "l.db.key", tmp_path / "k")
    made, lost = restore(tmp_path / "r.db", tmp_path / "log", anchor=tmp_path / "a", secret=tmp_path / "k")
    with made:
        assert not lost
        assert made.journal.store.database.version == NEWEST
        assert pages == [
            made.journal.store.database.read_rows(f"SELECT * FROM {name}", ()) for name in ("accounts", "ids", "late", "state")
        ]
        assert made.verify() == 0
        made.charge("two", SUM, values, partial=True)


def test_a_charge_of_few_rows_asks_the_database_few_questions(tmp_path, monkeypatch):
    """On a server each of them is a way there and back."""
    from accountant.ledger.sqlite import FileDatabase  # noqa: PLC0415

    people = pa.table({"id": np.arange(60_000), "z": np.arange(60_000) % 8 / 8})
    few = people.take(np.random.default_rng(1).permutation(60_000)[:900])
    asked = []
    true = FileDatabase.read_rows
    with Ledger.create(tmp_path / "l.db", people, budget="8", anchor=tmp_path / "a") as ledger:
        monkeypatch.setattr(FileDatabase, "read_rows", lambda *words: asked.append(words[1]) or true(*words))
        assert ledger.charge("one", SUM, few).active.all()
        assert sum("ids" in statement or "accounts" in statement for statement in asked) < 8
        assert ledger.verify() == 0
        for unit in few["id"].to_pylist()[::300]:
            assert spent(ledger, unit) == unit % 8 / 8
