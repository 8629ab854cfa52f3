"""Run the comparison and print its tables. ``python -m benchmarks.deciders [--tools sympy,z3,cvc5,ours] [--out FILE]``."""

from __future__ import annotations

import argparse
import importlib
import json
import platform
import statistics
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.deciders import ours
from benchmarks.deciders.cases import CASES, FULL_NAMES, Case
from benchmarks.deciders.statements import build
from benchmarks.deciders.turns import limited, used

LIMIT_SECONDS = 10.0
_PEERS = {"sympy-plain": "sympy_alone", "sympy": "sympy_alone", "z3": "z3_alone", "cvc5": "cvc5_alone"}


def load(tool: str) -> tuple[str, Callable[[Case, str], str | None] | None]:
    """Return the version of a tool, or why it cannot be used, and what decides a condition of a case with it."""
    if tool == "ours":
        return ours.version(), ours.decide
    try:
        if tool == "dreal":
            importlib.import_module("dreal")
            return "loads, but has no adapter", None
        module = importlib.import_module(f"benchmarks.deciders.{_PEERS[tool]}")
    except ImportError as error:
        return f"cannot be loaded: {error}", None

    def decide(case: Case, condition: str) -> str | None:
        statement = build(case, condition)
        plain = tool == "sympy-plain"
        return module.decide_plainly(statement, LIMIT_SECONDS) if plain else module.decide(statement, LIMIT_SECONDS)

    return module.version(), decide


def run_one(decide: Callable[[Case, str], str | None], case: Case, condition: str) -> dict[str, Any]:
    """Return verdict, seconds and problem of one statement, in a process that is killed at the limit."""
    start = used()
    verdict, problem = limited(LIMIT_SECONDS, decide, case, condition)
    seconds = used() - start
    if seconds > LIMIT_SECONDS:
        verdict, problem = None, "time"
    truth = case.truths()[condition]
    return {"case": case.name, "condition": condition, "truth": truth, "verdict": verdict, "seconds": seconds, "problem": problem}


def run_tool(tool: str, out: Path | None, skip: int = 0) -> Iterator[dict[str, Any]]:
    """Yield the results of one tool on all statements."""
    decide = load(tool)[1]
    if decide is None:
        return
    for case in CASES[skip:]:
        for condition in case.truths():
            result = {"tool": tool, **run_one(decide, case, condition)}
            if out is not None:
                with out.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(result) + "\n")
            yield result


def print_tables(results: list[dict[str, Any]], tools: list[str]) -> None:
    """Print decided, wrong, undecided and the median time of each tool; decided per condition; what ours leaves undecided."""
    print(f"Python {platform.python_version()}, {LIMIT_SECONDS:.0f} s of processor time each, {len(CASES)} profiles\n")
    print("| tool | version | statements | decided | wrong | undecided | median s of decided | s in all |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for tool in tools:
        mine = [item for item in results if item["tool"] == tool]
        if not mine:
            print(f"| {tool} | {load(tool)[0]} | | | | | | |")
            continue
        decided = [item for item in mine if item["verdict"] is not None]
        wrong = [item for item in decided if item["verdict"] != item["truth"]]
        median = statistics.median([item["seconds"] for item in decided]) if decided else float("nan")
        total = sum(item["seconds"] for item in mine)
        print(
            f"| {tool} | {load(tool)[0]} | {len(mine)} | {len(decided) - len(wrong)} | {len(wrong)} | {len(mine) - len(decided)} "
            f"| {median:.3f} | {total:.0f} |"
        )
    print("\nDecided rightly, per condition:\n")
    print(f"| tool | {' | '.join(FULL_NAMES.values())} |")
    print("| --- |" + " --- |" * len(FULL_NAMES))
    for tool in dict.fromkeys(item["tool"] for item in results):
        cells = []
        for condition in FULL_NAMES.values():
            mine = [item for item in results if item["tool"] == tool and item["condition"] == condition]
            cells.append(f"{sum(item['verdict'] == item['truth'] for item in mine)} of {len(mine)}")
        print(f"| {tool} | {' | '.join(cells)} |")
    print()
    for item in results:
        if item["verdict"] not in (None, item["truth"]) or (item["tool"] == "ours" and item["verdict"] is None):
            print(f"{item['tool']}: {item['case']}, {item['condition']}: {item['verdict'] or 'undecided'}, but it is {item['truth']}")


def main() -> None:
    """Run the tools one after another."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tools", default="sympy-plain,sympy,z3,cvc5,dreal,ours")
    parser.add_argument("--out", type=Path, help="append every result to this file, a JSON object a line")
    parser.add_argument("--read", type=Path, nargs="*", help="print the tables of results written before, without running")
    parser.add_argument("--skip", type=int, default=0, help="leave out the first profiles")
    chosen = parser.parse_args()
    tools = chosen.tools.split(",")
    if chosen.read:
        lines = [json.loads(line) for path in chosen.read for line in path.read_text(encoding="utf-8").splitlines()]
        results = list({(item["tool"], item["case"], item["condition"]): item for item in lines}.values())
    else:
        results = [result for tool in tools for result in run_tool(tool, chosen.out, chosen.skip)]
    print_tables(results, tools)


if __name__ == "__main__":
    main()
