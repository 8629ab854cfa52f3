"""Units of a table: what each had and asks for, and what becomes of it, in integers; and the sums that are compared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from accountant.ledger.accounts import Cost
from accountant.ledger.paged.codes import decode, encode, take_part
from accountant.ledger.tables.sums import Sums, weigh_units
from accountant.ledger.tables.versions import SCHEMA
from profiles.arrays import Booleans, Integers
from profiles.errors import LedgerRejected

_ENGINE = "the engine did not return what it was given ({}), and nothing was charged; use another engine, and tell its makers"


def refuse_engine(what: str) -> LedgerRejected:
    """Return the error for an engine whose answer cannot be right."""
    return LedgerRejected(_ENGINE.format(what))


@dataclass(frozen=True, slots=True)
class SlotAccounts:
    """Accounts in the order of their slots, from ``first`` on."""

    first: int
    high: Integers
    low: Integers
    spent: Integers
    budget: Integers

    def to_batch(self, spent: Integers, budget: Integers) -> Any:
        """Return them as rows of a file of accounts, with what was spent and the budgets."""
        slots = np.arange(self.first, self.first + self.high.size)
        return pa.record_batch([slots, self.high, self.low, spent, budget], schema=SCHEMA)


def require_rising(last: tuple[int, int] | None, high: Integers, low: Integers) -> tuple[int, int]:
    """Return the last of some hashes (at least one). Raises :class:`LedgerRejected` where they, after ``last``, do not rise one by one."""
    rises = bool(((high[1:] > high[:-1]) | ((high[1:] == high[:-1]) & (low[1:] > low[:-1]))).all())
    if not rises or (last is not None and (int(high[0]), int(low[0])) <= last):
        raise refuse_engine("units in another order")
    return int(high[-1]), int(low[-1])


@dataclass(frozen=True, slots=True)
class Units:
    """Accounts and what is asked of them. ``present``: those that have rows, whose total shift, number, sum of places and smallest budget
    are ``steps``, ``records``, ``places`` and ``asked``.
    """

    accounts: SlotAccounts
    steps: Integers
    records: Integers
    places: Integers
    asked: Integers

    @property
    def present(self) -> Booleans:
        return self.records > 0


@dataclass(frozen=True, slots=True)
class Made:
    """What becomes of units: what each has spent and its budget after the entry, what the entry charges it, and that as codes."""

    spent: Integers
    budget: Integers
    cost: Integers
    codes: NDArray[np.uint16] | None = None
    active: Booleans | None = None


@dataclass(slots=True)
class TableTally:
    """What was added up over all units. ``came``: of what the engine returned; ``made``: of the accounts after the entry; ``most``: the
    most rows of a unit; ``active`` and ``left``: the rows that take part, and the units with rows that do not.
    """

    came: Sums = field(default_factory=Sums)
    made: Sums = field(default_factory=Sums)
    most: int = 0
    active: int = 0
    left: int = 0

    def take(self, batch: Any) -> None:
        """Add up what an engine returned. Raises :class:`LedgerRejected` for what no rows add up to."""
        high, low, steps, records, places = (numbers(batch.column(name)) for name in ("high", "low", "steps", "records", "places"))
        self.came.add(weigh_units(high, low), rows=records, steps=steps, places=places)
        if records.size:
            self.most = max(self.most, int(records.max()))
            if int(records.min()) < 1 or int(steps.min()) < 0:
                raise refuse_engine("units with less than nothing")

    def put(self, units: Units, made: Made) -> None:
        """Add up what becomes of units."""
        weights = weigh_units(units.accounts.high, units.accounts.low)
        self.made.add(weights, keys=None, spent=made.spent, budget=made.budget, cost=made.cost)
        if made.active is not None:
            rows = np.where(made.active, units.records, 0)
            self.made.add(weights, active=rows, places=np.where(made.active, units.places, 0))
            self.active += int(rows.sum())
            self.left += int((units.present & ~made.active).sum())

    def require_equal(self, went: Sums) -> None:
        """Refuse what came back from an engine where it is not what went in. Raises :class:`LedgerRejected`."""
        if any(self.came[name] != went[name] for name in ("rows", "steps", "places")):
            raise refuse_engine("other rows")


#: What becomes of units.
Make = Callable[[Units], Made]


def keep(units: Units) -> Made:
    """Nothing is charged."""
    return Made(units.accounts.spent, units.accounts.budget, np.zeros_like(units.accounts.spent))


def charge_by(cost: Cost, worst: int) -> Make:
    """Units take part that have rows and room for the cost of their shifts, rounded up to a code; the others are charged nothing."""

    def make(units: Units) -> Made:
        accounts, present = units.accounts, units.present
        codes = encode(np.where(present, cost(units.steps), 0), worst)
        amounts = decode(codes, worst)
        active = present & (accounts.spent + amounts <= accounts.budget)
        amounts[~active] = 0
        return Made(accounts.spent + amounts, accounts.budget, amounts, take_part(codes, present, active), active)

    return make


def raise_to(least: int) -> Make:
    """Budgets are those of the rows, or ``least`` without one, where that is more."""

    def make(units: Units) -> Made:
        raised = np.maximum(units.accounts.budget, np.where(units.present, units.asked, least))
        return Made(units.accounts.spent, raised, np.zeros_like(units.accounts.spent))

    return make


def numbers(column: Any) -> Any:
    """Return a column as an array; null is 0."""
    filled = column.fill_null(False if pa.types.is_boolean(column.type) else 0) if column.null_count else column
    return filled.to_numpy(zero_copy_only=False)
