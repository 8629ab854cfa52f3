"""The engines that compute spending: they group rows by unit and join them with the accounts, by integers alone.

Nothing that an engine returns is believed: sums over rows that went in and came out are compared (docs/ledger.md, L7), and every amount is
computed by us. Engines are optional and imported when one is asked for.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import pyarrow.parquet as pq

from profiles import InvalidArgument, MissingExtra, UnwritableOutput
from profiles.suggestions import describe_unknown

#: Rows a batch that comes back.
BATCH = 1 << 16


class Engine(Protocol):
    """What is asked of an engine. ``rows``: a file with the columns row, high, low, steps and budget; ``accounts``: the files of a version;
    ``scratch``: a folder that is removed after it. Every order of rows is as good as any other.
    """

    def join(self, rows: Path, accounts: Sequence[Path], scratch: Path) -> Iterator[Any]:
        """Yield record batches with one row for each unit that has an account, or rows, or both.

        Columns: high, low; spent and before (the budget) of its account, null without one; steps (the sum of its rows'), records (how many
        rows it has), places (the sum of their numbers) and budget (the smallest of its rows'), null without one.
        """

    def match(self, rows: Path, accounts: Sequence[Path], scratch: Path) -> Iterator[Any]:
        """Yield record batches with row, high and low of the rows whose units are active in the accounts."""

    def count_repeated(self, accounts: Sequence[Path]) -> int:
        """Return how many units have several accounts."""


def to_engine(value: object = None) -> Engine:
    """Return an engine: by name, an object that is one, an open session of Spark, or by default the first that is installed.

    Raises :class:`InvalidArgument`, :class:`MissingExtra`.
    """
    if value is None:
        value = next((name for name in ("duckdb", "polars") if importlib.util.find_spec(name) is not None), "duckdb")
    if isinstance(value, str) and value in _ENGINES:
        extra, where = _ENGINES[value]
        if importlib.util.find_spec(extra) is None:
            raise MissingExtra(
                f"a ledger with a table needs an engine, but {extra} is not installed; install pdp-accountant[{value}], or name another one"
            )
        module, _, name = where.partition(":")
        found: Engine = getattr(importlib.import_module(module), name)()
        return found
    if callable(getattr(value, "createDataFrame", None)):
        from accountant.ledger.tables.spark import SparkEngine  # noqa: PLC0415 - Spark is an extra

        return SparkEngine(value)
    if all(callable(getattr(value, name, None)) for name in ("join", "match", "count_repeated")):
        return value  # type: ignore[return-value]
    shown, hint = describe_unknown(value, _ENGINES)
    raise InvalidArgument(f"the engine of a ledger's table is {', '.join(_ENGINES)}, but {shown} was found; name one{hint}")


#: The package that an engine needs, and where it is.
_ENGINES: Mapping[str, tuple[str, str]] = {
    "duckdb": ("duckdb", "accountant.ledger.tables.duck:DuckEngine"),
    "polars": ("polars", "accountant.ledger.tables.polar:PolarsEngine"),
    "spark": ("pyspark", "accountant.ledger.tables.spark:SparkEngine"),
}


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
