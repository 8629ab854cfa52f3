"""A picture of a private clustering: the public candidates, and the released centres among them. Nothing else of the data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from accountant.applications.clustering.places import Places
from profiles import InvalidArgument
from profiles.presenting.pictures import COLOURS, FAINT, Picture, new_figure


def plot_clusters(places: Places, centres: Sequence[int]) -> Picture:
    """Return candidates and centres in their first two columns (of one column: along a line).

    Raises :class:`profiles.InvalidArgument` for places without coordinates, :class:`profiles.MissingExtra` without Matplotlib.
    """
    points = places.space.candidates
    if not places.columns or points is None:
        raise InvalidArgument("a picture of centres needs candidates with coordinates, but these have only distances; leave it out")
    figure, (axes,) = new_figure()
    flat = points.shape[1] == 1
    heights = np.zeros(len(points)) if flat else points[:, 1]
    axes.plot(points[:, 0], heights, ".", color=FAINT, markersize=3, label=f"{len(points)} public candidates")
    chosen = list(dict.fromkeys(centres))
    ring = {"color": COLOURS[0], "markersize": 9, "markerfacecolor": "none", "markeredgewidth": 2}
    axes.plot(points[chosen, 0], heights[chosen], "o", label=f"{len(chosen)} released centres", **ring)
    axes.set(xlabel=places.columns[0], ylabel="" if flat else places.columns[1], title="released centres among public candidates")
    if flat:
        axes.set_yticks([])
    axes.legend(frameon=True, framealpha=0.9, fontsize=9)
    left_out = "" if len(places.columns) <= 2 else f", the first two of {len(places.columns)} columns"
    return Picture(figure, f"{len(chosen)} released centres among {len(points)} candidates in {', '.join(places.columns[:2])}{left_out}")
