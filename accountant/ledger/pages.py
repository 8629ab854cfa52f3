"""Pages of a ledger, each one HTML file that loads nothing: the statement of a person, and the report for everybody."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from accountant.ledger.amounts import say_amounts
from accountant.report.page import lay_out
from accountant.report.wording import facts, section, table
from profiles.presenting.elements import make
from profiles.protection import read_protection


def statement_page(told: Mapping[str, Any], date: str) -> str:
    """Return the page of a statement, for the person it is about: what :func:`accountant.ledger.statements.make_statement` returned."""
    unit, proof = ", ".join(told["unit"]), told["proof"]
    first = section(
        "account",
        "Your account",
        make("p", f"Private: {told['private']}."),
        facts(
            [
                ("account of", unit),
                ("protected is", read_protection(**told["protection"]).describe()),
                ("budget", f"{say_amounts(told['budget'])}, in the notion {told['notion']}"),
                ("spent", say_amounts(told["spent"])),
                ("left", say_amounts(told["left"])),
            ]
        ),
        make("p", "How much all releases together can tell about you, more than if you were not in the data, is what the budget bounds."),
    )
    rows = [
        (
            str(item["sequence"]),
            item["time"][:10],
            item["name"] or item["kind"],
            item.get("purpose", ""),
            *(say_amounts(item[key]) for key in ("cost", "left")),
        )
        for item in told["entries"]
    ]
    releases = section(
        "releases",
        "What was spent on what",
        table("entries of the log that concern this account", ("entry", "date", "release", "purpose", "cost", "left after it"), rows),
        make("p", "A cost of 0 is that of a release in which your record had no part, or no influence."),
    )
    shown = (
        make("p", "Nothing proves these amounts yet: the next root of all accounts will.")
        if proof is None
        else make(
            "p",
            f"Up to entry {proof['entry']} these amounts are under the root of all accounts, {proof['root']}, which is in the log for "
            "everybody. The file of this statement has the proof: pdp check STATEMENT --log LOG says whether both fit.",
        )
    )
    return lay_out([first, releases, section("proof", "What proves it", shown)], title=f"Statement of account: {unit}", date=date)
