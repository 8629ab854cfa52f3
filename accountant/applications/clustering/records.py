"""Records as the mechanism sees them: rows of costs with multiplicities. Each record is read by itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from accountant.applications.clustering.space import Costs, MetricSpace
from profiles import InvalidArgument, InvalidData
from profiles.arrays import Booleans, Floats, Integers
from profiles.private import hide_length, name_type
from profiles.randomness.bernoulli import PoissonSampler

#: More records than this would not fit the exact sums; the guarantee says so.
MOST_RECORDS = 2**38
_CHUNK = 2**20


@dataclass(frozen=True, slots=True, eq=False)
class Multiplicities:
    """Records at candidates, counted: ``counts[i]`` records at candidate i, shape (m,)."""

    counts: ArrayLike = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class DistanceRows:
    """Records that need not be candidates: ``rows[x, c]`` is the distance of record x to candidate c, shape (n, m), not negative.

    Row x must be a function of record x and the candidates, to the last bit. A matrix product of all records is not, and many libraries
    measure Euclidean distances by one; :func:`measure_records` does not.
    """

    rows: ArrayLike = field(repr=False)


def measure_records(space: MetricSpace, points: ArrayLike) -> DistanceRows:
    """Return the distances of points, shape (n, d), to the candidates of a space that :func:`measure_points` made, in its norm.

    Claim: every bit of row x is a function of point x and the candidates. Operations are elementwise, column after column, each rounded by
    itself; IEEE 754 fixes all of them. That it does not fix powers is why a norm other than 1, 2 and infinity is refused: give the points
    themselves, which are moved to candidates. Raises :class:`InvalidData`, :class:`InvalidArgument`.

    >>> from accountant.applications.clustering import measure_points
    >>> measure_records(measure_points([[0.0, 0.0], [3.0, 4.0]]), [[3.0, 0.0]]).rows.tolist()
    [[3.0, 4.0]]
    """
    if space.norm not in (1, 2, np.inf):
        raise InvalidArgument(
            f"distances of records in the l_p norm with p = {space.norm:g} take powers, which no standard rounds alike everywhere; give "
            "the points themselves to run, which moves each to a candidate"
        )
    measured = space.read_points(_to_floats(np.asarray(points)))
    candidates = np.asarray(space.candidates)
    rows = np.zeros((len(measured), space.size))
    for column in range(measured.shape[1]):
        gaps = measured[:, column, np.newaxis] - candidates[:, column]
        if space.norm == 2:
            gaps *= gaps
            rows += gaps
        elif space.norm == 1:
            rows += np.abs(gaps)
        else:
            np.maximum(rows, np.abs(gaps), out=rows)
    return DistanceRows(np.sqrt(rows) if space.norm == 2 else rows)


@dataclass(frozen=True, slots=True, eq=False)
class CostTally:
    """``counts[u]`` records with the costs ``costs[u, c]`` in units of 2^−24, shapes (u,) and (u, m)."""

    costs: Costs = field(repr=False)
    counts: Integers = field(repr=False)


Data = ArrayLike | Multiplicities | DistanceRows


class MetricRecords:
    """A data set that was read and checked; ``tally`` aggregates it, ``sample`` a fresh Poisson sample of it."""

    __slots__ = ("_counts", "_indices", "_power", "_rows", "_space", "moved")

    def __init__(self, space: MetricSpace, power: int, data: Data) -> None:
        """Raises :class:`InvalidData`. Records beyond the diameter are cut to it; points are moved to a nearest candidate."""
        self._space, self._power = space, power
        self._indices: NDArray[np.integer] | None = None
        self._counts: Integers | None = None
        self._rows: Floats | None = None
        self.moved = False  # whether they were points
        if isinstance(data, Multiplicities):
            self._counts = _read_counts(data.counts, space.size)
        elif isinstance(data, DistanceRows):
            self._rows = _read_rows(data.rows, space.size)
        else:
            array = np.asarray(data)
            self.moved = array.ndim == 2
            self._indices = space.snap_points(_to_floats(array)) if self.moved else _read_indices(array, space.size)

    @property
    def measured(self) -> bool:
        """Whether they were given by their distances to the candidates."""
        return self._rows is not None

    @property
    def size(self) -> int:
        """How many records there are: private. Raises :class:`InvalidData` for multiplicities, whose records nobody tells apart."""
        rows = self._indices if self._rows is None else self._rows
        if rows is None:
            raise InvalidData(
                "records were given by their multiplicities, but a ledger needs to know whose each of them is; give them one by one"
            )
        return len(rows)

    def restrict(self, kept: Booleans) -> MetricRecords:
        """Return the records with ``kept[x]``. Raises :class:`InvalidData` for multiplicities."""
        part = self._rows if self._indices is None else self._indices
        if part is None or kept.shape != (self.size,):
            raise InvalidData("one boolean for each record was expected, but another number was found; give one per record")
        return MetricRecords(self._space, self._power, part[kept] if self._indices is not None else DistanceRows(part[kept]))

    def tally(self) -> CostTally:
        """Return all records as rows of costs, equal ones once, with how often each occurs."""
        if self._rows is not None:
            return CostTally(self._space.scale_costs(self._rows, self._power), np.ones(len(self._rows), dtype=np.int64))
        return self._aggregate(self._count(self._all()))

    def sample(self, p: float, sampler: PoissonSampler) -> CostTally:
        """Return the records that are selected, each with probability exactly ``p``, independently."""
        if self._rows is not None:
            kept = self._rows[sampler.select(np.full(len(self._rows), p))]
            return CostTally(self._space.scale_costs(kept, self._power), np.ones(len(kept), dtype=np.int64))
        return self._aggregate(self._count(part[sampler.select(np.full(len(part), p))] for part in self._all()))

    def _all(self) -> Iterator[NDArray[np.integer]]:
        """Yield the candidate of every record, in chunks."""
        if self._indices is not None:
            for start in range(0, len(self._indices), _CHUNK):
                yield self._indices[start : start + _CHUNK]
        elif self._counts is not None:
            for candidate in np.flatnonzero(self._counts).tolist():
                left = int(self._counts[candidate])
                while left:
                    yield np.full(min(left, _CHUNK), candidate, dtype=np.intp)
                    left -= min(left, _CHUNK)

    def _count(self, parts: Iterator[NDArray[np.integer]]) -> Integers:
        counts = np.zeros(self._space.size, dtype=np.int64)
        for part in parts:
            counts += np.bincount(part, minlength=self._space.size)
        return counts

    def _aggregate(self, counts: Integers) -> CostTally:
        present = np.flatnonzero(counts)
        return CostTally(self._space.scale_costs(self._space.distances[present], self._power), counts[present])


def _read_indices(array: NDArray[np.generic], size: int) -> NDArray[np.integer]:
    if array.size == 0 and array.ndim == 1:
        return np.empty(0, dtype=np.intp)
    if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
        raise InvalidData(
            f"records must be candidate numbers (integers of one dimension), points (two dimensions), Multiplicities or DistanceRows, but "
            f"{name_type(array.dtype)} of {array.ndim} dimensions was found; convert them"
        )
    if int(array.min()) < 0 or int(array.max()) >= size:
        raise InvalidData(f"candidate numbers must lie in 0, ..., {size - 1}, but another one was found; correct the data")
    return array.astype(np.intp, copy=False)


def _read_counts(values: ArrayLike, size: int) -> Integers:
    counts = np.asarray(values)
    if counts.shape != (size,) or not np.issubdtype(counts.dtype, np.integer) or int(counts.min()) < 0:
        raise InvalidData(
            f"multiplicities must be {size} integers of at least 0, one per candidate, but "
            f"{name_type(counts.dtype)} of {counts.ndim} dimensions, another length or a "
            "negative number was found; count the records"
        )
    if sum(counts.tolist()) > MOST_RECORDS:
        raise InvalidData("more than 2**38 records were found; split the data")
    return counts.astype(np.int64)


def _read_rows(values: ArrayLike, size: int) -> Floats:
    rows = _to_floats(np.asarray(values))
    if rows.ndim != 2 or rows.shape[1] != size:
        raise InvalidData(
            f"distance rows must have shape (n, {size}), one column per candidate, but {hide_length(rows.shape)} was found; give them so"
        )
    if bool(np.isnan(rows).any()) or bool((rows < 0).any()):
        raise InvalidData("distances of records must not be negative or NaN, but another entry was found; correct the data")
    return rows


def _to_floats(array: NDArray[np.generic]) -> Floats:
    try:
        if array.dtype.kind == "c":  # NumPy would leave the imaginary part out
            raise TypeError
        return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidData(f"records must be numbers, but entries of type {name_type(array.dtype)} were found; convert them") from None
