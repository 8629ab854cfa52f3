"""A ledger that goes on with a new secret, or without the id of a person: accounts stay, and who finds them changes."""

from __future__ import annotations

import stat
from pathlib import Path

import numpy as np
import pytest

from accountant.ledger import Ledger
from accountant.ledger.backup import back_up, migrate, restore
from accountant.ledger.public import read_public, write_public
from accountant.ledger.roots import append_root
from accountant.ledger.settings import make_check
from accountant.ledger.statements import make_statement, read_statement, require_root, write_statement
from accountant.ledger.units import Hasher, to_ids
from profiles import InvalidArgument, InvalidData, UnreadableFile
from profiles.errors import LedgerRejected
from tests.ledger.conftest import PEOPLE, SUM, table


@pytest.fixture
def moved(make, tmp_path, where):
    """A ledger and the one that goes on from it."""
    made = []

    def go_on(old=None, name="next", **options):
        before = make(budget="2") if old is None else old
        if old is None:
            before.charge("one", SUM, PEOPLE)
        files = {"anchor": tmp_path / f"{name}.anchor", "secret": tmp_path / f"{name}.db.key"}
        made.append(migrate(before, where(name), **files, **options))
        return before, made[-1]

    yield go_on
    for ledger in made:
        ledger.close()


def amounts(ledger):
    """All accounts, without who has them."""
    found = [(spent, budgets) for _, spent, budgets in ledger.journal.accounts.list_state(ledger.journal.entries)]
    return sorted(zip(*(np.concatenate(part, axis=1)[0].tolist() for part in zip(*found, strict=True)), strict=True))


def hashes(ledger):
    joined = b"".join(found for found, _, _ in ledger.journal.accounts.list_state(ledger.journal.entries))
    return {joined[start : start + 16] for start in range(0, len(joined), 16)}


def test_hashers_of_several_secrets():
    one, two, three = (bytes([number]) * 32 for number in (1, 2, 3))
    last = Hasher.of(three + two + one)
    assert last.secrets == three + two + one
    assert (last.secret, last.before.secret, last.before.before.before) == (three, two, None)
    assert Hasher.of(one) == Hasher(one)
    ids = to_ids(["ada", "ben"], 2)
    assert last.hashes(ids) == last.hash_text("ada") + last.hash_text("ben")
    assert last.hashes(ids) == last.rename(Hasher.of(two + one).hashes(ids))
    assert last.fingerprint(ids) == last.rename_fingerprint(Hasher.of(two + one).fingerprint(ids))
    assert last.rename_fingerprint(b"") == b""
    assert len({Hasher.of(found).hashes(ids) for found in (one, two, two + one, one + two, three + two + one, three + one)}) == 6
    assert len({make_check(found) for found in (one, two, two + one, two + three, three + two + one)}) == 5


def test_accounts_are_found_under_a_new_secret(moved):
    old, new = moved(rotate=True)
    assert new.journal.hasher.secret != old.journal.hasher.secret
    assert all(new.account(name) == old.account(name) for name in PEOPLE["id"].to_pylist())
    assert not hashes(old) & hashes(new)
    assert amounts(old) == amounts(new)
    new.charge("two", SUM, PEOPLE)  # in the order that is known
    new.charge("three", SUM, table(xenia=0.5, ben=0.25))
    assert [new.account(name)["spent"] for name in ("ben", "xenia")] == ["0.75", "0.5"]
    assert new.verify() == 0
    append_root(new)
    assert read_statement(write_statement(make_statement(new, "ben")))["proof"] is not None


def test_it_goes_on_a_second_time_and_from_a_backup(moved, tmp_path, where):
    _, new = moved(rotate=True)
    _, last = moved(new, "last", rotate=True)
    last.charge("two", SUM, PEOPLE)
    assert last.account("cleo")["spent"] == "2"
    assert len(last.journal.hasher.secrets) == 96
    back_up(last, tmp_path / "log")
    again, lost = restore(where("again"), tmp_path / "log", anchor=tmp_path / "last.anchor", secret=tmp_path / "last.db.key")
    with again:
        assert not lost
        assert again.account("cleo")["spent"] == "2"
    _, plain = moved(last, "plain")
    assert plain.account("cleo")["spent"] == "2"
    assert plain.journal.hasher.secrets == last.journal.hasher.secrets


def test_one_secret_is_not_another(moved, tmp_path, where):
    _, new = moved(rotate=True)
    new.close()
    key, old = tmp_path / "next.db.key", tmp_path / "l.db.key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    text = key.read_text().strip()
    assert text.endswith(old.read_text().strip())  # it is needed to find accounts
    with pytest.raises(InvalidArgument, match="another one was found"):
        Ledger.open(where("next"), secret=old)
    (tmp_path / "new").write_text(text[:64])
    with pytest.raises(InvalidArgument, match="another one was found"):
        Ledger.open(where("next"), secret=tmp_path / "new")
    (tmp_path / "torn").write_text(text[:100])
    with pytest.raises(UnreadableFile, match="damaged"):
        Ledger.open(where("next"), secret=tmp_path / "torn")
    with Ledger.open(where("next"), secret=key) as again:
        assert again.account("ben")["spent"] == "0.25"


