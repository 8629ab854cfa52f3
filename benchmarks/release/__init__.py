"""Answers from a table beside those of other libraries, at the same guarantee, and their time beside DuckDB's plain aggregates."""
