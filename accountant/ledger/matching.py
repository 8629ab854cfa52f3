"""The rows of a data set by account, while they are read: what is added up of them, and which accounts they are of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accountant.ledger.log import Segment
from profiles.arrays import Booleans, Integers, Positions

#: The largest total of 32 bits.
_NARROW = 2**32 - 1


@dataclass(slots=True)
class Matched:
    """The rows of a data set by account: the total shift of each account, whether it has a row, and the accounts of the rows.

    ``totals`` have 32 bits until one needs more. ``budgets``: of the accounts from ``known`` on, which are new; ``segments`` are these.
    """

    known: int
    totals: NDArray[np.integer[Any]] = field(repr=False)
    present: Booleans = field(repr=False)
    places: list[slice | Positions] = field(repr=False)
    segments: list[Segment] = field(repr=False)
    budgets: Integers = field(repr=False)
    most_rows: int = field(default=1, repr=False)

    def put(self, place: slice, steps: Integers) -> bool:
        """Add the shifts of rows of consecutive accounts, each of which has one of them; return whether any had a row before."""
        again = bool(self.present[place].any())
        if again or int(steps.max(initial=0)) > _NARROW:
            self.widen()
        if again:
            self.totals[place] += steps
        else:
            self.totals[place] = steps
        self.present[place] = True
        return again

    def widen(self) -> None:
        """Hold totals of 64 bits."""
        self.totals = self.totals.astype(np.int64, copy=False)

    def rows_of(self, active: Booleans) -> Booleans:
        """Return which rows belong to accounts that are ``active``."""
        parts = [active[place] for place in self.places]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.bool_)


@dataclass(slots=True)
class Pending:
    """Rows of accounts that are not known yet, until all rows were read. ``rows``: which ones of the batch, None for all of it, whose ids
    have the ``fingerprint``.
    """

    batch: int
    rows: Positions | None
    hashes: bytes = field(repr=False)
    steps: Integers = field(repr=False)
    budgets: Integers = field(repr=False)
    fingerprint: bytes = b""


def spell(place: slice | Positions) -> Positions:
    """Return the accounts of the rows of a batch one by one."""
    return np.arange(place.start, place.stop) if isinstance(place, slice) else place


def fill(place: slice | Positions, rows: Positions | None, accounts: slice | Positions) -> slice | Positions:
    """Return the accounts of all rows of a batch, from those of the ``rows`` that had none before."""
    if rows is None or isinstance(place, slice):
        if isinstance(accounts, slice) or bool((np.diff(accounts) != 1).any()):
            return accounts
        return slice(int(accounts[0]), int(accounts[-1]) + 1)
    place[rows] = spell(accounts)
    return place


def shrink(values: Integers) -> Integers:
    """Return the same values, in no memory where all are equal."""
    return np.broadcast_to(values[:1].copy(), values.shape) if values.size and bool((values == values[0]).all()) else values


def join(parts: Sequence[Integers]) -> Integers:
    """Return parts one after another, in no memory where all their values are one."""
    if all(part.strides == (0,) and part[0] == parts[0][0] for part in parts):
        return np.broadcast_to(parts[0][:1].copy(), (sum(part.size for part in parts),))
    return np.concatenate(parts)
