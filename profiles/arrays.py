"""The array types of the project: one alias for each kind of element, shared by all packages. Shapes are said where arrays are used."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: Binary64 numbers.
Floats = NDArray[np.float64]
#: Integers of 64 bits, whose sums are exact while they fit.
Integers = NDArray[np.int64]
#: What NumPy's own functions return for the positions of entries.
Positions = NDArray[np.intp]
#: Decisions, one an entry.
Booleans = NDArray[np.bool_]

__all__ = ["Booleans", "Floats", "Integers", "Positions"]
