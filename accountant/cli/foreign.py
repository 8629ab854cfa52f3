"""Running code that is not ours from a command: what it prints stays off standard output, and people see how far it has come."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from accountant.cli.progress import show_progress


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
    done = 0
    with show_progress("audit", "outputs") as report:

        def watched(dataset: Any, rng: np.random.Generator, size: int) -> Any:
            nonlocal done
            outputs = mechanism(dataset, rng, size)
            done += size
            report(min(done, total), total)
            return outputs

        yield watched
