"""What every way of keeping accounts does: open them, charge those with room, raise budgets, look one up, check all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from accountant.ledger.log import Digest, Entry
from accountant.ledger.rows import RowBatch
from profiles import InvalidData
from profiles.arrays import Booleans, Integers

#: Of a batch and the number of its first row: the shifts of its rows in steps, or their budgets as amounts.
Count = Callable[[RowBatch, int], Integers]
#: The amounts that units are charged for their total shifts.
Cost = Callable[[Integers], Integers]


@dataclass(frozen=True, slots=True)
class Asked:
    """Rows that are read once, and what is to be known of them. ``shifts``: None where nothing is charged; ``records``: how many rows a
    unit has at most, None for any number. ``flat``: the budget of every unit by component, where the rule has one; ``worst``: what a
    release costs at most, which is public.
    """

    rows: Iterable[RowBatch]
    budgets: Count
    shifts: Count | None = None
    records: int | None = None
    flat: tuple[int, ...] | None = None
    worst: tuple[int, ...] = ()

    def require_records(self, largest: int) -> None:
        """Refuse more records of one unit than were declared. Raises :class:`InvalidData`."""
        if self.records is not None and largest > self.records:
            raise InvalidData(
                f"this ledger was opened for at most {self.records} record{'' if self.records == 1 else 's'} of one unit in a release, but "
                "more were found; merge or drop some by a rule that was fixed in advance, or open a ledger for more (--records K)"
            )


@dataclass(frozen=True, slots=True)
class Spent:
    """Who takes part in a release: which rows, shape (n,), and whether ``everybody`` does who has a row."""

    active: Booleans = field(repr=False)
    everybody: bool


class Accounts(Protocol):
    """The accounts of a ledger: chunks of rows of its store (:class:`~accountant.ledger.book.Book`), or a table beside it
    (:class:`~accountant.ledger.tables.accounts_table.TableBook`). What ``entry`` does to them goes into its ``digest``.
    """

    def refresh(self, last: Entry | None = None) -> None:
        """Forget what was read: another process may have written. ``last``: the last entry that changed accounts."""

    def enroll(self, entry: int, asked: Asked, digest: Digest) -> None:
        """Open an account for each unit that has none. Its budget is the smallest of its rows'. Raises :class:`InvalidData`."""

    def spend(self, entry: int, asked: Asked, cost: Cost, digest: Digest) -> Spent:
        """Open accounts as :meth:`enroll` does, and charge all units with a row that have room for the cost of their total shift.

        A unit takes part if what it spent and this cost are at most its budget; else it is charged nothing. The decision is about its own
        rows, budget and spending alone.
        """

    def lift(self, entry: int, asked: Asked, least: int, digest: Digest) -> None:
        """Raise budgets to those of the rows, and of units without a row to ``least``, where they are lower; nothing is ever lowered."""

    def hash_text(self, text: str) -> bytes:
        """Return the keyed hash under which the unit with this id has its account."""

    def look_up(self, hashed: bytes) -> tuple[tuple[int, int], ...] | None:
        """Return what the unit with this hash of its id spent, and its budget, of each component; None for one without an account."""

    def list_state(self, entries: Sequence[Entry]) -> Iterator[tuple[bytes, Integers, Integers]]:
        """Yield the accounts as they follow from the first ``entries`` of the log, in pieces: hashes of ids, spending and budgets, the
        latter of shape (components, n).

        Raises :class:`profiles.errors.LedgerRejected`, :class:`InvalidData` where that is not known any more.
        """

    def trace(self, hashed: bytes, entries: Sequence[Entry]) -> Iterator[tuple[Entry, tuple[int, ...], tuple[int, ...]]]:
        """Yield what each of ``entries`` did to the account of the unit with this hash of its id: its cost, and its budget then."""

    def repair(self, entries: Sequence[Entry], *, write: bool) -> int:
        """Return how many parts of the accounts are not what follows from the log, and ``write`` them anew.

        Raises :class:`profiles.errors.LedgerRejected` for what cannot be written anew.
        """
