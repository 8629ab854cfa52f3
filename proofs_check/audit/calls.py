"""One call of code that is not ours: limited in time, and whatever it raises becomes an error with a name."""

from __future__ import annotations

import itertools
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from numbers import Real
from types import FrameType
from typing import Any

import numpy as np

from profiles.errors import InvalidArgument, PDPError
from profiles.private import locate_failure, quote_failure
from proofs_check.audit.errors import MechanismHangs, MechanismRaised


def require_time_limit(seconds: object) -> None:
    """Refuse anything but None or a positive number of seconds."""
    if seconds is not None and (isinstance(seconds, bool) or not isinstance(seconds, Real) or not 0 < float(seconds) < float("inf")):
        raise InvalidArgument(f"the time limit must be a positive number of seconds, but {str(seconds)[:40]} was found; give one")


def collect_outputs(returned: Any, size: int) -> Any:
    """Return lazily made outputs as a list, while the mechanism is still under watch; one more than asked for is enough to be refused."""
    return list(itertools.islice(returned, size + 1)) if isinstance(returned, Iterator) else returned


def call_watched(run: Callable[[], Any], time_limit: float | None) -> Any:
    """Return what the call returns. Raises :class:`MechanismHangs`, :class:`MechanismRaised`, and errors of the project as they are."""
    try:
        with _alarm(time_limit), np.errstate():  # what the mechanism makes of NumPy's warnings ends with the call
            return run()
    except _TimeOver:
        raise MechanismHangs(
            f"a call of the mechanism did not end within {time_limit:g} seconds; give a longer time limit or fewer samples"
        ) from None
    except (PDPError, KeyboardInterrupt):
        raise
    except MemoryError:
        raise MechanismRaised("the mechanism ran out of memory; ask for fewer samples") from None
    except (Exception, SystemExit) as error:
        raise MechanismRaised(
            f"the mechanism raised {locate_failure(error)}; correct it, or its data set", private=quote_failure(error)
        ) from None


class _TimeOver(BaseException):
    """The alarm rang. Not an :class:`Exception`, so that a handler inside the mechanism does not swallow it."""


def _ring(_number: int, _frame: FrameType | None) -> None:
    raise _TimeOver


@contextmanager
def _alarm(seconds: float | None) -> Iterator[None]:
    """Interrupt the block after some time; does nothing outside the main thread, and nothing where an alarm is set already."""
    possible = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if seconds is None or not possible or signal.getitimer(signal.ITIMER_REAL) != (0.0, 0.0):
        yield
        return
    before = signal.signal(signal.SIGALRM, _ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
