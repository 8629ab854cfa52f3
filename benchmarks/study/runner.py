"""Running tasks: in parallel processes, with progress, each result kept as soon as it is there."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context
from typing import TextIO

from threadpoolctl import threadpool_limits

from benchmarks.study.store import PartStore, Row, Task

Work = Callable[[Task], list[Row]]


def run_tasks(store: PartStore, tasks: Sequence[Task], work: Work, *, jobs: int, stream: TextIO | None = None) -> int:
    """Run the tasks that have no part, and return how many these were. A task that fails ends the run; what is done stays.

    One job runs in this process; ``work`` gets one thread in either case.
    """
    todo = list(store.pending(tasks))
    progress = Progress(len(tasks), len(tasks) - len(todo), stream or sys.stderr)
    if jobs == 1 or len(todo) <= 1:
        for task in todo:
            progress.start(task)
            store.write(task, _limited(work, task))
            progress.done(task)
        return len(todo)
    with ProcessPoolExecutor(min(jobs, len(todo)), mp_context=get_context("spawn")) as pool:
        running: dict[Future[list[Row]], Task] = {}
        waiting = iter(todo)
        try:
            for task in waiting:
                running[pool.submit(_limited, work, task)] = task
                if len(running) >= 2 * jobs:
                    _finish(store, running, progress)
            while running:
                _finish(store, running, progress)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return len(todo)


def count_jobs() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _limited(work: Work, task: Task) -> list[Row]:
    with threadpool_limits(1):
        return work(task)


def _finish(store: PartStore, running: dict[Future[list[Row]], Task], progress: Progress) -> None:
    done, _ = wait(running, return_when=FIRST_COMPLETED)
    for future in done:
        task = running.pop(future)
        store.write(task, future.result())
        progress.done(task)


class Progress:
    """Lines on standard error: at most one a second, and the last one."""

    def __init__(self, total: int, already: int, stream: TextIO) -> None:
        self.total, self.finished, self.already, self.stream = total, already, already, stream
        self.began = self.shown = time.monotonic()
        if total:
            kept = f", {already} of them are there already" if already else ""
            print(f"{total} tasks{kept}", file=stream, flush=True)

    def start(self, task: Task) -> None:
        """Say which task runs, where the one before took long."""
        if time.monotonic() - self.shown > 10:
            self._show(f"running {task.study}: {task.label}")

    def done(self, task: Task) -> None:
        """Count a task."""
        self.finished += 1
        if self.finished == self.total or time.monotonic() - self.shown > 1:
            self._show(f"{task.study}: {task.label}")

    def _show(self, text: str) -> None:
        self.shown = time.monotonic()
        done, left = self.finished - self.already, self.total - self.finished
        rest = f"about {(self.shown - self.began) / done * left / 60:.1f} min left" if done else ""
        print(f"[{self.finished}/{self.total}] {text}  {rest}", file=self.stream, flush=True)
