"""Effort: how much work a search may do. Work is counted, not timed, so that a verdict depends neither on the machine nor on its load.

Claim: what ``within`` returns is a function of the search alone, however fast the machine is, whatever else runs on it, in whatever thread
and after whatever other searches: every step that may be expensive says beforehand what it costs (``spend``), a number computed from its
input; what a search remembers (``memory``) is forgotten at its end. The exception is the safety limit: a search that uses ``LIMIT`` seconds
of processor time, which counted work should never let it, is interrupted, and ``why_ended`` says so.

Work is given in nominal seconds; ``UNITS`` of them are about a second of an ordinary processor.

Heuristics may fail, too: SymPy raises errors of many kinds on odd expressions, and a search that fails has found nothing.
"""

from __future__ import annotations

import ctypes
import functools
import logging
import math
import threading
import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, ParamSpec, TypeVar

from profiles.errors import InvalidExpression, PDPError

#: Units of work in a nominal second: one is about a microsecond.
UNITS = 1_000_000
#: Seconds of processor time after which the outermost search is interrupted, whatever it has counted.
LIMIT = 60.0
#: Seconds after which an interruption that was swallowed on its way is sent again.
AGAIN = 0.2

Found = TypeVar("Found")
P = ParamSpec("P")

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Search:
    """What one search may still spend, the search that it is part of, and what both remember."""

    left: float
    outer: _Search | None
    memory: dict[str, dict[Any, Any]]


_search: ContextVar[_Search | None] = ContextVar("search", default=None)


class OutOfTime(BaseException):
    """A search was interrupted. Not an :class:`Exception`, so that no handler for errors of a heuristic takes it for one of them."""


class OutOfWork(OutOfTime):
    """A search has done the work that it may do; ``search`` is the outermost one that has."""

    def __init__(self, search: _Search) -> None:
        super().__init__()
        self.search = search


def within(seconds: float, search: Callable[[], Found]) -> Found | None:
    """Return what a search finds with some work (in nominal seconds), or with what an outer one has left if that is less.

    None where the work is done before it ends, or where the safety limit is reached.
    """
    return within_saying_why(seconds, search)[0]


def within_saying_why(seconds: float, search: Callable[[], Found]) -> tuple[Found | None, str | None]:
    """Return the same, and for people why the search did not end by itself (None where it did)."""
    outer = _search.get()
    own = _Search(seconds * UNITS if outer is None else min(outer.left, seconds * UNITS), outer, {} if outer is None else outer.memory)
    return _run(own, search, watched=outer is None, asked=seconds)


def apart(seconds: float, search: Callable[[], Found]) -> Found | None:
    """Return what a search finds by itself: it neither spends what an outer one has left, nor knows what that one remembers.

    For what several searches share: whichever of them needs it first, it is the same, and the same is left to them.
    """
    return _run(_Search(seconds * UNITS, None, {}), search, watched=_search.get() is None, asked=seconds)[0]


def by_itself(search: Callable[P, Found | None]) -> Callable[P, Found | None]:
    """Decorate a search that runs :func:`apart` where it is part of no other one, with as much work as it takes."""

    @functools.wraps(search)
    def run(*args: P.args, **named: P.kwargs) -> Found | None:
        return search(*args, **named) if is_counted() else apart(math.inf, lambda: search(*args, **named))

    return run


def _run(own: _Search, search: Callable[[], Found], *, watched: bool, asked: float) -> tuple[Found | None, str | None]:
    token, watch = _search.set(own), _Watch() if watched else None
    try:
        try:
            if watch is not None:
                watch.start()
            return search(), None
        finally:
            if watch is not None:
                watch.end()
    except OutOfWork as reached:
        if reached.search is not own:
            raise
        return None, f"the search used up its budget of work ({asked:g} nominal seconds, counted, so the same on every machine)"
    except OutOfTime:
        if watch is None:
            raise
        watch.end()  # the interruption may have come before the first end had begun
        return None, f"the safety limit of {LIMIT:g} s of processor time was reached; on a faster machine it may be decided"
    finally:
        _search.reset(token)


def spend(units: float) -> None:
    """Count work that is about to be done. Raises :class:`OutOfWork`, which is for ``within``, where less than that is left."""
    reached, search = None, _search.get()
    while search is not None:
        search.left -= units
        if search.left < 0:
            reached = search
        search = search.outer
    if reached is not None:
        raise OutOfWork(reached)


