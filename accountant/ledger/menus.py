"""The menu of a mixed ledger: steps on Poisson samples that it takes, each as often as its count says (docs/ledger.md, Theorem R)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from accountant.compositions.events import Composition, Event, MechanismKind
from accountant.ledger.amounts import MOST_STEPS
from profiles import InvalidArgument

#: What a menu may have, on samples.
_STEPS = (MechanismKind.GAUSSIAN, MechanismKind.LAPLACE, MechanismKind.DISCRETE_GAUSSIAN, MechanismKind.DISCRETE_LAPLACE)


def to_menu(given: object) -> tuple[Event, ...]:
    """Return the steps of a menu: a composition or its events, each of which is one step, whose count is the budget for it.

    Raises :class:`InvalidArgument` for steps that are not on samples, whose price is known without a menu, and for too many.
    """
    events = given.events if isinstance(given, Composition) else given
    if not isinstance(events, (list, tuple)) or not all(isinstance(event, Event) for event in events):
        raise InvalidArgument("a menu is a composition, or events of one, but something else was found; give those")
    if len(events) > MOST_STEPS:
        raise InvalidArgument(f"a menu of at most {MOST_STEPS} kinds of steps was expected, but {len(events)} were found; give fewer")
    for event in events:
        if event.sampling_probability == 1 or event.mechanism not in _STEPS or event.batches is not None:
            raise InvalidArgument(
                f"a menu has steps with noise on Poisson samples, but {replace(event, count=1).describe()} was found; leave it "
                "out: releases of that kind have a budget already"
            )
    return tuple(events)


def add_steps(given: object, menu: Sequence[Event]) -> object:
    """Return budgets with those of the steps that they do not name: the counts of the menu."""
    named = given if isinstance(given, Mapping) else dict(part.partition("=")[::2] for part in str(given).split(",") if part.strip())
    by_name = {str(name).strip(): value for name, value in named.items()}
    if not isinstance(given, Mapping) and len(by_name) < str(given).count(",") + 1:
        return given  # named twice, which is refused where it is read
    return {f"step{place}": event.count for place, event in enumerate(menu, 1)} | by_name
