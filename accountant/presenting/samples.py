"""A picture of a sampling plan: the probability with which a record is selected, against its statistics. Nothing in it is of the data."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from accountant.presenting.charting import plot_charts
from accountant.report.charts import Chart, ChartLine
from accountant.report.curves import grid, shown_statistics
from accountant.samples.plan import SamplingPlan
from profiles import InvalidArgument, Profile, Statistic, decimal_text, exact_text
from profiles.presenting.pictures import Picture
from profiles.views import show_picture

#: Panels beside each other.
_MOST = 3


def require_statistics(profile: Profile) -> None:
    """Refuse a picture where every record is selected with one probability. Raises :class:`profiles.InvalidArgument`."""
    if not shown_statistics(profile):
        raise InvalidArgument("a picture of a sample needs a statistic with a range, but this profile has none; leave out the picture")


@show_picture.register(SamplingPlan)
def plot_plan(plan: SamplingPlan) -> Picture:
    """Return the very probabilities that the sampler uses against each of the first statistics, the others held at their upper ends.

    Raises :class:`profiles.InvalidArgument` without a statistic that has a range, :class:`profiles.MissingExtra` without Matplotlib.
    """
    require_statistics(plan.profile)
    return plot_charts([_chart(plan, statistic) for statistic in shown_statistics(plan.profile)[:_MOST]])


def _chart(plan: SamplingPlan, statistic: Statistic) -> Chart:
    places = [float(value) for value in grid(statistic)]
    ends = {item.name: float(grid(item)[-1]) for item in plan.profile.record}
    columns = {name: np.full(len(places), end) for name, end in ends.items()} | {statistic.name: np.array(places)}
    chances = plan.selector.select(columns).probabilities.tolist()
    others = [f"{name} = {exact_text(Fraction(end))[:12]}" for name, end in ends.items() if name != statistic.name]
    title = f"Selection under the rule {plan.rule.name}" + (f" (others held at {', '.join(others)})" if others else "")
    first, last = (decimal_text(Fraction(chances[end]), 4, round_up=True) for end in (0, -1))
    told = f"{title}, against {statistic.name}: the probability goes from {first} to {last}."
    line = ChartLine("probability q(x); the weight is 1/q(x)", tuple(zip(places, chances, strict=True)))
    axis = f"statistic {statistic.name} of the record"
    return Chart(f"plot-q-{statistic.name}", title, told, axis, "probability of selection", (line,), from_zero=True)
