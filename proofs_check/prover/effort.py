"""Effort: how long a search may take. Searches look at the clock by themselves; a single step of SymPy that does not is interrupted.

Effort is processor time, so that a verdict does not depend on what else the machine does; only the outermost search is limited in real
time as well.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import FrameType
from typing import TypeVar

#: Seconds between the end of a search's time and its interruption, and between two looks of the alarm.
GRACE, LOOK = 0.5, 0.2
#: Real time that the outermost search may take, for each second of effort.
REAL = 1.25

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class _Deadline:
    processor: float = math.inf
    real: float = math.inf

    def passed(self, grace: float = 0.0) -> bool:
        """Tell whether one of the two times is over, for some time already."""
        return time.process_time() > self.processor + grace or time.monotonic() > self.real + grace


_deadline: ContextVar[_Deadline] = ContextVar("deadline", default=_Deadline())  # noqa: B039 - it is frozen


class OutOfTime(BaseException):
    """A search was interrupted. Not an :class:`Exception`, so that no handler for errors of a heuristic takes it for one of them."""


def within(seconds: float, search: Callable[[], Found]) -> Found | None:
    """Return what a search finds in some time, or in what an outer one has left if that is less; None where it is interrupted.

    The interruption needs the main thread of a Unix process whose alarm is not in use; elsewhere only the searches' own looks count.
    """
    outer = _deadline.get()
    real = time.monotonic() + REAL * seconds if outer.real == math.inf else outer.real
    token = _deadline.set(_Deadline(min(outer.processor, time.process_time() + seconds), real))
    try:
        with _alarm():
            return search()
    except OutOfTime:
        if outer.passed(GRACE):
            raise
        return None
    finally:
        _deadline.reset(token)


def out_of_time() -> bool:
    """Tell whether the current search should end."""
    return _deadline.get().passed()


def _look(_number: int, _frame: FrameType | None) -> None:
    if _deadline.get().passed(GRACE):
        raise OutOfTime


@contextmanager
def _alarm() -> Iterator[None]:
    """Look at the clock every now and then, if nobody else has set the alarm."""
    possible = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if not possible or signal.getitimer(signal.ITIMER_REAL) != (0.0, 0.0):
        yield
        return
    before = signal.signal(signal.SIGALRM, _look)
    signal.setitimer(signal.ITIMER_REAL, LOOK, LOOK)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
