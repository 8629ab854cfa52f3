"""A picture of a monitored stream: which items were reported at which time step. It is made of the reports alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from accountant.applications.heavyhitters.watching import StepReport
from profiles.presenting.pictures import COLOURS, FAINT, Picture, new_figure

#: Items that have a line, those that were reported most often, and characters of their names.
_MOST, _WIDTH = 24, 24


def plot_reports(reports: Sequence[StepReport]) -> Picture:
    """Return a mark for each item at each time step at which it was reported, a line an item, the most frequent ones on top.

    Raises :class:`profiles.MissingExtra` without Matplotlib.
    """
    counts = Counter(item for report in reports for item in report.items)
    shown = [item for item, _ in counts.most_common(_MOST)]
    figure, (axes,) = new_figure()
    for place, item in enumerate(shown):
        times = [report.time for report in reports if item in report.items]
        axes.plot(times, [place] * len(times), "s", color=COLOURS[0], markersize=6)
    axes.set_yticks(range(len(shown)), [str(item)[:_WIDTH] for item in shown])
    axes.set_ylim(max(len(shown), 1) - 0.5, -0.5)
    if reports:
        axes.set_xlim(reports[0].time - 0.5, reports[-1].time + 0.5)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set(xlabel="time step", ylabel="item", title=f"items reported at {len(reports)} time steps")
    if not shown:
        axes.annotate("nothing was reported", (0.5, 0.5), xycoords="axes fraction", ha="center", color=FAINT)
    left_out = f", the {_MOST} most frequent of {len(counts)}" if len(counts) > _MOST else ""
    told = "; ".join(f"{item} at {counts[item]} of {len(reports)} time steps" for item in shown) or "nothing was reported"
    return Picture(figure, f"Reported items{left_out}: {told}")
