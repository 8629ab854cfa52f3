"""The report as a page, and what a plan would cost: by public numbers, without data, and nothing is spent."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from accountant.ledger import Ledger, opened
from accountant.ledger import ledger as ledgers
from accountant.ledger.forecast import Planned, make_forecast, read_plan
from accountant.ledger.pages import chart_budgets, report_page
from accountant.ledger.report import report_public
from profiles import InvalidArgument, UnreadableFile
from profiles.errors import OverBudget
from tests.ledger.conftest import PEOPLE, SUM, table

PLAN = """
[[release]]
name = "count <b>"
mechanism = "profiles.mechanisms.weighted_count:default"
from = 2027-01-31
every = "month"
times = 3
[[release]]
name = "sum"
mechanism = "sum.toml"
from = 2027-02-28
"""


@pytest.fixture
def individual():
    """Nothing: these tests see what users get."""


def test_days_follow_each_other():
    def days(start, every, times):
        return [day.isoformat() for day in Planned("x", SUM, start, every, times).list_dates(date(2026, 1, 1))]

    assert days(date(2027, 11, 30), "month", 4) == ["2027-11-30", "2027-12-30", "2028-01-30", "2028-02-29"]
    assert days(date(2027, 11, 30), "quarter", 2) == ["2027-11-30", "2028-02-29"]
    assert days(date(2028, 2, 29), "year", 2) == ["2028-02-29", "2029-02-28"]
    assert days(None, "week", 2) == ["2026-01-01", "2026-01-08"]
    with pytest.raises(InvalidArgument, match="9999"):
        days(None, "year", 9_000)


@pytest.mark.parametrize(
    "text",
    [
        "x = 1",
        "release = 1",
        "[[release]]\nname = 'a'",
        "[[release]]\nname = 'a'\nmechanism = 'b'\nwhen = 1",
        "[[release]]\nname = 'a'\nmechanism = 'b'\nfrom = 1",
        "[[release",
    ],
)
def test_what_is_no_plan_is_refused(text):
    with pytest.raises(UnreadableFile):
        read_plan(text)


@pytest.mark.parametrize("line", ["every = 'hour'", "times = 0", "times = 20000", "purpose = ''"])
def test_impossible_plans_are_refused(line):
    with pytest.raises(InvalidArgument):
        read_plan(f"[[release]]\nname = 'a'\nmechanism = 'b'\n{line}")


def test_a_forecast_adds_up_in_the_order_of_days(make):
    ledger = make(budget="3.01")
    ledger.charge("one", SUM, PEOPLE)
    entries = len(ledger.journal.entries)
    plan = (Planned("late", SUM, date(2027, 3, 1)), Planned("monthly", SUM, date(2027, 1, 1), times=3))
    told = make_forecast(ledger, plan)
    assert [(item["name"], item["day"], item["decided_by"]) for item in told["releases"]] == [
        ("monthly", "2027-01-01", None),
        ("monthly", "2027-02-01", None),
        ("late", "2027-03-01", "the smallest budget"),
        ("monthly", "2027-03-01", "the smallest budget"),
    ]
    assert (told["fit"], told["planned"], told["first_without_room"]) == (2, 4, "2027-03-01")
    assert [round(float(item["at_worst"]), 6) for item in told["releases"]] == [2, 3, 3, 3]
    assert len(ledger.journal.entries) == entries
    for number in range(told["fit"]):  # what the plan says is what happens
        ledger.charge(f"monthly {number}", SUM, PEOPLE)
    assert ledger.spent.tell(up=True) == told["releases"][-1]["at_worst"]


def test_a_forecast_asks_quotas(make):
    ledger = make(budget="9")
    ledger.set_quota("analyst", "ada", "1.01")
    told = make_forecast(ledger, (Planned("a", SUM, times=2, note={"analyst": "ada"}), Planned("b", SUM)))
    assert [item["decided_by"] for item in told["releases"]] == [None, None, "the quota of the analyst 'ada'"]


def test_in_individual_mode_releases_go_on_without_some(make):
    ledger = make(budget="1.01", mode="individual", records=1)
    told = make_forecast(ledger, (Planned("a", SUM, times=3),))
    assert [item["decided_by"] is None for item in told["releases"]] == [True, False, False]
    assert float(told["releases"][-1]["at_worst"]) == pytest.approx(3)


@pytest.mark.parametrize("notion", ["pure", "zcdp", "mixed"])
def test_the_page_is_the_same_for_all_data_sets(make, monkeypatch, notion):
    monkeypatch.setattr(opened, "tell_time", lambda: "2026-01-01T00:00:00Z")
    monkeypatch.setattr(ledgers, "make_token", lambda: "0" * 32)
    monkeypatch.setattr(ledgers.secrets, "token_bytes", bytes)
    pages = []
    budget = "epsilon=2.01, mu2=1, delta=1e-6" if notion == "mixed" else "2.01"
    for name, people in (("a", PEOPLE), ("b", table(xenia=0.5, yan=0.0))):
        ledger = make(people, name=name, notion=notion, budget=budget)
        ledger.charge("<one>", SUM, people, note={"analyst": "<i>"})
        ledger.set_quota("analyst", "<i>", budget)
        pages.append(report_page(report_public(ledger, plan=(Planned("two", SUM, date(2026, 5, 1), times=3),)), "2026-01-01"))
    assert pages[0] == pages[1]
    assert "&lt;one&gt;" in pages[0]
    assert "<i>" not in pages[0]
    assert pages[0].count("<desc ") == (3 if notion == "mixed" else 1)
    assert "src=" not in pages[0]


def test_the_history_has_raises(make):
    ledger = make(budget="2", cap="4")
    ledger.charge("one", SUM, PEOPLE)
    ledger.raise_budget("3", PEOPLE)
    told = report_public(ledger)
    assert [item["smallest_budget"] for item in told["history"]] == ["2", "2", "3"]
    assert [round(float(item["at_worst"]), 6) for item in told["history"]] == [0, 1, 1]
    assert "raises-from-outputs" not in report_page(told, "2026-01-01")
    raised = make(name="raised", budget="2")
    raised.raise_budget("3", PEOPLE)
    assert "No guarantee: budgets were raised without a cap" in report_page(report_public(raised), "2026-01-01")


def test_the_command_line(pdp, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("id,income\nada,1.25\nben,0.5\n")
    Path("sum.toml").write_text('name = "sum of incomes"\nepsilon = "w*z/8"\n[record]\nz = [0, 4]\n')
    Path("plan.toml").write_text(PLAN)
    pdp("ledger", "init", "l", "--data", "people.csv", "--key", "id", "--budget", "2.01", "--anchor", "a")
    Path("people.csv").unlink()
    said = pdp("ledger", "report", "l", "--plan", "plan.toml", "--html", "l.html")
    assert said.code == 0
    assert "of 4 planned releases 2 fit everybody, and the first that does not is that of 2027-02-28" in " ".join(said.out.split())
    page = Path("l.html").read_text()
    assert "Forecast by the plan" in page
    assert "count &lt;b&gt;" in page
    assert pdp("ledger", "report", "l", "--plan", "plan.toml", "--json").json()["forecast"]["fit"] == 2
    assert pdp("ledger", "report", "l", "--unit", "ada", "--html", "u.html").refused()
    assert pdp("ledger", "report", "l", "--plan", "plan.toml", "--html", "plan.toml").refused()
    assert pdp("ledger", "report", "l", "--html", "l").refused()
    assert pdp("ledger", "report", "l", "--plan", "none.toml").refused()


def test_the_smallest_budget_is_drawn_until_the_end_of_the_plan(make):
    """Over a year of plans the line of a ledger of one day could not be seen."""
    ledger = make(budget="2")
    ledger.charge("one", SUM, PEOPLE)
    told = report_public(ledger, plan=(Planned("two", SUM, date(2040, 5, 1), times=3),))
    (chart,) = chart_budgets(told)
    least, charged, plan = chart.lines
    assert least.points[-1][0] == plan.points[-1][0] > charged.points[-1][0]


def test_a_refusal_is_told_in_the_order_of_the_components(make, where):
    ledger = make(budget="epsilon=1/4, mu2=1", notion="mixed", mode="public")
    with pytest.raises(OverBudget):
        ledger.charge("one", SUM, PEOPLE)
    ledger.close()
    with Ledger.open(where("l")) as again:
        assert list(report_public(again)["entries"][-1]["at_worst"]) == ["epsilon", "mu2", "delta"]
