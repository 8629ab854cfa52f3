"""A process with other rights, or with little room, that charges ledgers and says what became of it.

``python -m tests.ledger.somebody FOLDER...`` runs as the user nobody where it was started by root; ``ROOM=BYTES`` is how long a file may
get. For each folder, in which new:FOLDER makes a ledger first, it tells the type of the error and its text, or "charged" and nothing.
"""

from __future__ import annotations

import json
import os
import pwd
import resource
import signal
import sys
import tempfile
from pathlib import Path

from accountant.ledger import Ledger
from tests.ledger.conftest import PEOPLE, SUM


def charge(name: str) -> None:
    """Charge the ledger in a folder."""
    folder = Path(name.removeprefix("new:"))
    if name.startswith("new:"):
        Ledger.create(folder / "l.db", PEOPLE, budget="9", anchor=folder / "anchor").close()
    with Ledger.open(folder / "l.db", partial=True) as ledger:
        ledger.charge(f"charge {len(ledger.journal.entries)}", SUM, PEOPLE)


def main() -> None:
    """Load everything first: whoever has few rights may not read Python's files."""
    with tempfile.TemporaryDirectory() as scratch:
        charge(f"new:{scratch}")
    if not os.geteuid():
        nobody = pwd.getpwnam("nobody")
        os.setgroups([])
        os.setegid(nobody.pw_gid)
        os.seteuid(nobody.pw_uid)
    if "ROOM" in os.environ:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(os.environ["ROOM"]),) * 2)
    told = []
    for name in sys.argv[1:]:
        try:
            charge(name)
        except Exception as error:  # also those that should not come
            told.append((type(error).__name__, str(error)))
        else:
            told.append(("charged", ""))
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main()
