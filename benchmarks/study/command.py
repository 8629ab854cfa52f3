"""What the programs of the studies share: options, running what is missing, then the report; damaged parts and interruptions."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.study.runner import Work, count_jobs, run_tasks
from benchmarks.study.store import PartStore, Task
from profiles import PDPError


def add_options(parser: argparse.ArgumentParser, parts: Sequence[str], *, out: str, seeds: str, quick: str, full: str) -> None:
    """Add the options that every study has."""
    parser.add_argument("--only", choices=parts, action="append", help="a part of the study; may be given several times")
    parser.add_argument("--seeds", type=int, help=seeds)
    parser.add_argument("--out", type=Path, default=Path(out))
    parser.add_argument("--report", action="store_true", help="run nothing: figures and tables of what is there")
    parser.add_argument("--jobs", type=int, default=count_jobs(), help="processes (default: the cores that may be used)")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help=quick)
    size.add_argument("--full", action="store_true", help=full)


def run_parts(
    chosen: argparse.Namespace,
    parts: Sequence[str],
    make_tasks: Callable[[str, argparse.Namespace], list[Task]],
    work: Work,
    report: Callable[[PartStore, dict[str, list[Task]], Path], list[str]],
    *,
    alone: Sequence[str] = (),
) -> int:
    """Run the tasks that are missing, write ``tables.md`` from the sections that ``report`` returns, and return the exit code.

    Studies in ``alone`` are timed: their tasks run by themselves.
    """
    try:
        store = PartStore(chosen.out / "parts")
        tasks: dict[str, list[Task]] = {}
        for part in chosen.only or parts:
            print(f"== {part}", file=sys.stderr)
            tasks[part] = make_tasks(part, chosen)
            if chosen.report:
                continue
            run_tasks(store, [task for task in tasks[part] if task.study not in alone], work, jobs=chosen.jobs)
            run_tasks(store, [task for task in tasks[part] if task.study in alone], work, jobs=1)
        sections = report(store, tasks, chosen.out)
    except PDPError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("interrupted: what is done is kept; run the same command again to go on", file=sys.stderr)
        return 130
    chosen.out.mkdir(parents=True, exist_ok=True)
    (chosen.out / "tables.md").write_text("\n".join(sections), encoding="utf-8")
    print(f"tables: {chosen.out / 'tables.md'}; figures: {chosen.out}", file=sys.stderr)
    return 0
