"""What a guarantee shows of itself: one line, and a card of a notebook. No number stands without the premises that it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accountant.guarantees.render import CLOSED, OPEN, describe_bound, list_details
from profiles.hypotheses import REGISTRY, Head
from profiles.presenting import cards
from profiles.presenting.elements import Child, make

if TYPE_CHECKING:
    from accountant.guarantees.render import Stated
    from accountant.guarantees.theorem import Derivation


def guarantee_text(guarantee: Stated) -> str:
    """Return a guarantee on one line: subject, bound, and the ids of all open hypotheses."""
    bound = f"{guarantee.subject!r}: {describe_bound(guarantee)}"
    names = ", ".join(item.id for item in guarantee.hypotheses)
    return f"{bound}, if {len(guarantee.hypotheses)} open hypotheses hold: {names}" if names else f"{bound}, {CLOSED}"


def guarantee_html(guarantee: Stated) -> str:
    """Return a guarantee as a card: the bound, then every open hypothesis in full; what is discharged and the derivation are folded."""
    return cards.card(
        cards.line(cards.name(guarantee.subject)),
        cards.headline(describe_bound(guarantee)),
        [cards.line(text) for text in list_details(guarantee)],
        _open(guarantee),
        _discharged(guarantee),
        cards.fold("How it was derived", _tree(guarantee.derivation)),
    )


def _open(guarantee: Stated) -> list[Child]:
    places = {name: place for place, name in enumerate(REGISTRY)}
    found = sorted(guarantee.hypotheses, key=lambda item: places[item.id])
    if not found:
        return [cards.line(CLOSED)]
    made: list[Child] = [cards.line(make("strong", OPEN))]
    for head in Head:
        below = [item.sentence for item in found if item.head is head]
        made += [cards.line(head.value), cards.listed(below)] if below else []
    return made


def _discharged(guarantee: Stated) -> Child:
    if not guarantee.discharged:
        return None
    items = [f"{item.hypothesis} [{item.evidence}]" for item in guarantee.discharged]
    return cards.fold(f"{len(items)} more {'is' if len(items) == 1 else 'are'} discharged", cards.listed(items))


def _tree(derivation: Derivation) -> Child:
    said: list[Child] = [cards.name(derivation.rule), f": {derivation.conclusion}, by {derivation.statement}"]
    below = [_tree(child) for child in derivation.children]
    return make("ul", make("li", said, below))


__all__ = ["guarantee_html", "guarantee_text"]
