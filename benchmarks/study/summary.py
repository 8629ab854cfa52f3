"""Medians and quartiles, and the tables of the study in Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from benchmarks.study.adapters import show_upper
from benchmarks.study.store import Row

Cell = Callable[[Row], str]


def quartiles(rows: Iterable[Row], over: str, column: str = "cost") -> list[tuple[float, tuple[float, float, float]]]:
    """Return (x, (lower quartile, median, upper quartile) of a column) for each value x of the column ``over``."""
    groups: dict[float, list[float]] = {}
    for row in rows:
        groups.setdefault(float(row[over]), []).append(row[column])
    found = []
    for x, costs in sorted(groups.items()):
        low, middle, high = np.quantile(costs, [0.25, 0.5, 0.75])
        found.append((x, (float(low), float(middle), float(high))))
    return found


def table(rows: Sequence[Row], columns: Sequence[tuple[str, Cell]]) -> str:
    """Return a Markdown table."""
    lines = [f"| {' | '.join(name for name, _ in columns)} |", f"| {' | '.join('---' for _ in columns)} |"]
    lines += [f"| {' | '.join(cell(row) for _, cell in columns)} |" for row in rows]
    return "\n".join(lines)


def number(name: str, digits: int = 4) -> Cell:
    """Return a cell with a column's number."""
    return lambda row: f"{row[name]:.{digits}g}" if row.get(name) is not None else ""


def text(name: str) -> Cell:
    """Return a cell with a column as it is."""
    return lambda row: str(row[name]) if row.get(name) is not None else ""


def upper(name: str, digits: int = 6) -> Cell:
    """Return a cell with an upper bound, rounded up."""
    return lambda row: show_upper(row[name], digits)


def percent(name: str) -> Cell:
    """Return a cell with a share as a percentage."""
    return lambda row: f"{100 * row[name]:.3g} %"


def milliseconds(name: str) -> Cell:
    """Return a cell with a column of seconds in milliseconds."""
    return lambda row: f"{1e3 * row[name]:.3g}"


def facts_table(rows: Sequence[Row]) -> str:
    """Table 1: as measured, beside what is printed."""
    return table(
        rows,
        [
            ("data set", text("dataset")),
            ("n", text("n")),
            ("printed", text("printed_n")),
            ("d", text("d")),
            ("r", number("r", 8)),
            ("printed", text("printed_r")),
            ("x̃", number("mean_square", 8)),
            ("printed", text("printed_mean_square")),
            ("least norm", number("least_norm", 4)),
            ("n x̃/r²", number("largest_m", 6)),
        ],
    )


def bounds_table(rows: Sequence[Row]) -> str:
    """The certified ε beside the grid and the end points."""
    return table(
        rows,
        [
            ("data set", text("row")),
            ("m", text("m")),
            ("λ", text("lam")),
            ("grid reports", number("grid", 6)),
            ("certified, at most", upper("upper", 10)),
            ("kernel", lambda row: "yes" if row["kernel"] else "no"),
            ("worst z/r", number("at_share", 4)),
            ("missing in the grid", lambda row: f"{row['grid_share']:.1e}"),
            ("end points report", number("ends", 6)),
            ("missing there", percent("ends_share")),
        ],
    )


def errors_table(rows: Sequence[Row]) -> str:
    """Figure 2, right."""
    return table(
        rows,
        [
            ("reading", text("reading")),
            ("b", text("b")),
            ("m", number("size", 4)),
            ("rule", text("rule")),
            ("max ψ", number("worst_loss", 4)),
            ("MSE", number("mse", 4)),
            ("±", number("mse_error", 2)),
            ("exact MSE", number("mse_exact", 4)),
        ],
    )


def weights_summary(rows: Sequence[Row]) -> str:
    """Figure 2, left: quantiles of the ratio of privacy-constrained to variance-optimal weights."""
    lines = []
    for reading in dict.fromkeys(row["reading"] for row in rows):
        mine = [row for row in rows if row["reading"] == reading]
        by_rule = {
            rule: np.array([row["weight"] for row in mine if row["rule"] == rule])
            for rule in ("constrained", "variance-optimal", "uniform")
        }
        ratio = by_rule["constrained"] / by_rule["variance-optimal"]
        low, middle, high = np.quantile(ratio, [0.05, 0.5, 0.95])
        logs = np.log(by_rule["constrained"]), np.log(by_rule["variance-optimal"])
        lines.append(
            {
                "reading": reading,
                "b": mine[0]["b"],
                "target": mine[0]["target"],
                "low": low,
                "median": middle,
                "high": high,
                "correlation": float(np.corrcoef(*logs)[0, 1]),
                "least": float(by_rule["constrained"].min()),
                "most": float(by_rule["constrained"].max()),
                "uniform": float(by_rule["uniform"][0]),
            }
        )
    return table(
        lines,
        [
            ("reading", text("reading")),
            ("b", number("b")),
            ("ε*", number("target")),
            ("w_priv/w_var 5 %", number("low", 3)),
            ("median", number("median", 3)),
            ("95 %", number("high", 3)),
            ("corr. of logs", number("correlation", 3)),
            ("least w_priv", number("least")),
            ("largest", number("most")),
            ("uniform w", number("uniform")),
        ],
    )


