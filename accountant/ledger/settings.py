"""What a ledger was opened with: public, and the first entry of its log."""

from __future__ import annotations

import math
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np

from accountant.columns.domain import as_columns, outside
from accountant.columns.values import Columns
from accountant.compositions.events import MOST_USES, Composition, Event, MechanismKind
from accountant.compositions.json_format import composition_from_object, composition_object
from accountant.data.specs import StatisticSpec
from accountant.guarantees.stored import read_carried, read_stated_protection, write_carried
from accountant.guarantees.theorem import Carried
from accountant.ledger.amounts import MOST, MOST_STEPS, Amounts, list_components, to_budget
from accountant.ledger.log import START, Entry, check_entry
from accountant.ledger.notes import NOTES
from accountant.ledger.notions import LedgerNotion, to_ledger_notion
from accountant.ledger.rows import RowBatch
from accountant.ledger.steps import Rounding
from accountant.ledger.units import Hasher
from accountant.weights.fast.compiled import CompiledTerm
from profiles import InvalidArgument, InvalidData, UnreadableFile, exact_text, parse_expression, to_exact
from profiles.arrays import Integers
from profiles.balls import interval, lower_fraction, upper_fraction, working_precision
from profiles.hypotheses import HYPOTHESES_UNKNOWN, OWN_BUDGET, RAISES_FIXED
from profiles.numbers import to_integer
from profiles.private import name_rows
from profiles.protection import Neighbors, Protection, Unit, read_protection
from profiles.strict_json import read_count, read_exact, read_fields, read_list, read_string, read_strings, write_exact
from profiles.suggestions import describe_unknown, suggest
from profiles.terms import Term, free_symbols, number
from profiles.variables import Statistic, make_statistic
from proofs_check.enclosures import Enclosure

#: Of the first entry: with accounts in the store, and in a table beside it; those of earlier releases, which state no protection.
FORMAT, TABLE_FORMAT = 3, 4
_EARLIER = {1: FORMAT, 2: TABLE_FORMAT}
_UNITS = (Unit.USER, Unit.USER_PERIOD)
#: What a menu may have, on samples.
_STEPS = (MechanismKind.GAUSSIAN, MechanismKind.LAPLACE, MechanismKind.DISCRETE_GAUSSIAN, MechanismKind.DISCRETE_LAPLACE)
_BITS = 200


class ReleaseMode(Enum):
    """Whom a release leaves out: in ``individual`` mode whoever has no room for it, in ``public`` mode nobody (it is refused)."""

    INDIVIDUAL = "individual"
    PUBLIC = "public"


@dataclass(frozen=True, slots=True)
class BudgetRule:
    """B(u) as an expression of public constants and of columns with declared ranges; ``least`` and ``most`` are its ends, as amounts.

    ``more``: the budgets of further components, which are numbers; ``least`` and ``most`` are those of the first.
    """

    text: str
    attributes: tuple[Statistic, ...]
    term: Term
    least: int
    most: int
    more: tuple[int, ...] = ()

    @property
    def floor(self) -> Amounts:
        """The smallest budget of a unit, by component."""
        return Amounts((self.least, *self.more))

    @property
    def ceiling(self) -> Amounts:
        """The largest one."""
        return Amounts((self.most, *self.more))

    @property
    def flat(self) -> tuple[int, ...] | None:
        """The budget of every unit, by component; None where columns tell it."""
        return None if self.attributes else self.floor.values

    @property
    def specs(self) -> tuple[StatisticSpec, ...]:
        return tuple(StatisticSpec(_name(item), column=item.name) for item in self.attributes)

    def count(self, batch: RowBatch, first_row: int) -> Integers:
        """Return the budgets of rows as amounts, rounded down. Raises :class:`InvalidData` for attributes outside their ranges."""
        if not self.attributes:
            return np.full(batch.size, self.least, dtype=np.int64)
        columns = as_columns(batch.statistics, tuple(map(_name, self.attributes)))
        for item in self.attributes:
            rows = outside(item, columns.original(_name(item)))
            if rows.size:
                found = name_rows((first_row + rows).tolist())
                raise InvalidData(
                    f"{found} is outside the declared range [{exact_text(item.lo)}, {exact_text(item.hi)}] "
                    f"of the attribute {item.name!r} (rows count from 0); correct it, or open a ledger with a range "
                    "that is known to hold everybody without looking at the data"
                )
        named = Columns(
            {item.name: columns[_name(item)] + 0.0 for item in self.attributes},
            {item.name: columns.written[_name(item)] for item in self.attributes if _name(item) in columns.written},
        )
        rounding = Rounding(self.term, CompiledTerm(self.term), 0, up=False, most=self.most)
        return np.maximum(rounding.count(named, batch.size), self.least)


