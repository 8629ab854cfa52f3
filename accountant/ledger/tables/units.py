"""The units that an engine returns: what each had and asks for, and what becomes of it, in integers; and the sums that are compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from accountant.ledger.accounts import Cost
from accountant.ledger.tables.sums import Sums, weigh_units, weighted_sum
from accountant.ledger.tables.versions import SCHEMA
from accountant.ledger.units import Unsigned
from profiles.arrays import Booleans, Integers
from profiles.errors import LedgerRejected

_ENGINE = "the engine did not return what it was given ({}), and nothing was charged; use another engine, and tell its makers"


def refuse_engine(what: str) -> LedgerRejected:
    """Return the error for an engine whose answer cannot be right."""
    return LedgerRejected(_ENGINE.format(what))


@dataclass(frozen=True, slots=True)
class Units:
    """A batch of units. ``present``: those that have rows, whose total shift, number, sum of places and smallest budget are ``steps``,
    ``records``, ``places`` and ``asked``; ``budget``: that of the account, of new units ``asked``.
    """

    high: Integers
    low: Integers
    spent: Integers
    budget: Integers
    steps: Integers
    records: Integers
    places: Integers
    asked: Integers

    @property
    def present(self) -> Booleans:
        return self.records > 0

    def write(self, spent: Integers, budget: Integers, cost: Integers, active: Booleans) -> Any:
        """Return these units as a batch of the next version."""
        return pa.record_batch([self.high, self.low, spent, budget, cost, active], schema=SCHEMA)


@dataclass(slots=True)
class TableTally:
    """What was added up over all units. ``came``: of what the engine returned; ``made``: of the next version; ``most``: the most rows of a
    unit; ``active`` and ``left``: the rows that take part, and the units with rows that do not.
    """

    came: Sums = field(default_factory=Sums)
    made: Sums = field(default_factory=Sums)
    most: int = 0
    active: int = 0
    left: int = 0

    def take(self, batch: Any) -> tuple[Units, Unsigned]:
        """Return the units of a batch of an engine, and their weights, and add up what it returned."""
        had = ~numbers(batch.column("spent").is_null())
        high, low = numbers(batch.column("high")), numbers(batch.column("low"))
        spent, before = (numbers(batch.column(name)) for name in ("spent", "before"))
        steps, records, places, asked = (numbers(batch.column(name)) for name in ("steps", "records", "places", "budget"))
        weights = weigh_units(high, low)
        named = {"keys": had, "spent": spent, "budget": before, "rows": records, "steps": steps, "places": places}
        for name, values in named.items():
            self.came.add(name, weighted_sum(weights, values))
        if records.size:
            self.most = max(self.most, int(records.max()))
            if int(records.min()) < 0 or int(steps.min()) < 0 or int(spent.min()) < 0 or not bool((had | (records > 0)).all()):
                raise refuse_engine("units with less than nothing")
        return Units(high, low, spent, np.where(had, before, asked), steps, records, places, asked), weights

    def put(self, batch: Any, weights: Unsigned) -> None:
        """Add up a batch of the next version."""
        self.made.add("keys", weighted_sum(weights))
        for name in ("spent", "budget", "cost"):
            self.made.add(name, weighted_sum(weights, numbers(batch.column(name))))

    def require_equal(self, went: Sums, before: Mapping[str, int]) -> None:
        """Refuse what came back from an engine where it is not what went in. Raises :class:`LedgerRejected`."""
        if any(self.came[name] != went[name] for name in ("rows", "steps", "places")):
            raise refuse_engine("other rows")
        if any(self.came[name] != before.get(name, 0) for name in ("keys", "spent", "budget")):
            raise refuse_engine("other accounts")


#: What becomes of units, whose weights are given.
Make = Callable[[Units, Unsigned, TableTally], Any]


def keep(units: Units, _: Unsigned, __: TableTally) -> Any:
    """Nothing is charged."""
    return units.write(units.spent, units.budget, np.zeros_like(units.spent), np.zeros(units.spent.size, np.bool_))


def charge_by(cost: Cost) -> Make:
    """Units take part that have rows and room for the cost of their shifts; the others are charged nothing."""

    def make(units: Units, weights: Unsigned, tally: TableTally) -> Any:
        amounts = np.where(units.present, cost(units.steps), 0)
        active = units.present & (units.spent + amounts <= units.budget)
        amounts[~active] = 0
        rows = np.where(active, units.records, 0)
        tally.made.add("active", weighted_sum(weights, rows))
        tally.made.add("places", weighted_sum(weights, np.where(active, units.places, 0)))
        tally.active += int(rows.sum())
        tally.left += int((units.present & ~active).sum())
        return units.write(units.spent + amounts, units.budget, amounts, active)

    return make


def raise_to(least: int) -> Make:
    """Budgets are those of the rows, or ``least`` without one, where that is more."""

    def make(units: Units, _: Unsigned, __: TableTally) -> Any:
        raised = np.maximum(units.budget, np.where(units.present, units.asked, least))
        return units.write(units.spent, raised, np.zeros_like(units.spent), np.zeros(units.spent.size, np.bool_))

    return make


def numbers(column: Any) -> Any:
    """Return a column as an array; null is 0."""
    filled = column.fill_null(False if pa.types.is_boolean(column.type) else 0) if column.null_count else column
    return filled.to_numpy(zero_copy_only=False)
