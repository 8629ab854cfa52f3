"""The record domain of the catalogue's mechanisms: a ball of R^d."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from profiles.arrays import Floats
from profiles.errors import InvalidArgument
from profiles.mechanisms.datasets import check_radius, compute_norms
from profiles.mechanisms.interface import require_norm, to_dimension
from profiles.numbers import round_down, to_exact

#: A computed point is this much shorter than the radius where it had to be scaled: more than the rounding of norm and product.
_MARGIN = 1 - 2.0**-40


@dataclass(frozen=True, slots=True)
class RecordBall:
    """The records x ∈ R^d with ‖x‖_p ≤ radius; p ≥ 1 or ``math.inf``. Raises :class:`InvalidArgument`, :class:`InvalidNumber`.

    >>> RecordBall(2, radius=3).contains([3.0, 0.0]), RecordBall(2, radius=3).contains([3.0, 1.0])
    (True, False)
    """

    dimension: int = 1
    radius: Any = Fraction(1)
    p: float = 2.0

    def __post_init__(self) -> None:
        to_dimension(self.dimension)
        require_norm(self.p)
        check_radius(self.radius)
        object.__setattr__(self, "radius", to_exact(self.radius, "the radius"))

    @classmethod
    def of(cls, mechanism: Any) -> RecordBall:
        """Return the domain of a mechanism of the catalogue.

        >>> from profiles.mechanisms import KNormSum
        >>> RecordBall.of(KNormSum(beta_sum=1, p=1, dimension=3, radius=2))
        RecordBall(dimension=3, radius=Fraction(2, 1), p=1)
        """
        if isinstance(mechanism, type) or not any(hasattr(mechanism, name) for name in ("statistic", "radius", "dimension", "centres")):
            raise InvalidArgument(
                f"a domain must be a RecordBall or a mechanism of the catalogue, but {str(mechanism)[:40]!r} was found; give "
                "RecordBall(dimension, radius, p)"
            )
        return cls(find_dimension(mechanism) or 1, getattr(mechanism, "radius", 1), getattr(mechanism, "p", 1))

    def contains(self, point: Any) -> bool:
        """Tell whether the computed norm of a record, shape (d,), is at most the radius."""
        array = np.asarray(point, dtype=np.float64)
        if array.shape != (self.dimension,):
            raise InvalidArgument(f"a record of {self.dimension} numbers was expected, but shape {array.shape} was found; give one record")
        return bool(compute_norms(array[np.newaxis], self.p)[0] <= self.largest())

    def largest(self) -> float:
        """Return the largest float that is not above the radius."""
        return round_down(self.radius)

    def confine(self, point: Floats) -> Floats:
        """Return the point itself where it is inside, else the point scaled to just below the radius, shape (d,)."""
        length = float(compute_norms(point[np.newaxis], self.p)[0])
        if length <= self.largest():
            return point
        largest = float(np.abs(point).max())
        return point / largest * (self.largest() / (length / largest if math.isfinite(length) else len(point)) * _MARGIN)


def find_dimension(mechanism: Any) -> int | None:
    """Return the number d of columns that a mechanism's records have, where it tells, else None."""
    told = getattr(mechanism, "dimension", None)
    if isinstance(told, (int, np.integer)):
        return int(told)
    centres: Any = getattr(mechanism, "centres", None)
    return int(centres.shape[1]) if getattr(centres, "ndim", 0) == 2 else None
