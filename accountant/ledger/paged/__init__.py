"""Accounts as pages of fixed width in the order of keyed hashes: a charge costs what it charges (docs/ledger.md, section 4)."""
