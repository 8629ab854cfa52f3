"""Tables of the study: normalised and raw medians, what was to be shown, times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.kmeans.data import CASES, Case
from benchmarks.kmeans.methods import METHODS, WITHOUT_NOISE
from benchmarks.kmeans.runs import EPSILONS
from benchmarks.study.store import Row

NOISY = tuple(name for name in METHODS if name not in WITHOUT_NOISE)


def pick(rows: Sequence[Row], **wanted: object) -> list[Row]:
    """Return the rows of a setting."""
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


def median_cost(rows: Sequence[Row], method: str, case: Case, epsilon: str = "none") -> float:
    """Return the median cost of a method, NaN where it was not run."""
    found = [row["cost"] for row in pick(rows, method=method, data=case.name, k=case.clusters, epsilon=epsilon)]
    return float(np.median(found)) if found else float("nan")


def ends(rows: Sequence[Row], case: Case) -> tuple[float, float]:
    """Return what is 0 and what is 1: the median cost of k-means++ without privacy, and the cost of one centre at the mean."""
    return median_cost(rows, "k-means++", case), median_cost(rows, "mean", case)


def normalise(rows: Sequence[Row], method: str, case: Case, epsilon: str) -> float:
    """Return the normalised median of a method."""
    low, high = ends(rows, case)
    return (median_cost(rows, method, case, epsilon) - low) / (high - low)


def label(case: Case) -> str:
    """Return the name of a case."""
    return f"{case.name}, k = {case.clusters}"


def show(value: float, digits: int = 3) -> str:
    """Return a number of a table."""
    return "" if np.isnan(value) else f"{value:.{digits}f}"


def present(rows: Sequence[Row]) -> list[Case]:
    """Return the cases that were run."""
    return [case for case in CASES if not np.isnan(sum(ends(rows, case)))]


def _by_setting(rows: Sequence[Row]) -> dict[tuple[Any, ...], list[Row]]:
    found: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        found.setdefault((row["method"], row["data"], row["k"], row["epsilon"]), []).append(row)
    return found


def make_table(rows: Sequence[Row]) -> str:
    """Return normalised medians: a row a case and method, a column an ε; behind a median of fewer seeds than others, how many they are."""
    most = max(map(len, _by_setting(rows).values()), default=0)
    counts = {setting: len(found) for setting, found in _by_setting(rows).items()}

    def tell(name: str, case: Case, epsilon: str) -> str:
        seeds = counts.get((name, case.name, case.clusters, epsilon), 0)
        return show(normalise(rows, name, case, epsilon)) + (f" ({seeds})" if 0 < seeds < most else "")

    lines = ["| data | method | " + " | ".join(f"ε = {epsilon}" for epsilon in EPSILONS) + " |", "| --- |" + " --- |" * (1 + len(EPSILONS))]
    for case in present(rows):
        for name in NOISY:
            values = [normalise(rows, name, case, epsilon) for epsilon in EPSILONS]
            if not all(np.isnan(values)):
                lines.append(f"| {label(case)} | {name} | " + " | ".join(tell(name, case, epsilon) for epsilon in EPSILONS) + " |")
    return "\n".join(lines)


def make_raw_table(rows: Sequence[Row]) -> str:
    """Return medians of the mean squared distance in the unit of the data: ours and what it is measured with."""
    lines = [
        "| data | k-means++ | one centre | " + " | ".join(f"ours, ε = {epsilon}" for epsilon in EPSILONS) + " |",
        "| --- |" + " --- |" * (2 + len(EPSILONS)),
    ]
    for case in present(rows):
        values = [*ends(rows, case), *(median_cost(rows, "ours", case, epsilon) for epsilon in EPSILONS)]
        lines.append(f"| {label(case)} | " + " | ".join(f"{value:.4g}" for value in values) + " |")
    return "\n".join(lines)


def _compare(rows: Sequence[Row], one: str, other: str, most: float) -> tuple[int, int, list[str]]:
    """Return in how many settings one method costs at most ``most`` times the other, of how many, and where it does not."""
    kept, total, failed = 0, 0, []
    for case in present(rows):
        for epsilon in EPSILONS:
            mine = median_cost(rows, one, case, epsilon)
            theirs = median_cost(rows, other, case, "none" if other in WITHOUT_NOISE else epsilon)
            if np.isnan(mine + theirs):
                continue
            total += 1
            if mine <= most * theirs:
                kept += 1
            else:
                failed.append(f"{label(case)}, ε = {epsilon}: {mine / theirs - 1:+.1%}")
    return kept, total, failed


def make_checks(rows: Sequence[Row]) -> str:
    """Return for each comparison how often it comes out as it was to, and where it does not."""
    wanted = (
        ("ours", "private mean", 1.05),
        ("ours", "mean", 1.05),
        ("ours", "ours, public", 1.05),
        ("ours, public", "DPLloyd", 1.0),
        ("ours, public", "diffprivlib, charged", 1.0),
        ("ours, public", "diffprivlib", 1.0),
        ("ours, public", "google", 1.0),
        ("ours", "google", 1.0),
    )
    lines = ["| method | costs at most | in | elsewhere |", "| --- | --- | --- | --- |"]
    for one, other, most in wanted:
        kept, total, failed = _compare(rows, one, other, most)
        if total:
            lines.append(f"| {one} | {most:g} × {other} | {kept} of {total} | {'; '.join(failed)} |")
    return "\n".join(lines)


def make_times(rows: Sequence[Row]) -> str:
    """Return medians of processor time, in seconds, over all ε."""
    lines = ["| data | " + " | ".join(METHODS) + " |", "| --- |" + " --- |" * len(METHODS)]
    for case in present(rows):
        found = []
        for name in METHODS:
            times = [row["time"] for row in pick(rows, method=name, data=case.name, k=case.clusters)]
            found.append(f"{np.median(times):.2f}" if times else "")
        lines.append(f"| {label(case)} | " + " | ".join(found) + " |")
    return "\n".join(lines)
