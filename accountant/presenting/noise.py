"""A picture of calibrated noise: the certified epsilon against the noise, around the least noise for the target, one line a rule."""

from __future__ import annotations

from fractions import Fraction
from math import nan

from accountant.calibration.choices import Comparison, RuleResult
from profiles import InvalidArgument, PDPError, decimal_text, exact_text
from profiles.presenting.pictures import COLOURS, DASHES, FAINT, Picture, new_figure
from profiles.views import show_picture
from proofs_check.suprema.bound import bound_sampled

#: Noise from half to twice of the least: its factors are powers of this one.
_STEPS = [Fraction(f"{2 ** (step / 4):.6f}") for step in range(-4, 5)]
#: How close the two bounds of a point are to be, relatively, and the boxes that its search may use.
_GAP, _BUDGET = Fraction(1, 1_000), 5_000
_MOST = len(COLOURS)


def can_draw(found: RuleResult) -> bool:
    """Tell whether the noise of a rule is there, public, and drawn against the epsilon of the same rule."""
    return found.calibration is not None and not found.from_data and found.calibration.derived.rule.q is not None


@show_picture.register(Comparison)
def plot_comparison(comparison: Comparison) -> Picture:
    """Return the certified upper bound of ε after sampling against the noise, for each rule whose noise is public, the least one marked.

    The noise is that of the first parameter, the others in their proportions to it. Raises :class:`profiles.InvalidArgument` where no
    rule has such noise, :class:`profiles.MissingExtra` without Matplotlib.
    """
    shown = [choice for choice in comparison.choices if can_draw(choice)]
    if not 1 <= len(shown) <= _MOST:
        said = "none has noise that is certified and public" if not shown else f"{len(shown)} have such noise"
        raise InvalidArgument(f"a picture shows the noise of 1 to {_MOST} rules, but {said}; name other rules, or leave it out")
    figure, (axes,) = new_figure()
    name, told = comparison.parameters[0], []
    for index, choice in enumerate(shown):
        least = _noise(choice, name)
        noise = [least * step for step in _STEPS]
        ends = [_bound(choice, comparison.parameters, step) for step in _STEPS]
        style = {"color": COLOURS[index], "linestyle": DASHES[index], "linewidth": 1.8, "marker": "o", "markersize": 3}
        axes.plot([float(value) for value in noise], ends, label=choice.rule, **style)
        text = decimal_text(least, 6, round_up=True)
        axes.plot([float(least)], [ends[_STEPS.index(Fraction(1))]], "D", color=COLOURS[index], markersize=7, label=f"its noise: {text}")
        told.append(f"{choice.rule}: {name} = {text}")
    axes.axhline(float(comparison.target), color=FAINT, linewidth=1)
    end = (1, float(comparison.target))
    axes.annotate("target ε*", end, (-2, 3), ("axes fraction", "data"), "offset points", ha="right", color=FAINT)
    beside = " (the others in proportion)" if len(comparison.parameters) > 1 else ""
    axes.set(xlabel=f"scale of the noise {name}{beside}", ylabel="certified bound of ε in nats", title=comparison.profile.name[:60])
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False, fontsize=9)
    said = f"The certified epsilon of {comparison.profile.name} falls with the noise; for {exact_text(comparison.target)} nats, "
    return Picture(figure, said + "; ".join(told))


def _noise(choice: RuleResult, name: str) -> Fraction:
    return Fraction(0) if choice.calibration is None else choice.calibration.parameters[name]


def _bound(choice: RuleResult, names: tuple[str, ...], step: Fraction) -> float:
    """Return a certified upper bound of ε with so many times the noise that was found; no number where none is certified."""
    found = choice.calibration
    if found is None or found.derived.rule.q is None:
        return nan
    if step == 1:
        return float(found.derived.bound.upper)
    try:
        profile = found.profile.with_parameters(**{name: found.parameters[name] * step for name in names})
        return float(bound_sampled(profile, found.derived.rule.q, _GAP, budget=_BUDGET).upper)
    except PDPError:  # a bound that cannot be had at this noise says nothing of the others
        return nan
