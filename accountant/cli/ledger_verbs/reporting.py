"""``pdp ledger report``: what a ledger tells, to everybody or of one unit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from accountant.cli.files import print_written
from accountant.cli.ledger_verbs.options import (
    FileArgument,
    OpenedOptions,
    open_ledger,
    split_unit,
)
from accountant.cli.options import (
    AllOption,
    ExplainOption,
    GuaranteeOption,
    Verb,
)
from accountant.cli.output import print_as_it_is, print_json, print_line, print_result
from accountant.cli.pictures import check_plot, draw_to, plot_option
from accountant.files import check_distinct, check_not_input, check_writable, write_whole
from profiles.errors import InvalidArgument
from profiles.hypotheses import count_assumptions
from profiles.private import EYES_ONLY

_DIGITS = 5  # of a planned amount


@dataclass(frozen=True, slots=True, kw_only=True)
class _Report(OpenedOptions):
    file: FileArgument
    public: Annotated[bool, typer.Option("--public", help="what may be published, as without --unit")] = False
    unit: Annotated[str | None, typer.Option("--unit", metavar="K", help="one unit, for your eyes only")] = None
    guarantee: GuaranteeOption = None
    composition: Annotated[
        Path | None, typer.Option("--composition", metavar="FILE", help="write the budget as an event, for pdp account")
    ] = None
    delta: Annotated[
        str | None,
        typer.Option("--delta", metavar="D", help="in zcdp and mixed: the epsilon at this delta; fix it in advance if budgets were raised"),
    ] = None
    plan: Annotated[
        Path | None,
        typer.Option("--plan", metavar="T", help="releases to come (TOML): what they would cost, and when there is no room left"),
    ] = None
    html: Annotated[Path | None, typer.Option("--html", metavar="PAGE", help="write what may be published as a page")] = None
    plot: Annotated[Path | None, plot_option("the smallest budget and what was charged at worst, over time")] = None
    everything: AllOption = False
    explain: ExplainOption = False


def _report(options: _Report) -> int:
    from accountant.guarantees import render
    from accountant.interop.files import write_guarantee
    from accountant.ledger.amounts import say_amounts
    from accountant.ledger.forecast import read_plan
    from accountant.ledger.pages import chart_budgets, report_page
    from accountant.ledger.report import bound_at, report_public
    from accountant.ledger.settings import tell_time
    from accountant.ledger.writing import check_outputs, write_composition
    from accountant.presenting.charting import plot_charts
    from profiles.files import MAX_FILE_BYTES, read_text

    check_plot(options.plot)
    written = (options.guarantee, options.composition, options.html, options.plot)
    others = (*written, options.plan)
    if options.unit is not None and (options.public or any(path is not None for path in others)):
        raise InvalidArgument(
            "--unit reports on one unit, which is private, and was given together with what may be published; leave one out"
        )
    for path in (path for path in written if path is not None):
        check_writable(path)
        check_not_input(path, options.plan, "plan")
    check_distinct(*written)
    plan = () if options.plan is None else read_plan(read_text(options.plan, MAX_FILE_BYTES), options.plan.name)
    with open_ledger(options) as ledger:
        check_outputs(ledger, *written)
        if options.unit is not None:
            account = ledger.account(split_unit(options.unit, ledger))
            spent, left = (say_amounts(account[name]).removesuffix(" nats") for name in ("spent", "left"))
            said = f"{EYES_ONLY}    spent {spent} of {say_amounts(account['budget'], ledger.settings.notion.value)}, {left} left"
            return print_result({"private": account}, said, as_json=options.json)
        raised = ledger.is_raised
        if raised and (options.guarantee is not None or options.composition is not None):
            ledger.guarantee()  # refuses, and says why
        told, guarantee = report_public(ledger, options.delta, plan), None if raised else ledger.guarantee()
        shown = guarantee if raised or options.delta is None else bound_at(ledger, options.delta)
        composition = "" if options.composition is None else write_composition(ledger)
    draw_to(lambda: plot_charts(chart_budgets(told)), options.plot)
    page = "" if options.html is None else report_page(told, tell_time()[:10])
    for place, text in (
        (options.guarantee, "" if options.guarantee is None or guarantee is None else write_guarantee(guarantee)),
        (options.composition, composition),
        (options.html, page),
    ):
        if place is not None:
            write_whole(place, text)
    if options.json:
        print_json(told)
        return 0
    _print_report(told)
    if "forecast" in told:
        _print_forecast(told["forecast"])
    if shown is None:
        _print_ex_post(told["ex_post"])
    else:
        print_as_it_is(render(shown, everything=options.everything, explain=options.explain).rstrip())
    print_written(guarantee=options.guarantee, picture=options.plot)
    if options.html is not None:
        print_line(f"page written to {options.html}; it may be published")
    if options.composition is not None:
        print_line(f"composition written to {options.composition}; bound it with: pdp account {options.composition} --delta D")
    return 0


def _name(item: dict[str, Any]) -> str:
    decided = f" (decided by {item['decided_by']})" if "decided_by" in item else ""
    return str(item.get("name", item.get("budget", ""))) + decided


def _clock(item: dict[str, Any]) -> str:
    return " (the clock went back)" if "clock_went_back" in item else ""


def _print_report(told: dict[str, Any]) -> None:
    from accountant.cli.output import print_table
    from accountant.ledger.amounts import say_amounts
    from profiles.protection import read_protection

    budget = told["budget"]
    least = say_amounts(budget["least"]).removesuffix(" nats")
    print_line(f"ledger                {told['ledger']}, {told['notion']}, mode {told['mode']}, units by {', '.join(told['key'])}")
    print_line(f"protection            {read_protection(**told['protection']).describe()}")
    print_line(f"budget                {budget['expression']}, from {least} to {say_amounts(budget['most'], told['notion'])}")
    left = (
        f"; {say_amounts(told['left']).removesuffix(' nats')} left"
        if "left" in told
        else " for each record"
        if told["records"] is None
        else ""
    )
    if told["cap"] is not None:
        print_line(f"cap                   {say_amounts(told['cap'], told['notion'])}: what is promised, whatever budgets are in force")
    print_line(f"charged at worst      {say_amounts(told['at_worst'], told['notion'])}{left}")
    rows = [
        (
            str(item["sequence"]),
            item["kind"],
            _name(item),
            say_amounts(item.get("at_worst", "")).removesuffix(" nats"),
            item["time"] + _clock(item),
        )
        for item in told["entries"]
    ]
    print_table("the log", ("entry", "kind", "name", "at worst", "time"), rows)


def _round(told: str | dict[str, str], *, up: bool) -> str | dict[str, str]:
    """Return amounts in so few digits, rounded to the safe side, that a column of a table does not break them."""
    from profiles import decimal_text, to_exact

    if isinstance(told, str):
        return decimal_text(to_exact(told), _DIGITS, round_up=up)
    return {name: decimal_text(to_exact(text), _DIGITS, round_up=up) for name, text in told.items()}


def _print_forecast(told: dict[str, Any]) -> None:
    from accountant.cli.output import print_table
    from accountant.ledger.amounts import say_amounts

    rows = [
        (
            item["day"],
            item["name"],
            *(say_amounts(_round(item[key], up=key != "left")).removesuffix(" nats") for key in ("cost", "at_worst", "left")),
            "" if item["decided_by"] is None else f"does not fit: {item['decided_by']}",
        )
        for item in told["releases"]
    ]
    first = told["first_without_room"]
    said = "all fit everybody" if first is None else f"{told['fit']} fit everybody, and the first that does not is that of {first}"
    print_table("forecast by the plan", ("day", "release", "cost", "at worst after it", "left", ""), rows)
    print_line(f"of {told['planned']} planned releases {said}")


def _print_ex_post(told: dict[str, Any]) -> None:
    print_line("no guarantee: budgets were raised without a cap")
    print_line(told["statement"])
    print_line(f"valid only under {count_assumptions(len(told['premises']))}:")
    for item in told["premises"]:
        print_line(f"  {item['id']}: {item['sentence']}")


VERBS = {
    "report": Verb(
        "Report what may be published, or one unit's account for you.",
        _Report,
        _report,
        """pdp ledger report people.ledger --public
  pdp ledger report people.ledger --unit ada""",
    ),
}
