"""Spark as the engine of a table, whose folder the driver and all workers reach under one name."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everywhere with Spark

from accountant.ledger.tables.engines import name_failure, read_files

_KEY = ["high", "low"]


class SparkEngine:
    """A session of Spark, by default the one that is open, or a new one. What it joins its workers write into the scratch folder."""

    __slots__ = ("_session",)

    def __init__(self, session: Any = None) -> None:
        self._session = SparkSession.builder.getOrCreate() if session is None else session

    def join(self, rows: Path, accounts: Sequence[Path], scratch: Path) -> Iterator[Any]:
        grouped = (
            self._read([rows])
            .groupBy(*_KEY)
            .agg(
                F.sum("steps").alias("steps"), F.count("*").alias("records"), F.sum("row").alias("places"), F.min("budget").alias("budget")
            )
        )
        known = self._read(accounts).select("slot", *_KEY)
        joined = grouped.join(known, _KEY, "left").orderBy(F.col("slot").asc_nulls_last(), *_KEY)
        return self._stream(joined.select("slot", *_KEY, "steps", "records", "places", "budget"), scratch / "joined")

    def match(self, rows: Path, active: Sequence[Path], scratch: Path) -> Iterator[Any]:
        wanted = self._read(active).select(*_KEY)
        return self._stream(self._read([rows]).select("row", *_KEY).join(wanted, _KEY, "left_semi"), scratch / "matched")

    def sort(self, accounts: Sequence[Path], scratch: Path) -> Iterator[Any]:
        return self._stream(self._read(accounts).select(*_KEY, "spent", "budget").orderBy(*_KEY), scratch / "sorted")

    def count_repeated(self, accounts: Sequence[Path]) -> int:
        with _reporting():
            return int(self._read(accounts).groupBy(*_KEY).count().where("count > 1").count())

    def _read(self, paths: Sequence[Path]) -> Any:
        return self._session.read.parquet(*map(_locate, paths))

    @staticmethod
    def _stream(frame: Any, folder: Path) -> Iterator[Any]:
        with _reporting():
            frame.write.parquet(_locate(folder))
        yield from read_files(sorted(folder.glob("*.parquet")))


def _locate(path: Path) -> str:
    return path.absolute().as_uri()


@contextlib.contextmanager
def _reporting() -> Iterator[None]:
    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise name_failure("Spark", error) from None
