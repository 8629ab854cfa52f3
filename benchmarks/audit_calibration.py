"""How often the audit's bound is above the exact ε of a correct mechanism: it must not be more often than the stated error.

    python -m benchmarks.audit_calibration [--audits N] [--samples K] [--confidence C] [--seed S] [--mode M] [--only NAME] [--processes P]

Every mechanism of ``tests/targets/calibration.py`` is audited N times in each mode (fixed and sequential unless others are given) with
fresh outputs. Prints how many bounds were above ε, their rate, and the stated error. Exit code 1 where a rate contradicts the stated
error at confidence 1 − 10⁻⁶ (Clopper–Pearson).
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tests.targets.calibration import CORRECT, Calibration, calibrate

_DOUBT = Fraction(1, 10**6)
_MODES = ("fixed", "sequential", "both")


@dataclass(frozen=True, slots=True)
class Task:
    """One line of the table: the number of the mechanism in ``CORRECT`` and how it is audited."""

    number: int
    mode: str
    audits: int
    samples: int
    confidence: str
    seed: int


def measure(task: Task) -> tuple[Task, Calibration, float]:
    """Return the calibration of one mechanism in one mode, and its seconds."""
    started = time.perf_counter()
    found = calibrate(
        CORRECT[task.number],
        rng=np.random.default_rng([task.seed, task.number, _MODES.index(task.mode)]),
        audits=task.audits,
        samples=task.samples,
        confidence=task.confidence,
        mode=task.mode,
        effort="fast",
    )
    return task, found, time.perf_counter() - started


def main() -> int:
    """Run the audits, print the table and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.audit_calibration", description="rate of bounds above the exact epsilon")
    parser.add_argument("--audits", type=int, default=3_000, help="audits of each mechanism in each mode")
    parser.add_argument("--samples", type=int, default=200, help="outputs on each data set, per audit")
    parser.add_argument("--confidence", default="0.9")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mode", choices=_MODES, action="append", help="fixed, sequential or both; may be repeated")
    parser.add_argument("--only", default="", help="only mechanisms whose name contains this")
    parser.add_argument("--processes", type=int, default=2)
    asked = parser.parse_args()
    tasks = [
        Task(number, mode, asked.audits, asked.samples, asked.confidence, asked.seed)
        for number, target in enumerate(CORRECT)
        if asked.only in target.name
        for mode in asked.mode or _MODES[:2]
    ]
    contradicted = []
    print(f"{'mechanism':<22} {'mode':<10} {'audits':>7} {'above':>6} {'rate':>7} {'stated':>7} {'seconds':>8}")
    with multiprocessing.get_context("spawn").Pool(asked.processes) as pool:
        for done, (task, found, seconds) in enumerate(pool.imap(measure, tasks), start=1):
            line = f"{found.name:<22} {task.mode:<10} {found.audits:>7} {found.above:>6} {found.rate:>7.4f} {float(found.error):>7.4f}"
            wrong = found.contradicts(_DOUBT)
            contradicted += [f"{found.name} ({task.mode})"] if wrong else []
            print(f"{line} {seconds:>8.0f}{'  ABOVE THE STATED ERROR' if wrong else ''}", flush=True)
            print(f"{done}/{len(tasks)}", file=sys.stderr)
    return 1 if contradicted or not tasks else 0


if __name__ == "__main__":
    sys.exit(main())
