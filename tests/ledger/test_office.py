"""What an office needs: outputs of its own, plans that spend nothing, who asked for what, and quotas beside the budgets."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from accountant.applications.submodular import CoverageInstance, PrivateGreedy
from accountant.ledger import Ledger
from accountant.ledger.backup import back_up, restore
from accountant.ledger.report import report_public
from accountant.ledger.statements import make_statement
from profiles import InvalidArgument
from profiles.errors import OverBudget, ReleaseUsed
from profiles.mechanisms import WeightedCount
from tests.ledger.conftest import PEOPLE, SUM, table

COUNT, ROWS = WeightedCount(beta_count=2), np.array([[1.0], [0.0]])


@pytest.fixture
def individual():
    """Nothing: these tests see what users get."""


def test_an_output_of_ones_own_is_stored_once_and_served(make):
    ledger = make(budget="2")
    ledger.charge("one", SUM, PEOPLE)
    with pytest.raises(InvalidArgument, match="no release of this name was charged"):
        ledger.publish("two", 1)
    with pytest.raises(InvalidArgument, match="publish its parts"):
        ledger.publish("one", object())
    with pytest.raises(InvalidArgument, match="14000 bits"):  # an error of Python's, which could not be read again
        ledger.publish("one", [10**5000])
    assert ledger.publish("one", {"sum": 2.25, "of": [1, 2]}, note={"approver": "eve"}) == {"sum": 2.25, "of": [1, 2]}
    assert ledger.output("one") == {"sum": 2.25, "of": [1, 2]}
    with pytest.raises(ReleaseUsed, match="one is stored already"):
        ledger.publish("one", 3)
    entry = ledger.journal.entries[-1]
    assert (entry.kind, entry.body["approver"], entry.body["of"]) == ("output", "eve", 1)
    assert "run-on-active" in {item.id for item in ledger.guarantee().hypotheses}
    assert ledger.verify() == 0


def test_what_the_ledger_was_to_run_is_not_published_from_elsewhere(make):
    ledger = make(table(ada=1.0, ben=0.0), budget="2")
    with pytest.raises(ZeroDivisionError), ledger.release("one", COUNT, ROWS, ids=["ada", "ben"]):
        _ = 1 / 0
    with pytest.raises(ReleaseUsed, match="charged to be run by the ledger"):
        ledger.publish("one", 1)


def test_an_output_from_elsewhere_is_not_that_of_a_mechanism(make):
    ledger = make(table(ada=1.0, ben=0.0), budget="2")
    ledger.charge("one", COUNT, ROWS, ids=["ada", "ben"])
    ledger.publish("one", 5.5)
    with pytest.raises(ReleaseUsed, match="was run elsewhere"):
        ledger.run("one", COUNT, ROWS, ids=["ada", "ben"])


def test_every_entry_says_who_asked(make, where):
    ledger = make(budget="2", cap="3", note={"approver": "eve"})
    ledger.charge("one", SUM, PEOPLE, note={"purpose": "census 2026", "analyst": "ada"})
    ledger.raise_budget("3", PEOPLE, note={"approver": "fay"})
    told = report_public(ledger)["entries"]
    assert [item.get("approver") for item in told] == ["eve", "eve", "fay"]
    assert (told[1]["purpose"], told[1]["analyst"]) == ("census 2026", "ada")
    assert make_statement(ledger, "ben")["entries"][1]["purpose"] == "census 2026"
    ledger.close()
    with Ledger.open(where("l"), note={"purpose": "census 2027"}) as again:
        again.analysis("two", ["ada"])
        instance = CoverageInstance.from_sets([[0], [1]], candidates=2)
        PrivateGreedy(1, "1/2").run(instance, ledger=again.analysis("two", ["ada", "ben"], note={"analyst": "gus"}))
        charged = again.journal.charges[-1].body
        assert (charged["purpose"], charged["analyst"]) == ("census 2027", "gus")
        assert again.journal.entries[-1].body["purpose"] == "census 2027"


@pytest.mark.parametrize("note", [{"who": "ada"}, {"purpose": ""}, {"purpose": "a\nb"}, {"approver": "x" * 201}, {"analyst": 7}])
def test_what_is_no_line_of_text_is_refused(make, note):
    ledger = make(budget="2")
    with pytest.raises(InvalidArgument):
        ledger.charge("one", SUM, PEOPLE, note=note)
    assert len(ledger.journal.entries) == 1


def test_charges_beyond_a_quota_are_refused_and_logged(make):
    ledger = make(budget="9")
    ledger.charge("before", SUM, PEOPLE, note={"analyst": "ada"})
    ledger.set_quota("analyst", "ada", "2.01")
    ledger.set_quota("purpose", "census", "1.51")
    ledger.charge("one", SUM, PEOPLE, note={"analyst": "ada", "purpose": "census"})
    with pytest.raises(OverBudget, match="left of the quota of the analyst 'ada'; nothing was charged"):
        ledger.charge("two", SUM, PEOPLE, note={"analyst": "ada"})
    refused = ledger.journal.entries[-1]
    assert (refused.kind, refused.body["decided_by"], refused.body["analyst"]) == ("refused", "the quota of the analyst 'ada'", "ada")
    with pytest.raises(OverBudget, match="quota of the purpose 'census'"):
        ledger.charge("two", SUM, PEOPLE, note={"analyst": "ben", "purpose": "census"})
    ledger.charge("two", SUM, PEOPLE)  # nobody is named: a quota is no privacy
    told = [(item["name"], float(item["left"])) for item in report_public(ledger)["quotas"]]
    assert told == [("ada", pytest.approx(0.01, abs=1e-8)), ("census", pytest.approx(0.51, abs=1e-8))]
    ledger.set_quota("analyst", "ada", "3.01")
    assert ledger.look_ahead(SUM, note={"analyst": "ada"}).tell()["quotas"][0]["left"].startswith("1.00999")
    ledger.charge("three", SUM, PEOPLE, note={"analyst": "ada"})
    assert ledger.guarantee().bound.epsilon == 9
    assert ledger.verify() == 0


@pytest.mark.parametrize(
    ("of", "name", "most"), [("person", "ada", 1), ("analyst", "", 1), ("analyst", "ada", -1), ("analyst", "ada", None)]
)
def test_what_is_no_quota_is_refused(make, of, name, most):
    with pytest.raises(InvalidArgument):
        make(budget="9").set_quota(of, name, most)


def test_a_quota_in_mixed_has_three_numbers(make):
    ledger = make(budget="epsilon=4, mu2=4, delta=1e-3", notion="mixed")
    ledger.set_quota("analyst", "ada", "epsilon=1.01")
    ledger.charge("one", SUM, PEOPLE, note={"analyst": "ada"})
    with pytest.raises(OverBudget, match="quota"):
        ledger.charge("two", SUM, PEOPLE, note={"analyst": "ada"})


def test_a_backup_has_quotas_and_notes(make, tmp_path):
    ledger = make(budget="9")
    ledger.set_quota("analyst", "ada", "1.01")
    ledger.charge("one", SUM, PEOPLE, note={"analyst": "ada"})
    ledger.publish("one", [1, 2])
    back_up(ledger, tmp_path / "log")
    files = {"anchor": tmp_path / "l.anchor", "secret": tmp_path / "l.db.key"}
    again, lost = restore(tmp_path / "again.db", tmp_path / "log", **files)
    with again:
        assert not lost
        assert again.output("one") == [1, 2]
        with pytest.raises(OverBudget, match="quota"):
            again.charge("two", SUM, PEOPLE, note={"analyst": "ada"})


@pytest.fixture
def folder(tmp_path, monkeypatch, pdp):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("id,income\nada,1.25\nben,0.5\n")
    Path("sum.toml").write_text('name = "sum of incomes"\nepsilon = "w*z/8"\n[record]\nz = [0, 4]\n')
    pdp("ledger", "init", "l", "--data", "people.csv", "--key", "id", "--budget", "1.01", "--anchor", "a", "--approver", "eve")


CHARGE = ("ledger", "charge", "l", "sum.toml", "--statistic", "z=income", "--name")
RELEASE = ("ledger", "release", "l", "count", "--mechanism", "profiles.mechanisms.weighted_count:default")


def test_a_plan_spends_nothing_and_needs_no_data(pdp, folder):
    before = {path: path.read_bytes() for path in map(Path, ("l", "a"))}
    Path("people.csv").unlink()
    told = pdp(*CHARGE, "one", "--plan", "--json")
    assert told.code == 0
    assert told.json()["cost"] == "0.5"
    assert told.json()["after"]["left"].startswith("0.5099")
    assert (told.json()["fits_times"], told.json()["refused"]) == (2, None)
    said = pdp(*RELEASE, "--plan")
    assert said.code == 0
    assert "nothing is charged, and no data are read" in " ".join(said.out.split())
    assert {path: path.read_bytes() for path in before} == before
    assert pdp("ledger", "release", "l", "count", "--plan").refused()
    assert pdp(*RELEASE).refused()  # no file for the output


def test_a_plan_says_what_would_be_refused(pdp, folder):
    assert pdp(*CHARGE, "one", "--analyst", "ada", "--purpose", "census", "--approver", "eve").code == 0
    again = pdp(*CHARGE, "one", "--plan", "--json")
    assert again.code == 1
    assert "charged it before" in again.json()["refused"]
    pdp("ledger", "quota", "l", "--analyst", "ada", "--most", "0.75")
    over = pdp(*CHARGE, "two", "--analyst", "ada", "--plan", "--json")
    assert (over.code, over.json()["quotas"][0]["left"]) == (1, "0.25")
    assert pdp(*CHARGE, "two", "--analyst", "ada").code == 1
    pdp(*CHARGE, "two")
    assert "smallest budget" in pdp(*CHARGE, "three", "--plan", "--json").json()["refused"]
    assert [item["kind"] for item in pdp("ledger", "report", "l", "--json").json()["entries"]] == [
        "open",
        "charge",
        "quota",
        "refused",
        "charge",
    ]


def test_an_output_is_published_on_the_command_line(pdp, folder):
    pdp(*CHARGE, "one")
    Path("o.json").write_text('{"sum": 1.875}')
    assert pdp("ledger", "publish", "l", "two", "--output", "o.json").refused()
    found = pdp("ledger", "publish", "l", "one", "--output", "o.json", "--approver", "eve", "--json")
    assert found.json()["sequence"] == 2
    assert pdp("ledger", "publish", "l", "one", "--output", "o.json").refused()
    assert pdp("ledger", "release", "l", "one", "--out", "again.json").code == 0
    assert json.loads(Path("again.json").read_text()) == {"sum": 1.875}
    Path("o.json").write_text("{")
    assert pdp("ledger", "publish", "l", "one", "--output", "o.json").refused()


def test_a_quota_is_of_one_subject(pdp, folder):
    assert pdp("ledger", "quota", "l", "--most", "1").refused()
    assert pdp("ledger", "quota", "l", "--most", "1", "--analyst", "ada", "--purpose", "census").refused()
    assert pdp("ledger", "quota", "l", "--most", "x", "--analyst", "ada").refused()


def test_other_commands_say_who_asked(pdp, folder):
    words = ("sample", "sum.toml", "--q", "1/2", "--data", "people.csv", "--statistic", "z=income", "--out", "s.csv")
    assert pdp(*words, "--analyst", "ada").refused()
    assert pdp(*words, "--ledger", "l", "--name", "one", "--analyst", "ada", "--purpose", "census").code == 0
    entry = pdp("ledger", "report", "l", "--json").json()["entries"][1]
    assert (entry["analyst"], entry["purpose"]) == ("ada", "census")
