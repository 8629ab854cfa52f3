"""How a method sees the records: through noisy totals of cells, each of which is paid for. It sees nothing else.

Coordinates. A method works in *centred* coordinates: a record is moved into the public ball, the released mean is subtracted, and what is
left is clipped to ``radius``, the one that :meth:`DataAccess.clip` set last. The origin is the released mean. What comes out of the
method is moved back by whoever called it.

Statement (docs/private-kmeans.md, Theorem 2). Every call of :meth:`DataAccess.release` may depend on all that was released before it, in
any way; if ``assign`` is a function of one row and of released numbers, and shares never sum up to more than there is, then all releases
together with the statistics keep the ε of the fit, or its (ε, δ).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from profiles.arrays import Floats

#: From rows in centred coordinates, shape (rows, d), to the number of the cell of each, integers in [0, cells), shape (rows,). The cell of
#: a row must be a function of that row alone to the last bit, whatever other rows come with it (profiles.mechanisms.nearest; elementwise
#: operations): it is called with blocks of any length, in any order, by one thread at a time.
Assign = Callable[[Floats], NDArray[np.integer]]


@dataclass(frozen=True, slots=True, eq=False)
class Statistics:
    """What was released about the whole data set, in the unit of the data.

    ``count``: ñ, at least 1. ``mean``: the noisy mean in the coordinates of the user, shape (d,), in the public ball. ``rms``: the root of
    the mean squared distance of the clipped records from it, positive. ``radius``: that of the public ball, about ``center``.
    """

    count: float
    mean: Floats
    rms: float
    radius: float
    center: Floats

    @property
    def dimension(self) -> int:
        return len(self.mean)


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Noisy totals of cells, in centred coordinates: ``counts`` of shape (cells,), ``sums`` of shape (cells, d) or None.

    ``count_variance``: the variance of the noise of one count. ``sum_energy``: E ‖ζ‖₂² of the noise ζ of one sum. Both are public.
    """

    counts: Floats
    sums: Floats | None
    count_variance: float
    sum_energy: float


class DataAccess(Protocol):
    """The records of one fit, and what is left of its ε."""

    @property
    def statistics(self) -> Statistics:
        """What was released before the method began."""

    @property
    def radius(self) -> float:
        """The radius to which records are clipped now, in centred coordinates: at first that of a ball that holds all of them."""

    @property
    def left(self) -> Fraction:
        """The part of the whole budget that is left: 1 before the statistics were paid for, 0 in the end."""

    @property
    def sum_noise(self) -> float:
        """About ‖ζ‖₂/radius for the noise ζ of one sum that gets the *whole* budget of the fit: d/ε, or √d/μ under normal noise.

        So Q = n·rms/(k·radius·sum_noise), with ``radius`` as wide as the records are clipped for it.
        """

    @property
    def normal(self) -> bool:
        """Whether noise is normal: T rounds multiply it by √T, where they multiply other noise by T."""

    def clip(self, radius: float) -> None:
        """Clip records to ``radius`` about the mean from now on, by moving each onto that ball along its ray; a function of released
        numbers. Raises :class:`profiles.InvalidArgument` for what is not positive and finite. Costs nothing.
        """

    def release(self, assign: Assign, share: Fraction | float, cells: int, *, sums: bool = True, count_share: float | None = None) -> Cells:
        """Return noisy counts and sums of the cells of ``assign``; with ``sums`` False counts alone, which get all of the share.

        ``share`` in (0, 1]: the part of what is *left* of the budget that this costs (of ε; of μ² under normal noise); 1 spends the rest.
        ``count_share`` in (0, 1): the part of it that the counts get; None is the one of least first-order error of a centre
        (docs/dp-kmeans.md, section 4). Raises :class:`profiles.InvalidArgument` where nothing is left.
        """
