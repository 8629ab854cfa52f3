"""Which engine computes spending: by name, an engine, or a session of Spark. Engines are optional, and imported when one is asked for."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping

from accountant.ledger.tables.engines import Engine
from profiles import InvalidArgument, MissingExtra
from profiles.suggestions import describe_unknown


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
        engine: Engine = getattr(importlib.import_module(module), name)()
        return engine
    if callable(getattr(value, "createDataFrame", None)):
        from accountant.ledger.tables.spark import SparkEngine  # noqa: PLC0415 - Spark is an extra

        return SparkEngine(value)
    if all(callable(getattr(value, name, None)) for name in ("join", "match", "sort", "count_repeated")):
        return value  # type: ignore[return-value]
    shown, hint = describe_unknown(value, _ENGINES)
    raise InvalidArgument(f"the engine of a ledger's table is {', '.join(_ENGINES)}, but {shown} was found; name one{hint}")


#: The package that an engine needs, and where it is.
_ENGINES: Mapping[str, tuple[str, str]] = {
    "duckdb": ("duckdb", "accountant.ledger.tables.duck:DuckEngine"),
    "polars": ("polars", "accountant.ledger.tables.polar:PolarsEngine"),
    "spark": ("pyspark", "accountant.ledger.tables.spark:SparkEngine"),
}
