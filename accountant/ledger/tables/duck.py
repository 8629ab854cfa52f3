"""DuckDB as the engine of a table: out of core, its temporary files in the scratch folder."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb

from accountant.ledger.tables.engines import BATCH, name_failure

_JOIN = """
SELECT slot, high, low, r.steps, r.records, r.places, r.budget
FROM (SELECT high, low, sum(steps)::BIGINT AS steps, count(*)::BIGINT AS records,
             sum(row)::BIGINT AS places, min(budget) AS budget
      FROM read_parquet($rows) GROUP BY high, low) r
LEFT JOIN (SELECT slot, high, low FROM read_parquet($accounts)) a USING (high, low)
ORDER BY slot NULLS LAST, high, low
"""
_MATCH = """
SELECT r.row, r.high, r.low FROM read_parquet($rows) r
SEMI JOIN read_parquet($accounts) a ON r.high = a.high AND r.low = a.low
"""
_SORT = "SELECT high, low, spent, budget FROM read_parquet($accounts) ORDER BY high, low"
_REPEATED = "SELECT count(*) FROM (SELECT 1 FROM read_parquet($accounts) GROUP BY high, low HAVING count(*) > 1)"


class DuckEngine:
    """DuckDB, with at most ``memory`` (such as "4GB"; by default what it takes itself, four fifths of the machine's)."""

    __slots__ = ("memory",)

    def __init__(self, memory: str | None = None) -> None:
        self.memory = memory

    def join(self, rows: Path, accounts: Sequence[Path], scratch: Path) -> Iterator[Any]:
        return self._query(_JOIN, {"rows": str(rows), "accounts": list(map(str, accounts))}, scratch)

    def match(self, rows: Path, active: Sequence[Path], scratch: Path) -> Iterator[Any]:
        return self._query(_MATCH, {"rows": str(rows), "accounts": list(map(str, active))}, scratch)

    def sort(self, accounts: Sequence[Path], scratch: Path) -> Iterator[Any]:
        return self._query(_SORT, {"accounts": list(map(str, accounts))}, scratch)

    def count_repeated(self, accounts: Sequence[Path]) -> int:
        with connect() as connection:
            row = connection.execute(_REPEATED, {"accounts": list(map(str, accounts))}).fetchone()
            return int(row[0]) if row else 0

    def _query(self, statement: str, values: dict[str, Any], scratch: Path) -> Iterator[Any]:
        with connect() as connection:
            connection.execute("SET preserve_insertion_order = false")
            connection.execute("SET temp_directory = $folder", {"folder": str(scratch)})
            if self.memory is not None:
                connection.execute("SET memory_limit = $limit", {"limit": self.memory})
            yield from connection.sql(statement, params=values).to_arrow_reader(BATCH)


@contextlib.contextmanager
def connect() -> Iterator[Any]:
    """Yield a connection that prints nothing: its bar of progress would stand in what a command prints. Its errors are ours."""
    try:
        with duckdb.connect() as connection:
            connection.execute("SET enable_progress_bar = false")
            yield connection
    except duckdb.Error as error:
        raise name_failure("DuckDB", error) from None
