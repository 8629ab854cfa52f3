"""Tables of earlier releases, whose versions were all accounts in no order: read, checked, and sorted when they are charged again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from accountant.ledger.tables.engines import Engine, read_files
from accountant.ledger.tables.sums import Sums, weigh_units
from accountant.ledger.tables.units import SlotAccounts, numbers, require_rising
from accountant.ledger.tables.versions import SUMS, Version
from profiles.errors import LedgerRejected


def iter_earlier(paths: Sequence[Path]) -> Iterator[SlotAccounts]:
    """Yield the accounts of a version, numbered as they come."""
    yield from _number(read_files(paths))


def _number(batches: Iterable[Any]) -> Iterator[SlotAccounts]:
    first = 0
    for batch in batches:
        accounts = SlotAccounts(first, *(numbers(batch.column(name)) for name in ("high", "low", "spent", "budget")))
        yield accounts
        first += accounts.high.size


def sort_earlier(engine: Engine, paths: Sequence[Path], write: Callable[[Any], None], scratch: Path) -> Sums:
    """Write the accounts of a version in the order of their hashes, each once; return their sums. Raises :class:`LedgerRejected`."""
    made = Sums()
    last: tuple[int, int] | None = None
    for accounts in _number(engine.sort(paths, scratch)):
        high, low = accounts.high, accounts.low
        if not high.size:
            continue
        last = require_rising(last, high, low)
        made.add(weigh_units(high, low), keys=None, spent=accounts.spent, budget=accounts.budget)
        write(accounts.to_batch(accounts.spent, accounts.budget))
    return made


def check_earlier(paths: Sequence[Path], version: Version) -> None:
    """Refuse a version whose units are not those of its manifest, or one of them over its budget. Raises :class:`LedgerRejected`."""
    made, units = Sums(), 0
    for batch in read_files(paths):
        high, low, spent, budget, cost = (numbers(batch.column(name)) for name in ("high", "low", "spent", "budget", "cost"))
        made.add(weigh_units(high, low), keys=None, spent=spent, budget=budget, cost=cost)
        units += batch.num_rows
        if not bool(((cost >= 0) & (cost <= spent) & (spent <= budget)).all()):
            raise LedgerRejected(
                f"a unit of the version {version.name} of the table of the ledger is over its budget; put back a copy of it"
            )
    if units != version.units or any(made[name] != version.sums[name] for name in SUMS):
        raise LedgerRejected(
            f"the version {version.name} of the table of the ledger has other units than the log says; put back a copy of it"
        )
