"""A pair of neighboring data sets that knows which record differs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from profiles.arrays import Floats
from profiles.errors import InvalidArgument
from profiles.mechanisms.datasets import to_points, to_weights
from profiles.profile import Profile
from proofs_check.audit.claims import Claim, claim_of_record

Weighted = tuple[Floats, Floats]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NeighboringPair:
    """Two weighted data sets that differ by one record: ``larger`` = (points, weights) has the record ``row``, the other one has not.

    ``removed``: ``dataset`` is the larger one and ``neighbor`` lacks the record; otherwise the record was added. Points have shape
    (n, d), weights shape (n,). Raises :class:`InvalidData`, :class:`InvalidArgument`.

    >>> pair = NeighboringPair(([[0.5], [2.0]], [1.0, 3.0]), row=1)
    >>> pair
    NeighboringPair(([[0.5], [2.0]], [1.0, 3.0]), row=1, removed=True)
    >>> pair.record.tolist(), pair.weight, len(pair.neighbor[0])
    ([2.0], 3.0, 1)
    """

    larger: Weighted
    row: int
    removed: bool = True

    def __post_init__(self) -> None:
        points = to_points(self.larger[0], None)
        object.__setattr__(self, "larger", (points, to_weights(self.larger[1], len(points))))
        if not 0 <= self.row < len(points):
            raise InvalidArgument(f"the record that differs must be a row of {len(points)}, but {self.row} was found; give its number")

    def __repr__(self) -> str:
        points, weights = self.larger
        return f"NeighboringPair(({points.tolist()}, {weights.tolist()}), row={self.row}, removed={self.removed})"

    @property
    def smaller(self) -> Weighted:
        """The data set without the record."""
        points, weights = self.larger
        return np.delete(points, self.row, axis=0), np.delete(weights, self.row)

    @property
    def dataset(self) -> Weighted:
        """The first data set, D."""
        return self.larger if self.removed else self.smaller

    @property
    def neighbor(self) -> Weighted:
        """The second data set, D′."""
        return self.smaller if self.removed else self.larger

    @property
    def record(self) -> Floats:
        """The record that differs, shape (d,)."""
        record: Floats = self.larger[0][self.row]
        return record

    @property
    def weight(self) -> float:
        return float(self.larger[1][self.row])

    def claim(self, mechanism: Any, profile: Profile | None = None) -> Claim:
        """Return what the profile (the mechanism's own by default) claims for this pair: ε(w, x), rounded up.

        ``mechanism.statistic`` gives the statistics of the record. Raises what :func:`proofs_check.audit.claim_of_record` raises.
        """
        statistics: Mapping[str, Any] = {name: float(values[0]) for name, values in mechanism.statistic(self.record[np.newaxis]).items()}
        return claim_of_record(mechanism.profile if profile is None else profile, statistics, self.weight)
