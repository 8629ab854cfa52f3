"""What a ledger's promise rests on goes wherever the ledger goes: open(out) holds all of open(in), less what a named theorem closes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accountant.applications import CoverageInstance, PrivateGreedy
from accountant.applications.kmeans import DPKMeans
from accountant.curves import Composition, curve_of_file, make_event
from accountant.guarantees import assume, compose, declare_directions, declare_events, discharge, update_hypotheses
from accountant.guarantees.combining import change_neighbors, group
from accountant.guarantees.rules import GIVEN_ROW
from accountant.interop import read_guarantee, write_guarantee
from accountant.ledger import Ledger
from accountant.ledger.backup import back_up, migrate, restore
from accountant.ledger.promises import conclude_promise
from accountant.ledger.writing import write_composition
from profiles import InvalidArgument, UnreadableFile
from profiles.errors import NoGuarantee
from profiles.hypotheses import (
    ALL_CHARGED,
    FIXED_IN_ADVANCE,
    HYPOTHESES_UNKNOWN,
    ONE_RECORD_EACH,
    ONE_USER,
    ONLY_RELEASE,
    OWN_BUDGET,
    RAISES_FIXED,
    Hypothesis,
)
from profiles.mechanisms import KNormSum, LaplaceSum
from profiles.protection import USERS, Neighbors, Unit
from tests.ledger.conftest import PEOPLE, SUM, table

EARLIER = Path(__file__).parent / "earlier"
#: What the theorem of the filter closes.
CLOSED = {ONLY_RELEASE, ONE_RECORD_EACH}
YEARS = pa.table({"id": ["ada", "ben"], "years": [0, 5], "z": [0.5, 0.25]})
RULE = {"budget": "2 + years/5", "attributes": {"years": [0, 5]}}


def opened(ledger: Ledger) -> set[Hypothesis]:
    return set(ledger.carry().hypotheses)


def closed(ledger: Ledger) -> set[str]:
    return {item.hypothesis.id for item in ledger.carry().discharged}


def promise(name="a survey", **more):
    return assume(declare_directions(name, "1/8", "1/8", source="me", **more), [f"{name} was run as it was planned"])


def test_a_migrated_ledger_rests_on_all_that_the_old_one_rested_on(make, tmp_path):
    ledger = make(budget="4")
    ledger.charge("a", SUM, PEOPLE)
    ledger.raise_budget("5", PEOPLE)
    with ledger.release("b", promise(), PEOPLE):
        pass
    before, found = opened(ledger), ledger.carry()
    assert len(before) >= 14
    with migrate(ledger, tmp_path / "new.db", anchor=tmp_path / "new.anchor", secret=tmp_path / "new.key") as new:
        assert opened(new) == before
        assert {*found.discharged} == {*new.carry().discharged}
        new.charge("c", SUM, PEOPLE)
        assert before < opened(new)
        with migrate(new, tmp_path / "newer.db", anchor=tmp_path / "newer.anchor", secret=tmp_path / "newer.key") as newer:
            assert opened(newer) == opened(new)
            assert newer.carry().protection == USERS
            for raised in (new, newer):
                with pytest.raises(NoGuarantee, match="without a cap"):
                    raised.guarantee()


def test_migrating_from_the_command_line_loses_nothing(pdp, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("id,income\nada,1.25\nben,0.5\n")
    Path("sum.toml").write_text('name = "sum"\nepsilon = "w*z/8"\n[record]\nz = [0, 4]\n')
    words = ["ledger", "init", "l", "--data", "people.csv", "--key", "id", "--budget", "1", "--anchor", "l.anchor"]
    assert "one user is added or removed" in pdp(*words).out
    pdp("ledger", "charge", "l", "sum.toml", "--statistic", "z=income", "--name", "a", "--active", "a.csv")
    before = hypotheses(pdp("ledger", "report", "l", "--json").json()["guarantee"])
    assert len(before) == 16
    said = pdp("ledger", "migrate", "l", "n", "--anchor", "n.anchor", "--json").json()
    assert said["open_hypotheses"] == 16
    assert hypotheses(pdp("ledger", "report", "n", "--json").json()["guarantee"]) == before
    found = pdp("ledger", "report", "n", "--guarantee", "g.json", "--composition", "c.toml", "--json").json()
    assert found["protection"] == {"unit": "user", "neighbors": "add-remove"}
    for told in (pdp("account", "c.toml", "--delta", "1e-6", "--json").json(), pdp("compose", "g.json", "--json").json()):
        assert before <= hypotheses(told)
        assert told["unit"] == "user"


def hypotheses(told):
    return {(item["id"], item["sentence"]) for item in told["premises"]}


@pytest.mark.parametrize("notion", ["pure", "zcdp"])
def test_a_composition_states_whom_it_protects_and_what_it_rests_on(make, tmp_path, notion):
    ledger = make(budget="4", notion=notion, cap="6")
    ledger.charge("a", SUM, PEOPLE)
    ledger.raise_budget("5", PEOPLE)
    with ledger.release("b", promise('quotes "\\ and é'), PEOPLE):
        pass
    path = tmp_path / "c.toml"
    path.write_text(write_composition(ledger))
    curve = curve_of_file(path)
    assert opened(ledger) <= set(curve.hypotheses)
    assert "neighbors-assumed" not in {item.id for item in curve.hypotheses}
    assert curve.guarantee.protection == USERS
    assert curve.composition.events == (make_event(*{"pure": ("pure", {"epsilon": 6}), "zcdp": ("zcdp", {"rho": 6})}[notion]),)


def test_a_composition_that_no_file_holds_is_refused_and_the_report_is_not(pdp, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("id,z\nada,0.5\n")
    with Ledger.create("l", "people.csv", budget="4", anchor="l.anchor") as ledger:
        long = [f"hypothesis {number} of {'very ' * 20}many" for number in range(1200)]
        ledger.release("a", assume(promise(), long), "people.csv")
    refused = pdp("ledger", "report", "l", "--composition", "c.toml", "--guarantee", "g.json")
    assert refused.refused()
    assert "--guarantee writes all of it" in refused.err
    assert not Path("g.json").exists()
    assert len(hypotheses(pdp("ledger", "report", "l", "--guarantee", "g.json", "--json").json()["guarantee"])) > 1200


def test_a_file_of_the_guarantee_holds_it(make):
    ledger = make()
    ledger.charge("a", SUM, PEOPLE)
    read = read_guarantee(write_guarantee(ledger.guarantee()))
    assert read.stated == ledger.guarantee().statement


def test_a_budget_that_was_ever_read_from_columns_leaves_it_open(make, tmp_path):
    ledger = make(YEARS, budget="1")
    assert OWN_BUDGET.id in closed(ledger)
    ledger.raise_budget(RULE["budget"], YEARS, attributes=RULE["attributes"])
    assert OWN_BUDGET in opened(ledger)
    ledger.charge("a", SUM, YEARS)
    ledger.raise_budget("9", YEARS)
    assert OWN_BUDGET in opened(ledger)
    assert OWN_BUDGET.id not in closed(ledger)
    with migrate(ledger, tmp_path / "n.db", anchor=tmp_path / "n.anchor", secret=tmp_path / "n.key") as new:
        assert new.settings.budget.attributes == ()
        new.charge("b", SUM, YEARS)
        assert OWN_BUDGET in opened(new)
        assert OWN_BUDGET.id not in closed(new)


def test_a_raise_without_a_cap_stays_open_wherever_the_ledger_goes(make, tmp_path):
    ledger = make()
    ledger.charge("a", SUM, PEOPLE)
    assert RAISES_FIXED not in opened(ledger)
    assert RAISES_FIXED.id in closed(ledger)
    ledger.raise_budget("2", PEOPLE)
    assert RAISES_FIXED in opened(ledger)
    assert RAISES_FIXED.id not in closed(ledger)
    with migrate(ledger, tmp_path / "n.db", anchor=tmp_path / "n.anchor", secret=tmp_path / "n.key") as new:
        assert RAISES_FIXED in opened(new)
        assert RAISES_FIXED.id not in closed(new)


def test_the_opening_states_whose_the_accounts_are(make):
    months = pa.table({"id": ["a", "a"], "month": [1, 2], "z": [0.5, 0.25]})
    assert make().settings.to_body("")["protection"] == {"unit": "user", "neighbors": "add-remove"}
    parts = make(months, name="m", key="id,month")
    assert parts.guarantee().unit is Unit.USER_PERIOD
    assert make(months, name="u", key="id,month", unit="user").guarantee().unit is Unit.USER
    for unit, words in (("record", "of users"), ("event", "of users"), ("person", 'unit = "record"'), (3, "unit =")):
        with pytest.raises(InvalidArgument, match=words):
            make(name="x", unit=unit)
    with pytest.raises(InvalidArgument, match="protects one user, with all records"):
        parts.release("a", promise(unit="user"), months)
    assert not parts.journal.charges


def test_other_units_and_neighbors_are_refused_by_name_or_converted_by_a_rule(make):
    ledger = make(budget="4")
    for neighbors in (Neighbors.REPLACE_ONE, Neighbors.ZERO_OUT):
        other = promise(neighbors.value, neighbors=neighbors)
        with pytest.raises(InvalidArgument, match=r'change_neighbors\(guarantee, "add-remove"\)'):
            ledger.release("a", other, PEOPLE)
        with pytest.raises(InvalidArgument, match="change_neighbors"):
            ledger.analysis("a", ["ada"]).release(other, 1, lambda active: 0, arguments=())
    for unit in (Unit.EVENT, Unit.USER_PERIOD):
        with pytest.raises(InvalidArgument, match="are of one user"):
            ledger.release("a", promise(unit=unit), PEOPLE)
    assert not ledger.journal.charges
    converted = change_neighbors(promise(neighbors="replace-one"), "add-remove")
    ledger.release("a", converted, PEOPLE)
    grouped = group(promise("rows"), 3)
    ledger.release("b", grouped, PEOPLE)
    assert {"null-record", "at-most-records"} <= {item.id for item in opened(ledger)}
    for guarantee in (converted, grouped):
        assert {*guarantee.hypotheses} - CLOSED <= opened(ledger)
        assert {*guarantee.discharged} <= {*ledger.guarantee().discharged}


def test_a_charge_stores_what_was_discharged_and_the_key_closes_one_record_each(make):
    ledger = make(budget="4")
    greedy = PrivateGreedy(1, "1/2").guarantee
    ledger.release("a", greedy, PEOPLE)
    body = ledger.journal.charges[0].body
    assert body["protection"] == greedy.protection.to_object()
    assert len(body["discharged"]) >= len(greedy.discharged) > 0
    ledger.charge("b", SUM, PEOPLE)
    assert ONE_RECORD_EACH.id in {item["id"] for item in ledger.journal.charges[1].body["hypotheses"]}
    found = ledger.guarantee()
    assert {item.evidence for item in found.discharged if item.hypothesis == ONE_RECORD_EACH} == {
        "a unit is charged for all rows with one value of its key (id)"
    }
    assert ONE_USER in found.hypotheses
    assert ALL_CHARGED in found.hypotheses
    assert ONLY_RELEASE in {item.hypothesis for item in found.discharged}
    assert not found.is_unconditional


def test_a_run_of_the_catalogue_computes_statistics_of_rows_that_somebody_made(make):
    rows = np.array([[0.5], [0.25]])
    ledger = make(rows, ids=["ada", "ben"])
    ledger.run("a", LaplaceSum(b=2, radius=1), rows, ids=["ada", "ben"])
    said = [item.sentence for item in opened(ledger) if item.id == "record-statistics"]
    assert said == ["each row that is given: computed from the record alone, and from public constants"]
    assert {FIXED_IN_ADVANCE, ONE_USER, ALL_CHARGED} <= opened(ledger)


def test_draws_of_records_stay_draws_of_records(make):
    """A sample by a coin for each row was charged to users: the ledger does not say of it that each user has a coin."""
    ledger = make()
    ledger.charge("a", SUM, PEOPLE, q="1/2")
    draws = [item.sentence for item in opened(ledger) if item.id == "independent-draws"]
    assert draws == ["the sampler selects each record independently with probability exactly q(x)"]


@pytest.mark.filterwarnings("ignore::accountant.applications.kmeans.private.UtilityWarning")
def test_only_the_filter_discharges_that_a_release_is_the_only_one(make):
    ids = ["ada", "ben", "cleo"] * 10
    ledger = make(budget="4")
    chosen = PrivateGreedy(1, "1/2").run(CoverageInstance.from_sets([[0]] * 30, candidates=2), ledger=ledger.analysis("a", ids))
    points = np.linspace(-1, 1, 60).reshape(30, 2)
    model = DPKMeans(2, epsilon="1/100", radius=2, method="lloyd").fit(points, ledger=ledger.analysis("b", ids))
    for found in (chosen.guarantee, model.guarantee_):
        (only,) = [item for item in found.discharged if item.hypothesis == ONLY_RELEASE]
        assert only.subject == "all releases of a ledger whose units are told by id"
        assert {ALL_CHARGED, ONE_USER} <= {*found.hypotheses}
        assert not found.is_unconditional
    assert {FIXED_IN_ADVANCE, GIVEN_ROW} <= {*model.guarantee_.hypotheses}  # of rows that somebody scaled by hand, too
    again = compose(chosen.guarantee, model.guarantee_)
    assert ALL_CHARGED in again.hypotheses
    with pytest.raises(InvalidArgument, match="only-release"):
        update_hypotheses(promise(), {ONLY_RELEASE: only.evidence})
    with pytest.raises(InvalidArgument, match="only-release"):
        discharge(promise(), ONLY_RELEASE, only.evidence)


def restored(tmp_path, name):
    for file in EARLIER.glob("*.*"):
        shutil.copy(file, tmp_path)
    return restore(tmp_path / "l.db", tmp_path / f"{name}.log", anchor=tmp_path / f"{name}.anchor", secret=tmp_path / "secret.txt")


def test_a_ledger_of_an_earlier_release_is_read_and_closes_nothing_by_words(tmp_path):
    """It has a fit whose arguments were said to be fixed, a budget of columns and two raises; openings stated no protection."""
    ledger, lost = restored(tmp_path, "first")
    with ledger:
        assert not lost
        assert ledger.carry().protection == USERS
        assert {OWN_BUDGET, RAISES_FIXED, FIXED_IN_ADVANCE, GIVEN_ROW} <= opened(ledger)
        assert ledger.account("cleo")["budget"] == "5"
        ledger.charge("c", SUM, table(ada=0.5), partial=True)
        assert ledger.verify() == 0


def test_a_ledger_that_goes_on_from_an_unknown_one_says_so(tmp_path):
    ledger, _ = restored(tmp_path, "migrated")
    with ledger:
        unknown = HYPOTHESES_UNKNOWN.about(name="the ledger that this one goes on from", carrier="its first entry")
        assert {unknown, OWN_BUDGET, RAISES_FIXED} <= opened(ledger)
        assert {OWN_BUDGET.id, RAISES_FIXED.id} & closed(ledger) == set()


def test_an_entry_that_states_no_hypotheses_leaves_open_that_they_are_unknown(make, monkeypatch):
    ledger = make()
    entry = ledger.charge("a", SUM, PEOPLE)
    (found,) = ledger.journal.charges
    body = {key: value for key, value in found.body.items() if key not in ("hypotheses", "discharged", "protection")}
    monkeypatch.setattr(type(ledger.journal), "charges", [type(found)(1, "charge", "a", body, *(b"",) * 3)])
    assert entry.sequence == 1
    assert (
        HYPOTHESES_UNKNOWN.about(name="a", carrier="its entry in the ledger")
        in conclude_promise(ledger.journal, ledger.settings).hypotheses
    )


STEPS = (
    "profile",
    "mechanism",
    "guarantee",
    "events",
    "number",
    "columns",
    "migrate",
    "restore",
    "reopen",
    "composition",
    "guarantee file",
)


@pytest.mark.thorough
@given(order=st.lists(st.sampled_from(STEPS), min_size=1, max_size=7))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_order_of_steps_loses_a_hypothesis(tmp_path_factory, order):
    """A model keeps what every step brought in; each carrier must hold that, less what the filter closes."""
    folder = tmp_path_factory.mktemp("orders")
    known: set[Hypothesis] = set()
    ledger = Ledger.create(folder / "0.db", YEARS, budget="1", notion="zcdp", anchor=folder / "0.anchor", mode="individual")
    try:
        for number, step in enumerate(order):
            ledger.partial = True
            before = opened(ledger)
            assert known - CLOSED <= before
            name, path = f"step {number}", folder / f"{number + 1}.db"
            if step == "profile":
                ledger.charge(name, SUM, YEARS)
                known |= {item for item in opened(ledger) if name in item.sentence}
            elif step == "mechanism":
                ledger.run(name, KNormSum(beta_sum=64, radius=8), YEARS)
            elif step in ("guarantee", "events"):
                events = Composition(name, (make_event("gaussian", {"noise_multiplier": 9}), make_event("zcdp", {"rho": "1/99"})))
                made = promise(name) if step == "guarantee" else declare_events(events, (f"{name} is sound",))
                ledger.release(name, made, YEARS)
                known |= {*made.hypotheses}
            elif step == "number":
                ledger.raise_budget(str(20 + 9 * number), YEARS)
                known |= {RAISES_FIXED}
            elif step == "columns":
                ledger.raise_budget(f"{20 + 9 * number} + years/5", YEARS, attributes=RULE["attributes"])
                known |= {RAISES_FIXED, OWN_BUDGET}
            elif step == "migrate":
                made = migrate(ledger, path, anchor=folder / f"{number}.new", secret=path.with_suffix(".key"))
                ledger.close()
                ledger = made
            elif step == "restore":
                back_up(ledger, folder / f"{number}.log")
                anchor, key = ledger.journal.anchor.path, folder / "again.key"
                key.write_text(ledger.journal.hasher.secret.hex())
                ledger.close()
                ledger, _ = restore(path, folder / f"{number}.log", anchor=anchor, secret=key)
            elif step == "reopen":
                place = ledger.journal.store.database.files[0]
                ledger.close()
                ledger = Ledger.open(place)
            elif ledger.is_raised:  # without a cap: no carrier of a bound takes it
                for carry in (write_composition, lambda ledger: write_guarantee(ledger.guarantee())):
                    with pytest.raises(NoGuarantee):
                        carry(ledger)
                assert before - {RAISES_FIXED} <= {*ledger.report_ex_post("1e-6").hypotheses}
            elif step == "composition":
                path.write_text(write_composition(ledger))
                assert before <= {*curve_of_file(path).hypotheses}
            else:
                told = json.loads(write_guarantee(ledger.guarantee()))
                assert {item.sentence for item in before} == {item["sentence"] for item in told["hypotheses"]}
            assert before <= opened(ledger)
            assert not {item.id for item in known if item not in CLOSED} & closed(ledger) & {OWN_BUDGET.id, RAISES_FIXED.id}
        assert known - CLOSED <= opened(ledger)
    finally:
        ledger.close()


def test_a_damaged_statement_of_an_opening_is_refused(make):
    from accountant.ledger.settings import read_settings  # noqa: PLC0415

    ledger = make()
    entry = ledger.journal.entries[0]
    for change in (
        {"protection": {"unit": "record", "neighbors": "add-remove"}},
        {"protection": {"unit": "user"}},
        {"protection": {"unit": None, "neighbors": "add-remove"}},
        {"carried": {}},
        {"format": 5},
        {"format": 1},
    ):
        with pytest.raises(UnreadableFile):
            read_settings(type(entry)(0, "open", "", {**entry.body, **change}, entry.hash, entry.digest, entry.seal))
