"""What every worker does: read the task from standard input, and write the answer to what was standard output.

The tools print; whatever they print goes to the standard error. Importing a tool is not in its time, nor is starting its processes.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.auditors.cases import Case, by_name

Answer = dict[str, Any]
FINALISTS = 4


def serve(run: Callable[[Case, dict[str, Any]], Answer]) -> None:
    """Answer one task with what ``run`` returns for its case."""
    task = json.load(sys.stdin)
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        try:
            answer = run(by_name(task["case"]), task)
        except Exception as error:  # the answer is the problem
            traceback.print_exc()
            answer = {"problem": f"{type(error).__name__}: {str(error)[:300]}"}
        os.chdir("/")
    json.dump(answer, out)
    out.close()


def summary(runs: list[Answer], **more: Any) -> Answer:
    """The answer for several runs: the medians of bound (0 at least) and seconds, and all of them."""
    return {
        "bound": max(statistics.median(run["bound"] for run in runs), 0.0),
        "seconds": statistics.median(run["seconds"] for run in runs),
        **more,
        "runs": runs,
    }


def settled(found: list[Answer], once: Callable[[dict[str, Any]], Answer]) -> dict[str, Any]:
    """The setting whose worst bound in the search and two fresh runs is best: neither luck nor a classifier that fails at times decides."""
    best = sorted(found, key=lambda item: float(item["bound"]), reverse=True)[:FINALISTS]
    scores = [(min(item["bound"], *(once(item["setting"])["bound"] for _ in range(2))), item["setting"]) for item in best]
    return max(scores, key=lambda score: score[0])[1]


class Stopwatch:
    """Seconds of real time since it was made."""

    def __init__(self) -> None:
        self.start = time.perf_counter()

    def seconds(self) -> float:
        """The seconds so far."""
        return time.perf_counter() - self.start


class Sampler:
    """The mechanism of a case with a fresh generator in every process; it pickles by the name of the case."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.rng: np.random.Generator | None = None
        self.process = 0

    def __getstate__(self) -> dict[str, Any]:
        return {"name": self.name, "rng": None, "process": 0}

    def __call__(self, dataset: Any, size: int) -> NDArray[Any]:
        """Independent outputs on a data set."""
        if self.rng is None or self.process != os.getpid():
            self.rng, self.process = np.random.default_rng(), os.getpid()
        return by_name(self.name).mechanism(dataset, self.rng, size)


def rows(outputs: NDArray[Any]) -> NDArray[np.float64]:
    """Outputs as rows of numbers."""
    return np.asarray(outputs, dtype=float).reshape(len(outputs), -1)
