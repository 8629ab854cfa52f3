"""Means with 95 % intervals, and the comparison of the two laws seed by seed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import stats

from benchmarks.study.store import Row


def mean_interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean and half the width of Student's 95 % interval."""
    found = np.asarray(values)
    half = stats.t.ppf(0.975, len(found) - 1) * found.std(ddof=1) / np.sqrt(len(found))
    return float(found.mean()), float(half)


def pick(rows: Sequence[Row], **wanted: object) -> list[Row]:
    """Return the rows of a setting, by seed."""
    return sorted((row for row in rows if all(row[name] == value for name, value in wanted.items())), key=lambda row: int(row["seed"]))


def settings(rows: Sequence[Row]) -> list[dict[str, object]]:
    """Return the settings that both laws have, in their order."""
    found = {(row["T"], row["epsilon"], row["d"]): None for row in rows}
    ordered = sorted(found, key=lambda key: (key[0], float(key[1]), key[2]))
    return [{"T": rounds, "epsilon": epsilon, "d": d} for rounds, epsilon, d in ordered]


def excesses(rows: Sequence[Row]) -> list[float]:
    """Return cost/cost without noise of each run."""
    return [row["cost"] / row["plain"] for row in rows]


def make_table(rows: Sequence[Row]) -> str:
    """Return the table of the page."""
    lines = [
        "| T | ε | d | cost with Laplace noise | with normal noise | quotient, seed by seed | quotient of first-order errors |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for setting in settings(rows):
        laplace, normal = (pick(rows, law=law, **setting) for law in ("laplace", "gaussian"))
        if len(laplace) != len(normal) or len(laplace) < 2:
            continue
        shown = ["{:.3f} ± {:.3f}".format(*mean_interval(excesses(mine))) for mine in (laplace, normal)]
        pairs = np.log([one["cost"] / other["cost"] for one, other in zip(laplace, normal, strict=True)])
        middle, half = mean_interval(pairs)
        between = f"{np.exp(middle):.3f} ({np.exp(middle - half):.3f} to {np.exp(middle + half):.3f})"
        predicted = laplace[0]["predicted"] / normal[0]["predicted"]
        lines.append(f"| {setting['T']} | {setting['epsilon']} | {setting['d']} | {shown[0]} | {shown[1]} | {between} | {predicted:.2f} |")
    return "\n".join(lines)
