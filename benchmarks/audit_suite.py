"""Audits of the standard suite, of what the accountant claims about the catalogue, and of the catalogue's broken twins.

    python -m benchmarks.audit_suite [--samples N] [--only NAME] [--confidence C] [--seed S] [--mode M] [--json FILE] [--processes P]

A line shows what is claimed for the pair, what is true, the lower confidence bound found, its confidence, the outputs on each data set,
the labelled outputs after which the sequential part refuted the claim, seconds, and the verdict with what is to be said about it:

    ok            a correct claim that is not refuted, a false one that is
    FALSE ALARM   a correct claim is refuted
    MISSED        a twin is not refuted; for the standard suite: not seen (some of its mistakes need more outputs than anyone has)
    above truth   the bound is above the exact ε; its chance is at most 1 − confidence for a line

Correct claims are audited at confidence 1 − (1 − C)/m, m being their number, so that the chance of any false alarm in the table is at most
1 − C; false ones at C each. Exit code 1 for a false alarm or a twin that is missed. Progress goes to standard error.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from profiles.numbers import decimal_text, to_exact
from proofs_check.audit import AuditResult, Claim
from tests.targets.catalogue import (
    AuditCase,
    broken_twins,
    catalogue_cases,
    pipeline_cases,
    pipeline_twins,
    repeated_cases,
    repeated_twins,
)
from tests.targets.suite import Truth, standard_suite

SAMPLES, CONFIDENCE, SEED = 20_000, "0.99", 1
_SHOWN = 5


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """What one line of the table audits; ``must_be_found`` says that a run that does not refute the claim fails."""

    name: str
    claim: Claim
    truth: Truth
    correct: bool
    must_be_found: bool
    samples: int | None
    run: Callable[..., AuditResult] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the table: numbers in nats, claim and truth rounded outward, the bound down."""

    group: str
    name: str
    claim: str
    truth: str
    bound: float
    confidence: float
    samples: int
    refuted_after: int | None
    seconds: float
    verdict: str
    remark: str


def make_targets(only: str) -> list[tuple[str, Target]]:
    """Return all targets with the name of their group, those whose name contains ``only``."""
    made = [("suite", Target(c.name, c.claim, c.truth, c.correct, must_be_found=False, samples=None, run=c.run)) for c in standard_suite()]
    groups = (("catalogue", catalogue_cases()), ("repeated", repeated_cases()), ("twin", (*broken_twins(), *repeated_twins())))
    for group, cases in groups:
        made += [(group, Target(c.name, c.claim, c.truth, not c.broken, c.broken, c.samples if c.broken else None, c.run)) for c in cases]
    whole = (*pipeline_cases(), *pipeline_twins())
    made += [("pipeline", Target(c.name, c.claim, c.truth, not c.broken, c.broken, c.samples, partial(_run_whole, c))) for c in whole]
    return [(group, target) for group, target in made if only in target.name]


def _run_whole(case: AuditCase, rng: np.random.Generator, *, samples: int, **options: Any) -> AuditResult:
    """Return the audit of a whole pipeline with its own number of runs: each is a fit, and takes some milliseconds."""
    del samples
    return case.run(rng, samples=case.samples, **options)


def truth_text(truth: Truth) -> str:
    """Return ε of the pair as one number, or as an enclosure that is rounded outward."""
    ends = [
        "inf" if isinstance(end, float) else decimal_text(end, _SHOWN, round_up=up)
        for end, up in ((truth.lower, False), (truth.upper, True))
    ]
    return ends[0] if ends[0] == ends[1] else f"{ends[0]}..{ends[1]}"


