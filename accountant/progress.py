"""How far a long command has come: a bar on standard error, only on a terminal, and only for what takes longer than two seconds."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator

#: Seconds before anything is shown.
QUIET = 2.0

Report = Callable[[int, int | None], None]


@contextlib.contextmanager
def show_progress(what: str, unit: str = "") -> Iterator[Report]:
    """Yield ``report(done, total)``, which may be called at any time and from any place; ``total`` is None where nobody knows it.

    Without a call, what is shown is that work goes on and for how long. The line is removed when the work ends, however it ends.
    """
    if not sys.stderr.isatty():
        yield _ignore
        return
    from rich.console import Console  # noqa: PLC0415 - slow to load, and rarely needed
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    console = Console(stderr=True)
    if not console.is_interactive:
        yield _ignore
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(bar_width=20), TextColumn("{task.fields[count]}"))
    bar = Progress(*columns, TimeElapsedColumn(), console=console, transient=True, redirect_stdout=False, redirect_stderr=False)
    task = bar.add_task(what, total=None, count="")
    started = False

    def report(done: int, total: int | None) -> None:
        count = f"{done:,} {unit}" if total is None else f"{done:,} of {total:,} {unit}"
        bar.update(task, completed=done, total=total, count=count.rstrip())

    def start() -> None:
        nonlocal started
        started = True
        bar.start()

    timer = threading.Timer(QUIET, start)
    timer.daemon = True
    timer.start()
    try:
        yield report
    finally:
        timer.cancel()
        timer.join()
        if started:
            bar.stop()


@contextlib.contextmanager
def with_progress(total: int) -> Iterator[Callable[[int], None] | None]:
    """Yield what is to be told how many outputs have come, and shows it on standard error; None where that is not a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    with show_progress("audit", "outputs") as report:
        yield lambda done: report(min(done, total), total)


def _ignore(_done: int, _total: int | None) -> None:
    """Show nothing."""
