"""Who is missing from a release: nobody, where nothing is said; in individual mode it is said where somebody may be, by public numbers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from accountant.applications.submodular import CoverageInstance, PrivateGreedy
from accountant.ledger import Ledger
from accountant.ledger.settings import ReleaseMode
from profiles import declare
from profiles.errors import OverBudget
from profiles.mechanisms import WeightedCount
from tests.ledger.conftest import SUM, table

HALF = declare("half", "w*z/2", record={"z": [0, 1]})
PEOPLE = table(ada=1.0, ben=0.0)


@pytest.fixture
def individual():
    """Nothing: these tests see what users get."""


def test_a_new_ledger_leaves_nobody_out(make):
    ledger = make(PEOPLE, budget="1.01")
    assert ledger.settings.mode is ReleaseMode.PUBLIC
    assert ledger.settings.records == 1
    assert ledger.charge("one", HALF, PEOPLE).active.all()
    assert not ledger.charge("two", HALF, PEOPLE).partial
    with pytest.raises(OverBudget, match="are left of the smallest budget; nothing was charged"):
        ledger.charge("three", HALF, PEOPLE, partial=True)


@pytest.mark.parametrize("call", ["charge", "release", "run", "analysis"])
def test_individual_mode_says_where_units_may_be_missing(make, call):
    def ask(name, **partial):
        if call == "analysis":
            instance = CoverageInstance.from_sets([[0], [1]], candidates=2)
            return PrivateGreedy(1, "1/2").run(instance, ledger=ledger.analysis(name, ["ada", "ben"], **partial)).charged
        if call == "charge":
            return ledger.charge(name, HALF, PEOPLE, **partial)
        mechanism, rows = WeightedCount(beta_count=2), np.array([[1.0], [0.0]])
        found = getattr(ledger, call)(name, mechanism, rows, ids=["ada", "ben"], **partial)
        return ledger.release(name, mechanism, rows, ids=["ada", "ben"]) if call == "run" else found

    ledger = make(PEOPLE, mode="individual", records=1, budget="1.01")
    assert [ask(name).partial for name in ("one", "two")] == [False, False]
    with pytest.raises(OverBudget, match=r"left out of it silently: it costs up to .* are certainly left; nothing was charged"):
        ask("three")
    assert len(ledger.journal.charges) == 2
    assert ask("three", partial=True).partial
    assert ledger.journal.charges[-1].body["partial"] is True
    if call == "analysis":
        assert "units may be missing" in str(ask("three", partial=True))


def test_public_numbers_alone_decide_it(make):
    """ada has run out, and ben has not: what is asked is the same where nobody has."""
    told = []
    for name, people in (("spent", table(ada=1.0, ben=1.0)), ("unspent", table(ada=0.0, ben=0.0))):
        ledger = make(people, name=name, mode="individual", records=1, budget="1.01")
        ledger.charge("one", SUM, people)
        with pytest.raises(OverBudget) as refused:
            ledger.charge("two", HALF, people)
        told.append((str(refused.value), ledger.look_ahead(HALF).tell()))
    assert told[0] == told[1]
    assert told[0][1]["units_may_be_missing"] is True


def test_units_with_any_number_of_records_may_always_be_missing(make):
    ledger = make(PEOPLE, mode="individual", budget="100")
    with pytest.raises(OverBudget, match="a unit may have any number of records"):
        ledger.charge("one", HALF, PEOPLE)
    assert ledger.charge("one", HALF, PEOPLE, partial=True).partial
    assert ledger.look_ahead(HALF).tell()["each"] == "record"


def test_what_a_ledger_was_opened_with_holds_for_its_releases(make, tmp_path, where):
    make(PEOPLE, mode="individual").close()
    with Ledger.open(where("l"), partial=True) as ledger:
        ledger.charge("one", HALF, PEOPLE)
        with pytest.raises(OverBudget):
            ledger.charge("two", HALF, PEOPLE, partial=False)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("id,income\nada,1.25\nben,0.5\n")
    Path("sum.toml").write_text('name = "sum of incomes"\nepsilon = "w*z/8"\n[record]\nz = [0, 4]\n')


INIT = ["ledger", "init", "l", "--data", "people.csv", "--key", "id", "--budget", "1", "--anchor", "a"]
COUNT = ["--mechanism", "profiles.mechanisms.weighted_count:default", "--out", "o.json"]


def test_the_command_line_says_what_the_mode_is_and_what_is_left(pdp, folder):
    said = " ".join(pdp(*INIT).out.split())
    assert "mode public: everybody takes part in every release" in said
    assert all(word in " ".join(pdp("ledger", "init", "--help").out.split()) for word in ("public: everybody", "individual: units"))
    words = ["ledger", "charge", "l", "sum.toml", "--statistic", "z=income", "--name"]
    said = " ".join(pdp(*words, "one").out.split())
    assert "cost at most 0.5" in said
    assert "by sum of incomes" in said
    assert "before 0 nats charged at worst, at least 1 left of the smallest budget, 1" in said
    assert "after 0.5" in said
    assert pdp(*words, "two").code == 0  # each costs one half, exactly
    refused = pdp(*words, "three", "--json")
    assert refused.code == 1
    assert refused.json()["verdict"] == "over budget"


def test_the_answers_file_says_that_units_may_be_missing(pdp, folder):
    assert "silently" in pdp(*("3" if word == "1" else word for word in INIT), "--mode", "individual", "--records", "1").out
    words = ["ledger", "release", "l"]
    assert pdp(*words, "one", *COUNT).code == 0
    assert isinstance(json.loads(Path("o.json").read_text()), float)
    pdp("ledger", "charge", "l", "sum.toml", "--statistic", "z=income", "--name", "two", "--partial")
    refused = pdp(*words, "three", *COUNT, "--json")
    while refused.code == 0:
        refused = pdp(*words, f"{refused.json()['hash']}", *COUNT, "--json")
    assert refused.json()["verdict"] == "over budget"
    assert "--partial" in refused.err
    found = pdp(*words, "last", *COUNT, "--partial")
    assert found.code == 0
    assert "units may be missing" in " ".join(found.out.split())
    for more in (["--partial", *COUNT], ["--out", "o.json"]):  # and again where it is served
        assert pdp(*words, "last", *more).code == 0
        told = json.loads(Path("o.json").read_text())
        assert told.keys() == {"units_may_be_missing", "output"}


def test_other_commands_need_it_as_well(pdp, folder):
    pdp(*INIT, "--mode", "individual")
    words = ["sample", "sum.toml", "--q", "1/2", "--data", "people.csv", "--statistic", "z=income", "--out", "s.csv"]
    refused = pdp(*words, "--ledger", "l", "--name", "one")
    assert refused.code == 1
    assert not refused.out
    assert "--partial" in refused.err
    assert pdp(*words, "--ledger", "l", "--name", "one", "--partial").code == 0
    assert "belongs to a ledger" in pdp(*words, "--partial").err