def judge(group: str, target: Target, result: AuditResult) -> Line:
    """Return the line of an audit."""
    refuted = result.finding.value == "violated"
    if refuted == (not target.correct):
        remark = "ok"
    else:
        remark = "FALSE ALARM" if target.correct else "MISSED" if target.must_be_found else "not seen"
    if result.epsilon_lower > target.truth.upper:
        remark += ", above truth"
    return Line(
        group, target.name, decimal_text(target.claim.epsilon, _SHOWN, round_up=True), truth_text(target.truth), result.epsilon_lower,
        float(result.confidence), result.samples, result.refuted_after, result.seconds, result.finding.value, remark,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Settings:
    """What every audit of a run is made with."""

    only: str
    samples: int
    confidence: Fraction
    seed: int
    effort: str
    mode: str


_KEPT: dict[str, list[tuple[str, Target]]] = {}


def audit_one(task: tuple[int, Settings]) -> Line:
    """Return the line of one target; its generator depends on the seed and its name only."""
    number, settings = task
    if settings.only not in _KEPT:
        _KEPT[settings.only] = make_targets(settings.only)
    targets = _KEPT[settings.only]
    group, target = targets[number]
    of_correct = sum(other.correct for _, other in targets)
    confidence = 1 - (1 - settings.confidence) / of_correct if target.correct else settings.confidence
    samples = max(settings.samples, target.samples or 0)
    rng = np.random.default_rng([settings.seed, zlib.crc32(f"{group}/{target.name}".encode())])
    return judge(group, target, target.run(rng, samples=samples, confidence=confidence, effort=settings.effort, mode=settings.mode))


def run_all(settings: Settings, processes: int) -> Iterator[Line]:
    """Yield the lines in their order, with a counter on standard error."""
    count = len(make_targets(settings.only))
    tasks = [(number, settings) for number in range(count)]
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        for number, line in enumerate(pool.imap(audit_one, tasks), start=1):
            print(f"{number}/{count} {line.name}: {line.remark}", file=sys.stderr)
            yield line


def show(lines: list[Line]) -> None:
    """Print the table."""
    head = ("case", "claim", "truth", "bound", "confidence", "samples", "refuted after", "seconds", "verdict", "")
    rows = [
        (
            f"{line.group}: {line.name}", line.claim, line.truth, f"{math.floor(line.bound * 1e4) / 1e4:.4f}", f"{line.confidence:.6g}",
            str(line.samples), str(line.refuted_after or "-"), f"{line.seconds:.1f}", line.verdict, line.remark,
        )
        for line in lines
    ]  # fmt: skip
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    for row in (head, *rows):
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def main() -> int:
    """Run the audits, print the table and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.audit_suite", description="audits of the suite, the catalogue and its twins"
    )
    parser.add_argument("--samples", type=int, default=SAMPLES, help="outputs on each data set; twins take more where they need them")
    parser.add_argument("--only", default="", help="only cases whose name contains this")
    parser.add_argument("--confidence", default=CONFIDENCE, help="of the table of correct claims as a whole, and of each false one")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--effort", choices=("fast", "normal", "thorough"), default="normal")
    parser.add_argument(
        "--mode", choices=("both", "fixed", "sequential"), default="both", help="both stop where the sequential part refutes"
    )
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--json", type=Path, help="write the lines to this file")
    asked = parser.parse_args()
    settings = Settings(asked.only, asked.samples, to_exact(asked.confidence, "the confidence"), asked.seed, asked.effort, asked.mode)
    started = time.perf_counter()
    lines = list(run_all(settings, asked.processes))
    show(lines)
    alarms = [line.name for line in lines if line.remark.startswith("FALSE ALARM")]
    missed = [line.name for line in lines if line.remark.startswith("MISSED")]
    unseen = [line.name for line in lines if line.remark.startswith("not seen")]
    above = [line.name for line in lines if line.remark.endswith("above truth")]
    print(f"\n{len(lines)} audits in {time.perf_counter() - started:.0f} s")
    for what, names in (
        ("false alarms", alarms),
        ("twins missed", missed),
        ("of the suite not seen", unseen),
        ("bounds above truth", above),
    ):
        print(f"{what}: {len(names)}{' (' + ', '.join(names) + ')' if names else ''}")
    if asked.json is not None:
        rows = [{name: getattr(line, name) for name in Line.__slots__} for line in lines]
        asked.json.write_text(json.dumps({"seed": asked.seed, "lines": rows}, indent=1) + "\n", encoding="utf-8")
    return 1 if alarms or missed or not lines else 0


if __name__ == "__main__":
    sys.exit(main())
