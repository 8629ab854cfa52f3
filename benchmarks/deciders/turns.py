"""Shares of time: a call in a process of its own that is killed at its limit, and questions asked in turn."""

from __future__ import annotations

import multiprocessing
import resource
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from benchmarks.deciders.statements import Question, Statement

MEMORY_BYTES = 4 * 2**30


def _child(call: Callable[..., Any], arguments: tuple[Any, ...], pipe: Connection) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    try:
        pipe.send((call(*arguments), ""))
    except Exception as error:
        pipe.send((None, f"{type(error).__name__}: {str(error)[:200]}"))


def limited(seconds: float, call: Callable[..., Any], *arguments: Any) -> tuple[Any, str]:
    """Return what a call returns and no problem, or None and the problem: ``time``, or the error."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(call, arguments, there))
    process.start()
    there.close()
    try:
        return here.recv() if here.poll(seconds) else (None, "time")
    except EOFError:
        return None, "the process died"
    finally:
        process.kill()
        process.join()


def in_turn(ask: Callable[[Question], str], statement: Statement, seconds: float) -> str | None:
    """Ask the questions in turn, each with an equal share of the remaining time, until an answer says something."""
    end = time.monotonic() + seconds
    for index, question in enumerate(statement.questions):
        share = (end - time.monotonic()) / (len(statement.questions) - index)
        answer = limited(max(share, 0.01), ask, question)[0]
        found = {"unsat": question.unsat, "sat": question.sat}.get(answer)
        if found is not None:
            return found
    return None
