"""Reports that leave at public moments: a clock says when a time step is over and when its report is seen, never a record.

Without a clock the report of a step appears when a record of a later time comes. Who sees it appear learns that somebody had a record
then, and who sees nothing appear learns that nobody had: the number of reports so far, and the time that passes without one, are
functions of the stream that no noise covers. Here both are functions of the clock (docs/heavy-hitters.md, section "When a report appears").
"""

from __future__ import annotations

import math
import threading
import time as system_time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn, Protocol, runtime_checkable

import numpy as np

from accountant.applications.heavyhitters.domain import to_integers
from accountant.applications.heavyhitters.streams import StreamBatch, choose_rows, cut_records
from accountant.applications.heavyhitters.watching import StepReport, Watch
from accountant.guarantees import Guarantee
from profiles import InvalidArgument, InvalidData
from profiles.arrays import Integers
from profiles.numbers import to_integer
from profiles.randomness.bits import Uncopied

_LONGEST_SLEEP = 60.0


@runtime_checkable
class Clock(Protocol):
    """Public moments, two for each time step. They must not depend on the stream."""

    def close(self, time: int) -> None:
        """Return when the time step ``time`` is over: records of it that come later are not counted."""

    def release(self, time: int) -> None:
        """Return when the report of the time step ``time`` leaves. What lies between the two is for the work, which takes as long as the
        data make it.
        """


@dataclass(frozen=True, slots=True)
class PublicClock:
    """A clock with equal steps: step ``first`` + j is over ``(j + 1)·seconds`` after the start; its report leaves ``work`` seconds later.

    ``start`` is a value of ``now``, by default that at which the clock is made. A report that is not ready in time leaves a whole number of
    steps later, so that less is seen of the work that it took; that this does not happen is a hypothesis. All of it is public.
    Raises :class:`InvalidArgument`.

    >>> moments = []
    >>> clock = PublicClock(seconds=10, work=2, start=100, now=lambda: 100, sleep=moments.append)
    >>> clock.moments(3)
    (140.0, 142.0)
    """

    seconds: float
    work: float
    first: int = 0
    start: float | None = None
    now: Callable[[], float] = field(default=system_time.monotonic, repr=False)
    sleep: Callable[[float], object] = field(default=system_time.sleep, repr=False)

    def __post_init__(self) -> None:
        for value, what in ((self.seconds, "seconds"), (self.work, "work")):
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < math.inf:
                raise InvalidArgument(f"{what} must be a positive number, but {str(value)[:40]!r} was found; give a public duration")
        to_integer(self.first, "the first time step", hint="give its time")
        if self.start is None:
            object.__setattr__(self, "start", float(self.now()))

    def moments(self, time: int) -> tuple[float, float]:
        """Return when a time step is over, and when its report leaves."""
        over = float(self.start or 0.0) + (time - self.first + 1) * self.seconds
        return over, over + self.work

    def close(self, time: int) -> None:
        self._wait(self.moments(time)[0])

    def release(self, time: int) -> None:
        """Wait until the moment of the report; if that is past, until it comes again a whole number of steps later."""
        due = self.moments(time)[1]
        self._wait(due + max(0, math.ceil((self.now() - due) / self.seconds)) * self.seconds)

    def _wait(self, moment: float) -> None:
        while (left := moment - self.now()) > 0:
            self.sleep(min(left, _LONGEST_SLEEP))


