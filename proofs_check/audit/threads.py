"""One thread for small matrix products: waiting threads cost more than they save, above all on a busy machine."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController


def one_thread() -> AbstractContextManager[Any]:
    """Return a context in which BLAS and OpenMP libraries that are loaded by now use one thread."""
    limit: AbstractContextManager[Any] = _controller(len(sys.modules)).limit(limits=1)
    return limit


@lru_cache(maxsize=1)
def _controller(_modules: int) -> ThreadpoolController:
    """Return what knows the loaded libraries; looked up again when modules were imported since, as looking takes milliseconds."""
    return ThreadpoolController()
