"""A public finite metric space, and what it costs to serve a record from a candidate: exact integers, a function of the record alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import KDTree
from scipy.spatial.distance import cdist

from accountant.applications.clustering.grid import CellGrid, read_grid
from profiles import InvalidArgument, InvalidData
from profiles.arrays import Floats, Positions
from profiles.private import hide_length

Costs = NDArray[np.int32]

#: Costs are multiples of 2^−24 of the largest one: sums over records are then exact integers, in whatever order they are added.
UNITS = 2**24
_NORMS = (1.0, 2.0, np.inf)
_BLOCK = 2**18
#: Coordinates beyond it are moved to it: squares of differences then stay finite in up to 10^7 dimensions.
_REACH = 1e150
#: Up to so many candidates the triangle inequality is looked at without being asked: a second of work.
_CHECKED = 500


@dataclass(frozen=True, slots=True, eq=False)
class MetricSpace:
    """Claim: ``distances`` are finite and not negative; symmetric and 0 on the diagonal where one of the two functions below made it.

    ``distances`` in the unit of the user, shape (m, m), entries at most ``diameter`` > 0; ``candidates``: the points of the candidates,
    shape (m, d), and the tree or the grid that finds the nearest, where there are points. ``triangle``: whether the triangle inequality
    was checked or follows from how the distances were made; the error bound needs it.
    """

    distances: Floats
    diameter: float
    candidates: Floats | None = field(default=None)
    tree: KDTree | None = field(default=None, repr=False)
    norm: float = 2.0
    grid: CellGrid | None = field(default=None, repr=False)
    triangle: bool = False

    def __post_init__(self) -> None:
        shape, entries = np.shape(self.distances), np.asarray(self.distances)
        if len(shape) != 2 or shape[0] != shape[1] or not shape[0] or entries.dtype != np.float64:
            raise InvalidData(f"distances must be a square float64 matrix of at least one row, but shape {shape} was found; give d(i, j)")
        if not bool(np.isfinite(entries).all()) or float(entries.min()) < 0:
            raise InvalidData("distances must be finite and not negative, but another entry was found; correct the matrix")
        if not 0 < self.diameter < np.inf:
            raise InvalidArgument(f"the diameter must be positive and finite, but {self.diameter} was found; give a public bound")

    @property
    def size(self) -> int:
        """The number of candidates, m."""
        return len(self.distances)

    def scale_costs(self, distances: Floats, power: int) -> Costs:
        """Return min(1, d/diameter)^power in units of 2^−24, rounded to nearest, entry by entry."""
        shares = np.minimum(distances, self.diameter) / self.diameter
        if power == 2:
            shares *= shares
        shares *= UNITS
        return np.rint(shares, out=shares).astype(np.int32)

    def read_points(self, points: Floats) -> Floats:
        """Return finite points, shape (n, d), each moved into reach by itself. Raises :class:`InvalidData`."""
        if self.candidates is None:
            raise InvalidData("points were given, but the space was made from distances; give indices, or make it with measure_points")
        if points.ndim != 2 or points.shape[1] != self.candidates.shape[1] or not bool(np.isfinite(points).all()):
            raise InvalidData(
                f"records must be finite points with {self.candidates.shape[1]} columns, but an array of shape "
                f"{hide_length(points.shape)} or one with "
                "NaN or infinity was found; correct the data"
            )
        return np.clip(points, -_REACH, _REACH)  # a distance that overflows would have no nearest candidate

    def snap_points(self, points: Floats) -> Positions:
        """Return the number of a nearest candidate of each row, found row by row, so that it depends on that row alone."""
        read = self.read_points(points)
        if self.grid is not None:
            return self.grid.snap(read)
        if self.tree is None or not len(read):
            return np.empty(0, dtype=np.intp)
        return np.asarray(self.tree.query(read, p=self.norm)[1], dtype=np.intp)


def read_distances(distances: ArrayLike, *, diameter: float | None = None, triangle: bool | None = None) -> MetricSpace:
    """Return the space of a public matrix of distances d(i, j), shape (m, m).

    ``diameter``: a public bound; larger distances are cut to it (min(d, Δ) is a metric again), also infinite ones, those between parts of
    a network that no way connects. None takes the largest entry, which is public because the matrix is, and must be finite. ``triangle``
    checks d(i, j) ≤ d(i, l) + d(l, j) up to 10^−9 of the diameter, in O(m³): None does so up to 500 candidates. The error bound needs it,
    privacy does not. Raises :class:`InvalidData`.

    >>> read_distances([[0, 3], [3, 0]]).diameter
    3.0
    """
    matrix = _read_floats(distances, "distances")
    if diameter is not None:
        np.minimum(matrix, _read_diameter(1.0, diameter), out=matrix)  # NaN stays and is refused
    if diameter is None and matrix.size and float(matrix.max()) == np.inf:
        raise InvalidData("an infinite distance was found: some candidates are not connected; give a public diameter, to which it is cut")
    MetricSpace(matrix, 1.0)
    if not bool((matrix == matrix.T).all()):
        raise InvalidData("distances must be symmetric, but d(i, j) and d(j, i) differ somewhere; use (d + d.T)/2 if rounding did it")
    if bool(np.diagonal(matrix).any()):
        raise InvalidData("the distance of a candidate to itself must be 0, but another entry was found on the diagonal; correct it")
    bound = _read_diameter(float(matrix.max()), diameter)
    np.minimum(matrix, bound, out=matrix)
    checked = bool(triangle) or (triangle is None and len(matrix) <= _CHECKED)
    if checked:
        _check_triangle(matrix, bound)
    matrix.setflags(write=False)
    return MetricSpace(matrix, bound, triangle=checked)


def measure_points(points: ArrayLike, *, norm: float = 2, diameter: float | None = None) -> MetricSpace:
    """Return the space of public candidate points under the l1, l2 or max norm (``norm`` 1, 2 or math.inf), ``points`` of shape (m, d).

    Records may then be points as well: each is moved to a nearest candidate. ``diameter`` as in :func:`read_distances`.
    Raises :class:`InvalidData`, :class:`InvalidArgument`.

    >>> measure_points([[0.0, 0.0], [3.0, 4.0]]).diameter
    5.0
    """
    floats = _read_floats(points, "points")
    if floats.ndim != 2 or 0 in floats.shape or not bool(np.isfinite(floats).all()):
        raise InvalidData(
            f"candidates must be finite points of shape (m, d), but shape {floats.shape}, NaN or infinity was found; give them"
        )
    if norm not in _NORMS:
        raise InvalidArgument(f"the norm must be 1, 2 or math.inf, but {str(norm)[:40]} was found; measure the distances yourself")
    if float(np.abs(floats).max()) > _REACH:
        raise InvalidData(
            f"the coordinates of candidates must not exceed {_REACH}, but a larger one was found; rescale by a public constant"
        )
    with np.errstate(over="ignore"):
        half = np.triu(cdist(floats, floats, metric="minkowski", p=norm) if np.isfinite(norm) else cdist(floats, floats, "chebyshev"), 1)
    matrix = half + half.T
    bound = _read_diameter(float(matrix.max()), diameter)
    np.minimum(matrix, bound, out=matrix)
    for array in (matrix, floats):
        array.setflags(write=False)
    return MetricSpace(matrix, bound, floats, KDTree(floats), float(norm), triangle=True)


def measure_grid(
    box: Sequence[tuple[float, float]], cells: int | Sequence[int], *, norm: float = 2, diameter: float | None = None
) -> MetricSpace:
    """Return the space of the cells of a public box in ℝ^d under the l_p norm, ``norm`` = p ≥ 1 or math.inf: clustering without candidates.

    ``box``: (lower, upper) of each axis; ``cells``: how many cells an axis has, one number or one an axis, 10,000 cells in all at most. The
    candidates are the centres of the cells. Records may be points: each is moved to the centre of its cell, those outside of the box
    to a cell at its boundary. ``diameter`` as in :func:`read_distances`. Raises :class:`InvalidArgument`.

    >>> space = measure_grid([(0, 1), (0, 1)], 4, norm=3)
    >>> space.size, space.snap_points(np.array([[0.9, 0.1]])).tolist(), space.candidates[12].tolist()
    (16, [12], [0.875, 0.125])
    """
    grid = read_grid(box, cells, norm)
    matrix, candidates = grid.measure(), grid.list_candidates()
    bound = _read_diameter(float(matrix.max()), diameter)
    np.minimum(matrix, bound, out=matrix)
    for array in (matrix, candidates):
        array.setflags(write=False)
    return MetricSpace(matrix, bound, candidates, None, grid.norm, grid, triangle=True)


def _read_floats(given: ArrayLike, what: str) -> Floats:
    try:
        if np.iscomplexobj(given):
            raise TypeError
        return np.array(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidData(f"{what} must be numbers in rows of one length, but something else was found; give an array") from None


def _read_diameter(largest: float, given: float | None) -> float:
    if given is None:
        return largest or 1.0
    try:
        value = float(given)
    except (TypeError, ValueError, OverflowError):
        raise InvalidArgument(f"the diameter must be a number, but {str(given)[:40]!r} was found; give a public bound") from None
    if not 0 < value < np.inf:
        raise InvalidArgument(f"the diameter must be positive and finite, but {value} was found; give a public bound of the distances")
    return value


def _check_triangle(matrix: Floats, diameter: float) -> None:
    slack = 1e-9 * diameter
    rows = max(1, _BLOCK // len(matrix))
    for start in range(0, len(matrix), rows):
        block = matrix[start : start + rows]
        for middle in range(len(matrix)):
            with np.errstate(over="ignore"):  # a sum beyond every number is not too small
                bad = block > block[:, middle, np.newaxis] + matrix[middle] + slack
            if bool(bad.any()):
                i, j = (int(item[0]) for item in np.nonzero(bad))
                raise InvalidData(
                    f"the triangle inequality fails: d({start + i}, {j}) > d({start + i}, {middle}) + d({middle}, {j}); give a metric, or "
                    "leave the check out (triangle=False, or --no-triangle) where the error bound is not needed"
                )
