"""The array types of the project, one alias for each kind of element, and who hears the floating-point flags of arrays of records.

Shapes are said where arrays are used.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

_P = ParamSpec("_P")
_R = TypeVar("_R")

#: Binary64 numbers.
Floats = NDArray[np.float64]
#: Integers of 64 bits, whose sums are exact while they fit.
Integers = NDArray[np.int64]
#: What NumPy's own functions return for the positions of entries.
Positions = NDArray[np.intp]
#: Decisions, one an entry.
Booleans = NDArray[np.bool_]


def ignore_flags(work: Callable[_P, _R]) -> Callable[_P, _R]:
    """Return ``work`` with NumPy's floating-point flags ignored, whatever the caller has set by ``np.seterr``.

    Which flags a pass over records raises depends on single records. An exception, a warning or a call for one of them would be an output
    that no guarantee covers; all that such a pass needs to know, it looks for in its numbers. (NumPy's own ``errstate`` as a decorator
    does not restore the flags of nested calls before NumPy 2.)

    >>> with np.errstate(all="raise"):
    ...     float(ignore_flags(np.square)(1e-200))
    0.0
    """

    @wraps(work)
    def quiet(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        with np.errstate(all="ignore"):
            return work(*args, **kwargs)

    return quiet
