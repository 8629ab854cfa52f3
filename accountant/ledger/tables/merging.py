"""The accounts of a table in the order of their slots, read from its files and put beside what an engine says of their rows.

Of the engine's answer nothing is believed: a slot that it names has to hold the hash that it returned, and a unit that it says is new has
to be among no accounts. So a wrong join is refused exactly; rows that got lost are by sums (``sums.py``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from accountant.ledger.paged.codes import decode
from accountant.ledger.tables.engines import read_files
from accountant.ledger.tables.units import SlotAccounts, TableTally, Units, numbers, refuse_engine, require_rising
from profiles.arrays import Integers
from profiles.errors import LedgerRejected

_COLUMNS = ("steps", "records", "places", "budget")


@dataclass(frozen=True, slots=True)
class CodesAt:
    """A file of codes, its first ``slots``, and what the release costs a unit at most."""

    path: Path
    slots: int
    worst: int


def iter_accounts(parts: Sequence[Path], codes: Sequence[CodesAt]) -> Iterator[SlotAccounts]:
    """Yield all accounts, with what the codes add to what they spent. Raises :class:`LedgerRejected` for files that do not fit together."""
    with ExitStack() as opened:
        streams = [opened.enter_context(item.path.open("rb")) for item in codes]
        first = 0
        for batch in read_files(parts):
            slots, high, low, spent, budget = (numbers(batch.column(name)) for name in ("slot", "high", "low", "spent", "budget"))
            if slots.size and not (slots[0] == first and bool((np.diff(slots) == 1).all())):
                raise LedgerRejected("accounts of the table of the ledger are not in the order of their slots; put back a copy of it")
            total = spent.copy()
            for item, stream in zip(codes, streams, strict=True):
                size = min(max(item.slots - first, 0), slots.size)
                total[:size] += decode(_read(stream, size), item.worst)
            yield SlotAccounts(first, high, low, total, budget)
            first += slots.size


def read_code(item: CodesAt, slot: int) -> int:
    """Return what a file of codes charges one slot."""
    if slot >= item.slots:
        return 0
    with item.path.open("rb") as stream:
        stream.seek(2 * slot)
        return int(decode(_read(stream, 1), item.worst)[0])


def _read(stream: IO[bytes], size: int) -> NDArray[np.uint16]:
    data = stream.read(2 * size)
    if len(data) != 2 * size:
        raise LedgerRejected("codes of the table of the ledger are missing; put back a copy of it")
    return np.frombuffer(data, "<u2")


class Joined:
    """What an engine returned: units with rows, those with a slot first, in their order; then new ones, in the order of their hashes."""

    __slots__ = ("_batches", "_held", "_tally")

    def __init__(self, batches: Iterable[Any], tally: TableTally) -> None:
        self._batches, self._tally = iter(batches), tally
        self._held: Any = None

    def _next(self) -> Any:
        while self._held is None or not self._held.num_rows:
            self._held = next(self._batches, None)
            if self._held is None:
                return None
            self._tally.take(self._held)
        return self._held

    def beside(self, accounts: SlotAccounts) -> Units:
        """Return accounts with what is asked of them. Raises :class:`LedgerRejected` for an answer about other accounts."""
        size = accounts.high.size
        asked = [np.zeros(size, np.int64) for _ in _COLUMNS]
        before = accounts.first - 1
        while (batch := self._next()) is not None:
            known = batch.num_rows - batch.column("slot").null_count
            slots = numbers(batch.column("slot"))[:known]
            count = int(np.searchsorted(slots, accounts.first + size))  # refused below where they are in no order
            if not count:
                break
            taken, part = batch.slice(0, count), slots[:count]
            at = part - accounts.first
            if part[0] <= before or not bool((np.diff(part) > 0).all()) or at[-1] >= size or taken.column("slot").null_count:
                raise refuse_engine("units in another order")
            high, low = numbers(taken.column("high")), numbers(taken.column("low"))
            if not (bool((accounts.high[at] == high).all()) and bool((accounts.low[at] == low).all())):
                raise refuse_engine("the accounts of other units")
            for target, name in zip(asked, _COLUMNS, strict=True):
                target[at] = numbers(taken.column(name))
            before = int(part[-1])
            self._held = batch.slice(count)
        return Units(accounts, *asked)

    def iter_new(self, first: int) -> Iterator[Units]:
        """Yield the units without an account, with slots from ``first`` on. Raises :class:`LedgerRejected` where one comes twice."""
        last: tuple[int, int] | None = None
        while (batch := self._next()) is not None:
            high, low = numbers(batch.column("high")), numbers(batch.column("low"))
            if batch.column("slot").null_count != batch.num_rows:
                raise refuse_engine("units in another order")
            last = require_rising(last, high, low)
            steps, records, places, budget = (numbers(batch.column(name)) for name in _COLUMNS)
            accounts = SlotAccounts(first, high, low, np.zeros_like(high), budget)
            yield Units(accounts, steps, records, places, budget)
            first += high.size
            self._held = None


def require_new(known: Iterable[SlotAccounts], high: Integers, low: Integers) -> None:
    """Refuse an engine that gave a new account to a unit with one; the new ones' hashes are in order. Raises :class:`LedgerRejected`."""
    for accounts in known:
        at = np.minimum(np.searchsorted(high, accounts.high), high.size - 1)
        rows = np.flatnonzero(high[at] == accounts.high)
        for row in rows.tolist():  # of equal first halves the second ones are compared one by one: there are hardly any
            start, stop = np.searchsorted(high, accounts.high[row], "left"), np.searchsorted(high, accounts.high[row], "right")
            if accounts.low[row] in low[start:stop]:
                raise refuse_engine("a unit as new that has an account")