def _name(item: Statistic) -> str:
    """Return the name under which an attribute is read beside statistics, which may have the same."""
    return f"budget {item.name}"


def to_budget_rule(
    text: object, ranges: Mapping[str, object] | None = None, notion: LedgerNotion = LedgerNotion.PURE, width: int | None = None
) -> BudgetRule:
    """Return the rule of budgets that ``text`` writes, in nats; ``ranges`` are those of the columns that it names. In the notion mixed
    it writes three numbers, "epsilon=1, mu2=1, delta=1e-6", of which one that is left out is 0, or is a mapping with them; a ρ and counts
    of steps beside them ("rho=1/2, step1=2000") where accounts have more components: ``width``, None for those that it names.

    The ends are those of a ball around all values, which may be wider by a relative 1e-8.
    Raises :class:`InvalidArgument` for a column without a range, or a budget that may be negative or infinite.

    >>> rule = to_budget_rule("Min(3, 1 + years/2)", {"years": [0, 10]})
    >>> rule.floor.numbers[0] <= 1, 3 <= rule.ceiling.numbers[0] < 3.0000001
    (True, True)
    """
    if notion is LedgerNotion.MIXED:
        return _to_mixed_rule(text, ranges, width)
    written = exact_text(to_exact(text, "the budget")) if not isinstance(text, str) else text.strip()
    term = parse_expression(written, "the budget")
    known = {name: make_statistic(name, bounds) for name, bounds in (ranges or {}).items()}
    used = sorted(free_symbols(term))
    for name in used:
        if name not in known:
            raise InvalidArgument(
                f"the budget uses {name!r}, which has no public range; give one (--attribute {name}=LO:HI), so that the guarantee has a "
                f"number{suggest(name, known)}"
            )
    for name in known:
        if name not in used:
            raise InvalidArgument(f"the attribute {name!r} has a range, but the budget does not use it; leave it out")
    attributes = tuple(known[name] for name in used)
    with working_precision(_BITS):
        value = Enclosure(term).evaluate({item.name: interval(item.lo, item.hi) for item in attributes})
        low, high = lower_fraction(value), upper_fraction(value)
    if low is None or high is None or low < 0 or to_budget(low) == MOST or to_budget(high) == MOST:
        raise InvalidArgument(
            "a budget of at least 0 and below 2^22 nats was expected for every unit, but that is not certain of this one; write it with "
            "Min and Max, or give narrower ranges"
        )
    if not attributes:  # one number: what is written, not the ends of a ball around it
        exact = _constant(term, low)
        return BudgetRule(written, (), term, exact, exact)
    return BudgetRule(written, attributes, term, to_budget(low), to_budget(high))


def _to_mixed_rule(given: object, ranges: Mapping[str, object] | None, width: int | None) -> BudgetRule:
    if ranges:
        raise InvalidArgument("a column has a range, but budgets of the notion mixed are numbers, the same for all units; leave it out")
    exact = _read_components(given, "the budget", width)
    epsilon, *more = to_components(given, "the budget", width).values
    text = ", ".join(f"{name}={exact_text(value)}" for name, value in exact.items())
    return BudgetRule(text, (), number(exact["epsilon"]), epsilon, epsilon, tuple(more))