def out_of_time() -> bool:
    """Tell whether the current search has done what it may do."""
    search = _search.get()
    return search is not None and search.left <= 0


def is_counted() -> bool:
    """Tell whether what is done now is part of a search."""
    return _search.get() is not None


def remaining() -> float:
    """Return the units that the current search has left; infinitely many outside of any search."""
    search = _search.get()
    return math.inf if search is None else max(search.left, 0)


def memory(kind: str) -> dict[Any, Any]:
    """Return what the current search remembers of a kind: an empty dictionary at its start; forgotten at once outside of any search."""
    search = _search.get()
    return {} if search is None else search.memory.setdefault(kind, {})


def remembered(kind: str, key: Hashable, make: Callable[[], Found]) -> Found:
    """Return what ``make`` returns, which the current search remembers by its kind and a key that says all that it depends on."""
    known = memory(kind)
    if key not in known:
        known[key] = make()
    result: Found = known[key]
    return result


def until_failure(steps: Iterable[Found]) -> Iterator[Found]:
    """Yield what a heuristic finds, and end where it fails; errors of ours, which say something, go through. Failures are logged."""
    iterator = iter(steps)
    while True:
        try:
            step = next(iterator)
        except StopIteration:
            return
        except PDPError:
            raise
        except Exception:  # the kinds are SymPy's, and new ones come with every version
            _log.debug("a heuristic failed", exc_info=True)
            return
        yield step


def one_way(seconds: float, search: Callable[[], Found | None]) -> Found | None:
    """Return what one of several ways finds with its share of the work; an expression too large to be dealt with ends this way only."""
    try:
        return within(seconds, search)
    except InvalidExpression:
        _log.debug("one way ended at an expression", exc_info=True)
        return None


@dataclass(slots=True)
class _Watch:
    """Interrupts one thread when it has used the limit, and again while that has no effect, until it says that the search has ended.

    No signals: those belong to the caller, and reach the main thread only. An exception sent to a thread may arrive late, so that ``end``
    waits for one that is being sent, and then sends one itself, which takes the place of any that has not arrived, and catches it. One may
    arrive inside ``end`` at any point: hence nothing there takes a lock, and an interrupted ``end`` starts again.
    """

    thread: int = field(default_factory=threading.get_ident)
    running: threading.Lock = field(default_factory=threading.Lock)
    over: bool = False
    sending: bool = False
    sent: bool = False

    def start(self) -> None:
        """Start the thread that looks at the clock of this one."""
        self.running.acquire()
        guard = threading.Thread(target=self._guard, args=(_clock(),), daemon=True, name="search-limit")
        try:
            guard.start()
        except RuntimeError:  # there are no threads here, or no more of them; the counted work bounds the search all the same
            _log.debug("a search runs without the safety limit", exc_info=True)

    def _guard(self, clock: Callable[[], float]) -> None:
        limit = LIMIT
        while not self.running.acquire(timeout=max(limit - clock(), AGAIN)):  # a thread uses no more time than passes
            if clock() < limit:
                continue
            self.sending = True
            if not self.over:
                _log.debug("a search has used %s s and is interrupted", limit)
                self.sent = True
                _interrupt(self.thread)
            self.sending = False
            limit = clock() + AGAIN

    def end(self) -> None:
        """End the watch: no interruption is under way afterwards."""
        while True:
            try:
                self.over = True
                while self.sending:
                    time.sleep(0)
                if self.sent:
                    _interrupt(self.thread)
                    while True:
                        time.sleep(0)
                if self.running.locked():
                    self.running.release()
                return
            except OutOfTime:
                self.sent = self.sending or not self.over  # nobody sends any more, and this was the last one


def _interrupt(thread: int) -> None:
    """Let :class:`OutOfTime` be raised in a thread at its next step, in place of one that has not been raised yet."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(OutOfTime))


def _clock() -> Callable[[], float]:
    """Return a clock of the processor time that this thread uses from now on, which other threads can read; of all threads without one."""
    if hasattr(time, "pthread_getcpuclockid"):
        identity = time.pthread_getcpuclockid(threading.get_ident())
        start = time.clock_gettime(identity)

        def used() -> float:
            try:
                return time.clock_gettime(identity) - start
            except OSError:  # the thread is gone
                return 0.0

        return used
    start = time.process_time()
    return lambda: time.process_time() - start
