"""What a release costs at most and leaves, as lines: by public numbers alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from accountant.ledger import Ledger
    from accountant.ledger.room import Room


def say_spending(room: Room) -> list[str]:
    """Return the lines about what a release costs and is made with, and about what is left before it and after."""
    from accountant.ledger.amounts import say_amounts
    from accountant.ledger.room import MAY_MISS

    def say_left(value: str | dict[str, str]) -> str:
        return say_amounts(value).removesuffix(" nats")

    notion = "zcdp" if room.sign == "rho" else "pure"
    told, of = room.tell(), "" if len(room.cost.values) > 1 or notion == "zcdp" else f" of {room.sign}"
    each = "a record (a unit may have any number of them)" if told["each"] == "record" else "a unit"
    return [
        f"cost                  at most {say_amounts(told['cost'], notion)}{of} for {each}, by {told['by']}",
        *(
            f"{side:22}{say_amounts(told[side]['at_worst'], notion)} charged at worst, at least {say_left(told[side]['left'])} left of "
            f"the smallest budget, {say_left(told['smallest_budget'])}"
            for side in ("before", "after")
        ),
        *(
            f"quota                 {quota}: {say_left(quota.tell()['left'])} left of {say_left(quota.tell()['most'])}"
            for quota in room.quotas
        ),
        *([f"partial               {MAY_MISS}"] if room.partial else []),
    ]


def print_plan(ledger: Ledger, name: str, room: Room, *, partial: bool, as_json: bool) -> int:
    """Print what a release would cost and leave, whether it would be refused and how often it fits; it spends nothing. Return 0, or 1 where
    it would be refused.
    """
    from accountant.cli.output import print_result
    from accountant.ledger.receipts import require_unused
    from profiles.errors import OverBudget, ReleaseUsed

    told: dict[str, object] = {"name": name.strip(), **room.tell(), "fits_times": room.times, "refused": None}
    try:
        require_unused(ledger, name.strip())
        ledger.journal.require_open()
        room.require(partial=partial)
    except (OverBudget, ReleaseUsed) as refusal:
        told["refused"] = str(refusal)
    often = "any number of times" if room.times is None else f"{room.times} time{'' if room.times == 1 else 's'}"
    lines = [
        f"plan of {told['name']!r}: nothing is charged, and no data are read",
        *say_spending(room),
        f"fits                  at least {often} for everybody, after the charges so far",
        *([] if told["refused"] is None else [f"would be refused      {told['refused']}"]),
    ]
    print_result(told, *lines, as_json=as_json)
    return 0 if told["refused"] is None else 1
