"""The tables of the study in Markdown: means with 95 % intervals over seeds."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy import stats

from benchmarks.study.store import Row
from benchmarks.study.summary import number, table, text

#: Of which run a line is.
_WHICH = (("data set", text("dataset")), ("rule", text("scheme")), ("m", text("m")))
SCHEMES = ("uniform", "coreset-gradient", "norm-gradient", "norm-bound", "weights-T")


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean and half the width of its 95 % interval by Student's t."""
    found = np.asarray(values, dtype=np.float64)
    if len(found) < 2:
        return float(found.mean()), float("nan")
    return float(found.mean()), float(stats.t.ppf(0.975, len(found) - 1) * found.std(ddof=1) / len(found) ** 0.5)


def best_rates(rows: Sequence[Row], column: str = "error") -> list[Row]:
    """Return for each data set, rule and batch the mean with its interval at the learning rate with the smallest mean objective."""
    groups: dict[tuple[str, str, int], dict[float, list[Row]]] = {}
    for row in rows:
        groups.setdefault((row["dataset"], row["scheme"], row["m"]), {}).setdefault(row["learning_rate"], []).append(row)
    found = []
    for (dataset, scheme, m), by_rate in groups.items():
        chosen = min(by_rate, key=lambda rate: float(np.mean([row["objective"] for row in by_rate[rate]])))
        runs = by_rate[chosen]
        mean, half = interval([row[column] for row in runs])
        batch = float(np.mean([row["batch"] for row in runs]))
        found.append({"dataset": dataset, "scheme": scheme, "m": m, "learning_rate": chosen, "mean": mean, "half": half, "batch": batch})
    return found


def runs_table(rows: Sequence[Row]) -> str:
    """Return test error and objective, one line for each data set and batch, one column for each rule."""
    parts = []
    for column, digits in (("error", 4), ("objective", 4)):
        found = {(row["dataset"], row["m"], row["scheme"]): row for row in best_rates(rows, column)}
        lines = [
            f"{column}, mean ± half of the 95 % interval",
            "",
            f"| data set | m | {' | '.join(SCHEMES)} |",
            "| --- " * (2 + len(SCHEMES)) + "|",
        ]
        for dataset, m in dict.fromkeys((row["dataset"], row["m"]) for row in rows):
            cells = []
            for scheme in SCHEMES:
                one = found.get((dataset, m, scheme))
                cells.append("" if one is None else f"{one['mean']:.{digits}f} ± {one['half']:.{digits}f}")
            lines.append(f"| {dataset} | {m} | {' | '.join(cells)} |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def variance_table(rows: Sequence[Row]) -> str:
    """Return the variance of the estimate and its parts."""
    cells = (
        *_WHICH,
        ("at", text("where")),
        ("sampling", number("sampling", 3)),
        ("noise", number("noise", 3)),
        ("batch there", number("batch_now", 4)),
    )
    return table(rows, cells)


def schemes_table(rows: Sequence[Row]) -> str:
    """Return what each rule was given."""
    cells = (
        *_WHICH,
        ("q0", number("rate")),
        ("noise multiplier", number("multiplier")),
        ("noise of the sum", number("sigma")),
    )
    return table(rows, cells)


def epsilons_table(rows: Sequence[Row]) -> str:
    """Return both ends of ε."""
    cells = (
        *_WHICH,
        ("q0", number("rate")),
        ("noise multiplier", number("multiplier")),
        ("ε, at least", number("lower", 5)),
        ("at most", number("upper", 5)),
    )
    return table(rows, cells)


def peers_table(rows: Sequence[Row]) -> str:
    """Return ours beside dp_accounting."""
    cells = (
        ("noise multiplier", number("noise")),
        ("q", number("q")),
        ("ours, at least", number("lower", 6)),
        ("at most", number("upper", 6)),
        ("dp_accounting", number("theirs", 6)),
        ("its seconds", number("seconds", 2)),
    )
    return table(rows, cells)


def reference_table(rows: Sequence[Row]) -> str:
    """Return the runs without privacy."""
    cells = (
        ("data set", text("dataset")),
        ("learning rate", number("learning_rate")),
        ("error", number("error")),
        ("objective", number("objective")),
    )
    return table(rows, cells)


def weights_table(rows: Sequence[Row]) -> str:
    """Return W_T at every eighth place."""
    cells = (("epsilon", text("epsilon")), ("zeta", number("zeta")), ("W_T", number("weight", 5)))
    return table([row for row in rows if row["weight"] >= 1 and row["place"] % 8 == 0], cells)


TABLES: dict[str, Callable[[Sequence[Row]], str]] = {
    "tables": weights_table,
    "schemes": schemes_table,
    "variance": variance_table,
    "reference": reference_table,
    "runs": runs_table,
    "epsilons": epsilons_table,
    "peers": peers_table,
}
