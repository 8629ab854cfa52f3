"""Witnesses of a ledger: a log for everybody, or a copy of its anchor, that somebody else keeps. The ledger must continue it."""

from __future__ import annotations

from pathlib import Path

from accountant.ledger.anchor import Anchor
from accountant.ledger.inputs import require_regular
from accountant.ledger.ledger import Ledger
from accountant.ledger.public import TITLE, read_public
from profiles import UnreadableFile
from profiles.errors import LedgerRejected


def require_witness(ledger: Ledger, path: Path) -> str:
    """Refuse a ledger whose log does not continue a witness file; return in words up to where they agree.

    The file is a log for everybody (:func:`~accountant.ledger.public.write_public`), whose signature is checked, or a copy of the anchor,
    older ones as well. *What follows:* no entry up to there was changed, left out or put in between, also by whoever has the secret, as far
    as the file was out of reach. Raises :class:`LedgerRejected`, :class:`UnreadableFile`.
    """
    require_regular(path, "the witness")
    try:
        text = path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableFile(f"the witness {path} cannot be read ({getattr(error, 'strerror', None) or 'it is not text'})") from None
    ledger.journal.catch_up()
    entries = ledger.journal.entries
    if text.startswith(TITLE):
        log = read_public(text)
        if log.ledger != ledger.settings.ledger:
            raise LedgerRejected(f"the witness {path.name} is of another ledger; name one of this one")
        hashes = [entry.hash for entry in log.entries]
    else:
        hashes = Anchor(path, ledger.settings.ledger).read_hashes()
    if len(hashes) > len(entries):
        raise LedgerRejected(
            f"the ledger is older than its witness {path.name}: it lacks the entries from {len(entries)} to {len(hashes) - 1}; use the "
            "newest copy"
        )
    for entry, kept in zip(entries, hashes, strict=False):
        if entry.hash.hex() != kept:
            raise LedgerRejected(f"the witness {path.name} has another entry {entry.sequence} than the ledger: its history was changed")
    if not hashes:
        raise UnreadableFile(f"the witness {path.name} has no entry; name one that has")
    return f"the witness {path.name} agrees up to entry {len(hashes) - 1}, {hashes[-1]}"
