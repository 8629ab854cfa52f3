"""Accounts as a Parquet table beside the log, whose spending an engine computes: docs/ledger.md, section 5."""
