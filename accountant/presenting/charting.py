"""Charts as pictures: the same lines that reports draw as SVG of their own, and largest weights against a statistic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from accountant.guarantees.derive import DerivedEpsilon
from accountant.report.charts import Chart
from accountant.report.curves import shown_statistics, weight_curves
from accountant.report.plots import chart_curves
from profiles import InvalidArgument, Profile
from profiles.presenting.pictures import COLOURS, DASHES, FAINT, Picture, new_figure

#: Panels beside each other.
_MOST = 3


@dataclass(frozen=True, slots=True)
class TargetWeights:
    """The largest feasible weights of a profile for a target ε*, of which nothing comes from a data set but perhaps the target."""

    profile: Profile
    target: Fraction
    derived: DerivedEpsilon | None = None


def plot_weights(asked: TargetWeights) -> Picture:
    """Return the weights against each of the first statistics, the others held at the upper ends of their ranges.

    Raises :class:`InvalidArgument` where there is nothing to draw, and what certifying weights raises.
    """
    statistics = shown_statistics(asked.profile)[:_MOST]
    if not statistics:
        raise InvalidArgument("a picture of weights needs a statistic with a range, but this profile has none; leave out the picture")
    charts = [chart_curves(asked, item, "weights", curves, ()) for item in statistics if (curves := weight_curves(asked, item))]
    if not charts:
        raise InvalidArgument("a picture of weights needs finite ones, but all are infinite: no record needs to be sampled")
    return plot_charts(charts)


def plot_charts(charts: Sequence[Chart]) -> Picture:
    """Return charts beside each other, lines with colours and dash patterns of their own, levels as thin lines with their names.

    Raises :class:`profiles.MissingExtra` without Matplotlib.
    """
    figure, panels = new_figure(len(charts))
    for axes, chart in zip(panels, charts, strict=True):
        for index, line in enumerate(chart.lines):
            xs, ys = zip(*line.points, strict=True)
            style = {"drawstyle": "steps-post"} if line.stepped else {}
            look = {"color": COLOURS[index % len(COLOURS)], "linestyle": DASHES[index % len(DASHES)], "label": line.name}
            axes.plot(xs, ys, linewidth=1.8, marker="o" if len(xs) == 1 or line.dots else None, markersize=4, **look, **style)
        for name, height in chart.levels:
            axes.axhline(height, color=FAINT, linewidth=1, linestyle=":")
            axes.annotate(name, (0.01, height), xycoords=("axes fraction", "data"), xytext=(0, 3), textcoords="offset points", color=FAINT)
        axes.set(xlabel=chart.x_label, ylabel=chart.y_label)
        axes.set_title(chart.title, fontsize=9, wrap=True)
        if chart.log_x:
            axes.set_xscale("log")
        if chart.from_zero:
            axes.set_ylim(bottom=0, top=1.15 * max(y for line in chart.lines for _, y in line.points) or 1)
        axes.legend(frameon=False, fontsize=9)
    return Picture(figure, " ".join(chart.told for chart in charts))
