"""Files that a ledger reads whole: regular ones alone."""

from __future__ import annotations

import stat
from pathlib import Path

from profiles import UnreadableFile


def require_regular(path: Path, what: str) -> None:
    """Refuse a pipe or a device, which would be waited for or read without an end. Raises :class:`UnreadableFile`.

    What is not there, may not be looked at or is a folder is told of where it is opened.
    """
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise UnreadableFile(f"{what} {path} is no regular file; name another one")
