"""Ours on a case, with the same answer as a worker."""

from __future__ import annotations

import statistics
from typing import Any

import numpy as np

from benchmarks.auditors.cases import by_name
from proofs_check.audit import Claim, audit


def run(task: dict[str, Any]) -> dict[str, Any]:
    """The median bound of several runs of the audit of a fixed sample."""
    case = by_name(task["case"])
    runs = []
    for repeat in range(task["repeats"]):
        result = audit(
            case.mechanism,
            *case.pair,
            Claim(case.entry.claimed, one_sided=case.entry.one_sided),
            rng=np.random.default_rng([task["seed"], repeat]),
            samples=task["samples"],
            confidence=str(task["confidence"]),
            mode="fixed",
            neighboring=case.entry.neighboring,
        )
        runs.append({"bound": result.epsilon_lower, "seconds": result.seconds, "samples": result.samples, "finding": result.finding.value})
    return {
        "bound": statistics.median(item["bound"] for item in runs),
        "seconds": statistics.median(item["seconds"] for item in runs),
        "runs": runs,
    }
