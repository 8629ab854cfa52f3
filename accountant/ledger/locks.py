"""A lock on a file between processes: with a deadline, given back whoever still has the handle, and of the file that is at its place."""

from __future__ import annotations

import contextlib
import errno
import os
import random
import time
from collections.abc import Iterator
from pathlib import Path

from accountant.ledger.database import WAIT_SECONDS
from profiles import UnwritableOutput
from profiles.randomness.forks import mark_process

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows: writers then exclude each other by the lock of the database alone
    fcntl = None  # type: ignore[assignment]

#: Seconds between two attempts, at first and at most.
_SHORTEST, _LONGEST = 0.002, 0.25


@contextlib.contextmanager
def hold(handle: int, path: Path, what: str, wait: float | None = None) -> Iterator[None]:
    """Hold the lock of the open file ``handle``, which is at ``path``, and give it back at the end: also where a process that was forked
    meanwhile still has the handle. ``what`` names who is locked in messages.

    Raises :class:`UnwritableOutput` after ``wait`` seconds, by default those of the database, and where another file came to the place
    meanwhile, whose lock is another one.
    """
    if fcntl is None:  # pragma: no cover - Windows
        yield
        return
    process = mark_process()
    _acquire(handle, what, WAIT_SECONDS if wait is None else wait)
    try:
        if not _is_at(handle, path):
            raise UnwritableOutput(f"{path} was removed or exchanged while {what} was waited for; nothing was written: try again")
        yield
    finally:
        if mark_process() == process:  # a forked process that leaves the block has no lock to give back
            with contextlib.suppress(OSError):
                fcntl.flock(handle, fcntl.LOCK_UN)


def _is_at(handle: int, path: Path) -> bool:
    try:
        told, named = os.fstat(handle), os.stat(path)
    except OSError:
        return False
    return (told.st_dev, told.st_ino) == (named.st_dev, named.st_ino)


def _acquire(handle: int, what: str, wait: float) -> None:
    end, pause = time.monotonic() + wait, _SHORTEST
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES, errno.EINTR):
                raise UnwritableOutput(f"{what} cannot be locked on this file system ({error.strerror}); put it on another one") from None
        else:
            return
        left = end - time.monotonic()
        if left <= 0:
            raise UnwritableOutput(f"{what} is in use by another process for {wait:g} seconds; nothing was written: try again")
        time.sleep(min(left, pause * random.uniform(0.5, 1)))  # noqa: S311 - so that two that wait do not meet again
        pause = min(pause * 1.6, _LONGEST)
