"""Weights and samples inside DuckDB, Polars and Spark, batch by batch: docs/engines.md."""

from profiles.lazy import offer_names

__getattr__, __dir__, __all__ = offer_names(__name__)
