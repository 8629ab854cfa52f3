"""Standard output and standard error that hold: closed ones, full disks, readers that went away, letters that a terminal lacks.

And code that is not ours: what it prints stays off standard output.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from profiles.errors import InvalidArgument, UnwritableOutput
from profiles.private import quote

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

    from profiles import Declaration


class _Descriptor(io.FileIO):
    """A standard stream that goes silent when its reader has gone; where it cannot be written for another reason, it says so once."""

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data) or 0
        except OSError as error:
            _silence(self.fileno())
            if isinstance(error, BrokenPipeError) or self.fileno() == 2:
                return memoryview(data).nbytes
            raise UnwritableOutput(
                f"the result could not be written to standard output ({error.strerror}); check space and rights where it goes"
            ) from None


def _silence(number: int) -> None:
    """Connect a descriptor with the null device."""
    with contextlib.suppress(OSError):
        handle = os.open(os.devnull, os.O_RDWR)
        if handle != number:
            os.dup2(handle, number)
            os.close(handle)


def prepare_streams() -> None:
    """Replace the standard streams of the process.

    A stream that is closed becomes the null device: else the next file that is opened takes its place and gets what is printed. A reader
    that goes away, as ``head`` does, changes neither the work nor the exit code. A letter that a terminal lacks is written as its number.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            _silence(number)
    for number, name in ((1, "stdout"), (2, "stderr")):
        old = getattr(sys, name)
        if old is not None and not isinstance(old, io.TextIOWrapper):
            continue  # not the stream of the process
        raw = _Descriptor(number, "wb", closefd=False)
        made = io.TextIOWrapper(
            io.BufferedWriter(raw),
            encoding="utf-8" if old is None else old.encoding,
            errors="backslashreplace",
            line_buffering=number == 2 or raw.isatty(),
            write_through=False if old is None else old.write_through,
        )
        setattr(sys, name, made)


def end_output() -> None:
    """Send what is printed from here on, by a module when Python ends, say, to standard error: it is not part of the result."""
    with contextlib.suppress(OSError, ValueError, UnwritableOutput):
        sys.stdout.flush()  # after a failure this is the rest, which goes nowhere
        os.dup2(2, 1)


class Terminated(SystemExit):
    """A request to end (SIGTERM, SIGHUP); other than a ``SystemExit`` of code that is not ours, it ends the command."""


def load_quietly(reference: str) -> Declaration:
    """Return the declaration behind PROFILE; what its module prints goes to standard error. Raises what :func:`profiles.load` raises."""
    from profiles import load

    with quiet_output():
        return load(reference)


@contextlib.contextmanager
def quiet_output() -> Iterator[None]:
    """Send what is printed meanwhile, also by compiled code and child processes, to standard error.

    Code that ends the program itself would choose the exit code: :class:`InvalidArgument` is raised in place of that.
    """
    sys.stdout.flush()
    saved = None
    with contextlib.suppress(OSError):
        saved = os.dup(1)
        os.dup2(2, 1)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
        sys.stdout.flush()  # what was printed by way of a stream that was kept goes to standard error, too
    except Terminated:
        raise
    except SystemExit as stop:
        raise InvalidArgument(
            "the code that was named ended the program itself (SystemExit) instead of giving a result; remove that",
            private=quote(stop.code),
        ) from None
    finally:
        if saved is not None:
            os.dup2(saved, 1)
            os.close(saved)
