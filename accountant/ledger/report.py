"""What a ledger tells: to everybody, the same for all data sets; and of one unit, for the eyes of whoever may see the data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from accountant.guarantees import CurveBound, Guarantee, point_of_curve, to_json
from accountant.guarantees.render import describe_bound
from accountant.ledger.amounts import Amounts, list_components
from accountant.ledger.budgets import read_budget
from accountant.ledger.forecast import Planned, make_forecast
from accountant.ledger.ledger import Ledger
from accountant.ledger.log import BUDGET, CHARGE, OPEN, OUTPUT, QUOTA, REFUSED, Entry
from accountant.ledger.notes import NOTES
from accountant.ledger.quotas import find_quotas
from accountant.ledger.settings import ReleaseMode
from profiles import InvalidArgument, exact_text
from profiles.stored import profile_from_object
from profiles.strict_json import read_exact
from profiles.terms import to_text


def report_public(ledger: Ledger, delta: object = None, plan: tuple[Planned, ...] = ()) -> dict[str, Any]:
    """Return what may be published of a ledger: nothing in it depends on the units, on how many there are or on what they spent.

    Where budgets were raised without a cap, ``guarantee`` is None and ``ex_post`` says what holds, at ``delta`` where there is a curve.
    Else ``at_delta`` is the point of the guarantee at ``delta``, where one is given: the one conversion, which the kernel checks.
    Raises :class:`InvalidArgument` for a ``delta`` of a pure ledger.

    ``history``: what was charged at worst and the smallest budget, after each entry that changed one of them; ``forecast``: what the
    releases of a ``plan`` would cost, where there is one (:func:`~accountant.ledger.forecast.make_forecast`).
    ``at_worst`` is what a unit was charged at most, or for each record where any number of these may come; in individual mode it may
    exceed the budget, which no unit does.
    """
    ledger.journal.catch_up()
    settings, budget, entries = ledger.settings, ledger.budget, ledger.journal.entries
    spent = ledger.spent
    return {
        "ledger": settings.ledger,
        "notion": settings.notion.value,
        "mode": settings.mode.value,
        "key": list(settings.key),
        "protection": settings.protection.to_object(),
        "records": settings.records,
        "budget": {"expression": budget.text, "least": budget.floor.tell(up=False), "most": budget.ceiling.tell(up=False)},
        "at_worst": spent.tell(up=True),
        **({"left": budget.floor.less(spent).tell(up=False)} if settings.mode is ReleaseMode.PUBLIC else {}),
        "entries": [_tell(ledger, entry, before) for before, entry in zip([entries[0], *entries], entries, strict=False)],
        "history": _tell_history(ledger),
        **({"forecast": make_forecast(ledger, plan)} if plan else {}),
        "quotas": [quota.tell() for quota in find_quotas(entries)],
        "cap": None if settings.cap is None else settings.cap.tell(up=True),
        "guarantee": None if ledger.is_raised else to_json(ledger.guarantee()),
        **({} if ledger.is_raised or delta is None else {"at_delta": to_json(bound_at(ledger, delta))}),
        "ex_post": ledger.report_ex_post(delta).to_json() if ledger.is_raised else None,
    }


def bound_at(ledger: Ledger, delta: object) -> Guarantee:
    """Return the guarantee of a ledger in zcdp, or mixed, as an (ε, δ). Raises :class:`InvalidArgument` for a pure one, and as finding an
    ε does.
    """
    promised = ledger.guarantee()
    if not isinstance(promised.bound, CurveBound):
        raise InvalidArgument("a delta was given, but a pure ledger has none, and its guarantee is an epsilon; leave it out")
    return point_of_curve(promised, at_delta=delta)


def _tell_history(ledger: Ledger) -> list[dict[str, Any]]:
    settings = ledger.settings
    spent, least = settings.spent, settings.limit(settings.budget).floor
    told = []
    for entry in ledger.journal.entries:
        if entry.kind == CHARGE:
            spent = Amounts.read(entry.body["spent"], "what was spent")
        elif entry.kind == BUDGET:
            least = settings.limit(read_budget(entry.body["budget"])).floor
        elif entry.kind != OPEN:
            continue
        told.append({"time": entry.body["time"], "at_worst": spent.tell(up=True), "smallest_budget": least.tell(up=False)})
    return told


def say_promise(ledger: Ledger) -> str:
    """Return in words what a ledger promises everybody for all releases together, and how far that was fixed in advance. Public."""
    if ledger.is_raised:
        return "nothing that was fixed in advance, because budgets were raised without a cap"
    cap = "" if ledger.settings.cap is not None else "; no cap was fixed, so that budgets may be raised above it, which ends this promise"
    return describe_bound(ledger.guarantee()) + cap


def tell_room(ledger: Ledger) -> str:
    """Return in words what units were charged at most so far, and what is left for certain of the smallest budget: public numbers."""
    least, spent = ledger.budget.floor, ledger.spent
    each = " a record" if ledger.settings.records is None else ""
    left, whole = (item.say(up=False).removesuffix(" nats") for item in (least.less(spent), least))
    charged = spent.say(up=True, notion=ledger.settings.notion.value)
    return f"{charged}{each} charged at worst, at least {left} left of the smallest budget, {whole}"


def _tell(ledger: Ledger, entry: Entry, before: Entry) -> dict[str, Any]:
    told: dict[str, Any] = {"sequence": entry.sequence, "kind": entry.kind, "time": entry.body["time"], "hash": entry.hash.hex()}
    told |= {name: entry.body[name] for name in NOTES if name in entry.body}
    if entry.body["time"] < before.body["time"]:
        told["clock_went_back"] = True
    if entry.kind == CHARGE:
        told |= {
            "name": entry.name,
            "profile": _tell_profile(entry.body),
            "at_worst": Amounts.read(entry.body["cost"], "a cost").tell(up=True),
            "units_may_be_missing": bool(entry.body.get("partial", False)),
            "published": ledger.journal.find(OUTPUT, entry.name) is not None,
        }
    elif entry.kind == REFUSED:
        told |= {"name": entry.name, "at_worst": _in_order(entry.body["cost"]), "decided_by": entry.body["decided_by"]}
    elif entry.kind == OUTPUT:
        told |= {"name": entry.name, "sha256": entry.body["sha256"]}
    elif entry.kind == BUDGET:
        told |= {"budget": entry.body["budget"]["expression"]}
    elif entry.kind == QUOTA:
        told |= {"name": entry.name, "of": entry.body["of"], "most": Amounts.read(entry.body["most"], "a quota").tell(up=False)}
    return told


def _in_order(told: str | Mapping[str, str]) -> str | dict[str, str]:
    """Return what :meth:`Amounts.tell` told with its components in their order, which a file does not keep."""
    return told if isinstance(told, str) else {name: told[name] for name, _ in list_components(len(told))}


def _tell_profile(body: Mapping[str, Any]) -> str:
    if body["profile"] is None:  # a release in a mixed ledger whose rows all cost the same
        return ", ".join(f"{name} = {exact_text(read_exact(value, name))}" for name, value in body["rows"].items())
    profile = profile_from_object(body["profile"], "the profile of a release")
    return f"{profile.notion.number} = {to_text(profile.promise)}"
