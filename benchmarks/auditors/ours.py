"""Ours on a case, with the same answer as a worker."""

from __future__ import annotations

import statistics
from typing import Any

import numpy as np

from benchmarks.auditors.cases import by_name


def run(task: dict[str, Any]) -> dict[str, Any]:
    """The median bound of several runs of the audit of a fixed sample."""
    runs = []
    for repeat in range(task["repeats"]):
        rng = np.random.default_rng([task["seed"], repeat])
        options = {"samples": task["samples"], "confidence": str(task["confidence"]), "mode": "fixed"}
        result = by_name(task["case"]).entry.run(rng, statistic=None, **options)
        runs.append({"bound": result.epsilon_lower, "seconds": result.seconds, "samples": result.samples, "finding": result.finding.value})
    return {
        "bound": statistics.median(item["bound"] for item in runs),
        "seconds": statistics.median(item["seconds"] for item in runs),
        "runs": runs,
    }
