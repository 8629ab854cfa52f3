"""Medians and quartiles of every configuration, as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.study.store import Row
from benchmarks.study.summary import number, table, text

_SHAPE = ("sweep", "instance", "power", "n", "users", "steps", "items", "m", "k", "epsilon", "hidden", "method")


def medians_table(rows: Sequence[Row], column: str = "value") -> str:
    """Return the table."""
    names = [name for name in _SHAPE if any(name in row for row in rows)]
    groups: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row.get(name) for name in names), []).append(row)
    lines = []
    for mine in groups.values():
        low, middle, high = np.quantile([row[column] for row in mine], [0.25, 0.5, 0.75])
        lines.append({**mine[0], "low": float(low), "median": float(middle), "high": float(high), "runs": len(mine)})
    cells = [("median", number("median")), ("25 %", number("low")), ("75 %", number("high")), ("runs", text("runs"))]
    return table(lines, [*((name, text(name)) for name in names), *cells])
