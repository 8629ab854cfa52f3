"""How an audit computes: in one thread, as waiting ones cost more than they save on small products, and without NumPy's warnings."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController


@contextmanager
def quietly() -> Iterator[None]:
    """Use one thread, and pass over warnings of floating point: infinite outputs and hopeless bets are expected, and lead to nothing."""
    with one_thread(), np.errstate(all="ignore"):
        yield


def one_thread() -> AbstractContextManager[Any]:
    """Return a context in which BLAS and OpenMP libraries that are loaded by now use one thread."""
    limit: AbstractContextManager[Any] = _controller(len(sys.modules)).limit(limits=1)
    return limit


@lru_cache(maxsize=1)
def _controller(_modules: int) -> ThreadpoolController:
    """Return what knows the loaded libraries; looked up again when modules were imported since, as looking takes milliseconds."""
    return ThreadpoolController()
