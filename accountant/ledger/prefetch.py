"""Work that threads do ahead of whoever waits for it: NumPy, hashes and Arrow's readers let other threads run meanwhile.

What a thread raises is raised where its result is awaited. Whoever stops before the end waits for the few things that are under way.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar, TypeVarTuple

import numpy as np

_Item = TypeVar("_Item")
_Made = TypeVar("_Made")
_Given = TypeVarTuple("_Given")

#: Threads that compute, and how many results they may be ahead.
_WORKERS, _AHEAD = 2, 4


def read_ahead(items: Iterator[_Item]) -> Iterator[_Item]:
    """Yield what ``items`` yields, none of which is None, in order; the next two are made in a thread of their own meanwhile."""
    with ThreadPoolExecutor(1) as pool:
        waiting = deque(pool.submit(next, items, None) for _ in range(2))
        while (item := waiting.popleft().result()) is not None:
            waiting.append(pool.submit(next, items, None))
            yield item


def compute_ahead(function: Callable[[*_Given], _Made], items: Iterable[tuple[*_Given]]) -> Iterator[_Made]:
    """Yield ``function`` of each of ``items``, in order; threads compute the next ones. The items are made by the caller's thread."""
    waiting: deque[Future[_Made]] = deque()
    with ThreadPoolExecutor(_WORKERS) as pool:
        for item in items:
            waiting.append(pool.submit(function, *item))
            if len(waiting) > _AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def keep_memory() -> None:
    """Have the C library keep the memory of arrays that are freed, for the next ones.

    The GNU one gives back what is larger than anything that was freed before, and then asks for it again, page by page. This frees 16 MB
    that were never touched.
    """
    np.empty(1 << 24, np.uint8)
