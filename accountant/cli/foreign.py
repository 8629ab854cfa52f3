"""Running code that is not ours from a command: what it prints stays off standard output, and people see how far it has come."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

#: Seconds before progress is shown, and between two updates.
_QUIET, _EVERY = 2.0, 0.2


@contextlib.contextmanager
def quiet_output() -> Iterator[None]:
    """Send what is printed meanwhile, also by compiled code and child processes, to standard error."""
    sys.stdout.flush()
    saved = None
    with contextlib.suppress(OSError):
        saved = os.dup(1)
        os.dup2(2, 1)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        if saved is not None:
            os.dup2(saved, 1)
            os.close(saved)


@contextlib.contextmanager
def with_progress(mechanism: Callable[..., Any], total: int) -> Iterator[Callable[..., Any]]:
    """Yield the mechanism, telling on standard error how many outputs have come; as it is where that is no terminal."""
    if not sys.stderr.isatty():
        yield mechanism
        return
    started, shown, done = time.monotonic(), 0.0, 0

    def watched(dataset: Any, rng: np.random.Generator, size: int) -> Any:
        nonlocal shown, done
        outputs = mechanism(dataset, rng, size)
        done += size
        now = time.monotonic()
        if now - started > _QUIET and now - shown > _EVERY:
            shown = now
            _tell(f"\r{min(done, total)} of at most {total} outputs")
        return outputs

    try:
        yield watched
    finally:
        if shown:
            _tell("\r\x1b[K")


def _tell(text: str) -> None:
    with contextlib.suppress(OSError):
        sys.stderr.write(text)
        sys.stderr.flush()
