"""One call of code that is not ours: it is limited in time, its errors get our names, and what it must not change is compared."""

from __future__ import annotations

import itertools
import random
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from numbers import Real
from types import FrameType
from typing import Any

import numpy as np

from profiles.errors import InvalidArgument, PDPError
from profiles.private import locate_failure, quote_failure
from proofs_check.audit.errors import MechanismHangs, MechanismRaised, SharedGenerator, UnusableOutputs


def require_time_limit(seconds: object) -> None:
    """Refuse anything but None or a positive number of seconds."""
    if seconds is not None and (isinstance(seconds, bool) or not isinstance(seconds, Real) or not 0 < float(seconds) < float("inf")):
        raise InvalidArgument(f"the time limit must be a positive number of seconds, but {str(seconds)[:40]} was found; give one")


def collect_outputs(returned: Any, size: int) -> Any:
    """Return lazily made outputs as a list, while the mechanism is still watched; one more than requested is enough to be refused."""
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


def global_state() -> tuple[Any, ...]:
    """Return the state of the global generators of NumPy and Python."""
    name, key, *rest = np.random.get_state(legacy=True)  # noqa: NPY002 - the global generator is what is watched
    return (name, key.tobytes() if isinstance(key, np.ndarray) else key, *rest, random.getstate())


def require_unused(before: tuple[Any, ...]) -> None:
    """Refuse a call after which the global generators are no longer as ``before``. Raises :class:`SharedGenerator`."""
    if global_state() != before:
        raise SharedGenerator(
            "the mechanism draws from a global generator (numpy.random or random), which other code and processes share; draw from the "
            "generator passed to it"
        )


def require_unchanged(before: Any, after: Any) -> None:
    """Refuse a mechanism that has changed its data set. Raises :class:`UnusableOutputs`."""
    if not equal_data(before, after):
        raise UnusableOutputs("the mechanism changes its data set, so that runs depend on each other; copy it first")


def equal_data(before: Any, after: Any) -> bool:
    """Tell whether two data sets are equal, as far as can be seen; what cannot be compared counts as equal.

    >>> equal_data([1.0, float("nan")], [1.0, float("nan")]), equal_data({"a": [1]}, {"a": [2]})
    (True, False)
    """
    if before is after:
        return True
    if isinstance(before, np.ndarray) and isinstance(after, np.ndarray):
        if before.shape != after.shape or before.dtype != after.dtype:
            return False
        return equal_data(before.tolist(), after.tolist()) if before.dtype == object else before.tobytes() == after.tobytes()
    if isinstance(before, (tuple, list)) and isinstance(after, (tuple, list)):
        return len(before) == len(after) and all(equal_data(a, b) for a, b in zip(before, after, strict=True))
    if isinstance(before, dict) and isinstance(after, dict):
        return before.keys() == after.keys() and all(equal_data(value, after[key]) for key, value in before.items())
    if isinstance(before, (set, frozenset)) and isinstance(after, (set, frozenset)):
        return len(before) == len(after) and (before == after or any(item != item for item in before))  # noqa: PLR0124 - NaN again
    if isinstance(before, (int, float, str, bytes, Fraction)):
        return bool(before == after) or before != before  # noqa: PLR0124 - NaN is unequal to itself
    if hasattr(before, "__dict__") and type(before) is type(after):
        return equal_data(vars(before), vars(after))
    return True


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
