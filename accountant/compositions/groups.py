"""Groups: bounds on a composition from bounds on some of its events, where no grid holds all of them. They are true, and wider.

The ε and the δ of groups add up, and all events lose at least what some of them lose (docs/composition-bounds.md, Theorem 11).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from accountant.compositions.certificates import ClaimObject
from accountant.compositions.events import Composition, Direction, MechanismKind
from accountant.compositions.shapes import is_merged
from profiles import exact_text

#: Of the composition of one group at a δ: the claim of an upper bound on its ε, or of a lower one, if there is one.
FindClaim = Callable[[Composition, Fraction], ClaimObject | None]


def split_events(composition: Composition) -> list[Composition]:
    """Return what the kernel takes as one event each, in its order: Gaussian noise on all records first, zCDP last."""
    merged = [event for event in composition.events if is_merged(event)]
    noise = [event for event in merged if event.mechanism is MechanismKind.GAUSSIAN]
    rho = [event for event in merged if event.mechanism is MechanismKind.ZCDP and event["rho"]]
    groups = [noise, *([event] for event in composition.events if not is_merged(event)), rho]
    return [Composition(composition.name, tuple(group)) for group in groups if group]


def list_groupings(count: int, largest: int) -> Iterator[list[list[int]]]:
    """Yield ways to put so many events into groups, by their places: the largest one apart from the others, then each by itself.

    >>> list(list_groupings(3, 1))
    [[[1], [0, 2]], [[0], [1], [2]]]
    """
    if count > 2:
        yield [[largest], [place for place in range(count) if place != largest]]
    yield [[place] for place in range(count)]


def join_upper(
    events: Sequence[Composition], grouping: Sequence[Sequence[int]], deltas: Sequence[Fraction], direction: Direction, find: FindClaim
) -> ClaimObject | None:
    """Return the claim that the ε of groups add up, each at a share of δ, or nothing where a group has no bound.

    ``deltas``: what each event may have of δ.
    """
    parts = list[dict[str, object]]()
    for places in grouping:
        group = Composition(events[0].name, tuple(event for place in places for event in events[place].events))
        claim = find(group, sum((deltas[place] for place in places), Fraction(0)))
        if claim is None:
            return None
        parts.append(_part(places, claim))
    epsilon, delta = (sum((Fraction(str(part[name])) for part in parts), Fraction(0)) for name in ("epsilon", "bound"))
    return _join("delta-upper", direction, epsilon, delta, parts)


def join_lower(place: int, claim: ClaimObject, direction: Direction) -> ClaimObject:
    """Return the claim that all events lose at least what the one at a place loses."""
    part = _part([place], claim)
    return _join("delta-lower", direction, Fraction(str(part["epsilon"])), Fraction(str(part["bound"])), [part])


def _part(places: Sequence[int], claim: ClaimObject) -> dict[str, object]:
    proof = {key: claim[key] for key in ("grid", "linear", "order", "parts") if key in claim}
    return {"events": list(places), "epsilon": claim["epsilon"], "bound": claim["bound"], "proof": proof}


def _join(name: str, direction: Direction, epsilon: Fraction, delta: Fraction, parts: Sequence[ClaimObject]) -> ClaimObject:
    stated = {"direction": direction.value, "epsilon": exact_text(epsilon), "bound": exact_text(delta)}
    return {"claim": name, "verdict": "proved", **stated, "parts": list(parts)}
