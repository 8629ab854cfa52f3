"""Shares of processor time: a call in a process of its own that is killed at its limit, and steps taken in turn.

Processor time, so that a busy machine disturbs nobody; waiting time is limited to a generous multiple of it.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import resource
import signal
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from typing import Any

MEMORY_BYTES = 4 * 2**30
PATIENCE = 12.0
DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG of Linux


def _child(seconds: float, call: Callable[..., Any], arguments: tuple[Any, ...], pipe: Connection) -> None:
    ctypes.CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGKILL)
    signal.setitimer(signal.ITIMER_PROF, seconds)  # whose signal ends the process
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    try:
        pipe.send((call(*arguments), ""))
    except Exception as error:
        pipe.send((None, f"{type(error).__name__}: {str(error)[:200]}"))


def used() -> float:
    """The processor time of this process and of the children that it has waited for, in seconds."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def limited(seconds: float, call: Callable[..., Any], *arguments: Any) -> tuple[Any, str]:
    """Return what a call returns and no problem, or None and the problem: ``time``, or the error."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(seconds, call, arguments, there))
    process.start()
    there.close()
    try:
        return here.recv() if here.poll(PATIENCE * seconds + 5) else (None, "time")
    except EOFError:
        return None, "time"
    finally:
        process.kill()
        process.join()


def in_turn(steps: Sequence[Callable[[], str | None]], seconds: float, *, first: float = 0.0) -> str | None:
    """Take the steps in turn until one says something; each gets an equal share of what is left, the first at least ``first`` seconds."""
    start = used()
    for index, step in enumerate(steps):
        left = seconds - (used() - start)
        if left <= 0:
            return None
        share = left / (len(steps) - index)
        found = limited(share if index else max(share, first), step)[0]
        if found is not None:
            return str(found)
    return None
