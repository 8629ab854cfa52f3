"""What weights show of themselves in a notebook; guarantees do in :mod:`accountant.guarantees.showing`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from profiles.numbers import exact_text
from profiles.presenting import cards
from profiles.presenting.elements import Child

if TYPE_CHECKING:
    from accountant.weights.precise import OptimalWeight

_SHOWN = 40


def weight_text(found: OptimalWeight) -> str:
    """Return an optimal weight on one line."""
    if found.infinite:
        return "OptimalWeight(infinite: the record may be dropped)"
    low, high = found.to_json()["enclosure"]
    return f"OptimalWeight({low} (feasible: rounded down), optimum in [{low}, {high}])"


def weight_html(found: OptimalWeight) -> str:
    """Return an optimal weight as a card: the weight rounded down, so that it is feasible, and what it rests on."""
    told = found.to_json()
    about: Child = None
    if found.profile is not None and found.target is not None:
        record = [f"{p.name} = {exact_text(p.value)[:_SHOWN]}" for p in found.profile.parameters if p.value is not None]
        named = ", ".join(record) or "every record"
        about = cards.line(cards.name(found.profile.name), f" – {named}; target ε* = {exact_text(found.target)[:_SHOWN]} nats")
    if found.infinite:
        return cards.card(about, cards.headline("w* = ∞: the record may be dropped (q = 0)"), cards.line(found.method))
    low, high = told["enclosure"]
    return cards.card(
        about,
        cards.headline(f"w* ≥ {told['weight']}"),
        cards.line("rounded down, so that it is feasible; the optimum lies in ", f"[{low}, {high}]"),
        None if found.mu is None else cards.line(f"strong convexity: mu_x ≥ {told['strong_convexity']} (rounded down)"),
        cards.line(found.method),
        cards.line(f"Selected with probability q = 1/w* and given the weight w*, it loses ψ(x) ≤ {_target(found)}, if the profile holds."),
    )


def _target(found: OptimalWeight) -> str:
    return "ε*" if found.target is None else f"{exact_text(found.target)[:_SHOWN]} nats"


__all__ = ["weight_html", "weight_text"]
