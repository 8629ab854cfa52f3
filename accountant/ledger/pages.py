"""Pages of a ledger, each one HTML file that loads nothing: the statement of a person, and the report for everybody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from accountant.ledger.amounts import say_amounts
from accountant.ledger.notes import NOTES
from accountant.report.charts import Chart, ChartLine, draw
from accountant.report.page import lay_out
from accountant.report.wording import facts, section, table
from profiles.hypotheses import count_assumptions
from profiles.presenting.elements import Element, make
from profiles.protection import read_protection

#: What stands behind a component of a budget on an axis.
_UNITS = {"epsilon": " in nats"}


def statement_page(told: Mapping[str, Any], promise: str, date: str) -> str:
    """Return the page of a statement, for the person it is about: what :func:`accountant.ledger.statements.make_statement` returned, and
    what is promised to everybody, as :func:`accountant.ledger.report.say_promise` says it.
    """
    unit, proof = ", ".join(told["unit"]), told["proof"]
    first = section(
        "account",
        "Your account",
        make("p", f"Private: {told['private']}."),
        facts(
            [
                ("account of", unit),
                ("protected is", read_protection(**told["protection"]).describe()),
                ("budget", f"{say_amounts(told['budget'], told['notion'])}, in the notion {told['notion']}"),
                ("spent", say_amounts(told["spent"], told["notion"])),
                ("left", say_amounts(told["left"], told["notion"])),
            ]
        ),
        make(
            "p",
            "All releases together reveal at most a bounded amount more about you than they would without your data; the bound that is "
            f"promised to everybody: {promise}.",
        ),
    )
    rows = [
        (
            str(item["sequence"]),
            item["time"][:10],
            item["name"] or item["kind"],
            item.get("purpose", ""),
            *(say_amounts(item[key], told["notion"]) for key in ("cost", "left")),
        )
        for item in told["entries"]
    ]
    releases = section(
        "releases",
        "What was spent on what",
        table("entries of the log that concern this account", ("entry", "date", "release", "purpose", "cost", "left after it"), rows),
        make("p", "A release costs 0 if your record had no part in it, or no influence on it."),
    )
    last = None if proof is None else proof.get("of", proof["entry"])
    shown = (
        make("p", "These amounts are not proved yet; the next root of all accounts will prove them.")
        if proof is None
        else make(
            "p",
            f"Up to entry {last} these amounts are under the root of all accounts, {proof['root']}, which is in the log for "
            "everybody. The file of this statement has the proof: pdp check STATEMENT --log LOG says whether both fit.",
        )
    )
    return lay_out([first, releases, section("proof", "What proves it", shown)], title=f"Statement of account: {unit}", date=date)


def report_page(told: Mapping[str, Any], date: str) -> str:
    """Return the page of what may be published of a ledger: what :func:`accountant.ledger.report.report_public` returned."""
    budget, records = told["budget"], told["records"]
    each = "a record; a unit may have any number of them" if records is None else "a unit"
    notion = told["notion"]
    least, most, cap = (say_amounts(amount or "", notion) for amount in (budget["least"], budget["most"], told["cap"]))
    first = section(
        "budget",
        "What is promised",
        make(
            "p",
            "Everything on this page is the same for all data sets: nothing in it depends on who is in the data, or on how many there are.",
        ),
        facts(
            [
                ("protected is", read_protection(**told["protection"]).describe()),
                ("notion and mode", f"{told['notion']}, {told['mode']}"),
                ("budget", f"{budget['expression']}, from {least} to {most}"),
                ("cap", "none" if told["cap"] is None else f"{cap}: what is promised, whatever is in force"),
                ("charged at worst", f"{say_amounts(told['at_worst'], notion)} for {each}"),
                *([("left for certain", say_amounts(told["left"], told["notion"]))] if "left" in told else []),
            ]
        ),
        make("p", _promise(told)),
    )
    parts = [first, _draw_budgets(told), _list_releases(told)]
    if "forecast" in told:
        parts.append(_forecast(told["forecast"], notion))
    if told["quotas"]:
        parts.append(_quotas(told["quotas"], told["notion"]))
    return lay_out(parts, title=f"Ledger {told['ledger']}", date=date)


def _promise(told: Mapping[str, Any]) -> str:
    if told["guarantee"] is None:
        return f"No guarantee: budgets were raised without a cap. {told['ex_post']['statement']}."
    premises = len(told["guarantee"]["hypotheses"])
    return f"The promise of the ledger depends on {count_assumptions(premises)}, which pdp ledger report lists."


def _split(told: str | Mapping[str, str]) -> dict[str, str]:
    return {"": told} if isinstance(told, str) else dict(told)


def chart_budgets(told: Mapping[str, Any]) -> list[Chart]:
    """Return a chart for each component of the accounts: the smallest budget and what was charged at worst, by days since the opening."""
    history = told["history"]
    start = datetime.fromisoformat(history[0]["time"])
    days = [_days(start, item["time"]) for item in history]
    last = max(days)
    charts: list[Chart] = []
    for name in _split(history[0]["at_worst"]):
        drawn = [
            (said, [(day, float(_split(item[key])[name])) for day, item in zip(days, history, strict=True)])
            for said, key in (("smallest budget", "smallest_budget"), ("charged at worst", "at_worst"))
        ]
        ahead = [
            (_days(start, f"{item['day']}T00:00:00Z"), float(_split(item["at_worst"])[name]))
            for item in told.get("forecast", {"releases": ()})["releases"]
        ]
        ends = max([last, *(day for day, _ in ahead)]), last  # the budget stands until the end of the plan
        lines = [ChartLine(said, (*points, (end, points[-1][1])), stepped=True) for (said, points), end in zip(drawn, ends, strict=True)]
        if ahead:
            lines.append(
                ChartLine("by the plan", ((last, drawn[1][1][-1][1]), *((max(day, last), value) for day, value in ahead)), stepped=True)
            )
        what = name or ("rho" if told["notion"] == "zcdp" else "epsilon")
        title = f"Smallest budget and what was charged at worst: {what}"
        said = f"{title}. " + " ".join(f"{line.name} is {line.points[-1][1]:.6g} at the end." for line in lines)
        charts.append(
            Chart(f"chart-{what}", title, said, "days since the opening", f"{what}{_UNITS.get(what, '')}", tuple(lines), from_zero=True)
        )
    return charts


def _draw_budgets(told: Mapping[str, Any]) -> Element:
    return section("time", "Budgets and charges over time", make("div", [draw(chart) for chart in chart_budgets(told)], class_="plots"))


def _days(start: datetime, time: str) -> float:
    return (datetime.fromisoformat(time) - start).total_seconds() / 86_400


def _list_releases(told: Mapping[str, Any]) -> Element:
    rows = [
        (
            str(item["sequence"]),
            item["time"][:10],
            item["kind"],
            str(item.get("name", item.get("budget", ""))),
            "" if "at_worst" not in item else say_amounts(item["at_worst"], told["notion"]),
            ", ".join(f"{name} {item[name]}" for name in NOTES if name in item),
            _say_course(item),
        )
        for item in told["entries"]
    ]
    columns = ("entry", "date", "kind", "release or budget", "at worst", "who asked", "what became of it")
    return section("log", "The log", table("entries of the log, all of them public", columns, rows))


def _say_course(item: Mapping[str, Any]) -> str:
    if "decided_by" in item:
        return f"decided by {item['decided_by']}"
    told = (("published", "published"), ("units may be missing", "units_may_be_missing"))
    return ", ".join(word for word, key in told if item.get(key))


def _forecast(told: Mapping[str, Any], notion: str) -> Element:
    rows = [
        (
            item["day"],
            item["name"],
            *(say_amounts(item[key], notion) for key in ("cost", "at_worst", "left")),
            "fits" if item["decided_by"] is None else f"does not fit: {item['decided_by']}",
        )
        for item in told["releases"]
    ]
    columns = ("day", "release", "cost at most", "charged at worst after it", "left for certain", "")
    first = told["first_without_room"]
    said = (
        "all of them fit everybody"
        if first is None
        else f"{told['fit']} of {told['planned']} fit everybody; the first that does not: {first}"
    )
    return section(
        "forecast", "Forecast by the plan", make("p", f"Of the planned releases {said}."), table("planned releases", columns, rows)
    )


def _quotas(quotas: Sequence[Mapping[str, Any]], notion: str) -> Element:
    rows = [(item["of"], item["name"], *(say_amounts(item[key], notion) for key in ("most", "at_worst", "left"))) for item in quotas]
    lead = make("p", "Quotas are rules beside the budgets: no privacy guarantee depends on them.")
    return section("quotas", "Quotas", lead, table("quotas", ("of", "name", "at most", "charged at worst", "left"), rows))
