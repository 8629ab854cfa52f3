"""Ours on a case, with the same answer as a worker."""

from __future__ import annotations

import statistics
from typing import Any

import numpy as np

from benchmarks.auditors.cases import by_name


def run(task: dict[str, Any]) -> dict[str, Any]:
    """The median bound of several runs of the default audit."""
    try:
        from proofs_check.audit import Claim, audit  # noqa: PLC0415 - the peers can be measured without it
    except ImportError as error:
        return {"problem": f"cannot be loaded: {error}"}
    case = by_name(task["case"])
    runs = []
    for repeat in range(task["repeats"]):
        result = audit(
            case.mechanism,
            case.dataset,
            case.neighbor,
            Claim(case.claim),
            rng=np.random.default_rng([task["seed"], repeat]),
            samples=task["samples"],
            confidence=str(task["confidence"]),
        )
        runs.append({"bound": result.epsilon_lower, "seconds": result.seconds, "samples": result.samples, "verdict": str(result.verdict)})
    return {
        "bound": statistics.median(item["bound"] for item in runs),
        "seconds": statistics.median(item["seconds"] for item in runs),
        "runs": runs,
    }
