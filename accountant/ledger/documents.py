"""The entries of what a ledger writes: its hashes are checked with its secret, by ``pdp ledger verify``."""

from __future__ import annotations

from accountant.ledger.backup import FORMAT
from accountant.ledger.database import NEWEST, VERSION
from proofs_check.documents.entries import Document

_HASHES = "holds hashes that only the secret of the ledger can check"

#: By name.
LEDGER: dict[str, Document[str]] = {
    "ledger": Document("ledger", f"{_HASHES}; run pdp ledger verify on it"),
    "ledger secret": Document("ledger secret", "finds the accounts of people and is for nobody else; run pdp ledger verify on the ledger"),
    "pdp-ledger-anchor": Document("pdp-ledger-anchor", "says what its ledger has to contain; run pdp ledger verify on that, with --anchor"),
    FORMAT: Document(FORMAT, f"{_HASHES}; pdp ledger restore takes what is whole of it", (VERSION, NEWEST)),
    "pdp-ledger-table": Document("pdp-ledger-table", "says whose accounts its folder has; run pdp ledger verify on that ledger"),
}
