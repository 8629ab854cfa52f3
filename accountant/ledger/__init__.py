"""The ledger: what each person has spent, over years, crash-safe (docs/ledger.md)."""

from accountant.ledger.ledger import Ledger, Receipt
from accountant.ledger.release import Release

__all__ = ["Ledger", "Receipt", "Release"]