def to_components(given: object, what: str, width: int | None = None) -> Amounts:
    """Return ε, μ² and δ of a text such as "epsilon=1, mu2=1, delta=1e-6", or of a mapping, as amounts, rounded down; also ρ and counts of
    steps, where it names them, or the accounts have ``width`` components.

    Raises :class:`InvalidArgument` for other names, and numbers out of range.
    """
    exact = _read_components(given, what, width)
    steps = tuple(math.floor(value * (1 << bits)) for value, (_, bits) in zip(exact.values(), list_components(len(exact)), strict=True))
    if min(exact.values()) < 0 or max(steps) >= MOST or max(steps[4:], default=0) > MOST_USES:
        raise InvalidArgument(
            f"{what} has components of at least 0, epsilon, mu2 and rho below 2^22, delta below 1, at most {MOST_USES} steps; give others"
        )
    if any(value.denominator > 1 for value in list(exact.values())[4:]):
        raise InvalidArgument(f"{what} has whole numbers of steps; give others")
    return Amounts(steps)


def _read_components(given: object, what: str, width: int | None) -> dict[str, Fraction]:
    """Return the numbers by their names; those that are left out are 0."""
    pairs = list(given.items()) if isinstance(given, Mapping) else [part.partition("=")[::2] for part in str(given).split(",")]
    found = {str(name).strip(): value for name, value in pairs}
    names = [name for name, _ in list_components(4 + MOST_STEPS if width is None else width)]
    for name in found:
        if name not in names:
            known = names if width is not None else names[:4]
            raise InvalidArgument(
                f"{what} of the notion mixed has the components {', '.join(known)}, but {name[:40]!r} was found; write for example "
                f"epsilon=1, mu2=1, delta=1e-6{suggest(name, names)}"
            )
    if len(found) < len(pairs):
        raise InvalidArgument(f"{what} names a component twice; give each of {', '.join(found)} once")
    last = max((3, *(names.index(name) + 1 for name in found))) if width is None else width
    return {name: to_exact(found.get(name, 0), f"{what}, {name}") for name in names[:last]}


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
    found = {str(name).strip(): value for name, value in named.items()}
    if not isinstance(given, Mapping) and len(found) < str(given).count(",") + 1:
        return given  # named twice, which is refused where it is read
    return {f"step{place}": event.count for place, event in enumerate(menu, 1)} | found


def _constant(term: Term, low: Fraction) -> int:
    rounding = Rounding(term, CompiledTerm(term), 0, up=False, most=MOST)
    return max(int(rounding.count(Columns({}), 1)[0]), to_budget(low))


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


def budget_body(rule: BudgetRule) -> dict[str, Any]:
    """Return a rule of budgets as an entry has it."""
    ranges = {item.name: [write_exact(item.lo), write_exact(item.hi)] for item in rule.attributes}
    more = {"more": list(rule.more)} if rule.more else {}
    return {"expression": rule.text, "attributes": ranges, "least": rule.least, "most": rule.most, **more}


def read_budget(value: object) -> BudgetRule:
    """Return the rule of :func:`budget_body`. Raises :class:`UnreadableFile`."""
    found = read_fields(value, "a budget", {"expression", "attributes", "least", "most"}, frozenset({"more"}))
    if not isinstance(found["attributes"], dict):
        raise UnreadableFile("the attributes of a budget have ranges, but something else was found; restore the ledger from a backup")
    ranges = {}
    for name, ends in found["attributes"].items():
        low, high = read_list(ends, "a range")
        ranges[name] = [read_exact(low, "a range"), read_exact(high, "a range")]
    notion = LedgerNotion.MIXED if "more" in found else LedgerNotion.PURE
    made = to_budget_rule(read_string(found["expression"], "a budget"), ranges, notion)
    if "more" in found and [made.least, made.most, *made.more] != [found["least"], found["most"], *read_list(found["more"], "a budget")]:
        raise UnreadableFile("the numbers of a budget are not those of its text; restore the ledger from a backup")
    least, most = read_count(found["least"], "a budget"), read_count(found["most"], "a budget")
    return replace(made, least=min(made.least, least), most=max(made.most, most))


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
    found = read_fields(
        dict(body), "the first entry", keys if earlier else {*keys, "protection", "carried"}, frozenset({"cap", "first", "menu", *NOTES})
    )
    continues = None if found["continues"] is None else read_string(found["continues"], "the hash before")
    if continues is not None and not re.fullmatch(r"[0-9a-f]{64}", continues):
        raise UnreadableFile("the hash of the ledger before was expected in the first entry, but something else was found; use a backup")
    try:
        key = read_strings(found["key"], "the key")
        protection, carried = _read_earlier(key, continues) if earlier else _read_carried(found)
        return LedgerSettings(
            read_string(found["ledger"], "the id of the ledger"),
            to_ledger_notion(read_string(found["notion"], "the notion")),
            to_mode(read_string(found["mode"], "the mode")),
            key,
            read_budget(found["budget"]),
            None if found["records"] is None else read_count(found["records"], "records of a unit"),
            read_string(found["check"], "the check of the secret"),
            protection,
            continues,
            Amounts.read(found["spent"], "what was spent before"),
            carried,
            _EARLIER.get(body["format"], body["format"]) == TABLE_FORMAT,
            cap=Amounts.read(found["cap"], "a cap") if "cap" in found else None,
            first=Amounts.read(found["first"], "a budget") if "first" in found else None,
            menu=_read_menu(found["menu"]) if "menu" in found else None,
        ).require_components()
    except InvalidArgument as error:
        raise UnreadableFile(f"the first entry of the ledger cannot be read: {error}") from None


