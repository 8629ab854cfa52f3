"""The core: terms, intervals, and the rules by which theorems are made."""
