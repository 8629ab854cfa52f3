"""The function of every study, in a module that worker processes can import: they do not run ``__main__``."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.study import authors, certified, kmeans, laplace, timing
from benchmarks.study.store import Row, Task

WORK: dict[str, Callable[[Task], list[Row]]] = {
    "figure-2-left": laplace.run_left,
    "figure-2-right": laplace.run_right,
    "table-1": certified.run_facts,
    "bounds": certified.run_bounds,
    "kmeans": kmeans.run_block,
    "timing": timing.run_timing,
    "authors-preprocessing": authors.run_preprocessing,
    "authors-weights": authors.run_weights,
    "authors-noise": authors.run_noise,
    "authors-pole": authors.run_pole,
    "authors-lloyd": authors.run_speed,
}


def run_one(task: Task) -> list[Row]:
    """Return the rows of a task."""
    return WORK[task.study](task)
