"""Effort: how long a search may take. Searches look at the clock by themselves; a single step of SymPy that does not is interrupted."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import TypeVar

#: Seconds between the end of a search's time and its interruption.
GRACE = 0.5

Found = TypeVar("Found")

_deadline: ContextVar[float] = ContextVar("deadline", default=math.inf)


class OutOfTime(BaseException):
    """A search was interrupted. Not an :class:`Exception`, so that no handler for errors of a heuristic takes it for one of them."""


def within(seconds: float, search: Callable[[], Found]) -> Found | None:
    """Return what a search finds in some time, or in what an outer one has left if that is less; None where it is interrupted.

    The interruption needs the main thread of a Unix process whose alarm is not in use; elsewhere only the searches' own looks count.
    """
    outer = _deadline.get()
    mine = min(outer, time.monotonic() + seconds)
    token = _deadline.set(mine)
    try:
        with _alarm(mine + GRACE):
            return search()
    except OutOfTime:
        if time.monotonic() >= outer + GRACE:
            raise
        return None
    finally:
        _deadline.reset(token)


def out_of_time() -> bool:
    """Tell whether the current search should end."""
    return time.monotonic() > _deadline.get()


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise OutOfTime


@contextmanager
def _alarm(deadline: float) -> Iterator[None]:
    """Interrupt the body at a moment, then set the alarm of an outer body again."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    handler, (left, _) = signal.getsignal(signal.SIGALRM), signal.getitimer(signal.ITIMER_REAL)
    if left > 0 and handler is not _interrupt:
        yield
        return
    start = time.monotonic()
    signal.signal(signal.SIGALRM, _interrupt)
    signal.setitimer(signal.ITIMER_REAL, max(deadline - start, 0.001))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        if left > 0:
            signal.setitimer(signal.ITIMER_REAL, max(left - (time.monotonic() - start), 0.001))
