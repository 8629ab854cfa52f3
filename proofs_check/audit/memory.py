"""Whether a mechanism remembers: fresh copies of it and of its data sets, and the other order in a process that has seen nothing."""

from __future__ import annotations

import contextlib
import copy
import os
import pickle
import select
import signal
import sys
import time
import warnings
from collections import deque
from collections.abc import Callable
from typing import Any

#: Copies of a data set that are kept, so that a later one is not found at the same place in memory, and their bytes at most.
_KEPT, _KEPT_BYTES = 64, 1 << 26
_CHUNK = 1 << 16


def copy_mechanism(mechanism: Callable[..., Any]) -> Callable[..., Any]:
    """Return a copy that shares no state with a mechanism, or the mechanism itself if it cannot be copied, such as a function or an object
    with a lock.
    """
    try:
        made = copy.deepcopy(mechanism)
    except Exception:
        return mechanism
    return made if callable(made) else mechanism


class Copies:
    """Fresh copies of a mechanism and of two data sets for each call, or the originals if they cannot be copied.

    A mechanism with randomness of its own is never copied: the copies would draw the same noise again and again.
    """

    __slots__ = ("_aged", "_datasets", "_keeps", "_kept", "_mechanism", "of_mechanism")

    def __init__(self, mechanism: Callable[..., Any], datasets: tuple[Any, Any], *, own_randomness: bool) -> None:
        self._mechanism, self._datasets = mechanism, datasets
        self._aged = mechanism if own_randomness else copy_mechanism(mechanism)
        self.of_mechanism = not own_randomness and self._aged is not mechanism
        self._kept: deque[Any] = deque(maxlen=_KEPT)
        self._keeps = _size_of(datasets) * _KEPT <= _KEPT_BYTES

    def mechanism(self, *, fresh: bool) -> Callable[..., Any]:
        """Return a copy that has not run yet, or the shared one if no fresh one is requested."""
        return copy_mechanism(self._mechanism) if fresh and self.of_mechanism else self._aged

    def dataset(self, which: int) -> Any:
        """Return a deep copy of D (0) or D′ (1) for one call, or the object itself where it cannot be copied."""
        try:
            made = copy.deepcopy(self._datasets[which])
        except Exception:
            return self._datasets[which]
        if self._keeps:
            self._kept.append(made)
        return made


def _size_of(datasets: tuple[Any, Any]) -> int:
    try:
        return max(len(pickle.dumps(dataset, protocol=5)) for dataset in datasets)
    except Exception:
        return _KEPT_BYTES


class NoAnswer(Exception):
    """A process of its own gave no result; the text says why. Says nothing about the mechanism."""


def can_fork() -> bool:
    """Tell whether this system can run something in a copy of the process as it is now."""
    return hasattr(os, "fork") and sys.platform != "darwin"


class ForkedCall:
    """A call in a copy of this process as it is now: its changes of objects, modules and caches have no effect here.

    The result must be picklable. Raises :class:`NoAnswer` where no process could be started.
    """

    __slots__ = ("_pid", "_reading")

    def __init__(self, call: Callable[[], Any]) -> None:
        reading, writing = os.pipe()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that there are threads: a copy that hangs is ended
                pid = os.fork()
        except (OSError, RuntimeError) as error:
            os.close(reading)
            os.close(writing)
            raise NoAnswer(f"no process could be started ({type(error).__name__})") from None
        if pid == 0:
            _answer(call, writing)
        os.close(writing)
        self._pid, self._reading = pid, reading

    def result(self, seconds: float) -> Any:
        """Return what the call returned, within so many seconds. Raises :class:`NoAnswer`."""
        parts, deadline = [], time.monotonic() + seconds
        try:
            while True:
                ready, _, _ = select.select([self._reading], [], [], max(0.0, deadline - time.monotonic()))
                if not ready:
                    raise NoAnswer("it did not end there in time")
                part = os.read(self._reading, _CHUNK)
                if not part:
                    break
                parts.append(part)
        finally:
            self.end()
        try:
            done, value = pickle.loads(b"".join(parts))  # noqa: S301 - our own process sent it
        except Exception:
            raise NoAnswer("it ended without a result there") from None
        if not done:
            raise NoAnswer(value)
        return value

    def end(self) -> None:
        """Kill the process of the call, if it still runs, and wait for its end."""
        if self._pid:
            os.close(self._reading)
            with contextlib.suppress(OSError):
                os.kill(self._pid, signal.SIGKILL)
            with contextlib.suppress(OSError):
                os.waitpid(self._pid, 0)
            self._pid = 0


def _answer(call: Callable[[], Any], writing: int) -> None:
    """Run the call in the new process, send what came of it, and end; nothing of the parent's is flushed or cleaned up."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        silent = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(silent, stream)
        try:
            sent = pickle.dumps((True, call()))
        except BaseException as error:
            sent = pickle.dumps((False, f"it raised {type(error).__name__} there"))
        with os.fdopen(writing, "wb") as stream_out:
            stream_out.write(sent)
    finally:
        os._exit(0)
