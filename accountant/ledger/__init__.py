"""The ledger: what each person has spent, over years, crash-safe (docs/ledger.md)."""

from accountant.ledger.analysis import Analysis, Charged
from accountant.ledger.ledger import Ledger
from accountant.ledger.receipts import Receipt
from accountant.ledger.release import LedgerRelease

__all__ = ["Analysis", "Charged", "Ledger", "LedgerRelease", "Receipt"]
