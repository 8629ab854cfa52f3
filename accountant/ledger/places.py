"""Where a ledger is: a file, or a schema of a server."""

from __future__ import annotations

import os
import re
from pathlib import Path

from accountant.ledger.database import StoreLocation
from accountant.ledger.sqlite import FilePlace
from profiles import InvalidArgument


def to_place(value: object) -> StoreLocation:
    """Return where a ledger is: a path, or the address ``postgresql://HOST/DATABASE#SCHEMA`` of a schema of a server.

    Raises :class:`InvalidArgument`, :class:`profiles.MissingExtra` for a server without psycopg.

    >>> to_place("people.ledger").secret.name
    'people.ledger.key'
    """
    if not isinstance(value, (str, os.PathLike)):
        raise InvalidArgument(f"a ledger is named by a path or an address, but a value of type {type(value).__name__} was found; give one")
    if isinstance(value, str) and re.match(r"postgres(ql)?://", value):
        from accountant.ledger.postgres import to_server  # noqa: PLC0415 - psycopg is an extra

        return to_server(value)
    return FilePlace(Path(value))