def costs_table(rows: Sequence[Row]) -> str:
    """Median cost and quartiles of every configuration."""
    groups: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in ("dataset", "protocol", "epsilon", "m", "method")), []).append(row)
    lines = []
    for (dataset, protocol, epsilon, size, method), mine in sorted(groups.items(), key=lambda item: item[0]):
        low, middle, high = np.quantile([row["cost"] for row in mine], [0.25, 0.5, 0.75])
        lines.append(
            {
                "dataset": dataset,
                "protocol": protocol,
                "epsilon": epsilon,
                "m": size,
                "method": method,
                "low": low,
                "median": middle,
                "high": high,
                "runs": len(mine),
                "sampled": float(np.mean([row["sampled"] for row in mine])),
                "certified": max(row["certified"] for row in mine),
                "beta_sum": mine[0]["beta_sum"],
                "beta_count": mine[0]["beta_count"],
            }
        )
    return table(
        lines,
        [
            ("data set", text("dataset")),
            ("protocol", text("protocol")),
            ("ε", text("epsilon")),
            ("m", text("m")),
            ("method", text("method")),
            ("median cost", number("median")),
            ("25 %", number("low")),
            ("75 %", number("high")),
            ("runs", text("runs")),
            ("sampled", number("sampled", 5)),
            ("β_sum", number("beta_sum")),
            ("β_count", number("beta_count")),
            ("certified ε", lambda row: "" if np.isinf(row["certified"]) else show_upper(row["certified"], 9)),
        ],
    )


def times_table(rows: Sequence[Row]) -> str:
    """Figure 5 as a table."""
    return table(
        rows,
        [
            ("data set", text("dataset")),
            ("method", text("method")),
            ("m", text("m")),
            ("norms, ms", milliseconds("norms")),
            ("proof, ms", milliseconds("proof")),
            ("weights, ms", milliseconds("solve")),
            ("sampling, ms", milliseconds("sampling")),
            ("DP-Lloyd, ms", milliseconds("lloyd")),
            ("all points, ms", milliseconds("full")),
            ("rel. time", percent("relative_time")),
            ("m/n", percent("relative_size")),
        ],
    )


def speed_table(rows: Sequence[Row]) -> str:
    """DP-Lloyd of the authors and ours: medians over the runs."""
    groups: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["epsilon"], row["method"], row["m"]), []).append(row)
    lines = []
    for (epsilon, method, size), mine in groups.items():
        names = ("their_seconds", "our_seconds", "their_cost", "our_exponential_cost", "our_gamma_cost")
        middle = {name: float(np.median([row[name] for row in mine])) for name in names}
        ratio = float(np.median([row["their_seconds"] / row["our_seconds"] for row in mine]))
        lines.append({"epsilon": epsilon, "method": method, "m": size, "runs": len(mine), "ratio": ratio, **middle})
    return table(
        lines,
        [
            ("ε", text("epsilon")),
            ("method", text("method")),
            ("m", text("m")),
            ("runs", text("runs")),
            ("theirs, s", number("their_seconds", 3)),
            ("ours, s", number("our_seconds", 3)),
            ("ratio", number("ratio", 3)),
            ("cost, theirs", number("their_cost")),
            ("cost, ours with Gamma(1)", number("our_exponential_cost")),
            ("cost, ours with Gamma(d)", number("our_gamma_cost")),
        ],
    )


def plain_table(rows: Sequence[Row]) -> str:
    """Every column of the rows as it is."""
    names = list(dict.fromkeys(name for row in rows for name in row))

    def cell(name: str) -> Cell:
        return lambda row: f"{row[name]:.6g}" if isinstance(row.get(name), float) else text(name)(row)

    return table(rows, [(name, cell(name)) for name in names])
