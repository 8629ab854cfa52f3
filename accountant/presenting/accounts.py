"""Pictures of a privacy curve: enclosed points of δ(ε) in both directions, and of ε over steps, between which nothing is claimed."""

from __future__ import annotations

from fractions import Fraction
from math import nan

from accountant.compositions.bounds import bound_deltas
from accountant.compositions.events import Direction
from accountant.compositions.trajectories import Trajectory
from accountant.curves.accounting import Account
from profiles import decimal_text, exact_text
from profiles.presenting.pictures import COLOURS, DASHES, FAINT, Picture, new_figure
from profiles.views import show_picture

#: Points of a curve, from ε = 0 to a half more than the ε of the account.
_POINTS = 60
#: How much smaller a δ than that of the account is drawn.
_BELOW = Fraction(1, 100)
_LEAST = Fraction(1, 10**90)


@show_picture.register(Account)
def plot_account(account: Account) -> Picture:
    """Return δ(ε) of both directions around the point that was asked for, drawn at the upper ends, with the band down to the lower ends.

    Raises :class:`profiles.MissingExtra` without Matplotlib, and what its bounds raise.
    """
    figure, (axes,) = new_figure()
    middle, at = (account.epsilon, account.point.upper) if account.delta is None else (account.point.upper, account.delta)
    bottom = max((at or Fraction(1, 10**6)) * _BELOW, _LEAST)
    places = _places(middle or Fraction(1))
    xs, told = [float(place) for place in places], []
    for index, direction in enumerate(Direction):
        points = bound_deltas(account.curve.composition, places, direction, least=bottom)
        lowers, uppers = ([float(max(end, bottom / 10)) for end in ends] for ends in zip(*points, strict=True))
        axes.plot(xs, uppers, color=COLOURS[index], linestyle=DASHES[index], linewidth=1.8, label=f"{direction.value} (upper ends)")
        axes.fill_between(xs, lowers, uppers, color=COLOURS[index], alpha=0.25)
        (lower, upper), place = points[0], places[0]
        ends = f"{decimal_text(lower, 3, round_up=False)} <= delta <= {decimal_text(upper, 3, round_up=True)}"
        told.append(f"{direction.value}: {ends} at epsilon = {exact_text(place)}")
    if middle is not None and at is not None and at > 0:
        axes.plot([float(middle)], [float(at)], "o", color=FAINT)
    axes.set(xlabel="ε in nats", ylabel="δ(ε)", yscale="log", ylim=(float(bottom), 2.0), title=account.curve.composition.name[:60])
    axes.legend(frameon=False)
    return Picture(figure, f"Delta against epsilon of {account.curve.composition.name}; {'; '.join(told)}, falling from there")


@show_picture.register(Trajectory)
def plot_trajectory(found: Trajectory) -> Picture:
    """Return ε after each number of steps that was looked at: upper ends, and the band down to the lower ends; 0 before the first step.

    Where all steps sample records with one probability q, the upper axis counts epochs: q steps. Raises
    :class:`profiles.MissingExtra` without Matplotlib.
    """
    figure, (axes,) = new_figure()
    steps, lower = [0, *found.steps], [0.0, *map(float, found.lower)]
    upper = [0.0, *(nan if end is None else float(end) for end in found.upper)]
    axes.fill_between(steps, lower, upper, color=COLOURS[0], alpha=0.3, label="between the ends")
    axes.plot(steps, upper, color=COLOURS[0], linestyle=DASHES[0], linewidth=1.8, label="upper ends (what is promised)")
    axes.plot(steps, lower, color=COLOURS[1], linestyle=DASHES[1], linewidth=1.2, label="lower ends (of the worst mechanism)")
    axes.set(xlabel="steps", ylabel="ε in nats", xlim=(0, steps[-1]), ylim=(0, None))
    at = f"δ = {exact_text(found.delta)}" if len(exact_text(found.delta)) < 20 else f"δ = {float(found.delta):.3g}"
    title = f"{found.composition.name[:50]}, {at}"
    rates = {
        event.sampling_probability if event.batches is None else event.batches.rate or event.sampling_probability
        for event in found.composition.events
    }
    if len(rates) == 1 and (rate := rates.pop()) < 1:
        epochs = axes.secondary_xaxis("top", functions=(lambda x: x * float(rate), lambda x: x / float(rate)))
        epochs.set_xlabel("epochs (steps times the part of the records in each)")
    axes.set_title(title)
    axes.legend(frameon=False, loc="lower right")
    last = found.upper[-1]
    ends = f"{decimal_text(found.lower[-1], 3, round_up=False)} <= epsilon"
    ends += " and no upper end" if last is None else f" <= {decimal_text(last, 3, round_up=True)}"
    return Picture(figure, f"Epsilon over the steps of {title}: after {found.steps[-1]} steps, {ends}")


def _places(middle: Fraction) -> list[Fraction]:
    """Return points from 0 to 3/2 of the middle."""
    step = Fraction(round(middle * 1000), 1000) or middle
    return [step * Fraction(3, 2) * index / (_POINTS - 1) for index in range(_POINTS)]
