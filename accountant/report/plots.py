"""The section of plots: each with a table of some of its numbers, or with the reason why it cannot be drawn."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from accountant.report.charts import Chart, ChartLine, draw
from accountant.report.curves import MOST_GRID as MOST_GRID_STATISTICS
from accountant.report.curves import (
    POINTS,
    Curve,
    Plotted,
    Sizes,
    loss_curves,
    other_values,
    sampled_curves,
    shown_statistics,
    sizes,
    weight_curves,
)
from accountant.report.evidence import Evidence
from accountant.report.wording import down, exactly, fold, section, table, up
from profiles import Infeasible, InvalidArgument, InvalidData, InvalidProfile, InvalidTarget, Statistic, Undecided
from profiles.presenting.elements import Child, Element, add, make

#: Every which point of a curve is in the table below it.
_EVERY = 16
_PLOT_DIGITS = 6
_TITLES = {
    "loss": "The loss of a record against {name}",
    "weights": "Weights against {name}, for the target ε* = {target}",
}
#: What stands at the vertical axis.
_HEIGHTS = {"loss": "privacy loss (nats)", "weights": "weight w"}
_REASONS = (Infeasible, Undecided, InvalidProfile, InvalidArgument, InvalidData, InvalidTarget)


def plots(evidence: Evidence) -> Element:
    """Return the section of a report with ψ, weights and sample sizes drawn, or why they cannot be."""
    free = [parameter.name for parameter in evidence.profile.free_parameters]
    if free:
        said = f"Plots need numbers for all parameters, but {', '.join(free)} has none: what is proved above holds for all its values."
        return section("plots", "Plots", make("p", said))
    made: list[Child] = []
    for statistic in shown_statistics(evidence.profile):
        made += [_attempt("The loss of a record", _loss, evidence, statistic), _attempt("Weights", _weights, evidence, statistic)]
    if not made:
        made.append(make("p", "The loss does not depend on the record, so there is nothing to plot against a statistic."))
    after: str | None = None
    left_out = len([item for item in evidence.profile.record if item.lo < item.hi]) - len(shown_statistics(evidence.profile))
    if left_out:
        after = f"{left_out} more statistic{' has' if left_out == 1 else 's have'} no plot, to keep the report short."
    made.append(_attempt_sizes(evidence))
    lead = (
        "Lines join certified points. Between the points they are drawings; nothing is claimed there. The certified bound above covers "
        "every record."
    )
    return section("plots", "Plots", make("p", lead), make("div", made, class_="plots"), make("p", after) if after else None)


def _attempt(title: str, draw_it: Callable[[Evidence, Statistic], Element], evidence: Evidence, statistic: Statistic) -> Element:
    try:
        return draw_it(evidence, statistic)
    except _REASONS as error:
        return _missing(f"{title} against {statistic.name}", str(error))


def _missing(title: str, reason: str) -> Element:
    return make("figure", make("figcaption", title), make("p", f"This plot could not be drawn: {reason}."), class_="plot")


def _loss(evidence: Evidence, statistic: Statistic) -> Element:
    curves, missing = loss_curves(evidence, statistic), ""
    try:
        curves += sampled_curves(evidence, statistic)
    except _REASONS as error:
        missing = f"The loss after sampling could not be drawn: {error}."
    if not curves:
        return _missing(f"The loss of a record against {statistic.name}", "no point of it could be enclosed")
    levels = [] if evidence.derived is None else [("certified upper bound for all records", evidence.derived.bound.upper)]
    if evidence.derived is None or evidence.derived.bound.upper != evidence.target:
        levels.append(("target ε*", evidence.target))
    title = _TITLES["loss"].format(name=statistic.name)
    figure = _figure(chart_curves(evidence, statistic, "loss", curves, tuple(levels)), statistic, title, curves)
    if missing:
        add(figure, make("p", missing, class_="note"))
    return figure


def _weights(evidence: Evidence, statistic: Statistic) -> Element:
    curves = weight_curves(evidence, statistic)
    title = _TITLES["weights"].format(name=statistic.name, target=exactly(evidence.target))
    if not curves:
        return _missing(title, "every weight is infinite: such records never need to be in the sample")
    figure = _figure(chart_curves(evidence, statistic, "weights", curves, ()), statistic, title, curves)
    if len(curves[-1].samples) <= POINTS:
        add(figure, make("p", "Records with an infinite weight are left out: they never need to be in the sample.", class_="note"))
    return figure


def chart_curves(
    evidence: Plotted, statistic: Statistic, kind: str, curves: list[Curve], levels: tuple[tuple[str, Fraction], ...]
) -> Chart:
    """Return curves against a statistic as a chart, with what it shows in words. ``kind``: "loss" or "weights"."""
    title = _TITLES[kind].format(name=statistic.name, target=exactly(evidence.target))
    held = [f"{name} {_equals(value)}" for name, value in other_values(evidence).items() if name != statistic.name]
    caption = title + (f" (others held at {', '.join(held)})" if held else "")
    texts = [(name, up(value)) for name, value in levels]
    told = f"{caption}. " + " ".join(_told(curve) for curve in curves) + "".join(f" {name}: {text}." for name, text in texts)
    lines = tuple(
        ChartLine(curve.name, tuple((float(s.x), _drawn(s.upper if curve.round_up else s.lower)) for s in curve.samples))
        for curve in curves
    )
    drawn = tuple((name, _drawn(value)) for name, value in levels)
    return Chart(f"plot-{kind}-{statistic.name}", caption, told, statistic.name, _HEIGHTS[kind], lines, drawn)


def _figure(chart: Chart, statistic: Statistic, title: str, curves: list[Curve]) -> Element:
    return make(
        "figure",
        make("figcaption", chart.title),
        draw(chart),
        fold("Numbers of this plot", _numbers(title, statistic.name, curves)),
        class_="plot",
    )


def _drawn(value: Fraction) -> float:
    return float(min(value, Fraction(10) ** 300))


def _told(curve: Curve) -> str:
    values = [sample.upper if curve.round_up else sample.lower for sample in curve.samples]
    first, last, least, most = (_sided(curve, value) for value in (values[0], values[-1], min(values), max(values)))
    side = "up" if curve.round_up else "down"
    return f"{curve.name} goes from {first} to {last}; its points lie between {least} and {most}, rounded {side}."


def _sided(curve: Curve, value: Fraction) -> str:
    return up(value, _PLOT_DIGITS) if curve.round_up else down(value, _PLOT_DIGITS)


def _numbers(title: str, x_name: str, curves: list[Curve]) -> Element:
    columns = [x_name, *(f"{curve.name} (rounded {'up' if curve.round_up else 'down'})" for curve in curves)]
    known = [{sample.x: sample for sample in curve.samples} for curve in curves]
    places = sorted({x for samples in known for x in samples})
    chosen = dict.fromkeys([*places[::_EVERY], places[-1]])
    rows = []
    for x in chosen:
        cells: list[Child] = []
        for curve, samples in zip(curves, known, strict=True):
            numbers = samples.get(x)
            cells.append("–" if numbers is None else _sided(curve, numbers.upper if curve.round_up else numbers.lower))
        rows.append((_place(x), *cells))
    return table(f"{title}: some of the points; – where there is no finite number", columns, rows, numeric=True)


def _place(x: Fraction) -> str:
    return exactly(x) if _is_short(x) else f"≈ {float(x):.8g}"


def _equals(value: Fraction) -> str:
    return f"= {_place(value)}" if _is_short(value) else _place(value)


def _is_short(value: Fraction) -> bool:
    return len(exactly(value)) <= 12


def _attempt_sizes(evidence: Evidence) -> Element | None:
    profile = evidence.profile
    if not profile.record or len(profile.record) > MOST_GRID_STATISTICS:
        return None
    title = "Expected sample size against the target ε*"
    try:
        measured = sizes(evidence)
    except _REASONS as error:
        return _missing(title, str(error))
    return _sizes_figure(title, measured) if measured.mean.samples else None


def _sizes_figure(title: str, measured: Sizes) -> Element:
    lines = [ChartLine(measured.mean.name, tuple((float(s.x), float(s.upper)) for s in measured.mean.samples))]
    if measured.rule is not None:
        lines.append(ChartLine("this report's rule, at its certified bound", ((float(measured.rule.x), float(measured.rule.upper)),)))
    caption = f"{title}, as a share of {measured.records} records spread evenly over the declared ranges"
    first, last = measured.mean.samples[0], measured.mean.samples[-1]
    ends = [f"{up(end.upper, _PLOT_DIGITS)} at {_place(end.x)} nats" for end in (first, last)]
    told = f"{caption}. It falls from {ends[0]} to {ends[1]}, rounded up."
    chart = Chart(
        "plot-size",
        caption,
        told,
        "target ε* (nats)",
        "share of the records",
        tuple(lines),
        log_x=measured.rule is None or measured.rule.x > 0,
    )
    rows = [(_place(s.x), up(s.upper, _PLOT_DIGITS)) for s in (*measured.mean.samples[::4], last)]
    columns = ("target ε*", "share with the largest feasible weights (rounded up)")
    note = "Your data are not spread like that. For your records: pdp weights --target-size M --data FILE gives the target and the weights."
    return make(
        "figure", make("figcaption", caption), draw(chart), make("p", note, class_="note"),
        fold("Numbers of this plot", table(f"{title}: some of the points", columns, dict.fromkeys(rows), numeric=True)),
        class_="plot",
    )  # fmt: skip
