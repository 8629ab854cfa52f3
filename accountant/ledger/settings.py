"""What a ledger was opened with: public, and the first entry of its log."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import Enum
from typing import Any

from accountant.compositions.events import Composition, Event
from accountant.compositions.json_format import composition_from_object, composition_object
from accountant.guarantees.stored import read_carried, read_stated_protection, write_carried
from accountant.guarantees.theorem import Carried
from accountant.ledger.amounts import Amounts
from accountant.ledger.budgets import BudgetRule, budget_body, read_budget
from accountant.ledger.log import START, Entry, check_entry
from accountant.ledger.menus import to_menu
from accountant.ledger.notes import NOTES
from accountant.ledger.notions import LedgerNotion, to_ledger_notion
from accountant.ledger.units import Hasher
from profiles import InvalidArgument, UnreadableFile
from profiles.hypotheses import HYPOTHESES_UNKNOWN, OWN_BUDGET, RAISES_FIXED
from profiles.numbers import to_integer
from profiles.protection import Neighbors, Protection, Unit, read_protection
from profiles.strict_json import read_count, read_fields, read_list, read_string, read_strings
from profiles.suggestions import describe_unknown

#: Of the first entry: with accounts in the store, and in a table beside it; those of earlier releases, which state no protection.
FORMAT, TABLE_FORMAT = 3, 4
_EARLIER = {1: FORMAT, 2: TABLE_FORMAT}
_UNITS = (Unit.USER, Unit.USER_PERIOD)


class ReleaseMode(Enum):
    """Whom a release leaves out: in ``individual`` mode whoever has no room for it, in ``public`` mode nobody (it is refused)."""

    INDIVIDUAL = "individual"
    PUBLIC = "public"


@dataclass(frozen=True, slots=True)
class LedgerSettings:
    """What a ledger was opened with. ``records``: how many records of one unit a release has at most, None where any number may come.

    ``check`` is a hash of the secret, which tells another secret from it; ``continues``: the last hash of the ledger that this one goes on
    from, ``spent`` what was charged there at worst, as an amount, and ``carried`` what all that was released there rests on.
    ``protection``: whose an account is. ``table``: whether the accounts are a table beside the log. ``cap``: what no budget ever exceeds,
    as an amount, where one was fixed (docs/ledger.md, Theorem C). ``first``: the largest amount that the rule of the very first of the
    ledgers gives which this one goes on from; None where there is none, or it did not say. ``menu``: the steps that a mixed ledger takes
    beside a ρ, perhaps none; None where it has neither (docs/ledger.md, Theorem R).
    """

    ledger: str
    notion: LedgerNotion
    mode: ReleaseMode
    key: tuple[str, ...]
    budget: BudgetRule
    records: int | None
    check: str
    protection: Protection
    continues: str | None = None
    spent: Amounts = field(default_factory=lambda: Amounts((0,)))
    carried: Carried | None = None
    table: bool = False
    cap: Amounts | None = None
    first: Amounts | None = None
    menu: tuple[Event, ...] | None = None

    @property
    def width(self) -> int:
        """How many components an account has."""
        return len(self.notion.components) + (0 if self.menu is None else 1 + len(self.menu))

    def to_body(self, time: str) -> dict[str, Any]:
        """Return the body of the first entry."""
        return {
            "format": TABLE_FORMAT if self.table else FORMAT,
            "ledger": self.ledger,
            "notion": self.notion.value,
            "mode": self.mode.value,
            "key": list(self.key),
            "budget": budget_body(self.budget),
            "records": self.records,
            "check": self.check,
            "protection": self.protection.to_object(),
            "continues": self.continues,
            "spent": self.spent.to_body(),
            "carried": None if self.carried is None else write_carried(self.carried),
            "time": time,
            **{name: value.to_body() for name, value in (("cap", self.cap), ("first", self.first)) if value is not None},
            **({} if self.menu is None else {"menu": composition_object(Composition("menu", self.menu))["events"] if self.menu else []}),
        }

    @property
    def grid(self) -> Amounts | None:
        """The first level of the canonical grid (docs/ledger.md, Theorem O): the largest budget that the rule of the very first opening
        gives, and where that is one number at least a step. None where that is not known: a ledger before was raised, and did not say.
        """
        if self.first is not None or self.was_raised:
            return self.first
        return self.budget.ceiling if self.budget.more else Amounts((max(self.budget.most, 1),))

    @property
    def was_raised(self) -> bool:
        """Whether a ledger that this one goes on from was raised without a cap, or may have been."""
        if self.continues is None or self.cap is not None:
            return False
        return self.carried is None or RAISES_FIXED in self.carried.hypotheses

    def limit(self, rule: BudgetRule) -> BudgetRule:
        """Return a rule of budgets below the cap. Raises :class:`InvalidArgument` for one that gives more, but for the width of a ball."""
        if self.cap is None:
            return rule
        wide = Amounts(tuple(value + (value >> 20 if rule.attributes else 0) for value in self.cap.values))
        if not rule.ceiling.within(wide):
            raise InvalidArgument(
                f"budgets of at most the cap were expected, {self.cap.say(up=False, notion=self.notion.value)}, but they may "
                f"be {rule.ceiling.say(up=False, notion=self.notion.value)}; the "
                "cap is what everybody was promised, and is never raised"
            )
        most = self.cap.values[0]
        return replace(rule, least=min(rule.least, most), most=min(rule.most, most))

    def require_components(self) -> LedgerSettings:
        """Return it, if all of its amounts have the components of its notion. Raises :class:`UnreadableFile`."""
        if any(len(item.values) != self.width for item in (self.spent, self.budget.floor, self.cap, self.first) if item is not None):
            raise UnreadableFile("the amounts of the first entry are those of another notion; restore the ledger from a backup")
        return self

    @property
    def previous(self) -> bytes:
        """The hash that the first entry goes on from."""
        return START if self.continues is None else bytes.fromhex(self.continues)

    def require_secret(self, secret: bytes) -> None:
        """Refuse another secret. Raises :class:`InvalidArgument`."""
        if make_check(secret) != self.check:
            raise InvalidArgument("the secret of this ledger was expected, but another one was found; name the file that was made with it")


def read_settings(entry: Entry) -> LedgerSettings:
    """Return the settings of the first entry. Raises :class:`UnreadableFile`, also for an unknown format."""
    body = entry.body
    known = (*_EARLIER, FORMAT, TABLE_FORMAT)
    if type(body.get("format")) is not int or body["format"] not in known:
        raise UnreadableFile(
            f"a ledger of a format from {known[0]} to {known[-1]} was expected, but {str(body.get('format'))[:20]!r} was found; use "
            "another release"
        )
    keys = {"format", "ledger", "notion", "mode", "key", "budget", "records", "check", "continues", "spent", "time"}
    earlier = body["format"] in _EARLIER
    fields = read_fields(
        dict(body), "the first entry", keys if earlier else {*keys, "protection", "carried"}, frozenset({"cap", "first", "menu", *NOTES})
    )
    continues = None if fields["continues"] is None else read_string(fields["continues"], "the hash before")
    if continues is not None and not re.fullmatch(r"[0-9a-f]{64}", continues):
        raise UnreadableFile("the hash of the ledger before was expected in the first entry, but something else was found; use a backup")
    try:
        key = read_strings(fields["key"], "the key")
        protection, carried = _read_earlier(key, continues) if earlier else _read_carried(fields)
        return LedgerSettings(
            read_string(fields["ledger"], "the id of the ledger"),
            to_ledger_notion(read_string(fields["notion"], "the notion")),
            to_mode(read_string(fields["mode"], "the mode")),
            key,
            read_budget(fields["budget"]),
            None if fields["records"] is None else read_count(fields["records"], "records of a unit"),
            read_string(fields["check"], "the check of the secret"),
            protection,
            continues,
            Amounts.read(fields["spent"], "what was spent before"),
            carried,
            _EARLIER.get(body["format"], body["format"]) == TABLE_FORMAT,
            cap=Amounts.read(fields["cap"], "a cap") if "cap" in fields else None,
            first=Amounts.read(fields["first"], "a budget") if "first" in fields else None,
            menu=_read_menu(fields["menu"]) if "menu" in fields else None,
        ).require_components()
    except InvalidArgument as error:
        raise UnreadableFile(f"the first entry of the ledger cannot be read: {error}") from None


def _read_menu(value: object) -> tuple[Event, ...]:
    if not read_list(value, "the menu"):
        return ()
    return to_menu(composition_from_object({"name": "menu", "events": value}, "the menu"))


def _read_carried(fields: Mapping[str, Any]) -> tuple[Protection, Carried | None]:
    said = read_stated_protection(fields["protection"], "the ledger")
    protection = to_protection(said.unit, said.neighbors, ())
    return protection, None if fields["carried"] is None else read_carried(fields["carried"], "the ledger before")


def _read_earlier(key: Sequence[str], continues: str | None) -> tuple[Protection, Carried | None]:
    """Return the protection of a ledger that states none, and what it knows of the one before: nothing."""
    protection = to_protection(None, Neighbors.ADD_REMOVE, key)
    unknown = HYPOTHESES_UNKNOWN.about(name="the ledger that this one goes on from", carrier="its first entry")
    return protection, None if continues is None else Carried(protection, (unknown, OWN_BUDGET, RAISES_FIXED))


def to_protection(unit: object, neighbors: object, key: Sequence[str]) -> Protection:
    """Return whose the accounts of a ledger are: of a user, or of a user in one period; where nothing is said, of users if the ``key`` is
    one column, and else of what several columns tell apart. Raises :class:`InvalidArgument` for others.

    >>> to_protection(None, "add-remove", ("id", "month")).unit.word
    'user-period'
    """
    protection = read_protection((Unit.USER if len(key) == 1 else Unit.USER_PERIOD) if unit is None else unit, neighbors, "a ledger")
    if protection.unit not in _UNITS or protection.neighbors is not Neighbors.ADD_REMOVE:
        raise InvalidArgument(
            f"a ledger keeps accounts of users, or of users in periods, of whom one is added or removed, but what was asked for is that "
            f"{protection.describe()}; name the key of users, and change the neighbors of the guarantee that the ledger gives"
        )
    return protection


def open_settings(entry: Entry, secret: bytes) -> LedgerSettings:
    """Return the settings of the first entry of a ledger with this secret. Raises as :func:`read_settings`, :class:`LedgerRejected` where
    the entry is not the one that was written, :class:`InvalidArgument` for another secret.
    """
    settings = read_settings(entry)
    check_entry(None, entry, None, settings.previous)
    settings.require_secret(secret)
    return settings


def to_mode(value: object) -> ReleaseMode:
    """Return a mode from its name. Raises :class:`InvalidArgument`."""
    if isinstance(value, ReleaseMode):
        return value
    names = {item.value: item for item in ReleaseMode}
    if not isinstance(value, str) or value not in names:
        shown, hint = describe_unknown(value, names)
        raise InvalidArgument(f"the mode of a ledger is individual or public, but {shown} was found; choose one{hint}")
    return names[value]


def to_key(value: object) -> tuple[str, ...]:
    """Return the key columns from a text with commas, or a sequence of names. Raises :class:`InvalidArgument`."""
    parts: Sequence[object] = value.split(",") if isinstance(value, str) else value if isinstance(value, (list, tuple)) else ()
    names = tuple(part.strip() for part in parts if isinstance(part, str))
    if not names or len(names) != len(parts) or not all(name and name.isprintable() for name in names) or len(set(names)) < len(names):
        raise InvalidArgument("the key of a ledger is a column of ids, or several with commas between them, but something else was found")
    return names


def to_records(value: object, mode: ReleaseMode) -> int | None:
    """Return how many records a unit has at most. Raises :class:`InvalidArgument` for no limit in public mode."""
    if value is None:
        return 1 if mode is ReleaseMode.PUBLIC else None
    return to_integer(value, "the number of records of a unit", 1, 10**6)


def make_check(secret: bytes) -> str:
    """Return a hash by which a secret is told from others."""
    hasher = Hasher.of(secret)
    return hasher.seal(b"check", *(() if hasher.before is None else (hasher.before.secrets,))).hex()


def make_token() -> str:
    """Return the id of a new ledger."""
    return secrets.token_hex(16)


def tell_time() -> str:
    """Return the time in UTC as the clock says it: entries follow each other by their numbers, whatever their times are."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
