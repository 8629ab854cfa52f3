"""Files that a ledger reads: regular ones alone, and data that stay what they were while they are read twice."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from profiles import InvalidData, UnreadableFile


@dataclass(frozen=True, slots=True)
class Seen:
    """A file of data as it was before it was read: which one, of which length, and when it was last changed."""

    path: Path
    told: tuple[int, ...] = field(repr=False)

    def require_same(self, what: str) -> None:
        """Refuse a file that is another one by now, whose rows are not those that were charged. Raises :class:`InvalidData`."""
        if look(self.path) != self:
            raise InvalidData(f"the data file {self.path.name} changed while it was charged or used; {what}")


def look(data: Any) -> Seen | None:
    """Return what a file of data is now; None for data in memory, and for what cannot be found, of which its reader tells."""
    if not isinstance(data, (str, os.PathLike)):
        return None
    path = Path(data).absolute()
    try:
        told = path.stat()
    except (OSError, ValueError):
        return None
    return Seen(path, (told.st_dev, told.st_ino, told.st_size, told.st_mtime_ns, told.st_ctime_ns))


def require_regular(path: Path, what: str) -> None:
    """Refuse a pipe or a device, which would be waited for or read without an end. Raises :class:`UnreadableFile`.

    What is not there, may not be looked at or is a folder is told of where it is opened.
    """
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise UnreadableFile(f"{what} {path} is not a regular file; name another one")
