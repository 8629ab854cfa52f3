"""What a release costs at most and leaves, as lines: by public numbers alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from accountant.ledger.room import Room


def say_spending(room: Room) -> list[str]:
    """Return the lines about what a release costs and is made with, and about what is left before it and after."""
    from accountant.ledger.amounts import say_amounts
    from accountant.ledger.room import MAY_MISS

    def say_left(value: str | dict[str, str]) -> str:
        return say_amounts(value).removesuffix(" nats")

    told, of = room.tell(), "" if len(room.cost.values) > 1 else f" of {room.sign}"
    each = "a record (any number of one unit may come)" if told["each"] == "record" else "a unit"
    return [
        f"cost                  at most {say_amounts(told['cost'])}{of} for {each}, by {told['by']}",
        *(
            f"{side:22}{say_amounts(told[side]['at_worst'])} charged at worst, {say_left(told[side]['left'])} left for certain of the "
            f"smallest budget, {say_left(told['smallest_budget'])}"
            for side in ("before", "after")
        ),
        *([f"partial               {MAY_MISS}"] if room.partial else []),
    ]
