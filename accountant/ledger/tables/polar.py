"""Polars as the engine of a table: its streaming engine, which keeps the groups of rows in memory."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from accountant.ledger.tables.engines import name_failure, read_files

_KEY = ["high", "low"]


class PolarsEngine:
    """Polars. What it joins it writes into the scratch folder first."""

    __slots__ = ()

    def join(self, rows: Path, accounts: Sequence[Path], scratch: Path) -> Iterator[Any]:
        grouped = (
            pl.scan_parquet(rows, glob=False)
            .group_by(_KEY)
            .agg(steps=pl.col("steps").sum(), records=pl.len().cast(pl.Int64), places=pl.col("row").sum(), budget=pl.col("budget").min())
        )
        known = pl.scan_parquet(list(accounts), glob=False).select("slot", *_KEY)
        joined = known.join(grouped, on=_KEY, how="right", coalesce=True).sort("slot", *_KEY, nulls_last=True)
        return _stream(joined, scratch / "joined.parquet", ordered=True)

    def match(self, rows: Path, active: Sequence[Path], scratch: Path) -> Iterator[Any]:
        wanted = pl.scan_parquet(list(active), glob=False).select(_KEY)
        return _stream(
            pl.scan_parquet(rows, glob=False).select("row", *_KEY).join(wanted, on=_KEY, how="semi"), scratch / "matched.parquet"
        )

    def sort(self, accounts: Sequence[Path], scratch: Path) -> Iterator[Any]:
        ordered = pl.scan_parquet(list(accounts), glob=False).select(*_KEY, "spent", "budget").sort(*_KEY)
        return _stream(ordered, scratch / "sorted.parquet", ordered=True)

    def count_repeated(self, accounts: Sequence[Path]) -> int:
        with _reporting():
            several = pl.scan_parquet(list(accounts), glob=False).group_by(_KEY).len().filter(pl.col("len") > 1)
            return int(several.select(pl.len()).collect(engine="streaming").item())


def _stream(frame: pl.LazyFrame, path: Path, *, ordered: bool = False) -> Iterator[Any]:
    with _reporting():
        frame.sink_parquet(path, compression="lz4", maintain_order=ordered)
    yield from read_files([path])


@contextlib.contextmanager
def _reporting() -> Iterator[None]:
    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as error:
        raise name_failure("Polars", error) from None
