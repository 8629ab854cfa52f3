"""A forecast by a plan of releases to come: what they would cost at worst, and when the smallest budget is used up. Public numbers alone.

A plan is a TOML file with a table for each kind of release:

    [[release]]
    name = "monthly count"
    mechanism = "profiles.mechanisms.weighted_count:default"   # or a profile file
    from = 2027-01-01
    every = "month"                                            # day, week, month, quarter or year
    times = 12
    analyst = "ada"                                            # whose quotas are asked, as for purpose
"""

from __future__ import annotations

import calendar
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any

from accountant.ledger.amounts import Amounts
from accountant.ledger.ledger import Ledger
from accountant.ledger.notes import to_note
from accountant.ledger.room import Room
from accountant.ledger.settings import ReleaseMode
from profiles import InvalidArgument, UnreadableFile
from profiles.files import read_toml
from profiles.numbers import to_integer
from profiles.suggestions import suggest

_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_DAYS = {"day": 1, "week": 7}
_KEYS = ("name", "mechanism", "from", "every", "times", "analyst", "purpose")
_MOST = 10_000


@dataclass(frozen=True, slots=True)
class Planned:
    """Releases of one kind: ``times`` of ``mechanism``, the first at ``start`` (None: today), and then ``every`` day, week, month, quarter
    or year. ``note``: who asks for them, and for which purpose.
    """

    name: str
    mechanism: object
    start: date | None = None
    every: str = "month"
    times: int = 1
    note: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        if self.every not in (*_MONTHS, *_DAYS):
            known = ", ".join((*_DAYS, *_MONTHS))
            raise InvalidArgument(f"planned releases follow each other every {known}, but {str(self.every)[:40]!r} was found; choose one")
        object.__setattr__(self, "times", to_integer(self.times, "how often a release is planned", 1, _MOST))
        object.__setattr__(self, "note", to_note(self.note))

    def list_dates(self, today: date) -> list[date]:
        """Return when they are planned. Raises :class:`InvalidArgument` for days beyond the year 9999."""
        first = self.start or today
        try:
            return [_go_on(first, self.every, number) for number in range(self.times)]
        except (OverflowError, ValueError):
            raise InvalidArgument(f"the releases {self.name[:60]!r} are planned beyond the year 9999; plan fewer") from None


def _go_on(first: date, every: str, number: int) -> date:
    if every in _DAYS:
        return first + timedelta(days=_DAYS[every] * number)
    years, month = divmod(first.month - 1 + _MONTHS[every] * number, 12)
    year = first.year + years
    return date(year, month + 1, min(first.day, calendar.monthrange(year, month + 1)[1]))


def read_plan(text: str, where: str = "the plan") -> tuple[Planned, ...]:
    r"""Return the releases of a plan, as the text of its file. Raises :class:`UnreadableFile`, :class:`InvalidArgument`.

    >>> read_plan('[[release]]\nname = "count"\nmechanism = "profiles.mechanisms.weighted_count:default"\ntimes = 12')[0].times
    12
    """
    fields = read_toml(text, where)
    items = fields.get("release")
    if set(fields) != {"release"} or not isinstance(items, list) or not items:
        raise UnreadableFile(f"{where} has no releases; write a table [[release]] with name and mechanism for each kind of them")
    return tuple(_read(item, where) for item in items)


def _read(item: object, where: str) -> Planned:
    if not isinstance(item, dict) or not all(isinstance(item.get(key), str) for key in ("name", "mechanism")):
        raise UnreadableFile(f"a release of {where} needs a name and a mechanism, both texts; write them")
    for key in item:
        if key not in _KEYS:
            raise UnreadableFile(
                f"a release of {where} has the unknown key {key[:40]!r}{suggest(key, _KEYS)}; known are {', '.join(_KEYS)}"
            )
    start = item.get("from")
    if start is not None and type(start) is not date:
        raise UnreadableFile(f"a release of {where} has a day of the form 2027-01-31 in from, but something else was found; correct it")
    note = {key: item.get(key) for key in ("analyst", "purpose")}
    return Planned(item["name"], item["mechanism"], start, item.get("every", "month"), item.get("times", 1), to_note(note))


def make_forecast(ledger: Ledger, plan: tuple[Planned, ...]) -> dict[str, Any]:
    """Return what the releases of a plan would cost at worst, in the order of their days, and the first one that does not fit everybody, or
    a quota. Spends nothing, reads no data, and depends on public numbers alone. Raises as ``Ledger.look_ahead``.

    ``releases``: of each its day, name, cost, what is charged at worst and left for certain after it, and what decides that it does not
    fit, None where it does. In public mode a release that does not fit is refused and costs nothing; in individual mode it goes on without
    whoever has no room. ``fit``: how many fit; ``first_without_room``: the day of the first that does not, None where all do.
    """
    if sum(item.times for item in plan) > _MOST:
        raise InvalidArgument(f"a plan of at most {_MOST} releases was expected, but this one has more; plan fewer")
    today = date.fromisoformat(ledger.tell_time()[:10])
    rooms = [ledger.look_ahead(item.mechanism, note=item.note) for item in plan]
    days = sorted((day, place) for place, item in enumerate(plan) for day in item.list_dates(today))
    spent, quotas = ledger.spent, {(quota.of, quota.name): quota for room in rooms for quota in room.quotas}
    told: list[dict[str, Any]] = []
    for day, place in days:
        known = tuple(quotas[quota.of, quota.name] for quota in rooms[place].quotas)
        room = replace(rooms[place], spent=spent, quotas=known)
        decided = _decide(room)
        if decided is None or (room.mode is ReleaseMode.INDIVIDUAL and room.exceeded is None):
            spent += room.cost
            quotas |= {(quota.of, quota.name): replace(quota, spent=quota.spent + room.cost) for quota in known}
        told.append(
            {"day": day.isoformat(), "name": plan[place].name, "cost": room.cost.tell(up=True), **_tell(room, spent), "decided_by": decided}
        )
    missing = [item for item in told if item["decided_by"] is not None]
    first = missing[0]["day"] if missing else None
    return {"releases": told, "fit": len(told) - len(missing), "planned": len(told), "first_without_room": first}


def _decide(room: Room) -> str | None:
    return room.decider if room.exceeded is not None or not room.fits else None


def _tell(room: Room, spent: Amounts) -> dict[str, Any]:
    return {"at_worst": spent.tell(up=True), "left": room.least.less(spent).tell(up=False)}
