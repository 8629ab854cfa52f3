"""The engines that compute spending: they group rows by unit and join them with the accounts, by integers alone.

Nothing that an engine returns is believed: sums over rows that went in and came out are compared (docs/ledger.md, L7), and every amount is
computed by us.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import pyarrow.parquet as pq

from profiles import UnwritableOutput

#: Rows a batch that comes back.
BATCH = 1 << 16


class Engine(Protocol):
    """What is asked of an engine. ``rows``: a file with the columns row, high, low, steps and budget; ``accounts``: files with the columns
    slot, high and low; ``scratch``: a folder that is removed after it. Every order of rows in files is as good as any other.
    """

    def join(self, rows: Path, accounts: Sequence[Path], scratch: Path) -> Iterator[Any]:
        """Yield record batches with one row for each unit that has rows: in the order of slots, then those without an account, in the order
        of high and low.

        Columns: slot (null without an account), high, low; steps (the sum of its rows'), records (how many rows it has), places (the sum of
        their numbers) and budget (the smallest of its rows').
        """

    def match(self, rows: Path, active: Sequence[Path], scratch: Path) -> Iterator[Any]:
        """Yield record batches with row, high and low of the rows whose units are in ``active``, files with the columns high and low."""

    def sort(self, accounts: Sequence[Path], scratch: Path) -> Iterator[Any]:
        """Yield record batches with high, low, spent and budget of all accounts, in the order of high and low."""

    def count_repeated(self, accounts: Sequence[Path]) -> int:
        """Return how many units have several accounts."""


def read_files(paths: Sequence[Path]) -> Iterator[Any]:
    """Yield the batches of Parquet files, one after the other."""
    for path in paths:
        with pq.ParquetFile(path) as file:
            yield from file.iter_batches(BATCH)


def name_failure(engine: str, error: Exception) -> UnwritableOutput:
    """Return what is said where an engine fails: nothing of its own message, which may quote data."""
    return UnwritableOutput(
        f"{engine} could not join the rows with the table of the ledger ({type(error).__name__}), and nothing was charged; give it more "
        "memory or disk, or take another engine"
    )
