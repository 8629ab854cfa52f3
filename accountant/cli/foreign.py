"""Running code that is not ours from a command: what it prints stays off standard output, and people see how far it has come."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from accountant.cli.progress import show_progress
from profiles.errors import InvalidArgument
from profiles.private import quote

if TYPE_CHECKING:
    from profiles import Declaration


class Terminated(SystemExit):
    """A request to end (SIGTERM, SIGHUP); other than a ``SystemExit`` of code that is not ours, it ends the command."""


def load_quietly(reference: str) -> Declaration:
    """Return the declaration behind PROFILE; what its module prints goes to standard error. Raises what :func:`profiles.load` raises."""
    from profiles import load  # noqa: PLC0415

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


@contextlib.contextmanager
def with_progress(total: int) -> Iterator[Callable[[int], None] | None]:
    """Yield what is to be told how many outputs have come, and shows it on standard error; None where that is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    with show_progress("audit", "outputs") as report:
        yield lambda done: report(min(done, total), total)
