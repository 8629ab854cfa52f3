"""A release that was published is served to whoever asks the same: the same mechanism, options and data; what is compared is never told."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from accountant.guarantees import declare_directions
from accountant.ledger import Ledger, requests
from accountant.ledger.backup import back_up, restore
from accountant.ledger.store import Store
from profiles.errors import InvalidArgument, LedgerRejected, ReleaseUsed
from profiles.mechanisms import LaplaceSum
from tests.ledger.conftest import table

ROWS = table(ada=0.5, ben=0.25)
SUM_OF_ONE = LaplaceSum(b=2, radius=1)


class Doubled(LaplaceSum):
    """Another mechanism with the same profile."""


class Stateful:
    """A mechanism that is no dataclass."""

    def __init__(self, shift):
        self.shift, self._runs = shift, 0

    profile = SUM_OF_ONE.profile
    statistic = staticmethod(SUM_OF_ONE.statistic)

    def run(self, data, weights, rng):
        self._runs += 1
        return self.shift + float(np.sum(data)) * 0


@pytest.fixture
def served(make):
    ledger = make(ROWS, budget="9")
    return ledger, ledger.run("one", SUM_OF_ONE, ROWS)


OTHERS = {
    "another scale": (lambda ledger: ledger.run("one", LaplaceSum(b=4, radius=1), ROWS), "mechanism"),
    "another class with the same profile": (lambda ledger: ledger.run("one", Doubled(b=2, radius=1), ROWS), "mechanism"),
    "another arithmetic": (lambda ledger: ledger.run("one", LaplaceSum(b=2, radius=1, arithmetic="binary64"), ROWS), "mechanism"),
    "a guarantee": (lambda ledger: ledger.release("one", declare_directions("a", 1, 1, source="me"), ROWS), "mechanism"),
    "a sample": (lambda ledger: ledger.run("one", SUM_OF_ONE, ROWS, q="1/2"), "options"),
    "a value": (lambda ledger: ledger.run("one", SUM_OF_ONE, table(ada=0.5, ben=0.5)), "data"),
    "a row more": (lambda ledger: ledger.run("one", SUM_OF_ONE, table(ada=0.5, ben=0.25, cleo=0)), "data"),
    "another person": (lambda ledger: ledger.run("one", SUM_OF_ONE, table(ada=0.5, cleo=0.25)), "data"),
    "another order": (lambda ledger: ledger.run("one", SUM_OF_ONE, table(ben=0.25, ada=0.5)), "data"),
    "an array of another width": (lambda ledger: ledger.run("one", SUM_OF_ONE, np.array([[0.5, 0.25]]), ids=["ada"]), "data"),
}


@pytest.mark.parametrize("case", OTHERS)
def test_another_request_under_a_used_name_is_refused(served, case):
    ledger, first = served
    ask, what = OTHERS[case]
    with pytest.raises(ReleaseUsed, match=f"other {what}|another {what}") as refused:
        ask(ledger)
    assert "ledger.output" in str(refused.value)
    assert ledger.account("ada")["spent"] == "0.25"
    assert (ledger.output("one") == first).all()
    assert len(ledger.journal.charges) == 1


def test_the_same_request_is_served_whatever_holds_the_rows(served):
    ledger, first = served
    for data, ids in ((ROWS, None), (np.array([[0.5], [0.25]]), ["ada", "ben"])):
        assert (ledger.run("one", LaplaceSum(b="2", radius=1.0), data, ids=ids) == first).all()
        assert ledger.release("one", SUM_OF_ONE, data, ids=ids).published
    ledger.run("numbers", SUM_OF_ONE, np.array([[0.5]]), ids=[7])
    assert ledger.release("numbers", SUM_OF_ONE, np.array([[0.5]]), ids=["7"]).published
    ledger.run("sampled", SUM_OF_ONE, ROWS, q="1/2")
    assert ledger.release("sampled", SUM_OF_ONE, ROWS, q="1/2").published
    with pytest.raises(ReleaseUsed, match="other options"):
        ledger.run("sampled", SUM_OF_ONE, ROWS)


def test_a_mechanism_is_told_by_its_public_attributes(make):
    ledger = make(ROWS, budget="9")
    found = Stateful(1.0)
    assert ledger.run("one", found, ROWS) == 1
    assert ledger.run("one", found, ROWS) == 1
    assert ledger.run("one", Stateful(1), ROWS) == 1
    with pytest.raises(ReleaseUsed, match="another mechanism"):
        ledger.run("one", Stateful(2.0), ROWS)


def test_what_is_compared_is_not_told_and_goes_with_a_backup(served, tmp_path, capsys):
    ledger, first = served
    ledger.run("two", SUM_OF_ONE, ROWS)
    journal = ledger.journal
    marks = [journal.store.read_output(entry.sequence) for entry in journal.charges]
    assert marks[0] != marks[1]  # of the same data: the file does not tell that they are the same
    for entry in journal.entries:
        text = json.dumps(dict(entry.body))
        assert all(mark.hex() not in text for mark in marks)
    back_up(ledger, tmp_path / "log")
    where = tmp_path / "again.db"
    again, lost = restore(where, tmp_path / "log", anchor=journal.anchor.path, secret=ledger.journal.store.read_place("secret"))
    with again:
        assert not lost
        again.verify()
        assert (again.run("one", SUM_OF_ONE, ROWS) == first).all()
        with pytest.raises(ReleaseUsed, match="other data"):
            again.run("one", SUM_OF_ONE, table(ada=0.5))


def test_a_mark_that_was_changed_is_found_by_verify(make, monkeypatch):
    ledger = make(ROWS, budget="9")
    ledger.run("one", SUM_OF_ONE, ROWS)
    ledger.verify()
    true, charged = Store.read_output, ledger.journal.charges[0].sequence
    for change in (lambda found: found[:-1] + bytes([found[-1] ^ 1]), lambda found: bytes([found[0] ^ 1]) + found[1:], lambda found: b""):
        with monkeypatch.context() as patch:
            patch.setattr(Store, "read_output", lambda self, seq, _=change: _(true(self, seq)) if seq == charged else true(self, seq))
            with pytest.raises(LedgerRejected, match="restore"):
                ledger.verify()
            with pytest.raises(LedgerRejected, match="restore"):
                ledger.run("one", SUM_OF_ONE, ROWS)


def test_entries_of_earlier_releases_are_compared_by_what_they_say(make, monkeypatch):
    ledger = make(ROWS, budget="9")
    with monkeypatch.context() as patch:
        patch.setattr(requests.Request, "to_body", lambda _: {})
        patch.setattr(requests.Request, "seal", lambda *_: None)
        first = ledger.run("one", SUM_OF_ONE, ROWS)
    assert (ledger.run("one", SUM_OF_ONE, table(ada=0.5)) == first).all()  # nothing says what the data were
    with pytest.raises(ReleaseUsed, match="another mechanism"):
        ledger.run("one", LaplaceSum(b=4, radius=1), ROWS)


def test_a_stored_output_is_written_without_mechanism_and_data(pdp, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("id,income\nada,1.25\nben,0.5\n")
    pdp("ledger", "init", "l", "--data", "people.csv", "--key", "id", "--budget", "9", "--anchor", "a")
    words = ["ledger", "release", "l", "count", "--out"]
    assert pdp(*words, "no.json").refused()
    assert "--mechanism" in pdp(*words, "no.json").err
    assert pdp(*words, "one.json", "--mechanism", "profiles.mechanisms.weighted_count:default").code == 0
    Path("people.csv").write_text("id,income\nada,1.25\n")
    other = pdp(*words, "two.json", "--mechanism", "profiles.mechanisms.weighted_count:default")
    assert other.refused()
    assert "other data" in other.err
    Path("people.csv").unlink()
    assert pdp(*words, "two.json").code == 0
    assert Path("one.json").read_bytes() == Path("two.json").read_bytes()
    assert Ledger.open("l").output("count") is not None
    with pytest.raises(InvalidArgument):
        Ledger.open("l").output("none")