def _read_menu(value: object) -> tuple[Event, ...]:
    if not read_list(value, "the menu"):
        return ()
    return to_menu(composition_from_object({"name": "menu", "events": value}, "the menu"))


def _read_carried(found: Mapping[str, Any]) -> tuple[Protection, Carried | None]:
    said = read_stated_protection(found["protection"], "the ledger")
    protection = to_protection(said.unit, said.neighbors, ())
    return protection, None if found["carried"] is None else read_carried(found["carried"], "the ledger before")


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
    found = read_protection((Unit.USER if len(key) == 1 else Unit.USER_PERIOD) if unit is None else unit, neighbors, "a ledger")
    if found.unit not in _UNITS or found.neighbors is not Neighbors.ADD_REMOVE:
        raise InvalidArgument(
            f"a ledger keeps accounts of users, or of users in periods, of whom one is added or removed, but what was asked for is that "
            f"{found.describe()}; name the key of users, and change the neighbors of the guarantee that the ledger gives"
        )
    return found


def open_settings(entry: Entry, secret: bytes) -> LedgerSettings:
    """Return the settings of the first entry of a ledger with this secret. Raises as :func:`read_settings`, :class:`LedgerRejected` where
    the entry is not the one that was written, :class:`InvalidArgument` for another secret.
    """
    found = read_settings(entry)
    check_entry(None, entry, None, found.previous)
    found.require_secret(secret)
    return found


def to_mode(value: object) -> ReleaseMode:
    """Return a mode from its name. Raises :class:`InvalidArgument`."""
    if isinstance(value, ReleaseMode):
        return value
    names = {item.value: item for item in ReleaseMode}
    if not isinstance(value, str) or value not in names:
        shown, hint = describe_unknown(value, names)
        raise InvalidArgument(f"the mode of a ledger is individual or public, but {shown} was found; choose one{hint}")
    return names[value]


def to_cap(value: object, notion: LedgerNotion, what: str = "cap of the budgets", width: int | None = None) -> Amounts | None:
    """Return a cap of budgets as amounts, or ``what`` else is no more than a limit, rounded down; None where none is given.

    Raises :class:`InvalidArgument`.

    >>> to_cap("1/2", LedgerNotion.PURE).numbers, to_cap(None, LedgerNotion.PURE)
    ((Fraction(1, 2),), None)
    """
    if value is None:
        return None
    if notion is LedgerNotion.MIXED:
        return to_components(value, f"the {what}", width)
    exact = to_exact(value, f"the {what}")
    unit = "" if notion is LedgerNotion.ZCDP else " nats"
    if exact < 0 or to_budget(exact) == MOST:
        raise InvalidArgument(
            f"a {what} of at least 0 and below 2^22{unit} was expected, but {exact_text(exact)} was found; give another one"
        )
    return Amounts((to_budget(exact),))


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