def test_outsiders_see_that_one_log_goes_on_in_another(moved, make, monkeypatch):
    pytest.importorskip("cryptography")
    old, new = moved(rotate=True)
    early, late = read_public(write_public(old)), read_public(write_public(new))
    assert early.key != late.key
    late.require_growth(early)
    with pytest.raises(LedgerRejected, match="did not end in this one"):
        early.require_growth(late)
    other = make(name="other", budget="2")
    with pytest.raises(LedgerRejected, match="did not end in this one"):
        read_public(write_public(other)).require_growth(early)
    forger = type("Forger", (), {"journal": new.journal, "settings": new.settings})
    monkeypatch.setattr(type(new.journal), "catch_up", lambda _: None)
    new.journal.hasher = Hasher(bytes(32))  # somebody without the secrets
    with pytest.raises(LedgerRejected, match="handed over to"):
        read_public(write_public(forger, root=False)).require_growth(early)


def test_a_person_is_forgotten_and_the_account_stays(moved):
    old, new = moved(forget=["ben"])
    with pytest.raises(InvalidData, match="no account"):
        new.account("ben")
    assert amounts(old) == amounts(new)
    assert len(hashes(old) & hashes(new)) == 4
    assert new.account("ada") == old.account("ada")
    new.charge("two", SUM, PEOPLE)  # who comes back has an account of its own, and a budget
    assert new.account("ben") == {"spent": "0.25", "budget": "2", "left": "1.75"}
    assert new.account("ada")["spent"] == "1"
    assert "forgotten-stay-away" in {item.id for item in new.guarantee().hypotheses}
    assert "forgotten-stay-away" not in {item.id for item in old.guarantee().hypotheses}
    assert new.verify() == 0
    _, last = moved(new, "last")
    assert "forgotten-stay-away" in {item.id for item in last.guarantee().hypotheses}


def test_the_files_of_the_new_ledger_have_nothing_of_who_was_forgotten(moved, tmp_path):
    old, new = moved(forget=["ben"], rotate=True)
    gone = old.hash_unit("ben")
    ids = to_ids(PEOPLE["id"].to_pylist(), 5)
    trace = {gone, new.hash_unit("ben"), old.journal.hasher.fingerprint(ids), new.journal.hasher.fingerprint(ids)}
    new.close()
    for path in tmp_path.glob("next*"):
        assert not any(found in path.read_bytes() for found in trace)
    assert any(gone in path.read_bytes() for path in tmp_path.glob("l.db*")) or not (tmp_path / "l.db").exists()


def test_who_has_no_account_is_not_forgotten(moved, tmp_path, make, where):
    old = make(budget="2")
    with pytest.raises(InvalidData, match="no account for it"):
        moved(old, forget=["nobody"])
    old.charge("one", SUM, PEOPLE)  # it goes on
    assert not (tmp_path / "next.db.key").exists()


def test_a_statement_and_its_root_are_of_the_ledger_that_goes_on(moved):
    pytest.importorskip("cryptography")
    _, new = moved(rotate=True)
    append_root(new)
    require_root(read_statement(write_statement(make_statement(new, "ada"))), read_public(write_public(new)))


def test_the_command_line(pdp, tmp_path, monkeypatch):
    pytest.importorskip("cryptography")
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("id,z\nada,1\nben,0.5\n")
    Path("sum.toml").write_text('name = "sum"\nepsilon = "w*z"\n[record]\nz = [0, 1]\n')
    pdp("ledger", "init", "l", "--data", "people.csv", "--key", "id", "--budget", "4", "--anchor", "a")
    pdp("ledger", "charge", "l", "sum.toml", "--name", "one")
    assert pdp("ledger", "migrate", "l", "m", "--anchor", "b", "--forget", "nobody").refused()
    said = pdp("ledger", "migrate", "l", "m", "--anchor", "b", "--rotate", "--forget", "ben")
    assert said.code == 0
    assert "still have them" in " ".join(said.out.split())
    assert pdp("ledger", "statement", "m", "--unit", "ada").code == 0
    assert pdp("ledger", "statement", "m", "--unit", "ben").refused()
    pdp("ledger", "export", "l", "--public", "--out", "old")
    pdp("ledger", "export", "m", "--public", "--out", "new")
    assert pdp("check", "new", "--since", "old").code == 0
    assert pdp("check", "old", "--since", "new").code == 1