class ClockedWatch(Uncopied):
    """Claim: everything that :meth:`tick` returns, together, has the guarantee ``guarantee``; how many reports there are, and at which
    calls, depends on the calls of :meth:`tick` alone. Made by ``HeavyHitterMonitor.start_clocked``.

    Records come by :meth:`push`, from any thread and in any order, and never make a report appear. Those of a time step that is over are
    not counted. Records of steps that are not over are held as they are: memory grows with them.
    """

    __slots__ = ("_held", "_lock", "_over", "_turn", "_watch", "guarantee")

    def __init__(self, watch: Watch, guarantee: Guarantee) -> None:
        self.guarantee = guarantee
        self._watch = watch
        self._held: list[StreamBatch] = []
        self._over: int | None = None
        self._lock, self._turn = threading.Lock(), threading.Lock()

    def push(self, times: Any, users: Any, items: Any) -> None:
        """Take records: ``times`` one for all of them, or as many as there are; ``users``, ``items``: sequences of one length.

        Returns nothing. Raises :class:`InvalidData` for lengths and times; other faults of the records show at their :meth:`tick`.
        """
        numbers = to_integers(np.full(len(users), times) if isinstance(times, (int, np.integer)) else times, "a time")
        if not numbers.size == len(users) == len(items):
            raise InvalidData(
                "columns of one length were expected, but times, users and items of different lengths were found; pass triples",
                private=f"{numbers.size} times, {len(users)} users and {len(items)} items",
            )
        if numbers.size:
            with self._lock:
                self._held.append(StreamBatch(users, numbers, items))

    def tick(self, time: int) -> tuple[StepReport, ...]:
        """Return the reports of all time steps up to ``time`` that were not returned yet: these are over now.

        Call it at public moments, and let what it returns be seen at public moments: how long it takes depends on the data.
        Raises :class:`InvalidArgument` unless ``time`` is a public time step after the last one, and what ``Watch.push`` raises.
        """
        with self._turn:
            self._watch.require_to_come(time)
            with self._lock:
                due = self._take(time)
            reports = self._watch.push(due.times, due.users, due.items) if len(due.times) else ()
            self._over = time
            return reports + tuple(self._watch.iterate_until(time))

    def _take(self, time: int) -> StreamBatch:
        """Return the records up to ``time``, sorted by time, and hold the later ones; those that come too late are dropped."""
        parts, later = [], []
        for batch in self._held:
            rows = batch.times <= time
            if self._over is not None:
                rows &= batch.times > self._over
            parts.append(batch.pick(np.flatnonzero(rows)))
            rest = batch.pick(np.flatnonzero(batch.times > time))
            if len(rest.times):
                later.append(rest)
        self._held = later
        times: Integers = np.concatenate([part.times for part in parts]) if parts else np.empty(0, dtype=np.int64)
        order = np.argsort(times, kind="stable")
        return StreamBatch(_join([part.users for part in parts], order), times[order], _join([part.items for part in parts], order))

    def _refuse_copy(self) -> NoReturn:
        raise InvalidArgument("a pass cannot be copied or pickled, because both would use the same random bits; start another one")


def follow_clock(watch: ClockedWatch, stream: Iterable[Any], clock: Clock, times: Iterable[int]) -> Iterator[StepReport]:
    """Yield the report of each public time step when ``clock`` releases it, while a thread reads ``stream``, which may block or end early.

    What the thread raises is raised here when the time step is over. Raises :class:`InvalidArgument` for what is not a clock.
    """
    reader = _Reader(watch, stream)
    reader.thread.start()
    try:
        for time in times:
            clock.close(time)
            reader.raise_error()
            reports = watch.tick(time)
            clock.release(time)
            yield from reports
    finally:
        reader.stopped.set()


class _Reader:
    """A thread that pushes the records of a stream until it ends, fails, or is told to stop (which a stream that blocks does not hear)."""

    __slots__ = ("_error", "_stream", "_watch", "stopped", "thread")

    def __init__(self, watch: ClockedWatch, stream: Iterable[Any]) -> None:
        self._watch, self._stream = watch, stream
        self._error: Exception | None = None
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self._read, name="records of a clocked pass", daemon=True)

    def raise_error(self) -> None:
        """Raise what the thread met."""
        if self._error is not None:
            raise self._error

    def _read(self) -> None:
        try:
            for record in self._stream:
                if self.stopped.is_set():
                    return
                for batch in cut_records([record]):  # one at a time: a record must not wait for the next one
                    self._watch.push(batch.times, batch.users, batch.items)
        except Exception as error:
            self._error = error


def _join(columns: list[Any], order: Integers) -> Any:
    if columns and all(isinstance(column, np.ndarray) for column in columns):
        return np.concatenate(columns)[order]
    return choose_rows([value for column in columns for value in column], order)
