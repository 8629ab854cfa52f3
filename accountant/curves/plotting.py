"""A picture of a privacy curve: enclosed points of δ(ε) in both directions, between which nothing is claimed."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from accountant.curves.points import CurvePoint, lower_text, point_at_epsilon, upper_text
from profiles import exact_text
from profiles.presenting.pictures import COLOURS, DASHES, FAINT, Picture, new_figure

if TYPE_CHECKING:
    from accountant.curves.accounting import Account

#: Points of a curve, from ε = 0 to a half more than the ε of the account.
_POINTS = 16
#: Ends of drawn points are at most so far apart, relatively: less than a line is wide.
_GAP = Fraction(1, 100)
_LEAST = 1e-300


def plot_account(found: Account) -> Picture:
    """Return δ(ε) of both directions around the point that was asked for, drawn at the upper ends, with the band down to the lower ends.

    Raises :class:`profiles.MissingExtra` without Matplotlib, and what the engine raises.
    """
    figure, (axes,) = new_figure()
    middle = found.point.upper if found.epsilon is None else found.epsilon
    places = _places(middle or Fraction(1))
    points = [point_at_epsilon(found.curve.composition, place, _GAP) for place in places]
    xs = [float(place) for place in places]
    for index, direction in enumerate(points[0].sides):
        sides = [point.sides[direction] for point in points]
        uppers = [1.0 if side.upper is None else float(side.upper) for side in sides]
        lowers = [0.0 if side.lower is None else float(side.lower) for side in sides]
        shown = [value if value > _LEAST else math.nan for value in uppers]
        axes.plot(xs, shown, color=COLOURS[index], linestyle=DASHES[index], linewidth=1.8, label=f"{direction.value} (upper ends)")
        band = ([max(value, _LEAST) for value in ends] for ends in (lowers, uppers))
        axes.fill_between(xs, *band, color=COLOURS[index], alpha=0.25)
    _mark(axes, found, middle)
    axes.set(xlabel="ε in nats", ylabel="δ(ε)", yscale="log", title=found.curve.composition.name[:60])
    axes.legend(frameon=False)
    return Picture(figure, _tell(found, places, points))


def _places(middle: Fraction) -> list[Fraction]:
    """Return points from 0 to 3/2 of the middle, which is one of them; short fractions."""
    step = Fraction(round(middle * 1000), 1000) or middle
    return [step * Fraction(3, 2) * index / (_POINTS - 1) for index in range(_POINTS)]


def _mark(axes: Any, found: Account, middle: Fraction | None) -> None:
    at = found.point.upper if found.delta is None else found.delta
    if middle is not None and at is not None and at > 0:
        axes.plot([float(middle)], [float(at)], "o", color=FAINT)


def _tell(found: Account, places: list[Fraction], points: list[CurvePoint]) -> str:
    ends = [
        f"at most {upper_text(point, 3)} (and at least {lower_text(point, 3)}) at epsilon = {exact_text(place)[:20]}"
        for place, point in ((places[0], points[0]), (places[-1], points[-1]))
    ]
    return f"Delta against epsilon of {found.curve.composition.name}, in both directions: {ends[0]}; {ends[1]}"
