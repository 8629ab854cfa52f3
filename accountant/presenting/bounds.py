"""Optimal weights and bounds: on one line, as a card and as a picture.

The curves are enclosed in ball arithmetic and drawn at their upper ends. What guarantees say is in :mod:`accountant.guarantees.render`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from accountant.guarantees.derive import DerivedEpsilon
from accountant.guarantees.render import guarantee_html, guarantee_text
from accountant.report.curves import Curve, enclose_curve, loss_curves, sampled_curves, shown_statistics
from accountant.weights.precise import OptimalWeight
from profiles import InvalidArgument, Profile, decimal_text, exact_text
from profiles.hypotheses import count_assumptions
from profiles.presenting import cards
from profiles.presenting.elements import Child
from profiles.presenting.pictures import COLOURS, DASHES, FAINT, Picture, new_figure
from profiles.terms import number, symbol
from profiles.variables import WEIGHT
from profiles.views import show_html, show_picture, show_text
from proofs_check.suprema.terms import sampled_term

_SHOWN = 40
_POINTS = 160
_FARTHEST = Fraction(10) ** 12


@show_text.register(OptimalWeight)
def weight_text(weight: OptimalWeight) -> str:
    """Return an optimal weight on one line."""
    if weight.infinite:
        return "OptimalWeight(infinite: the record may be dropped)"
    low, high = weight.to_json()["enclosure"]
    return f"OptimalWeight({low} (feasible: rounded down), optimum in [{low}, {high}])"


@show_html.register(OptimalWeight)
def weight_html(weight: OptimalWeight) -> str:
    """Return an optimal weight as a card: the weight rounded down, so that it is feasible, and what it rests on."""
    told = weight.to_json()
    about: Child = None
    if weight.profile is not None and weight.target is not None:
        record = [f"{p.name} = {exact_text(p.value)[:_SHOWN]}" for p in weight.profile.parameters if p.value is not None]
        named = ", ".join(record) or "every record"
        about = cards.line(cards.name(weight.profile.name), f" – {named}; target ε* = {exact_text(weight.target)[:_SHOWN]} nats")
    if weight.infinite:
        return cards.card(about, cards.headline("w* = ∞: the record may be dropped (q = 0)"), cards.line(weight.method))
    low, high = told["enclosure"]
    return cards.card(
        about,
        cards.headline(f"w* ≥ {told['weight']}"),
        cards.line("rounded down, so that it is feasible; the optimum lies in ", f"[{low}, {high}]"),
        None if weight.mu is None else cards.line(f"strong convexity: mu_x ≥ {told['strong_convexity']} (rounded down)"),
        cards.line(weight.method),
        cards.line(f"Selected with probability q = 1/w* and given the weight w*, it loses ψ(x) ≤ {_target(weight)}, if the profile holds."),
    )


def _target(weight: OptimalWeight) -> str:
    return "ε*" if weight.target is None else f"{exact_text(weight.target)[:_SHOWN]} nats"


@dataclass(frozen=True, slots=True)
class _Drawn:
    profile: Profile
    target: Fraction
    derived: DerivedEpsilon | None


@show_picture.register(OptimalWeight)
def plot_weight(weight: OptimalWeight) -> Picture:
    """Return the loss of the record against the weight, with and without sampling: the weight is where ψ reaches the target.

    Raises :class:`InvalidArgument` for an infinite weight, :class:`MissingExtra` without Matplotlib.
    """
    if weight.infinite or weight.profile is None or weight.target is None or weight.upper > _FARTHEST:
        raise InvalidArgument("a picture of a weight needs one that is finite and at most 1e12, but this one is not; print it instead")
    figure, (axes,) = new_figure()
    end = max(Fraction(2), weight.upper * Fraction(8, 5))
    weights = [1 + (end - 1) * k / _POINTS for k in range(_POINTS + 1)]
    points = [(w, {WEIGHT: w}) for w in weights]
    sampled = sampled_term(weight.profile, ("div", number(1), symbol(WEIGHT)))
    target, best = float(weight.target), float(weight.lower)
    curves = [
        enclose_curve("after sampling with q = 1/w: ψ(x)", sampled, iter(points)),
        enclose_curve("without sampling: ε(w, x)", weight.profile.numeric_epsilon(), iter(points)),
    ]
    _draw(axes, curves)
    axes.axhline(target, color=FAINT, linewidth=1)
    axes.annotate("target ε*", (1, target), xytext=(2, 3), textcoords="offset points", color=FAINT)
    axes.axvline(best, color=FAINT, linewidth=1, linestyle=":")
    axes.plot([best], [target], "o", color=COLOURS[0], label=f"w* ≥ {decimal_text(weight.lower, 6, round_up=False)}")
    axes.set(xlabel="weight w of the record", ylabel="privacy loss in nats", ylim=(0, max(2.2 * target, 1e-9)), xlim=(1, float(end)))
    axes.legend(frameon=False)
    told = f"The loss after sampling reaches the target {decimal_text(weight.target, 6, round_up=True)} at the weight "
    return Picture(figure, told + decimal_text(weight.lower, 6, round_up=False))


@show_text.register(DerivedEpsilon)
def derived_text(derived: DerivedEpsilon) -> str:
    """Return a derived bound on one line: that of its guarantee."""
    return f"DerivedEpsilon({guarantee_text(derived.guarantee)})"


@show_html.register(DerivedEpsilon)
def derived_html(derived: DerivedEpsilon) -> str:
    """Return a derived bound as a card: that of its guarantee."""
    return guarantee_html(derived.guarantee)


@show_picture.register(DerivedEpsilon)
def plot_derived(derived: DerivedEpsilon) -> Picture:
    """Return the loss of records, with and without sampling, against the first statistic with a range; the bound is a line above them.

    Other statistics are held at the worst record. Raises :class:`InvalidArgument` where no statistic has a range, what certifying weights
    raises, :class:`MissingExtra` without Matplotlib.
    """
    statistics = shown_statistics(derived.profile)
    if not statistics:
        raise InvalidArgument("a picture of a bound needs a statistic with a range, but this profile has none; print the bound instead")
    statistic = statistics[0]
    drawn = _Drawn(derived.profile, derived.bound.upper if derived.rule.target_epsilon is None else derived.rule.target_epsilon, derived)
    curves = [*sampled_curves(drawn, statistic), *loss_curves(drawn, statistic)]
    if not curves:
        raise InvalidArgument("a picture of a bound needs losses that can be enclosed, but none could be; print the bound instead")
    figure, (axes,) = new_figure()
    _draw(axes, curves)
    upper = derived.to_json()["epsilon"]["upper"]
    count = len(derived.guarantee.hypotheses)
    label = f"for all records: ψ ≤ {upper}" + (f",\nunder {count_assumptions(count)}" if count else "")
    axes.axhline(float(derived.bound.upper), color=COLOURS[1], linewidth=1.4, linestyle=":", label=label)
    axes.set(xlabel=f"statistic {statistic.name} of the record", ylabel="privacy loss in nats")
    axes.set_ylim(bottom=0, top=1.45 * max(float(derived.bound.upper), *(float(s.upper) for curve in curves for s in curve.samples)))
    axes.legend(frameon=False, loc="upper left")
    told = f"The loss of a record against {statistic.name}, with and without sampling; the certified bound for all records is {upper}"
    return Picture(figure, f"{told}, under {count_assumptions(count)}")


def _draw(axes: Any, curves: list[Curve]) -> None:
    for index, curve in enumerate(curves):
        xs, ys = [float(s.x) for s in curve.samples], [float(min(s.upper, Fraction(10) ** 300)) for s in curve.samples]
        axes.plot(xs, ys, color=COLOURS[(0, 2)[index % 2]], linestyle=DASHES[index % 2], linewidth=1.8, label=curve.name)
