"""What a release costs at most and leaves, as lines: by public numbers alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from accountant.ledger.room import Room


def say_spending(room: Room) -> list[str]:
    """Return the lines about what a release costs and is made with, and about what is left before it and after."""
    from accountant.ledger.room import MAY_MISS

    told = room.tell()
    each = "a record (any number of one unit may come)" if told["each"] == "record" else "a unit"
    return [
        f"cost                  at most {told['cost']} nats of {room.sign} for {each}, by {told['by']}",
        *(
            f"{side:22}{told[side]['at_worst']} nats charged at worst, {told[side]['left']} left for certain of the smallest budget, "
            f"{told['smallest_budget']}"
            for side in ("before", "after")
        ),
        *([f"partial               {MAY_MISS}"] if room.partial else []),
    ]
