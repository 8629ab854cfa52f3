"""The array types of the project: one alias for each kind of element, shared by all packages."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: Binary64 numbers of any shape.
Floats = NDArray[np.float64]

__all__ = ["Floats"]
